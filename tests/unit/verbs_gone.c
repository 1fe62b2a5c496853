/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A context whose device has gone. */
#include "config.h"

#include <errno.h>

#include "verbs_rig.h"

enum { DEVICE_FATAL = 8 };

static uint32_t pd, cq, qp, mr, srq;
static struct channel *comp, *async;

static void device_goes(void)
{
	uverbs_disassociate(&rig.context);
	rig.context.dev = NULL;
}

static void start_with_objects(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;
	struct ib_uverbs_create_qp create = {0};
	struct ib_uverbs_create_qp_resp qp_resp;
	struct ib_uverbs_reg_mr_resp mr_resp;
	struct ib_uverbs_create_srq_resp srq_resp;
	struct rxe_create_qp_resp qp_uhw;
	struct rxe_create_srq_resp srq_uhw;

	rig_start_context();
	async = ((struct uverbs_context *)rig.context.uverbs)->async;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, 8, &resp, 4), 16);
	comp = channel_of_fd((int32_t)resp.fd);
	pd = make_pd();
	cq = make_cq(16, (int32_t)resp.fd, NULL);
	qp_request(pd, cq, &create);
	ck_assert_int_eq(make_qp(&create, &qp_resp, &qp_uhw), 0);
	qp = qp_resp.qp_handle;
	ck_assert_int_eq(make_mr(pd, user_alloc(64), 64, 1, &mr_resp), 0);
	mr = mr_resp.mr_handle;
	ck_assert_int_eq(make_srq(pd, 4, 1, 0, &srq_resp, &srq_uhw), 0);
	srq = srq_resp.srq_handle;
}

START_TEST(gone_device_takes_all_objects)
{
	struct rnic_counts n;

	start_with_objects();
	device_goes();
	rnic_device_counts(rig.dev.rnic, &n);
	ck_assert_uint_eq(n.pd + n.mr + n.cq + n.srq + n.qp + n.ah, 0);
	ck_assert_uint_eq(rig.session.umem_refs, 0);
	rig_stop();
}
END_TEST

START_TEST(gone_device_is_told_then_event_descriptors_end)
{
	start_with_objects();
	device_goes();
	ck_assert_uint_eq(async->n_records, 1);
	ck_assert_uint_eq(async->record[0].word[0], 0);
	ck_assert_uint_eq((uint32_t)async->record[0].word[1], DEVICE_FATAL);
	ck_assert(async->finished);
	ck_assert(comp->finished);
	rig_stop();
}
END_TEST

START_TEST(gone_device_answers_eio)
{
	struct ib_uverbs_query_port port = {.port_num = 1};
	struct ib_uverbs_query_port_resp port_resp;
	struct ib_uverbs_reg_mr_resp mr_resp;
	struct ib_uverbs_alloc_pd pd_req = {0};
	struct ib_uverbs_alloc_pd_resp pd_resp;
	struct ib_uverbs_get_context again = {0};
	struct ib_uverbs_get_context_resp again_resp;

	start_with_objects();
	device_goes();
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_PORT, &port, sizeof(port), &port_resp,
				  sizeof(port_resp)),
			 -EIO);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_ALLOC_PD, &pd_req, sizeof(pd_req), &pd_resp,
				  sizeof(pd_resp)),
			 -EIO);
	ck_assert_int_eq(make_mr(pd, user_alloc(64), 64, 1, &mr_resp), -EIO);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_GET_CONTEXT, &again, sizeof(again), &again_resp,
				  sizeof(again_resp)),
			 -EIO);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, NULL, 0), -EIO);
	ck_assert_uint_eq(rig.n_logs, 0);
	rig_stop();
}
END_TEST

START_TEST(gone_device_lets_handles_be_destroyed_once)
{
	start_with_objects();
	device_goes();
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEREG_MR, mr), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, qp), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_QP, qp), -ENOENT);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_SRQ, srq), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_CQ, cq), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), -ENOENT);
	rig_stop();
}
END_TEST

START_TEST(gone_device_still_counts_events_that_were_read)
{
	struct ib_uverbs_destroy_cq req = {0};
	struct ib_uverbs_destroy_cq_resp resp;

	start_with_objects();
	for (int i = 0; i < 3; i++)
		uverbs_cq_notify(((struct uverbs_cq *)object_of(UOBJ_CQ, cq))->cq);
	comp->n_read = 2;
	device_goes();
	ck_assert_uint_eq(comp->n_records, 2);
	req.cq_handle = cq;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_DESTROY_CQ, &req, 16, &resp, 8), 24);
	ck_assert_uint_eq(resp.comp_events_reported, 2);
	ck_assert_uint_eq(resp.async_events_reported, 0);
	rig_stop();
}
END_TEST

START_TEST(gone_device_hears_no_doorbell)
{
	start_with_objects();
	device_goes();
	uverbs_kick(&rig.context, qp);
	rig_stop();
}
END_TEST

TCase *verbs_gone_tcase(void)
{
	TCase *tc = tcase_create("gone");

	tcase_add_test(tc, gone_device_takes_all_objects);
	tcase_add_test(tc, gone_device_is_told_then_event_descriptors_end);
	tcase_add_test(tc, gone_device_answers_eio);
	tcase_add_test(tc, gone_device_lets_handles_be_destroyed_once);
	tcase_add_test(tc, gone_device_still_counts_events_that_were_read);
	tcase_add_test(tc, gone_device_hears_no_doorbell);
	return tc;
}
