/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests by ibv_post_send, each looked at where it has arrived; datagrams; multicast. */
#include <arpa/inet.h>

#include "verbs.h"

#define QKEY 0x11111111
#define GRH 40

struct ibv_qp *verbs_ud(struct stage *s)
{
	struct ibv_qp *qp = rig_qp(&s->rig, IBV_QPT_UD);

	rig_connect(&s->rig, qp, 0);
	return qp;
}

/* ---- reliable ---- */

static void receive(struct stage *s, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)s->memory + HALF, HALF, s->mr->lkey};

	MUST(!rig_recv(qp, &sge, 1));
}

/* Both ends have completed, the receiving one with this opcode. */
static struct ibv_wc both_done(struct stage *s, enum ibv_wc_opcode opcode)
{
	struct ibv_wc a = verbs_done(s), b = verbs_done(s);

	if (a.opcode == opcode)
		return a;
	MUST(b.opcode == opcode);
	return b;
}

static int post(struct ibv_qp *qp, struct stage *s, struct ibv_send_wr wr, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)s->memory, len, s->mr->lkey};
	struct ibv_send_wr *bad;

	wr.sg_list = &sge;
	wr.num_sge = len ? 1 : 0;
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)s->memory + HALF;
		wr.wr.atomic.rkey = s->mr->rkey;
	} else if (wr.opcode != IBV_WR_SEND_WITH_INV && wr.opcode != IBV_WR_LOCAL_INV) {
		wr.wr.rdma.remote_addr = (uintptr_t)s->memory + HALF;
		wr.wr.rdma.rkey = s->mr->rkey;
	}
	return ibv_post_send(qp, &wr, &bad);
}

static void ask_sends(struct stage *s, struct ibv_qp *qp[2])
{
	struct ibv_wc wc;

	verbs_fill(s, 1);
	receive(s, qp[1]);
	WORKS(ibv_post_recv, true);
	MUST(!post(qp[0], s, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, HALF));
	WORKS(IBV_WR_SEND, both_done(s, IBV_WC_RECV).byte_len == HALF && verbs_arrived(s));
	WORKS(ibv_post_send, true);
	WORKS(ibv_poll_cq, true);
	verbs_fill(s, 2);
	receive(s, qp[1]);
	MUST(!post(qp[0], s,
		   (struct ibv_send_wr){.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(77)},
		   HALF));
	wc = both_done(s, IBV_WC_RECV);
	WORKS(IBV_WR_SEND_WITH_IMM,
	      verbs_arrived(s) && wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htonl(77));
}

static void ask_writes(struct stage *s, struct ibv_qp *qp[2])
{
	struct ibv_wc wc;

	verbs_fill(s, 3);
	MUST(!post(qp[0], s, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE}, HALF));
	WORKS(IBV_WR_RDMA_WRITE, verbs_done(s).opcode == IBV_WC_RDMA_WRITE && verbs_arrived(s));
	verbs_fill(s, 4);
	receive(s, qp[1]);
	MUST(!post(
		qp[0], s,
		(struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = htonl(78)},
		HALF));
	wc = both_done(s, IBV_WC_RECV_RDMA_WITH_IMM);
	WORKS(IBV_WR_RDMA_WRITE_WITH_IMM, verbs_arrived(s) && wc.imm_data == htonl(78));
	verbs_fill(s, 5);
	MUST(!post(qp[0], s, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_READ}, HALF));
	WORKS(IBV_WR_RDMA_READ, verbs_done(s).opcode == IBV_WC_RDMA_READ && verbs_arrived(s) &&
					s->memory[0] == (uint8_t)~5);
}

static void ask_atomics(struct stage *s, struct ibv_qp *qp[2])
{
	struct ibv_send_wr swap = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				   .wr.atomic = {.compare_add = 10, .swap = 20}};
	struct ibv_send_wr add = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				  .wr.atomic.compare_add = 5};
	uint64_t *got = (uint64_t *)s->memory, *there = (uint64_t *)(s->memory + HALF);

	*there = 10;
	MUST(!post(qp[0], s, swap, 8));
	verbs_done(s);
	WORKS(IBV_WR_ATOMIC_CMP_AND_SWP, *got == 10 && *there == 20);
	MUST(!post(qp[0], s, add, 8));
	verbs_done(s);
	WORKS(IBV_WR_ATOMIC_FETCH_AND_ADD, *got == 20 && *there == 25);
}

/* The stock provider puts any operation in the ring; the device refuses it when it comes to it. */
static void ask_operations_of_others(struct stage *s)
{
	static const struct {
		enum ibv_wr_opcode op;
		const char *name;
	} none[] = {{IBV_WR_TSO, "IBV_WR_TSO"}, {IBV_WR_DRIVER1, "IBV_WR_DRIVER1"}};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		rig_pair(&s->rig, IBV_QPT_RC, qp);
		MUST(!post(qp[0], s, (struct ibv_send_wr){.opcode = none[i].op}, 8));
		MUST(rig_wait(s->rig.cq, &wc, RIG_PATIENCE));
		MUST(wc.status == IBV_WC_LOC_QP_OP_ERR);
		ask_says(none[i].name, "IBV_WC_LOC_QP_OP_ERR");
		MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	}
}

/* The memory can be written by the window's key as long as that is good. */
static bool written_by(struct stage *s, struct ibv_qp *qp, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)s->memory, HALF, s->mr->lkey};

	verbs_fill(s, 6);
	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)s->memory + HALF, rkey));
	verbs_done(s);
	return verbs_arrived(s);
}

static void bind_type_2(struct stage *s, struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_BIND_MW,
		      .bind_mw = {.mw = mw,
				  .rkey = ibv_inc_rkey(mw->rkey),
				  .bind_info = {.mr = mr,
						.addr = (uintptr_t)s->memory,
						.length = SIZE,
						.mw_access_flags = IBV_ACCESS_REMOTE_WRITE}}};

	MUST(!ibv_post_send(qp, &wr, &bad));
	MUST(verbs_done(s).opcode == IBV_WC_BIND_MW);
	mw->rkey = wr.bind_mw.rkey;
}

static void ask_windows(struct stage *s, struct ibv_qp *qp[2])
{
	struct ibv_mr *mr = ibv_reg_mr(s->rig.pd, s->memory, SIZE, RIG_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw_bind bind = {.bind_info = {.mr = mr,
						 .addr = (uintptr_t)s->memory,
						 .length = SIZE,
						 .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};
	struct ibv_mw *mw, *type_2 = ibv_alloc_mw(s->rig.pd, IBV_MW_TYPE_2);

	MUST(mr && type_2);
	WORKS(ibv_alloc_mw, (mw = ibv_alloc_mw(s->rig.pd, IBV_MW_TYPE_1)));
	MUST(!ibv_bind_mw(qp[1], mw, &bind));
	MUST(verbs_done(s).opcode == IBV_WC_BIND_MW);
	WORKS(ibv_bind_mw, written_by(s, qp[0], mw->rkey));
	WORKS(ibv_dealloc_mw, !ibv_dealloc_mw(mw));

	bind_type_2(s, qp[1], type_2, mr);
	WORKS(IBV_WR_BIND_MW, written_by(s, qp[0], type_2->rkey));
	MUST(!post(
		qp[1], s,
		(struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = type_2->rkey},
		0));
	WORKS(IBV_WR_LOCAL_INV, verbs_done(s).opcode == IBV_WC_LOCAL_INV);
	bind_type_2(s, qp[1], type_2, mr); /* as is possible only of one that is not valid */
	verbs_fill(s, 7);
	receive(s, qp[1]);
	MUST(!post(qp[0], s,
		   (struct ibv_send_wr){.opcode = IBV_WR_SEND_WITH_INV,
					.invalidate_rkey = type_2->rkey},
		   HALF));
	WORKS(IBV_WR_SEND_WITH_INV,
	      both_done(s, IBV_WC_RECV).invalidated_rkey == type_2->rkey && verbs_arrived(s));
	MUST(!ibv_dealloc_mw(type_2) && !ibv_dereg_mr(mr));
}

static void ask_shared_receives(struct stage *s)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(s->rig.pd, &init);
	struct ibv_qp_init_attr with = {.send_cq = s->rig.cq,
					.recv_cq = s->rig.cq,
					.srq = srq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1},
					.qp_type = IBV_QPT_RC};
	struct ibv_sge sge = {(uintptr_t)s->memory + HALF, HALF, s->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_qp *from = rig_qp(&s->rig, IBV_QPT_RC), *to;

	MUST(srq && (to = ibv_create_qp(s->rig.pd, &with)));
	rig_connect(&s->rig, from, to->qp_num);
	rig_connect(&s->rig, to, from->qp_num);
	verbs_fill(s, 8);
	MUST(!ibv_post_srq_recv(srq, &wr, &bad));
	MUST(!post(from, s, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, HALF));
	WORKS(ibv_post_srq_recv,
	      both_done(s, IBV_WC_RECV).qp_num == to->qp_num && verbs_arrived(s));
	MUST(!ibv_destroy_qp(from) && !ibv_destroy_qp(to) && !ibv_destroy_srq(srq));
}

/* QPs of the other kinds. */
static void ask_kinds(struct stage *s)
{
	static const struct {
		enum ibv_qp_type type;
		const char *name;
	} none[] = {{IBV_QPT_RAW_PACKET, "IBV_QPT_RAW_PACKET"},
		    {IBV_QPT_XRC_SEND, "IBV_QPT_XRC_SEND"},
		    {IBV_QPT_XRC_RECV, "IBV_QPT_XRC_RECV"},
		    {IBV_QPT_DRIVER, "IBV_QPT_DRIVER"}};
	struct ibv_qp *qp[2];

	rig_pair(&s->rig, IBV_QPT_UC, qp);
	verbs_fill(s, 9);
	receive(s, qp[1]);
	MUST(!post(qp[0], s, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, HALF));
	WORKS(IBV_QPT_UC, both_done(s, IBV_WC_RECV).byte_len == HALF && verbs_arrived(s));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct ibv_qp_init_attr init = {.send_cq = s->rig.cq,
						.recv_cq = s->rig.cq,
						.cap = {.max_send_wr = 1, .max_send_sge = 1},
						.qp_type = none[i].type};

		errno = 0;
		MUST(!ibv_create_qp(s->rig.pd, &init));
		ask_refused(none[i].name, errno);
	}
}

void verbs_ask_requests(struct stage *s)
{
	struct ibv_qp *qp[2];

	rig_pair(&s->rig, IBV_QPT_RC, qp);
	ask_sends(s, qp);
	ask_writes(s, qp);
	ask_atomics(s, qp);
	ask_windows(s, qp);
	WORKS(IBV_QPT_RC, true);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	ask_operations_of_others(s);
	ask_shared_receives(s);
	ask_kinds(s);
}

/* ---- unreliable datagrams ---- */

static void send_to(struct stage *s, struct ibv_qp *qp, struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = {(uintptr_t)s->memory, 512, s->mr->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = QKEY}};

	MUST(!ibv_post_send(qp, &wr, &bad));
}

static bool datagram_arrived(const struct stage *s)
{
	return !memcmp(s->memory, s->memory + HALF + GRH, 512);
}

static void ask_answers(struct stage *s, struct ibv_qp *qp[2], struct ibv_wc *wc)
{
	struct ibv_grh *grh = (struct ibv_grh *)(s->memory + HALF);
	struct ibv_ah_attr attr;
	struct ibv_ah *back;
	uint8_t mac[ETHERNET_LL_SIZE] = {1};
	uint16_t vlan;

	WORKS(ibv_init_ah_from_wc, !ibv_init_ah_from_wc(s->rig.ctx, 1, wc, grh, &attr) &&
					   !memcmp(&attr.grh.dgid, &s->rig.gid, 16));
	WORKS(ibv_resolve_eth_l2_from_gid,
	      !ibv_resolve_eth_l2_from_gid(s->rig.ctx, &attr, mac, &vlan) &&
		      !memcmp(mac, (uint8_t[ETHERNET_LL_SIZE]){0}, ETHERNET_LL_SIZE));
	MUST((back = ibv_create_ah_from_wc(s->rig.pd, wc, grh, 1)));
	verbs_fill(s, 11);
	receive(s, qp[0]);
	send_to(s, qp[1], back, wc->src_qp);
	WORKS(ibv_create_ah_from_wc,
	      both_done(s, IBV_WC_RECV).byte_len == 512 + GRH && datagram_arrived(s));
	MUST(!ibv_destroy_ah(back));
}

static void ask_multicast(struct stage *s, struct ibv_qp *qp[2])
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.sgid_index = (uint8_t)s->rig.gid_index, .hop_limit = 1}};
	union ibv_gid group;
	struct ibv_ah *ah;

	MUST(inet_pton(AF_INET6, "::ffff:239.1.1.1", &group) == 1);
	attr.grh.dgid = group;
	MUST((ah = ibv_create_ah(s->rig.pd, &attr)));
	MUST(!ibv_attach_mcast(qp[1], &group, 0));
	verbs_fill(s, 12);
	receive(s, qp[1]);
	send_to(s, qp[0], ah, 0xffffff);
	WORKS(ibv_attach_mcast,
	      both_done(s, IBV_WC_RECV).byte_len == 512 + GRH && datagram_arrived(s));
	WORKS(ibv_detach_mcast,
	      !ibv_detach_mcast(qp[1], &group, 0) && ibv_detach_mcast(qp[1], &group, 0));
	MUST(!ibv_destroy_ah(ah));
}

void verbs_ask_datagrams(struct stage *s)
{
	struct ibv_qp *qp[2] = {verbs_ud(s), verbs_ud(s)};
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.dgid = s->rig.gid,
					   .sgid_index = (uint8_t)s->rig.gid_index,
					   .hop_limit = 64}};
	struct ibv_ah *ah;
	struct ibv_wc wc;

	WORKS(ibv_create_ah, (ah = ibv_create_ah(s->rig.pd, &attr)));
	verbs_fill(s, 10);
	receive(s, qp[1]);
	send_to(s, qp[0], ah, qp[1]->qp_num);
	wc = both_done(s, IBV_WC_RECV);
	WORKS(IBV_QPT_UD,
	      wc.byte_len == 512 + GRH && datagram_arrived(s) && wc.src_qp == qp[0]->qp_num);
	WORKS(ibv_destroy_ah, !ibv_destroy_ah(ah));
	ask_answers(s, qp, &wc);
	ask_multicast(s, qp);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
}
