/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests by ibv_wr_start and what follows it, completions by ibv_start_poll. */
#include <arpa/inet.h>
#include <time.h>

#include "verbs.h"

#define OPS                                                                                        \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                                 \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |                 \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |        \
	 IBV_QP_EX_WITH_ATOMIC_WRITE)
#define OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

static struct ibv_qp *extended(struct stage *s, enum ibv_qp_type type, uint64_t ops)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = s->rig.cq,
		.recv_cq = s->rig.cq,
		.cap = {.max_send_wr = 16,
			.max_recv_wr = 16,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64},
		.qp_type = type,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = s->rig.pd,
		.send_ops_flags = ops,
	};

	return ibv_create_qp_ex(s->rig.ctx, &init);
}

static void receive(struct stage *s, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)s->memory + HALF, HALF, s->mr->lkey};

	MUST(!rig_recv(qp, &sge, 1));
}

static struct ibv_wc both_done(struct stage *s)
{
	struct ibv_wc a = verbs_done(s), b = verbs_done(s);

	return a.opcode & IBV_WC_RECV ? a : b;
}

/* One request, all of whose data is the first half of the memory. */
#define POST(qx, how, ...)                                                                         \
	do {                                                                                       \
		ibv_wr_start(qx);                                                                  \
		how(qx, ##__VA_ARGS__);                                                            \
		ibv_wr_set_sge(qx, s->mr->lkey, (uintptr_t)s->memory, HALF);                       \
		MUST(!ibv_wr_complete(qx));                                                        \
	} while (0)
#define THERE(s) (s)->mr->rkey, (uintptr_t)(s)->memory + HALF

static void ask_sends(struct stage *s, struct ibv_qp_ex *qx, struct ibv_qp *to)
{
	struct ibv_wc wc;

	verbs_fill(s, 21);
	receive(s, to);
	POST(qx, ibv_wr_send);
	both_done(s);
	WORKS(ibv_wr_send, verbs_arrived(s));
	WORKS(ibv_wr_start, true);
	WORKS(ibv_wr_set_sge, true);
	WORKS(ibv_wr_complete, true);
	verbs_fill(s, 22);
	receive(s, to);
	POST(qx, ibv_wr_send_imm, htonl(5));
	wc = both_done(s);
	WORKS(ibv_wr_send_imm, verbs_arrived(s) && wc.imm_data == htonl(5));
	ibv_wr_start(qx);
	ibv_wr_send(qx);
	ibv_wr_set_sge(qx, s->mr->lkey, (uintptr_t)s->memory, HALF);
	ibv_wr_abort(qx);
	/* The next is the WRITE that follows, not what was taken back. */
	verbs_fill(s, 23);
	POST(qx, ibv_wr_rdma_write, THERE(s));
	WORKS(ibv_wr_abort, verbs_done(s).opcode == IBV_WC_RDMA_WRITE);
	WORKS(ibv_wr_rdma_write, verbs_arrived(s));
	verbs_fill(s, 24);
	receive(s, to);
	POST(qx, ibv_wr_rdma_write_imm, THERE(s), htonl(6));
	wc = both_done(s);
	WORKS(ibv_wr_rdma_write_imm, verbs_arrived(s) && wc.imm_data == htonl(6));
	verbs_fill(s, 25);
	POST(qx, ibv_wr_rdma_read, THERE(s));
	WORKS(ibv_wr_rdma_read, verbs_done(s).opcode == IBV_WC_RDMA_READ && verbs_arrived(s) &&
					s->memory[0] == (uint8_t)~25);
}

static void ask_pieces(struct stage *s, struct ibv_qp_ex *qx)
{
	const struct ibv_sge list[] = {{(uintptr_t)s->memory, 100, s->mr->lkey},
				       {(uintptr_t)s->memory + 100, HALF - 100, s->mr->lkey}};
	const struct ibv_data_buf bufs[] = {{s->memory, 10}, {s->memory + 10, 20}};

	verbs_fill(s, 26);
	ibv_wr_start(qx);
	ibv_wr_rdma_write(qx, THERE(s));
	ibv_wr_set_sge_list(qx, 2, list);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	WORKS(ibv_wr_set_sge_list, verbs_arrived(s));
	verbs_fill(s, 27);
	ibv_wr_start(qx);
	ibv_wr_rdma_write(qx, THERE(s));
	ibv_wr_set_inline_data(qx, s->memory, 40);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	WORKS(ibv_wr_set_inline_data, !memcmp(s->memory, s->memory + HALF, 40));
	verbs_fill(s, 28);
	ibv_wr_start(qx);
	ibv_wr_rdma_write(qx, THERE(s));
	ibv_wr_set_inline_data_list(qx, 2, bufs);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	/* Where nothing arrives, the provider has left the length at 0. */
	if (!memcmp(s->memory + HALF, s->memory + SIZE - 30, 30))
		ask_says("ibv_wr_set_inline_data_list", "EMPTY");
	else
		WORKS(ibv_wr_set_inline_data_list, !memcmp(s->memory, s->memory + HALF, 30));
}

static void ask_atomics(struct stage *s, struct ibv_qp_ex *qx)
{
	uint64_t *got = (uint64_t *)s->memory, *there = (uint64_t *)(s->memory + HALF);
	uint64_t value = 0x1122334455667788;

	*there = 10;
	ibv_wr_start(qx);
	ibv_wr_atomic_cmp_swp(qx, THERE(s), 10, 20);
	ibv_wr_set_sge(qx, s->mr->lkey, (uintptr_t)s->memory, 8);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	WORKS(ibv_wr_atomic_cmp_swp, *got == 10 && *there == 20);
	ibv_wr_start(qx);
	ibv_wr_atomic_fetch_add(qx, THERE(s), 5);
	ibv_wr_set_sge(qx, s->mr->lkey, (uintptr_t)s->memory, 8);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	WORKS(ibv_wr_atomic_fetch_add, *got == 20 && *there == 25);
	ibv_wr_start(qx);
	ibv_wr_atomic_write(qx, THERE(s), &value);
	MUST(!ibv_wr_complete(qx));
	verbs_done(s);
	WORKS(ibv_wr_atomic_write, *there == value);
	WORKS(IBV_WR_ATOMIC_WRITE, true);
}

static void bind_window(struct stage *s, struct ibv_qp_ex *qx, struct ibv_mw *mw, struct ibv_mr *mr)
{
	const struct ibv_mw_bind_info info = {.mr = mr,
					      .addr = (uintptr_t)s->memory,
					      .length = SIZE,
					      .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};

	ibv_wr_start(qx);
	ibv_wr_bind_mw(qx, mw, ibv_inc_rkey(mw->rkey), &info);
	MUST(!ibv_wr_complete(qx));
	MUST(verbs_done(s).opcode == IBV_WC_BIND_MW);
	mw->rkey = ibv_inc_rkey(mw->rkey);
}

static void ask_windows(struct stage *s, struct ibv_qp_ex *qx[2])
{
	struct ibv_mr *mr = ibv_reg_mr(s->rig.pd, s->memory, SIZE, RIG_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(s->rig.pd, IBV_MW_TYPE_2);

	MUST(mr && mw);
	bind_window(s, qx[1], mw, mr);
	verbs_fill(s, 29);
	POST(qx[0], ibv_wr_rdma_write, mw->rkey, (uintptr_t)s->memory + HALF);
	verbs_done(s);
	WORKS(ibv_wr_bind_mw, verbs_arrived(s));
	ibv_wr_start(qx[1]);
	ibv_wr_local_inv(qx[1], mw->rkey);
	MUST(!ibv_wr_complete(qx[1]));
	WORKS(ibv_wr_local_inv, verbs_done(s).opcode == IBV_WC_LOCAL_INV);
	bind_window(s, qx[1], mw, mr);
	receive(s, &qx[1]->qp_base);
	verbs_fill(s, 30);
	POST(qx[0], ibv_wr_send_inv, mw->rkey);
	WORKS(ibv_wr_send_inv, both_done(s).invalidated_rkey == mw->rkey && verbs_arrived(s));
	MUST(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
}

static void ask_datagrams(struct stage *s)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.dgid = s->rig.gid,
					   .sgid_index = (uint8_t)s->rig.gid_index,
					   .hop_limit = 64}};
	struct ibv_qp *qp = extended(s, IBV_QPT_UD, OPS_UD), *to = verbs_ud(s);
	struct ibv_ah *ah = ibv_create_ah(s->rig.pd, &attr);
	struct ibv_qp_ex *qx;

	MUST(qp && ah && (qx = ibv_qp_to_qp_ex(qp)));
	rig_connect(&s->rig, qp, 0);
	verbs_fill(s, 31);
	receive(s, to);
	ibv_wr_start(qx);
	ibv_wr_send(qx);
	ibv_wr_set_ud_addr(qx, ah, to->qp_num, 0x11111111);
	ibv_wr_set_sge(qx, s->mr->lkey, (uintptr_t)s->memory, 512);
	MUST(!ibv_wr_complete(qx));
	both_done(s);
	WORKS(ibv_wr_set_ud_addr, !memcmp(s->memory, s->memory + HALF + 40, 512));
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_qp(to) && !ibv_destroy_ah(ah));
}

void verbs_ask_extended_requests(struct stage *s)
{
	struct ibv_qp *qp[2] = {extended(s, IBV_QPT_RC, OPS), extended(s, IBV_QPT_RC, OPS)};
	struct ibv_qp_ex *qx[2];

	WORKS(ibv_create_qp_ex, qp[0] && qp[1]);
	WORKS(ibv_qp_to_qp_ex, (qx[0] = ibv_qp_to_qp_ex(qp[0])));
	qx[1] = ibv_qp_to_qp_ex(qp[1]);
	rig_connect(&s->rig, qp[0], qp[1]->qp_num);
	rig_connect(&s->rig, qp[1], qp[0]->qp_num);
	ask_sends(s, qx[0], qp[1]);
	ask_pieces(s, qx[0]);
	ask_atomics(s, qx[0]);
	ask_windows(s, qx);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	ask_datagrams(s);
	/* What a QP is not made for has no function behind it. */
	REFUSED_ERRNO(ibv_wr_send_tso, !extended(s, IBV_QPT_UD, IBV_QP_EX_WITH_TSO));
	REFUSED_ERRNO(ibv_wr_set_xrc_srqn, !extended(s, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND));
}

/* ---- completions ---- */

static struct ibv_cq_ex *extended_cq(struct stage *s, uint64_t flags)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 16, .wc_flags = flags};

	return ibv_create_cq_ex(s->rig.ctx, &init);
}

/* The next one; it is open for reading then. */
static void start(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {0};
	const struct timespec pause = {.tv_nsec = 50000};
	int rc;

	while ((rc = ibv_start_poll(cq, &attr)) == ENOENT)
		nanosleep(&pause, NULL);
	MUST(!rc);
}

static void ask_fields(struct ibv_cq_ex *cq, const struct ibv_qp *to, uint32_t from)
{
	WORKS(ibv_wc_read_opcode, ibv_wc_read_opcode(cq) == IBV_WC_RECV);
	WORKS(ibv_wc_read_byte_len, ibv_wc_read_byte_len(cq) == 512 + 40);
	WORKS(ibv_wc_read_imm_data, ibv_wc_read_imm_data(cq) == htonl(9));
	WORKS(ibv_wc_read_qp_num, ibv_wc_read_qp_num(cq) == to->qp_num);
	WORKS(ibv_wc_read_src_qp, ibv_wc_read_src_qp(cq) == from);
	WORKS(ibv_wc_read_wc_flags, ibv_wc_read_wc_flags(cq) == (IBV_WC_GRH | IBV_WC_WITH_IMM));
	WORKS(ibv_wc_read_vendor_err, ibv_wc_read_vendor_err(cq) == 0);
	WORKS(ibv_wc_read_slid, ibv_wc_read_slid(cq) == 0);
	WORKS(ibv_wc_read_dlid_path_bits, ibv_wc_read_dlid_path_bits(cq) == 0);
	WORKS(ibv_wc_read_sl, ibv_wc_read_sl(cq) == 0xa); /* IPv4, as ConnectX tells it */
}

static void send_two(struct stage *s, struct ibv_qp *from, struct ibv_qp *to, struct ibv_ah *ah)
{
	struct ibv_sge sge = {(uintptr_t)s->memory, 512, s->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND_WITH_IMM,
		      .imm_data = htonl(9),
		      .sg_list = &sge,
		      .num_sge = 1,
		      .wr.ud = {.ah = ah, .remote_qpn = to->qp_num, .remote_qkey = 0x11111111}};

	for (int i = 0; i < 2; i++) {
		receive(s, to);
		MUST(!ibv_post_send(from, &wr, &bad));
	}
	verbs_done(s);
	verbs_done(s);
}

static void ask_polling(struct stage *s, struct ibv_cq_ex *cx)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.dgid = s->rig.gid,
					   .sgid_index = (uint8_t)s->rig.gid_index,
					   .hop_limit = 64}};
	struct ibv_qp *from = verbs_ud(s), *to;
	struct ibv_ah *ah = ibv_create_ah(s->rig.pd, &attr);
	struct ibv_cq *own = s->rig.cq;
	int rc;

	WORKS(ibv_cq_ex_to_cq, (s->rig.cq = ibv_cq_ex_to_cq(cx)));
	to = verbs_ud(s);
	s->rig.cq = own;
	MUST(ah);
	send_two(s, from, to, ah);
	start(cx);
	WORKS(ibv_start_poll, cx->status == IBV_WC_SUCCESS);
	ask_fields(cx, to, from->qp_num);
	while ((rc = ibv_next_poll(cx)) == ENOENT) { /* the second may come later */
		ibv_end_poll(cx);
		start(cx);
		break;
	}
	WORKS(ibv_next_poll, ibv_wc_read_opcode(cx) == IBV_WC_RECV);
	ibv_end_poll(cx);
	MUST(!ibv_destroy_qp(from) && !ibv_destroy_qp(to) && !ibv_destroy_ah(ah));
	WORKS(ibv_end_poll, !ibv_destroy_cq(ibv_cq_ex_to_cq(cx)));
}

/* A window is bound at one end, and taken away by a SEND from the other. */
static void ask_invalidated(struct stage *s, struct ibv_cq_ex *cx)
{
	struct ibv_mr *mr = ibv_reg_mr(s->rig.pd, s->memory, SIZE, RIG_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(s->rig.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, send = {.opcode = IBV_WR_SEND_WITH_INV};
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};
	struct ibv_qp *from = rig_qp(&s->rig, IBV_QPT_RC), *to;
	struct ibv_cq *own = s->rig.cq;

	MUST(mr && mw);
	s->rig.cq = ibv_cq_ex_to_cq(cx);
	to = rig_qp(&s->rig, IBV_QPT_RC);
	s->rig.cq = own;
	rig_connect(&s->rig, from, to->qp_num);
	rig_connect(&s->rig, to, from->qp_num);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = send.invalidate_rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){mr, (uintptr_t)s->memory, SIZE, IBV_ACCESS_REMOTE_WRITE};
	MUST(!ibv_post_send(to, &wr, &bad));
	start(cx);
	MUST(cx->status == IBV_WC_SUCCESS);
	ibv_end_poll(cx);
	receive(s, to);
	MUST(!ibv_post_send(from, &send, &bad));
	verbs_done(s);
	start(cx);
	WORKS(ibv_wc_read_invalidated_rkey,
	      ibv_wc_read_invalidated_rkey(cx) == send.invalidate_rkey);
	ibv_end_poll(cx);
	MUST(!ibv_destroy_qp(from) && !ibv_destroy_qp(to));
	MUST(!ibv_dealloc_mw(mw) && !ibv_dereg_mr(mr));
}

void verbs_ask_extended_completions(struct stage *s)
{
	static const struct {
		enum ibv_create_cq_wc_flags flag;
		const char *name;
	} none[] = {
		{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, "ibv_wc_read_completion_ts"},
		{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		 "ibv_wc_read_completion_wallclock_ns"},
		{IBV_WC_EX_WITH_CVLAN, "ibv_wc_read_cvlan"},
		{IBV_WC_EX_WITH_FLOW_TAG, "ibv_wc_read_flow_tag"},
		{IBV_WC_EX_WITH_TM_INFO, "ibv_wc_read_tm_info"},
	};
	struct ibv_cq_ex *cx = extended_cq(s, IBV_WC_STANDARD_FLAGS);

	WORKS(ibv_create_cq_ex, cx);
	ask_invalidated(s, cx);
	ask_polling(s, cx);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		errno = 0;
		MUST(!extended_cq(s, none[i].flag));
		ask_refused(none[i].name, errno);
	}
}
