/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent posts requests. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "agent.h"

#define ATOMIC_WRITE 15 /* IBV_WR_ATOMIC_WRITE, which older headers lack */

/* sge=ADDR:LEN:LKEY,... */
static int sges_read(struct args *a, struct ibv_sge *sge)
{
	const char *p = args_str(a, "sge", "");
	int n = 0, used;

	while (*p) {
		if (n == AGENT_SGE_MAX ||
		    sscanf(p, "%" SCNu64 ":%" SCNu32 ":%" SCNu32 "%n", &sge[n].addr, &sge[n].length,
			   &sge[n].lkey, &used) != 3) {
			args_wrong(a, "sge=%s is not ADDR:LEN:LKEY,...", p);
			return 0;
		}
		n++;
		p += used;
		p += *p == ',';
	}
	return n;
}

static void rdma_read(struct args *a, struct ibv_send_wr *wr)
{
	uint64_t raddr = args_num(a, "raddr", 0), compare = args_num(a, "compare", 0);
	uint64_t swap_add = args_num(a, "swap_add", 0);
	uint32_t rkey = (uint32_t)args_num(a, "rkey", 0);

	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = raddr;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add =
			wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? compare : swap_add;
		wr->wr.atomic.swap = swap_add;
		return;
	}
	wr->wr.rdma.remote_addr = raddr;
	wr->wr.rdma.rkey = rkey;
}

static void ud_read(struct args *a, struct ibv_send_wr *wr, struct agent_object *ah)
{
	wr->wr.ud.ah = ah->ah;
	wr->wr.ud.remote_qpn = (uint32_t)args_num(a, "remote_qpn", 0);
	wr->wr.ud.remote_qkey = (uint32_t)args_num(a, "remote_qkey", 0);
}

/* Each type has its own call. The key is the window's next one, which it has then. */
static int bind_post(struct agent *ag, struct args *a, struct agent_object *qp,
		     struct ibv_send_wr *wr, struct text *reply)
{
	struct agent_object *mw = agent_find(ag, A_MW, a, "mw", "mw");
	struct agent_object *mr = agent_find(ag, A_MR, a, "mr", "mr");
	struct ibv_mw_bind bind = {.wr_id = wr->wr_id, .send_flags = wr->send_flags};
	struct ibv_send_wr *bad;
	int ret;

	if (!mw || !mr || !qp)
		return 0;
	bind.bind_info = (struct ibv_mw_bind_info){
		.mr = mr->mr,
		.addr = wr->sg_list->addr,
		.length = wr->sg_list->length,
		.mw_access_flags = (unsigned int)args_num(a, "access", 14),
	};
	wr->num_sge = 0;
	wr->bind_mw.mw = mw->mw;
	wr->bind_mw.rkey = ibv_inc_rkey(mw->mw->rkey);
	wr->bind_mw.bind_info = bind.bind_info;
	if (mw->mw->type == IBV_MW_TYPE_1)
		ret = ibv_bind_mw(qp->qp, mw->mw, &bind);
	else
		ret = ibv_post_send(qp->qp, wr, &bad);
	if (ret == 0)
		mw->mw->rkey = wr->bind_mw.rkey;
	text_add(reply, "rkey=%u", mw->mw->rkey);
	return ret;
}

static void words_unused(struct args *a)
{
	static const char *const words[] = {"raddr",	"rkey", "compare",
					    "swap_add", "imm",	"inv_key"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		args_num(a, words[i], 0);
}

/* Inline data are read by this process itself, whatever the keys say. */
static bool inline_readable(const struct agent *ag, const struct ibv_send_wr *wr)
{
	for (int i = 0; (wr->send_flags & IBV_SEND_INLINE) && i < wr->num_sge; i++)
		if (!agent_mapped(ag, wr->sg_list[i].addr, wr->sg_list[i].length))
			return false;
	return true;
}

/* The verb of its own that stock libibverbs has for it; the 8 bytes are taken at once. */
static int atomic_write_post(const struct agent *ag, struct ibv_qp *qp,
			     const struct ibv_send_wr *wr)
{
#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);

	if (!ex || !ex->wr_atomic_write)
		return EOPNOTSUPP;
	if (wr->num_sge != 1 || !agent_mapped(ag, wr->sg_list[0].addr, 8))
		return EFAULT;
	ibv_wr_start(ex);
	ex->wr_id = wr->wr_id;
	ex->wr_flags = wr->send_flags;
	ibv_wr_atomic_write(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
			    (const void *)(uintptr_t)wr->sg_list[0].addr);
	return ibv_wr_complete(ex);
#else
	(void)ag;
	(void)qp;
	(void)wr;
	return EOPNOTSUPP;
#endif
}

int agent_post_send(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_QP, a, "qp", "qp");
	struct agent_object *ah = args_has(a, "ah") ? agent_find(ag, A_AH, a, "ah", NULL) : NULL;
	struct ibv_sge sge[AGENT_SGE_MAX];
	struct ibv_send_wr wr = {.wr_id = args_num(a, "wr", 0),
				 .opcode = (enum ibv_wr_opcode)args_num(a, "op", IBV_WR_SEND),
				 .send_flags = (unsigned int)args_num(a, "flags", 2),
				 .sg_list = sge};
	struct ibv_send_wr *bad;

	wr.num_sge = sges_read(a, sge);
	if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = (uint32_t)args_num(a, "inv_key", 0);
	else if (wr.opcode != IBV_WR_BIND_MW)
		wr.imm_data = htonl((uint32_t)args_num(a, "imm", 0));
	if (wr.opcode == IBV_WR_LOCAL_INV)
		wr.num_sge = 0;
	else if (ah)
		ud_read(a, &wr, ah);
	else if (wr.opcode != IBV_WR_BIND_MW)
		rdma_read(a, &wr);
	words_unused(a);
	if (wr.opcode == IBV_WR_BIND_MW)
		return bind_post(ag, a, o, &wr, reply);
	if (!o || a->error[0])
		return 0;
	if (!inline_readable(ag, &wr))
		return EFAULT;
	if ((int)wr.opcode == ATOMIC_WRITE)
		return atomic_write_post(ag, o->qp, &wr);
	/* The provider would follow a NULL. */
	if (o->qp->qp_type == IBV_QPT_UD && !ah)
		return EINVAL;
	return ibv_post_send(o->qp, &wr, &bad);
}

int agent_post_recv(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *srq =
		args_has(a, "srq") ? agent_find(ag, A_SRQ, a, "srq", NULL) : NULL;
	struct agent_object *qp = srq ? NULL : agent_find(ag, A_QP, a, "qp", "qp");
	struct ibv_sge sge[AGENT_SGE_MAX];
	struct ibv_recv_wr wr = {.wr_id = args_num(a, "wr", 0), .sg_list = sge};
	struct ibv_recv_wr *bad;

	(void)reply;
	wr.num_sge = sges_read(a, sge);
	if (a->error[0])
		return 0;
	return srq ? ibv_post_srq_recv(srq->srq, &wr, &bad) : ibv_post_recv(qp->qp, &wr, &bad);
}
