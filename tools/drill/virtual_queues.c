/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The smallest provider: work queues and completion queues of the virtual side, as arrays. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virtual.h"

static int send_next(void *user, struct rnic_send_wr *wr)
{
	struct v_object *o = user;

	if (o->sq.taken == o->sq.posted)
		return 0;
	*wr = o->sq.send[o->sq.taken++ % o->sq.room];
	return 1;
}

static void send_retire(void *user, uint64_t slot)
{
	struct v_object *o = user;

	if (o->sq.retired == o->sq.taken || o->sq.send[o->sq.retired % o->sq.room].slot != slot) {
		fprintf(stderr, "the core retires requests out of order\n");
		abort();
	}
	o->sq.retired++;
}

static int recv_next(void *user, struct rnic_recv_wr *wr)
{
	struct v_object *o = user;

	if (o->rq.taken == o->rq.posted)
		return 0;
	*wr = o->rq.recv[o->rq.taken++ % o->rq.room];
	return 1;
}

static uint32_t recv_count(void *user)
{
	struct v_object *o = user;

	return (uint32_t)(o->rq.posted - o->rq.taken);
}

static int cq_push(void *cq_user, void *qp_user, const struct rnic_cqe *cqe)
{
	struct v_object *o = cq_user;

	(void)qp_user;
	if (o->ring.pushed - o->ring.polled >= o->ring.room)
		return -ENOSPC;
	o->ring.cqe[o->ring.pushed++ % o->ring.room] = *cqe;
	return 0;
}

static bool cq_test_arm(void *cq_user, bool solicited)
{
	struct v_object *o = cq_user;

	if (!o->ring.armed || (o->ring.solicited_only && !solicited))
		return false;
	o->ring.armed = false;
	return true;
}

void v_queues_empty(struct v_object *qp)
{
	qp->sq.taken = qp->sq.retired = qp->sq.posted;
	if (qp->rq_owner == qp)
		qp->rq.taken = qp->rq.retired = qp->rq.posted;
}

const struct rnic_personality v_personality = {
	.send_next = send_next,
	.send_retire = send_retire,
	.recv_next = recv_next,
	.recv_count = recv_count,
	.cq_push = cq_push,
	.cq_test_arm = cq_test_arm,
};

/* sge=ADDR:LEN:LKEY,... */
static uint32_t sges_read(struct args *a, struct rnic_sge *sge)
{
	const char *p = args_str(a, "sge", "");
	uint32_t n = 0;
	int used;

	while (*p) {
		if (n == RNIC_MAX_SGE ||
		    sscanf(p, "%" SCNu64 ":%" SCNu32 ":%" SCNu32 "%n", &sge[n].addr, &sge[n].len,
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

static int inline_gather(struct virtual_side *v, struct rnic_send_wr *wr)
{
	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const struct rnic_sge *s = &wr->sge[i];
		struct rnic_mem *m = v_mem_at(v, s->addr, s->len);

		if (!m)
			return EFAULT;
		if (wr->inline_len + s->len > RNIC_MAX_INLINE)
			return EINVAL;
		memcpy(wr->inline_data + wr->inline_len, m->bytes + (s->addr - m->start), s->len);
		wr->inline_len += s->len;
	}
	return 0;
}

static void wr_read(struct args *a, struct rnic_send_wr *wr)
{
	*wr = (struct rnic_send_wr){.slot = args_num(a, "wr", 0),
				    .op = (enum rnic_wr_op)args_num(a, "op", RNIC_WR_SEND),
				    .flags = (uint32_t)args_num(a, "flags", RNIC_SEND_SIGNALED),
				    .imm = (uint32_t)args_num(a, "imm", 0),
				    .raddr = args_num(a, "raddr", 0),
				    .rkey = (uint32_t)args_num(a, "rkey", 0),
				    .compare = args_num(a, "compare", 0),
				    .swap_add = args_num(a, "swap_add", 0),
				    .inv_key = (uint32_t)args_num(a, "inv_key", 0),
				    .remote_qpn = (uint32_t)args_num(a, "remote_qpn", 0),
				    .remote_qkey = (uint32_t)args_num(a, "remote_qkey", 0)};
	if (wr->op == RNIC_WR_SEND_INV)
		wr->imm = wr->inv_key;
	wr->num_sge = sges_read(a, wr->sge);
}

/* The window and the region by name, the range as the one SGE; the key is the window's next one. */
static int bind_read(struct virtual_side *v, struct args *a, struct rnic_send_wr *wr,
		     struct text *reply)
{
	struct v_object *mw = v_find(v, V_MW, a, "mw", "mw"), *mr = v_find(v, V_MR, a, "mr", "mr");
	uint32_t key;

	if (!mw || !mr || wr->num_sge != 1)
		return EINVAL;
	key = rnic_mw_key(mw->mw);
	wr->bind = (struct rnic_bind){.addr = wr->sge[0].addr,
				      .length = wr->sge[0].len,
				      .mr_lkey = rnic_mr_key(mr->mr),
				      .mw_rkey = key,
				      .rkey = (key & ~0xffu) | ((key + 1) & 0xff),
				      .access = (uint32_t)args_num(a, "access", 14)};
	wr->num_sge = 0;
	text_add(reply, "rkey=%u", wr->bind.rkey);
	return 0;
}

int v_post_send(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *qp = v_find(v, V_QP, a, "qp", "qp");
	struct v_object *ah = args_has(a, "ah") ? v_find(v, V_AH, a, "ah", NULL) : NULL;
	struct rnic_send_wr *wr;
	int ret = 0;

	if (!qp || a->error[0])
		return EINVAL;
	if (qp->sq.posted - qp->sq.retired >= qp->sq.room)
		return ENOMEM;
	wr = &qp->sq.send[qp->sq.posted % qp->sq.room];
	wr_read(a, wr);
	if (ah) {
		wr->av = *rnic_ah_av(ah->ah);
		wr->av_bad = rnic_ah_pd(ah->ah) != rnic_qp_pd(qp->qp);
	}
	if (wr->op == RNIC_WR_ATOMIC_WRITE)
		wr->flags |= RNIC_SEND_INLINE; /* as the provider posts it */
	if (wr->op == RNIC_WR_BIND_MW)
		ret = bind_read(v, a, wr, reply);
	else if (wr->op == RNIC_WR_LOCAL_INV)
		wr->num_sge = 0;
	else if (wr->flags & RNIC_SEND_INLINE)
		ret = inline_gather(v, wr);
	if (ret || a->error[0])
		return ret;
	qp->sq.posted++;
	ret = -rnic_qp_kick(qp->qp);
	if (ret)
		qp->sq.posted--;
	return ret;
}

int v_post_recv(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *o = args_has(a, "srq") ? v_find(v, V_SRQ, a, "srq", NULL)
						: v_find(v, V_QP, a, "qp", "qp");
	struct rnic_recv_wr *wr;

	(void)reply;
	if (!o || a->error[0])
		return EINVAL;
	if (o->rq.posted - o->rq.taken >= o->rq.room)
		return ENOMEM;
	wr = &o->rq.recv[o->rq.posted % o->rq.room];
	*wr = (struct rnic_recv_wr){.slot = args_num(a, "wr", 0)};
	wr->num_sge = sges_read(a, wr->sge);
	if (!a->error[0])
		o->rq.posted++;
	return 0;
}

static bool has_cqe(void *arg)
{
	const struct v_object *o = arg;

	return o->ring.pushed != o->ring.polled;
}

int v_poll(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *o = v_find(v, V_CQ, a, "cq", "cq");
	uint64_t wait = args_time(a, "wait", 0);
	const struct rnic_cqe *c;

	if (!o)
		return EINVAL;
	v_until(v, v->now + wait, has_cqe, o);
	if (!has_cqe(o)) {
		text_add(reply, "none");
		return 0;
	}
	c = &o->ring.cqe[o->ring.polled++ % o->ring.room];
	text_add(reply, "wr=%" PRIu64 " status=%d qp=%s", c->slot, (int)c->status,
		 v_name_of(v, V_QP, c->qp));
	if (c->status == RNIC_WC_SUCCESS)
		text_add(reply, " opcode=%d len=%u imm=%u src_qpn=%u with=%u", (int)c->opcode,
			 c->byte_len, c->imm, c->src_qpn, c->flags);
	return 0;
}

int v_arm(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *o = v_find(v, V_CQ, a, "cq", "cq");

	(void)reply;
	if (!o)
		return EINVAL;
	o->ring.solicited_only = args_flag(a, "solicited");
	o->ring.armed = true;
	return 0;
}

static bool is_notified(void *arg)
{
	return ((const struct v_object *)arg)->ring.notified != 0;
}

int v_notified(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *o = v_find(v, V_CQ, a, "cq", "cq");
	uint64_t wait = args_time(a, "wait", 0);

	if (!o)
		return EINVAL;
	v_until(v, v->now + wait, is_notified, o);
	text_add(reply, o->ring.notified ? "notified=1" : "none");
	if (o->ring.notified)
		o->ring.notified--;
	return 0;
}
