/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PD, MR, AH, CQ with its channel, SRQ. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/objects.h"
#include "verbs_rig.h"

START_TEST(pd_in_use_stays)
{
	struct ib_uverbs_reg_mr_resp mr;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(make_mr(pd, user_alloc(64), 64, RNIC_ACCESS_LOCAL_WRITE, &mr), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), -EBUSY);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEREG_MR, mr.mr_handle), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	rig_stop();
}
END_TEST

START_TEST(destroying_what_is_not_there_gets_enoent_and_another_kind_einval)
{
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd + 1), -ENOENT);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEREG_MR, pd), -EINVAL);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_CQ, UINT32_MAX), -ENOENT);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, 5), -ENOENT);
	rig_stop();
}
END_TEST

START_TEST(mr_refuses_what_the_kernel_refuses)
{
	uint64_t lw = RNIC_ACCESS_LOCAL_WRITE, readonly, a;
	struct ib_uverbs_reg_mr_resp r;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	a = (uintptr_t)rig.user;
	readonly = a + USER_READONLY;
	ck_assert_int_eq(make_mr(pd + 9, a, 64, lw, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, a, 64, RNIC_ACCESS_REMOTE_WRITE, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, a, 64, RNIC_ACCESS_REMOTE_ATOMIC, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, a, 64, 1u << 15, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, a, USER_SIZE + 1, lw, &r), -EFAULT);
	ck_assert_int_eq(make_mr(pd, readonly, 64, lw, &r), -EFAULT);
	ck_assert_int_eq(make_mr(pd, 4096, UINT64_MAX - 4095, 0, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, readonly, 64, RNIC_ACCESS_REMOTE_READ, &r), 0);
	ck_assert_int_eq(make_mr(pd, a, 64, lw | IB_UVERBS_ACCESS_RELAXED_ORDERING, &r), 0);
	ck_assert_int_eq(make_mr(pd, 0, 0, lw, &r), 0);
	ck_assert_uint_eq(r.lkey, r.rkey);
	ck_assert_uint_eq(rig.session.umem_refs, 3);
	rig_stop();
}
END_TEST

START_TEST(mr_takes_an_iova_of_the_same_page_offset)
{
	struct ib_uverbs_reg_mr req = {.length = 64, .hca_va = 0x7000};
	struct ib_uverbs_reg_mr_resp resp;
	const struct uverbs_mr *mr;

	rig_start_context();
	req.start = (uintptr_t)rig.user;
	req.pd_handle = make_pd();
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_REG_MR, &req, 40, &resp, 12), 48);
	mr = object_of(UOBJ_MR, resp.mr_handle);
	ck_assert_uint_eq(rnic_mr_attr_get(mr->mr)->iova, 0x7000);
	ck_assert_uint_eq(rnic_mr_attr_get(mr->mr)->start, req.start);
	req.hca_va = 0x7010;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_REG_MR, &req, 40, &resp, 12), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(mr_whose_mappings_are_still_asked_for_is_made_later)
{
	struct ib_uverbs_reg_mr_resp r;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	rig.check_pending = true;
	ck_assert_int_eq(make_mr(pd, user_alloc(64), 64, 0, &r), 0);
	ck_assert(!rig.check_pending);
	ck_assert_uint_eq(rig.n_restarts, 1);
	rig_stop(); /* which counts the references to the memory */
}
END_TEST

START_TEST(ah_has_a_number_that_is_never_0)
{
	struct ib_uverbs_create_ah_resp r;
	struct rxe_create_ah_resp uhw;
	uint32_t pd, handle = 0;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	pd = make_pd();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(make_ah(pd, 1, &r, &uhw), 0);
		ck_assert_uint_ne(uhw.ah_num, 0);
		ck_assert_uint_eq(uhw.ah_num, r.ah_handle + 1);
		handle = r.ah_handle;
	}
	ck_assert_int_eq(make_ah(pd, 0, &r, &uhw), -ENODATA);
	ck_assert_int_eq(make_ah(pd + 1, 1, &r, &uhw), -EINVAL);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_AH, handle), 0);
	rig_stop();
}
END_TEST

static int64_t cq_try(uint32_t cqe, uint32_t vector, int32_t fd, size_t uhw_len)
{
	struct ib_uverbs_create_cq req = {.cqe = cqe, .comp_vector = vector, .comp_channel = fd};
	struct ib_uverbs_create_cq_resp resp;
	struct rxe_create_cq_resp uhw;

	return do_invoke(IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp, sizeof(resp), &uhw,
			 uhw_len);
}

START_TEST(cq_refuses_what_the_kernel_refuses)
{
	rig_start_context();
	ck_assert_int_eq(cq_try(0, 0, -1, 16), -EINVAL);
	ck_assert_int_eq(cq_try(32768, 0, -1, 16), -EINVAL);
	ck_assert_int_eq(cq_try(16, 2, -1, 16), -EINVAL);
	ck_assert_int_eq(cq_try(16, 0, 77, 16), -EBADF);
	ck_assert_int_eq(cq_try(16, 0, 1001, 16), -EBADF); /* the async descriptor */
	ck_assert_int_eq(cq_try(16, 0, -1, 8), -EINVAL);
	ck_assert_int_eq(cq_try(32767, 1, -1, 16), 0);
	rig_stop();
}
END_TEST

static int32_t make_channel(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, 8, &resp, 4), 16);
	return (int32_t)resp.fd;
}

START_TEST(cq_events_carry_its_user_handle_and_count_when_read)
{
	struct ib_uverbs_destroy_cq req = {0};
	struct ib_uverbs_destroy_cq_resp resp;
	struct uverbs_cq *cq;
	struct channel *ch;
	int32_t fd;

	rig_start_context();
	fd = make_channel();
	ch = channel_of_fd(fd);
	req.cq_handle = make_cq(16, fd, NULL);
	cq = object_of(UOBJ_CQ, req.cq_handle);
	for (int i = 0; i < 3; i++)
		uverbs_cq_notify(cq->cq);
	ck_assert_uint_eq(ch->n_records, 3);
	ck_assert_uint_eq(ch->record[0].word[0], 0xc0);
	ch->n_read = 2;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_DESTROY_CQ, &req, 16, &resp, 8), 24);
	ck_assert_uint_eq(resp.comp_events_reported, 2);
	ck_assert_uint_eq(resp.async_events_reported, 0);
	ck_assert_uint_eq(ch->n_records, 2);
	rig_stop();
}
END_TEST

START_TEST(channels_that_the_process_closed_are_let_go)
{
	rig_start_context();
	for (int i = 0; i < 200; i++)
		channel_of_fd(make_channel())->client_gone = true;
	ck_assert_uint_le(rig.n_channels, 2);
	rig_stop();
}
END_TEST

START_TEST(async_events_are_records_of_the_object_or_the_port)
{
	struct rnic_async event = {.type = RNIC_EVENT_CQ_ERR};
	struct rnic_async port = {.type = RNIC_EVENT_PORT_ERR, .port = 1};
	struct channel *ch;
	struct uverbs_cq *cq;

	rig_start_context();
	ch = channel_of_fd(1001);
	cq = object_of(UOBJ_CQ, make_cq(16, -1, NULL));
	event.cq = cq->cq;
	uverbs_async_event(&event);
	uverbs_port_event(&rig.context, &port);
	ck_assert_uint_eq(ch->n_records, 2);
	ck_assert_uint_eq(ch->record[0].word[0], 0xc0);
	ck_assert_uint_eq((uint32_t)ch->record[0].word[1], RNIC_EVENT_CQ_ERR);
	ck_assert_uint_eq(ch->record[1].word[0], 1);
	ck_assert_uint_eq((uint32_t)ch->record[1].word[1], RNIC_EVENT_PORT_ERR);
	rig_stop();
}
END_TEST

START_TEST(old_short_destroy_cq_is_understood)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
		uint32_t handle, reserved;
	} w = {{IB_USER_VERBS_CMD_DESTROY_CQ, 4, 2}, 0, 0, 0};

	rig_start_context();
	w.handle = make_cq(16, -1, NULL);
	w.response = user_alloc(8);
	ck_assert_int_eq(uverbs_write(&rig.call, &rig.context, user_put(&w, sizeof(w)), 16), 16);
	rig_stop();
}
END_TEST

START_TEST(srq_reports_its_room_and_is_resized)
{
	struct ib_uverbs_create_srq_resp r;
	struct rxe_create_srq_resp uhw;
	struct ib_uverbs_query_srq q = {0};
	struct ib_uverbs_query_srq_resp qr;
	struct { /* struct ib_uverbs_modify_srq and the provider's part */
		uint32_t srq_handle, attr_mask, max_wr, srq_limit;
		uint64_t mmap_info_addr;
	} m = {.attr_mask = 3, .max_wr = 100, .srq_limit = 50};
	struct mminfo *mi;

	rig_start_context();
	ck_assert_int_eq(make_srq(make_pd(), 10, 3, 5, &r, &uhw), 0);
	ck_assert_uint_eq(r.max_wr, 15);
	ck_assert_uint_eq(r.max_sge, 3);
	q.srq_handle = m.srq_handle = r.srq_handle;
	m.mmap_info_addr = user_alloc(sizeof(struct mminfo));
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &m, sizeof(m), NULL, 0), 32);
	mi = user_at(m.mmap_info_addr);
	ck_assert_uint_ne(mi->offset, uhw.mi.offset);
	ck_assert_uint_eq(mi->size % 4096, 0);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_SRQ, &q, 16, &qr, 16), 24);
	ck_assert_uint_eq(qr.max_wr, 127);
	ck_assert_uint_eq(qr.srq_limit, 50);
	m.srq_limit = 200;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &m, sizeof(m), NULL, 0), -EINVAL);
	m.srq_limit = 1;
	m.mmap_info_addr = 8;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &m, sizeof(m), NULL, 0), -EFAULT);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &m, 16, NULL, 0), -EINVAL);
	rig_stop();
}
END_TEST

static int64_t srq_resize(uint32_t handle, uint32_t wr)
{
	struct {
		uint32_t srq_handle, attr_mask, max_wr, srq_limit;
		uint64_t mmap_info_addr;
	} m = {.srq_handle = handle, .attr_mask = 1, .max_wr = wr};

	m.mmap_info_addr = user_alloc(sizeof(struct mminfo));
	return do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &m, sizeof(m), NULL, 0) > 0 ? 0 : -EINVAL;
}

/* As the provider posts it. */
static void srq_post(struct uverbs_srq *srq, uint64_t wr_id)
{
	struct rxe_queue_buf *buf = srq->rq.ring.buf;
	struct rxe_recv_wqe *w = (void *)rxe_ring_slot(&srq->rq.ring, buf->producer_index);

	memset(w, 0, sizeof(*w));
	w->wr_id = wr_id;
	buf->producer_index = (buf->producer_index + 1) & buf->index_mask;
}

START_TEST(srq_resize_loses_no_receive)
{
	struct ib_uverbs_create_srq_resp r;
	struct rxe_create_srq_resp uhw;
	struct rnic_recv_wr wr;
	struct uverbs_srq *srq;

	rig_start_context();
	ck_assert_int_eq(make_srq(make_pd(), 15, 1, 0, &r, &uhw), 0);
	srq = object_of(UOBJ_SRQ, r.srq_handle);
	for (uint64_t i = 0; i < 12; i++)
		srq_post(srq, i);
	for (uint64_t i = 0; i < 10; i++) /* so that what is left wraps around */
		ck_assert_int_eq(rxe_recv_next(&srq->rq, &wr), 1);
	for (uint64_t i = 12; i < 18; i++)
		srq_post(srq, i);
	ck_assert_int_eq(srq_resize(r.srq_handle, 7), -EINVAL); /* 8 are posted */
	ck_assert_uint_eq(rxe_recv_count(&srq->rq), 8);
	ck_assert_int_eq(srq_resize(r.srq_handle, 8), 0);
	ck_assert_int_eq(srq_resize(r.srq_handle, 100), 0);
	srq_post(srq, 18);
	for (uint64_t i = 10; i < 19; i++) {
		ck_assert_int_eq(rxe_recv_next(&srq->rq, &wr), 1);
		ck_assert_uint_eq(wr.slot, i);
	}
	ck_assert_int_eq(rxe_recv_next(&srq->rq, &wr), 0);
	rig_stop();
}
END_TEST

START_TEST(srq_refuses_what_the_device_has_not)
{
	struct ib_uverbs_create_srq_resp r;
	struct rxe_create_srq_resp uhw;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(make_srq(pd, 0, 1, 0, &r, &uhw), -EINVAL);
	ck_assert_int_eq(make_srq(pd, 1048577, 1, 0, &r, &uhw), -EINVAL);
	ck_assert_int_eq(make_srq(pd, 4, 28, 0, &r, &uhw), -EINVAL);
	ck_assert_int_eq(make_srq(pd, 4, 1, 5, &r, &uhw), -EINVAL);
	ck_assert_int_eq(make_srq(pd + 1, 4, 1, 0, &r, &uhw), -EINVAL);
	rig_stop();
}
END_TEST

TCase *verbs_objects_tcase(void)
{
	TCase *tc = tcase_create("objects");

	tcase_add_test(tc, pd_in_use_stays);
	tcase_add_test(tc, destroying_what_is_not_there_gets_enoent_and_another_kind_einval);
	tcase_add_test(tc, mr_refuses_what_the_kernel_refuses);
	tcase_add_test(tc, mr_takes_an_iova_of_the_same_page_offset);
	tcase_add_test(tc, mr_whose_mappings_are_still_asked_for_is_made_later);
	tcase_add_test(tc, ah_has_a_number_that_is_never_0);
	tcase_add_test(tc, cq_refuses_what_the_kernel_refuses);
	tcase_add_test(tc, cq_events_carry_its_user_handle_and_count_when_read);
	tcase_add_test(tc, channels_that_the_process_closed_are_let_go);
	tcase_add_test(tc, async_events_are_records_of_the_object_or_the_port);
	tcase_add_test(tc, old_short_destroy_cq_is_understood);
	tcase_add_test(tc, srq_reports_its_room_and_is_resized);
	tcase_add_test(tc, srq_resize_loses_no_receive);
	tcase_add_test(tc, srq_refuses_what_the_device_has_not);
	return tc;
}
