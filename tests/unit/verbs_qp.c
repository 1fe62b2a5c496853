/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queue pairs by commands: create, modify, query, destroy, and the doorbell. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/qp.h"
#include "verbs_rig.h"

static void good(struct ib_uverbs_create_qp *req)
{
	uint32_t pd = make_pd();

	qp_request(pd, make_cq(64, -1, NULL), req);
}

START_TEST(qp_gets_what_its_rings_hold)
{
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_uint_eq(r.max_send_wr, 7);
	ck_assert_uint_eq(r.max_send_sge, 2);
	ck_assert_uint_eq(r.max_inline_data, 33);
	req.max_send_wr = req.max_recv_wr = 8;
	req.max_send_sge = 5;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_uint_eq(r.max_send_wr, 15);
	ck_assert_uint_eq(r.max_recv_wr, 15);
	ck_assert_uint_eq(r.max_send_sge, 5);
	ck_assert_uint_eq(r.max_inline_data, 80);
	ck_assert_uint_eq(uhw.sq_mi.size % 4096, 0);
	ck_assert_uint_eq(uhw.rq_mi.offset % 4096, 0);
	ck_assert_uint_ne(uhw.rq_mi.offset, uhw.sq_mi.offset);
	req.max_send_wr = req.max_recv_wr = 0;
	req.max_send_sge = req.max_recv_sge = req.max_inline_data = 0;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_uint_eq(r.max_send_wr, 0);
	rig_stop();
}
END_TEST

START_TEST(qp_of_the_most_that_the_device_has_is_made)
{
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	req.max_send_wr = 1048576;
	req.max_inline_data = 0;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_uint_eq(r.max_send_wr, 2097151);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, r.qp_handle), 0);
	req.max_send_wr = 16;
	req.max_send_sge = req.max_recv_sge = 32;
	req.max_inline_data = 512;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	rig_stop();
}
END_TEST

#define FIELD(f, v, e)                                                                             \
	{                                                                                          \
		offsetof(struct ib_uverbs_create_qp, f), (v), (e)                                  \
	}

static const struct {
	size_t offset;
	uint32_t value;
	int64_t ret;
} refusals[] = {
	FIELD(pd_handle, 99, -EINVAL),
	FIELD(send_cq_handle, 99, -EINVAL),
	FIELD(recv_cq_handle, 99, -EINVAL),
	FIELD(send_cq_handle, 0, -EINVAL),
	FIELD(max_send_wr, 1048577, -EINVAL),
	FIELD(max_recv_wr, 1048577, -EINVAL),
	FIELD(max_send_sge, 33, -EINVAL),
	FIELD(max_recv_sge, 33, -EINVAL),
	FIELD(max_inline_data, 513, -EINVAL),
	FIELD(max_send_wr, UINT32_MAX, -EINVAL),
	FIELD(sq_sig_all, 8 << 8, -EOPNOTSUPP), /* type raw packet */
	FIELD(sq_sig_all, 1 << 8, -EINVAL),
	FIELD(sq_sig_all, 9 << 8, -EINVAL),
	FIELD(sq_sig_all, (1 << 16) | (2 << 8), -EINVAL), /* an SRQ that is not one */
};

START_TEST(qp_refuses_what_the_kernel_refuses)
{
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	memcpy((uint8_t *)&req + refusals[_i].offset, &refusals[_i].value, 4);
	ck_assert_int_eq(make_qp(&req, &r, &uhw), refusals[_i].ret);
	ck_assert_uint_ge(rig.n_logs, 1);
	rig_stop();
}
END_TEST

START_TEST(qp_needs_room_for_the_provider)
{
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(
		do_invoke(IB_USER_VERBS_CMD_CREATE_QP, &req, sizeof(req), &r, sizeof(r), &uhw, 24),
		-EINVAL);
	rig_stop();
}
END_TEST

START_TEST(qp_with_an_srq_has_no_receive_ring)
{
	struct ib_uverbs_create_srq_resp srq;
	struct rxe_create_srq_resp srq_uhw;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(make_srq(req.pd_handle, 10, 1, 0, &srq, &srq_uhw), 0);
	req.is_srq = 1;
	req.srq_handle = srq.srq_handle;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_uint_eq(uhw.rq_mi.size, 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_SRQ, srq.srq_handle), -EBUSY);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_CQ, req.send_cq_handle), -EBUSY);
	rig_stop();
}
END_TEST

static const struct ib_uverbs_modify_qp *to_init(uint32_t handle)
{
	static struct ib_uverbs_modify_qp m;

	m = (struct ib_uverbs_modify_qp){
		.qp_handle = handle,
		.attr_mask =
			RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS,
		.qp_state = RNIC_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = RNIC_ACCESS_REMOTE_WRITE,
	};
	return &m;
}

static const struct ib_uverbs_modify_qp *to_rtr(uint32_t handle)
{
	static struct ib_uverbs_modify_qp m;

	m = (struct ib_uverbs_modify_qp){
		.qp_handle = handle,
		.attr_mask = RNIC_QP_STATE | RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN |
			     RNIC_QP_RQ_PSN | RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER,
		.qp_state = RNIC_QPS_RTR,
		.path_mtu = RNIC_MTU_1024,
		.dest_qp_num = 77,
		.rq_psn = 123,
		.dest = {.dgid = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 2},
			 .sgid_index = 1,
			 .is_global = 1,
			 .port_num = 1,
			 .hop_limit = 17},
	};
	return &m;
}

static const struct ib_uverbs_modify_qp *to_rts(uint32_t handle)
{
	static struct ib_uverbs_modify_qp m;

	m = (struct ib_uverbs_modify_qp){
		.qp_handle = handle,
		.attr_mask = RNIC_QP_STATE | RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT |
			     RNIC_QP_RNR_RETRY | RNIC_QP_SQ_PSN | RNIC_QP_MAX_QP_RD_ATOMIC,
		.qp_state = RNIC_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
	};
	return &m;
}

static int64_t modify(const struct ib_uverbs_modify_qp *m)
{
	return do_invoke(IB_USER_VERBS_CMD_MODIFY_QP, m, sizeof(*m), NULL, 0, NULL, 0);
}

static int64_t post(uint32_t handle)
{
	struct ib_uverbs_post_send req = {.qp_handle = handle, .wqe_size = 128};
	uint32_t bad;

	return do_write(IB_USER_VERBS_CMD_POST_SEND, &req, sizeof(req), &bad, 4);
}

START_TEST(qp_goes_up_and_can_be_asked)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_query_qp q = {0};
	struct ib_uverbs_query_qp_resp a;

	rig_start_context();
	good(&req);
	req.sq_sig_all = 1;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	q.qp_handle = r.qp_handle;
	ck_assert_int_eq(modify(to_init(r.qp_handle)), 0);
	ck_assert_int_eq(modify(to_rtr(r.qp_handle)), 0);
	ck_assert_int_eq(modify(to_rts(r.qp_handle)), 0);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_QP, &q, sizeof(q), &a, sizeof(a)), 24);
	ck_assert_uint_eq(a.qp_state, RNIC_QPS_RTS);
	ck_assert_uint_eq(a.dest_qp_num, 77);
	ck_assert_uint_eq(a.rq_psn, 123);
	ck_assert_uint_eq(a.timeout, 14);
	ck_assert_uint_eq(a.dest.hop_limit, 17);
	ck_assert_uint_eq(a.dest.sgid_index, 1);
	ck_assert_uint_eq(a.max_send_wr, 7);
	ck_assert_uint_eq(a.sq_sig_all, 1);
	q.qp_handle = 99;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_QP, &q, sizeof(q), &a, sizeof(a)),
			 -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(modify_refuses_what_the_kernel_refuses)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_modify_qp m;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_int_eq(modify(to_init(99)), -EINVAL);
	m = *to_init(r.qp_handle);
	m.port_num = 2;
	ck_assert_int_eq(modify(&m), -EINVAL);
	m = *to_init(r.qp_handle);
	m.qp_state = 9;
	ck_assert_int_eq(modify(&m), -EINVAL);
	m = *to_init(r.qp_handle);
	m.attr_mask |= RNIC_QP_RATE_LIMIT;
	ck_assert_int_eq(modify(&m), -EOPNOTSUPP);
	ck_assert_int_eq(modify(to_rts(r.qp_handle)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(rig.log, "not a legal transition"));
	ck_assert_int_eq(modify(to_init(r.qp_handle)), 0);
	m = *to_rtr(r.qp_handle);
	m.dest.sgid_index = 0;
	ck_assert_int_lt(modify(&m), 0);
	m = *to_rtr(r.qp_handle);
	m.dest.is_global = 0;
	ck_assert_int_eq(modify(&m), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(controlled_qkeys_are_for_root)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_modify_qp m;

	rig_start_context();
	good(&req);
	req.qp_type = IB_UVERBS_QPT_UD;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	m = *to_init(r.qp_handle);
	m.attr_mask = RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_QKEY;
	m.qkey = 0x80010000;
	ck_assert_int_eq(modify(&m), -EPERM);
	ck_assert_ptr_nonnull(strstr(rig.log, "0x80010000 is a controlled one"));
	m.qkey = 0x7fffffff;
	ck_assert_int_eq(modify(&m), 0);
	rig.session.root = true;
	m.qkey = 0x80010000;
	m.attr_mask = RNIC_QP_QKEY;
	ck_assert_int_eq(modify(&m), 0);
	rig_stop();
}
END_TEST

START_TEST(sends_below_rts_get_einval_and_are_never_a_silent_doorbell)
{
	struct rnic_doorbell *db;
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_modify_qp reset = {.attr_mask = RNIC_QP_STATE};

	rig_start_context();
	db = rig.context.doorbell;
	good(&req);
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	ck_assert_int_eq(post(99), -EINVAL);
	ck_assert(doorbell_is_slow(db, 99));
	ck_assert_int_eq(post(r.qp_handle), -EINVAL);
	ck_assert_int_eq(modify(to_init(r.qp_handle)), 0);
	ck_assert_int_eq(modify(to_rtr(r.qp_handle)), 0);
	ck_assert_int_eq(post(r.qp_handle), -EINVAL);
	ck_assert(doorbell_is_slow(db, r.qp_handle));
	ck_assert_int_eq(modify(to_rts(r.qp_handle)), 0);
	ck_assert(!doorbell_is_slow(db, r.qp_handle));
	ck_assert_int_eq(post(r.qp_handle), 32);
	uverbs_kick(&rig.context, r.qp_handle);
	uverbs_kick(&rig.context, 99);
	reset.qp_handle = r.qp_handle;
	ck_assert_int_eq(modify(&reset), 0);
	ck_assert(doorbell_is_slow(db, r.qp_handle));
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, r.qp_handle), 0);
	ck_assert(doorbell_is_slow(db, r.qp_handle));
	rig_stop();
}
END_TEST

START_TEST(reset_empties_both_rings)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_modify_qp reset = {.attr_mask = RNIC_QP_STATE};
	struct uverbs_qp *qp;
	struct rnic_send_wr wr;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	qp = object_of(UOBJ_QP, r.qp_handle);
	ck_assert_int_eq(modify(to_init(r.qp_handle)), 0);
	qp->rxe.sq.ring.buf->producer_index = 3;
	qp->rxe.rq.ring.buf->producer_index = 2;
	ck_assert_uint_eq(rxe_recv_count(&qp->rxe.rq), 2);
	reset.qp_handle = r.qp_handle;
	ck_assert_int_eq(modify(&reset), 0);
	ck_assert_uint_eq(qp->rxe.sq.ring.buf->consumer_index, 3);
	ck_assert_uint_eq(rxe_recv_count(&qp->rxe.rq), 0);
	ck_assert_int_eq(rxe_send_next(&qp->rxe, &wr), 0);
	rxe_send_retire(&qp->rxe, 1);
	ck_assert_uint_eq(qp->rxe.sq.ring.buf->consumer_index, 3);
	rig_stop();
}
END_TEST

START_TEST(qp_made_and_destroyed_by_the_ioctl)
{
	struct ib_uverbs_qp_cap cap = {7, 7, 2, 2, 0};
	struct ib_uverbs_attr a[] = {
		attr_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0),
		attr_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0),
		attr_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0),
		attr_object(UVERBS_ATTR_CREATE_QP_HANDLE, 0),
		attr_in(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_UD, 8),
		attr_in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 5, 8),
		attr_ptr(UVERBS_ATTR_CREATE_QP_CAP, 0, 20),
		attr_in(UVERBS_ATTR_CREATE_QP_FLAGS, IB_UVERBS_QP_CREATE_SQ_SIG_ALL, 4),
		attr_ptr(UVERBS_ATTR_CREATE_QP_RESP_CAP, 0, 20),
		attr_ptr(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 0, 4),
		attr_ptr(UVERBS_ATTR_UHW_OUT, 0, 32),
	};
	struct ib_uverbs_attr d[2];
	struct uverbs_qp *qp;

	rig_start_context();
	a[0].data = make_pd();
	a[1].data = a[2].data = make_cq(8, -1, NULL);
	a[6].data = user_put(&cap, sizeof(cap));
	a[8].data = user_alloc(20);
	a[9].data = user_alloc(4);
	a[10].data = user_alloc(32);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, a, ARRAY_SIZE(a)), 0);
	qp = object_of(UOBJ_QP, (uint32_t)a[3].data);
	ck_assert(qp->sq_sig_all && qp->rxe.datagram);
	ck_assert_uint_eq(*(uint32_t *)user_at(a[9].data), rnic_qp_num(qp->qp));
	d[0] = attr_object(UVERBS_ATTR_DESTROY_QP_HANDLE, a[3].data);
	d[1] = attr_ptr(UVERBS_ATTR_DESTROY_QP_RESP, user_alloc(4), 4);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, d, 2), 0);
	a[7].data = IB_UVERBS_QP_CREATE_SCATTER_FCS;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, a, ARRAY_SIZE(a)),
			 -EOPNOTSUPP);
	a[7].data = 1;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, a, ARRAY_SIZE(a)),
			 -EINVAL);
	rig_stop();
}
END_TEST

static int64_t multicast(uint32_t number, uint32_t qp, const uint8_t gid[16])
{
	struct ib_uverbs_attach_mcast req = {.qp_handle = qp};

	memcpy(req.gid, gid, 16);
	return do_write(number, &req, sizeof(req), NULL, 0);
}

START_TEST(multicast_binds_a_ud_qp_until_it_is_detached)
{
	static const uint8_t v6[16] = {0xff, 0x0e, [15] = 7}, unicast[16] = {0xfd, [15] = 7};
	static const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 7};
	struct ib_uverbs_create_qp_resp rc, ud;
	struct rxe_create_qp_resp uhw;
	struct ib_uverbs_create_qp req;

	rig_start_context();
	good(&req);
	ck_assert_int_eq(make_qp(&req, &rc, &uhw), 0);
	req.qp_type = IB_UVERBS_QPT_UD;
	ck_assert_int_eq(make_qp(&req, &ud, &uhw), 0);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_ATTACH_MCAST, rc.qp_handle, v6), -EINVAL);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_ATTACH_MCAST, ud.qp_handle, unicast), -EINVAL);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_DETACH_MCAST, ud.qp_handle, v6), -EINVAL);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_ATTACH_MCAST, ud.qp_handle, v6), 32);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_ATTACH_MCAST, ud.qp_handle, v4), 32);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_DETACH_MCAST, ud.qp_handle, v6), 32);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, ud.qp_handle), -EBUSY);
	ck_assert_int_eq(multicast(IB_USER_VERBS_CMD_DETACH_MCAST, ud.qp_handle, v4), 32);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, ud.qp_handle), 0);
	rig_stop();
}
END_TEST

TCase *verbs_qp_tcase(void)
{
	TCase *tc = tcase_create("qp");

	tcase_add_test(tc, qp_gets_what_its_rings_hold);
	tcase_add_test(tc, qp_of_the_most_that_the_device_has_is_made);
	tcase_add_loop_test(tc, qp_refuses_what_the_kernel_refuses, 0, (int)ARRAY_SIZE(refusals));
	tcase_add_test(tc, qp_needs_room_for_the_provider);
	tcase_add_test(tc, qp_with_an_srq_has_no_receive_ring);
	tcase_add_test(tc, qp_goes_up_and_can_be_asked);
	tcase_add_test(tc, modify_refuses_what_the_kernel_refuses);
	tcase_add_test(tc, controlled_qkeys_are_for_root);
	tcase_add_test(tc, sends_below_rts_get_einval_and_are_never_a_silent_doorbell);
	tcase_add_test(tc, reset_empties_both_rings);
	tcase_add_test(tc, qp_made_and_destroyed_by_the_ioctl);
	tcase_add_test(tc, multicast_binds_a_ud_qp_until_it_is_detached);
	return tc;
}
