/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rxe rings: WQEs as the provider writes them, CQEs as it reads them. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rnic/qp.h"
#include "verbs_rig.h"

static struct uverbs_qp *qp;
static struct uverbs_cq *cq;
static uint32_t pd_handle;

static void start(uint8_t type)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	uint32_t cq_handle;

	rig_start_context();
	pd_handle = make_pd();
	cq_handle = make_cq(3, -1, NULL);
	qp_request(pd_handle, cq_handle, &req);
	req.qp_type = type;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	qp = object_of(UOBJ_QP, r.qp_handle);
	cq = object_of(UOBJ_CQ, cq_handle);
}

/* The next WQE that the provider would fill; stale bytes in it. */
static struct rxe_send_wqe *wqe_begin(uint32_t opcode)
{
	struct rxe_ring *ring = &qp->rxe.sq.ring;
	struct rxe_send_wqe *wqe = (void *)rxe_ring_slot(ring, ring->buf->producer_index);

	memset(wqe, 0x5a, 1u << ring->log2_elem);
	memset(&wqe->wr, 0, sizeof(wqe->wr));
	wqe->wr.opcode = opcode;
	wqe->wr.wr_id = 0xabcd0000 + ring->buf->producer_index;
	wqe->dma.length = wqe->dma.num_sge = 0;
	return wqe;
}

static void wqe_post(void)
{
	struct rxe_queue_buf *buf = qp->rxe.sq.ring.buf;

	buf->producer_index = (buf->producer_index + 1) & buf->index_mask;
}

START_TEST(rings_are_laid_out_as_the_provider_expects)
{
	struct rxe_queue_buf *buf;

	start(IB_UVERBS_QPT_RC);
	buf = qp->rxe.sq.ring.buf;
	ck_assert_uint_eq(buf->log2_elem_size, 8); /* 208 + max(2 SGEs, 33 bytes) */
	ck_assert_uint_eq(buf->index_mask, 7);
	ck_assert_uint_eq(qp->rxe.rq.ring.buf->log2_elem_size, 7); /* 40 + 2 SGEs */
	ck_assert_uint_eq(cq->rxe.ring.buf->log2_elem_size, 6);
	ck_assert_uint_eq(cq->rxe.ring.buf->index_mask, 3);
	rig_stop();
}
END_TEST

START_TEST(sends_come_out_in_order_with_their_fields)
{
	struct rxe_send_wqe *w;
	struct rnic_send_wr wr;

	start(IB_UVERBS_QPT_RC);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 0);
	w = wqe_begin(RNIC_WR_WRITE_IMM);
	w->wr.send_flags = RNIC_SEND_SIGNALED | RNIC_SEND_SOLICITED | 1u << 20;
	w->wr.ex.imm_data = htonl(0x11223344);
	w->wr.wr.rdma.remote_addr = 0x1000;
	w->wr.wr.rdma.rkey = 0x77;
	w->dma.num_sge = 2;
	w->dma.length = 1; /* not to be trusted */
	w->dma.sge[0] = (struct rxe_sge){0x2000, 100, 1};
	w->dma.sge[1] = (struct rxe_sge){0x3000, 200, 2};
	wqe_post();
	w = wqe_begin(RNIC_WR_CMP_SWAP);
	w->wr.wr.atomic.remote_addr = 0x4000;
	w->wr.wr.atomic.compare_add = 5;
	w->wr.wr.atomic.swap = 6;
	w->wr.wr.atomic.rkey = 0x78;
	w->dma.num_sge = 1;
	wqe_post();
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.slot, 0);
	ck_assert_uint_eq(wr.op, RNIC_WR_WRITE_IMM);
	ck_assert_uint_eq(wr.flags, RNIC_SEND_SIGNALED | RNIC_SEND_SOLICITED);
	ck_assert_uint_eq(wr.imm, 0x11223344);
	ck_assert_uint_eq(wr.raddr, 0x1000);
	ck_assert_uint_eq(wr.rkey, 0x77);
	ck_assert_uint_eq(wr.num_sge, 2);
	ck_assert_uint_eq(wr.sge[1].addr, 0x3000);
	ck_assert_uint_eq(wr.sge[1].len, 200);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.compare, 5);
	ck_assert_uint_eq(wr.swap_add, 6);
	ck_assert_uint_eq(wr.raddr, 0x4000);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 0);
	ck_assert_uint_eq(qp->rxe.sq.ring.buf->consumer_index, 0);
	rxe_send_retire(&qp->rxe, 0);
	ck_assert_uint_eq(qp->rxe.sq.ring.buf->consumer_index, 1);
	rig_stop();
}
END_TEST

START_TEST(rarer_requests_come_out_with_their_fields)
{
	struct rnic_bind bind = {0x1234, 1ull << 40, 0x111, 0x222, 0x333, 0xffffffff};
	struct rxe_send_wqe *w;
	struct rnic_send_wr wr;

	start(IB_UVERBS_QPT_RC);
	w = wqe_begin(RNIC_WR_BIND_MW);
	w->wr.wr.mw.addr = bind.addr;
	w->wr.wr.mw.length = bind.length;
	w->wr.wr.mw.mr_lkey = bind.mr_lkey;
	w->wr.wr.mw.mw_rkey = bind.mw_rkey;
	w->wr.wr.mw.rkey = bind.rkey;
	w->wr.wr.mw.access = bind.access;
	wqe_post();
	w = wqe_begin(RNIC_WR_LOCAL_INV);
	w->wr.ex.invalidate_rkey = 0x11223344;
	wqe_post();
	w = wqe_begin(RNIC_WR_SEND_INV);
	w->wr.ex.invalidate_rkey = 0x55667788;
	wqe_post();
	w = wqe_begin(RNIC_WR_ATOMIC_WRITE); /* its bytes are in the WQE; num_sge says otherwise */
	w->wr.wr.rdma.remote_addr = 0x1000;
	w->wr.wr.rdma.rkey = 0x77;
	w->dma.num_sge = 1;
	w->dma.length = 8;
	memcpy(w->dma.inline_data, "atomical", 8);
	wqe_post();
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.op, RNIC_WR_BIND_MW);
	ck_assert_mem_eq(&wr.bind, &bind, sizeof(bind));
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.op, RNIC_WR_LOCAL_INV);
	ck_assert_uint_eq(wr.inv_key, 0x11223344);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.op, RNIC_WR_SEND_INV);
	ck_assert_uint_eq(wr.imm, 0x55667788);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.op, RNIC_WR_ATOMIC_WRITE);
	ck_assert_uint_eq(wr.raddr, 0x1000);
	ck_assert_uint_eq(wr.rkey, 0x77);
	ck_assert_uint_eq(wr.num_sge, 0);
	ck_assert_mem_eq(wr.inline_data, "atomical", 8);
	rig_stop();
}
END_TEST

START_TEST(inline_data_is_found_with_and_without_its_flag)
{
	struct rxe_send_wqe *w;
	struct rnic_send_wr wr;

	start(IB_UVERBS_QPT_RC);
	w = wqe_begin(RNIC_WR_SEND);
	w->wr.send_flags = RNIC_SEND_INLINE;
	w->dma.num_sge = 2;
	w->dma.length = 33;
	memset(w->dma.inline_data, 7, 33);
	wqe_post();
	w = wqe_begin(RNIC_WR_WRITE); /* as ibv_wr_set_inline_data of rdma-core 44 */
	w->dma.length = 10;
	memset(w->dma.inline_data, 8, 10);
	wqe_post();
	w = wqe_begin(RNIC_WR_SEND); /* no data at all */
	wqe_post();
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.flags & RNIC_SEND_INLINE, RNIC_SEND_INLINE);
	ck_assert_uint_eq(wr.inline_len, 33);
	ck_assert_uint_eq(wr.inline_data[32], 7);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.flags & RNIC_SEND_INLINE, RNIC_SEND_INLINE);
	ck_assert_uint_eq(wr.inline_len, 10);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	ck_assert_uint_eq(wr.flags & RNIC_SEND_INLINE, 0);
	ck_assert_uint_eq(wr.num_sge, 0);
	rig_stop();
}
END_TEST

static const struct {
	uint32_t opcode, flags, num_sge, length;
} malformed[] = {
	{10, 0, 0, 0}, /* TSO */
	{0xffffffff, 0, 0, 0},
	{RNIC_WR_SEND, 0, 3, 0}, /* an SGE more than asked for */
	{RNIC_WR_SEND, 0, 0xffffffff, 0},
	{RNIC_WR_SEND, RNIC_SEND_INLINE, 1, 34}, /* a byte more than asked for */
	{RNIC_WR_SEND, 0, 0, 0xffffffff},
	{RNIC_WR_READ, RNIC_SEND_INLINE, 1, 8},
	{RNIC_WR_FETCH_ADD, RNIC_SEND_INLINE, 1, 8},
	{RNIC_WR_ATOMIC_WRITE, 0, 1, 34},
};

START_TEST(malformed_sends_are_told_and_passed_over)
{
	struct rxe_send_wqe *w;
	struct rnic_send_wr wr;

	start(IB_UVERBS_QPT_RC);
	w = wqe_begin(malformed[_i].opcode);
	w->wr.send_flags = malformed[_i].flags;
	w->dma.num_sge = malformed[_i].num_sge;
	w->dma.length = malformed[_i].length;
	wqe_post();
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), -EINVAL);
	ck_assert_uint_eq(wr.slot, 0);
	ck_assert(wr.op <= RNIC_WR_SEND_INV || wr.op == RNIC_WR_ATOMIC_WRITE);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 0);
	rig_stop();
}
END_TEST

START_TEST(datagrams_find_their_address_handle_in_their_own_pd)
{
	struct ib_uverbs_create_ah_resp ah, foreign;
	struct rxe_create_ah_resp uhw, foreign_uhw;
	struct rnic_send_wr wr;
	uint32_t numbers[4];

	start(IB_UVERBS_QPT_UD);
	ck_assert_int_eq(make_ah(pd_handle, 1, &ah, &uhw), 0);
	ck_assert_int_eq(make_ah(make_pd(), 1, &foreign, &foreign_uhw), 0);
	numbers[0] = uhw.ah_num;
	numbers[1] = foreign_uhw.ah_num;
	numbers[2] = 0;
	numbers[3] = 0xffffffff;
	for (int i = 0; i < 4; i++) {
		struct rxe_send_wqe *w = wqe_begin(RNIC_WR_SEND);

		w->wr.wr.ud.remote_qpn = 0xff000011;
		w->wr.wr.ud.remote_qkey = 0x22;
		w->wr.wr.ud.ah_num = numbers[i];
		wqe_post();
		ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
		ck_assert_uint_eq(wr.remote_qpn, 0x11);
		ck_assert_uint_eq(wr.remote_qkey, 0x22);
		ck_assert_int_eq(wr.av_bad, i != 0);
		ck_assert(i || wr.av.dgid[15] == 2);
	}
	rig_stop();
}
END_TEST

START_TEST(receives_free_their_slot_when_they_are_taken)
{
	struct rxe_ring *ring;
	struct rxe_recv_wqe *w;
	struct rnic_recv_wr wr;

	start(IB_UVERBS_QPT_RC);
	ring = &qp->rxe.rq.ring;
	w = (void *)rxe_ring_slot(ring, 0);
	w->wr_id = 0x1234567890;
	w->dma.num_sge = 1;
	w->dma.sge[0] = (struct rxe_sge){0x5000, 64, 9};
	w = (void *)rxe_ring_slot(ring, 1);
	w->wr_id = 2;
	w->dma.num_sge = 3;
	ring->buf->producer_index = 2;
	ck_assert_uint_eq(rxe_recv_count(&qp->rxe.rq), 2);
	ck_assert_int_eq(rxe_recv_next(&qp->rxe.rq, &wr), 1);
	ck_assert_uint_eq(wr.slot, 0x1234567890);
	ck_assert_uint_eq(wr.sge[0].lkey, 9);
	ck_assert_uint_eq(ring->buf->consumer_index, 1);
	ck_assert_int_eq(rxe_recv_next(&qp->rxe.rq, &wr), -EINVAL);
	ck_assert_uint_eq(wr.slot, 2);
	ck_assert_int_eq(rxe_recv_next(&qp->rxe.rq, &wr), 0);
	rig_stop();
}
END_TEST

static int push(bool recv, uint64_t slot)
{
	struct rnic_cqe cqe = {.qp = qp->qp,
			       .slot = slot,
			       .recv = recv,
			       .opcode = recv ? RNIC_WC_RECV : RNIC_WC_WRITE,
			       .flags = RNIC_WC_WITH_IMM,
			       .imm = 0x01020304,
			       .byte_len = 55,
			       .src_qpn = 8};

	return rxe_cq_push(&cq->rxe, &qp->rxe, &cqe);
}

START_TEST(completions_carry_the_wr_id_of_their_request)
{
	const struct ib_uverbs_wc *wc;
	struct rnic_send_wr wr;

	start(IB_UVERBS_QPT_RC);
	wqe_begin(RNIC_WR_SEND);
	wqe_post();
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 1);
	memset(rxe_ring_slot(&qp->rxe.sq.ring, 0), 0xee, 208); /* too late */
	ck_assert_int_eq(push(false, wr.slot), 0);
	ck_assert_int_eq(push(true, 0x4444), 0);
	wc = (const void *)rxe_ring_slot(&cq->rxe.ring, 0);
	ck_assert_uint_eq(wc->wr_id, 0xabcd0000);
	ck_assert_uint_eq(wc->opcode, RNIC_WC_WRITE);
	ck_assert_uint_eq(wc->qp_num, rnic_qp_num(qp->qp));
	wc = (const void *)rxe_ring_slot(&cq->rxe.ring, 1);
	ck_assert_uint_eq(wc->wr_id, 0x4444);
	ck_assert_uint_eq(wc->ex.imm_data, htonl(0x01020304));
	ck_assert_uint_eq(wc->byte_len, 55);
	ck_assert_uint_eq(cq->rxe.ring.buf->producer_index, 2);
	rig_stop();
}
END_TEST

/* As on ConnectX: a UDP header behind an IPv4 or IPv6 header; other receives say nothing. */
START_TEST(service_level_of_a_datagram_tells_its_ip_version)
{
	static const uint8_t expected[][2] = {{4, 0xa}, {6, 0x9}, {0, 0}};
	const struct ib_uverbs_wc *wc;

	start(IB_UVERBS_QPT_UD);
	for (uint32_t i = 0; i < 3; i++) {
		struct rnic_cqe cqe = {.qp = qp->qp, .recv = true, .ip_version = expected[i][0]};

		ck_assert_int_eq(rxe_cq_push(&cq->rxe, &qp->rxe, &cqe), 0);
		wc = (const void *)rxe_ring_slot(&cq->rxe.ring, i);
		ck_assert_uint_eq(wc->sl, expected[i][1]);
	}
	rig_stop();
}
END_TEST

START_TEST(a_full_cq_takes_nothing)
{
	start(IB_UVERBS_QPT_RC);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(push(true, (uint64_t)i), 0);
	ck_assert_int_eq(push(true, 3), -ENOSPC);
	ck_assert_uint_eq(cq->rxe.ring.buf->producer_index, 3);
	cq->rxe.ring.buf->consumer_index = 1;
	ck_assert_int_eq(push(true, 3), 0);
	rig_stop();
}
END_TEST

START_TEST(receive_ring_with_an_impossible_index_is_corrupt)
{
	struct rxe_queue_buf *buf;
	struct rnic_recv_wr wr;

	start(IB_UVERBS_QPT_RC);
	buf = qp->rxe.rq.ring.buf;
	ck_assert_int_eq(rxe_recv_next(&qp->rxe.rq, &wr), 0);
	buf->producer_index = buf->index_mask + 1;
	ck_assert_int_eq(rxe_recv_next(&qp->rxe.rq, &wr), -EIO);
	buf->producer_index = 1;
	ck_assert_int_ne(rxe_recv_next(&qp->rxe.rq, &wr), -EIO);
	rig_stop();
}
END_TEST

START_TEST(arming_fires_once_and_for_what_it_asked)
{
	struct ib_uverbs_req_notify_cq any, solicited;
	_Atomic uint32_t *arm;

	start(IB_UVERBS_QPT_RC);
	any = (struct ib_uverbs_req_notify_cq){qp->handle - 1, 0};
	solicited = (struct ib_uverbs_req_notify_cq){qp->handle - 1, 1};
	ck_assert_ptr_eq(object_of(UOBJ_CQ, any.cq_handle), cq);
	ck_assert(!rxe_cq_test_arm(&cq->rxe, true));
	ck_assert_int_eq(
		do_invoke(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &solicited, 8, NULL, 0, NULL, 0), 0);
	ck_assert(!rxe_cq_test_arm(&cq->rxe, false));
	ck_assert(rxe_cq_test_arm(&cq->rxe, true));
	ck_assert(!rxe_cq_test_arm(&cq->rxe, true));
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &any, 8, NULL, 0), 16);
	ck_assert(rxe_cq_test_arm(&cq->rxe, false));
	arm = &rig.context.doorbell->arm[any.cq_handle];
	atomic_fetch_or(arm, RNIC_ARM_ANY);
	ck_assert(rxe_cq_test_arm(&cq->rxe, false));
	ck_assert_uint_eq(atomic_load(arm), 0);
	rig_stop();
}
END_TEST

START_TEST(a_new_cq_is_not_armed_by_its_handles_last_owner)
{
	uint32_t handle;

	rig_start_context();
	handle = make_cq(3, -1, NULL);
	atomic_store(&rig.context.doorbell->arm[handle], RNIC_ARM_ANY);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_CQ, handle), 0);
	ck_assert_uint_eq(make_cq(3, -1, NULL), handle);
	ck_assert_uint_eq(atomic_load(&rig.context.doorbell->arm[handle]), 0);
	rig_stop();
}
END_TEST

static int64_t resize(uint32_t handle, uint32_t cqe, struct rxe_resize_cq_resp *uhw)
{
	struct ib_uverbs_resize_cq req = {.cq_handle = handle, .cqe = cqe};
	struct ib_uverbs_resize_cq_resp resp;

	return do_invoke(IB_USER_VERBS_CMD_RESIZE_CQ, &req, sizeof(req), &resp, sizeof(resp), uhw,
			 sizeof(*uhw));
}

START_TEST(resize_keeps_what_was_not_polled)
{
	struct rxe_resize_cq_resp uhw;
	uint32_t handle;

	start(IB_UVERBS_QPT_RC);
	handle = qp->handle - 1;
	for (int i = 0; i < 3; i++)
		push(true, 100 + (uint64_t)i);
	cq->rxe.ring.buf->consumer_index = 1;
	push(true, 103);
	ck_assert_int_eq(resize(handle, 2, &uhw), 0);
	ck_assert_int_eq(resize(handle, 1, &uhw), -EINVAL);
	ck_assert_int_eq(resize(handle, 0, &uhw), -EINVAL);
	ck_assert_int_eq(resize(handle, 40000, &uhw), -EINVAL);
	ck_assert_int_eq(resize(handle + 9, 4, &uhw), -EINVAL);
	ck_assert_int_eq(resize(handle, 100, &uhw), 0);
	ck_assert_uint_eq(uhw.mi.offset, cq->rxe.ring.mem.offset);
	ck_assert_uint_eq(cq->rxe.ring.buf->producer_index, 3);
	ck_assert_uint_eq(cq->rxe.ring.buf->consumer_index, 0);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(
			((const struct ib_uverbs_wc *)rxe_ring_slot(&cq->rxe.ring, i))->wr_id,
			101 + i);
	rig_stop();
}
END_TEST

TCase *verbs_ring_tcase(void)
{
	TCase *tc = tcase_create("ring");

	tcase_add_test(tc, rings_are_laid_out_as_the_provider_expects);
	tcase_add_test(tc, sends_come_out_in_order_with_their_fields);
	tcase_add_test(tc, rarer_requests_come_out_with_their_fields);
	tcase_add_test(tc, inline_data_is_found_with_and_without_its_flag);
	tcase_add_loop_test(tc, malformed_sends_are_told_and_passed_over, 0,
			    (int)ARRAY_SIZE(malformed));
	tcase_add_test(tc, datagrams_find_their_address_handle_in_their_own_pd);
	tcase_add_test(tc, receives_free_their_slot_when_they_are_taken);
	tcase_add_test(tc, completions_carry_the_wr_id_of_their_request);
	tcase_add_test(tc, service_level_of_a_datagram_tells_its_ip_version);
	tcase_add_test(tc, a_full_cq_takes_nothing);
	tcase_add_test(tc, receive_ring_with_an_impossible_index_is_corrupt);
	tcase_add_test(tc, arming_fires_once_and_for_what_it_asked);
	tcase_add_test(tc, a_new_cq_is_not_armed_by_its_handles_last_owner);
	tcase_add_test(tc, resize_keeps_what_was_not_polled);
	return tc;
}
