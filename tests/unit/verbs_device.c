/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Headers of commands; the context; queries of the device. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs_rig.h"

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

START_TEST(probe_for_the_ioctl_gets_enospc)
{
	struct ib_uverbs_attr a = attr_in(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_QUERY_DEVICE, 8);

	rig_start();
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, &a, 1),
			 -ENOSPC);
	rig_stop();
}
END_TEST

START_TEST(commands_before_get_context_get_einval)
{
	struct ib_uverbs_alloc_pd req = {0};
	uint32_t resp;

	rig_start();
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_ALLOC_PD, &req, 8, &resp, 4), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(get_context_comes_once_and_brings_the_async_descriptor)
{
	struct ib_uverbs_get_context req = {0};
	struct ib_uverbs_get_context_resp resp;

	rig_start();
	ck_assert_int_eq(do_write(0, &req, sizeof(req), &resp, sizeof(resp)), 16);
	ck_assert_uint_eq(resp.num_comp_vectors, 2);
	ck_assert_ptr_nonnull(channel_of_fd((int32_t)resp.async_fd));
	ck_assert_uint_eq(channel_of_fd((int32_t)resp.async_fd)->record_size, 16);
	ck_assert_int_eq(do_write(0, &req, sizeof(req), &resp, sizeof(resp)), -EINVAL);
	rig_stop();
}
END_TEST

static int64_t raw_write(uint32_t number, uint16_t in_words, uint16_t out_words, uint64_t len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t rest[248];
	} w = {{number, in_words, out_words}, {0}};

	return uverbs_write(&rig.call, &rig.context, user_put(&w, sizeof(w)), len);
}

static const struct {
	uint32_t number;
	uint16_t in_words, out_words;
	uint64_t len;
	int64_t ret;
} headers[] = {
	{IB_USER_VERBS_CMD_ALLOC_PD, 4, 1, 7, -EINVAL},	 /* no whole header */
	{IB_USER_VERBS_CMD_ALLOC_PD, 5, 1, 16, -EINVAL}, /* length and words differ */
	{IB_USER_VERBS_CMD_ALLOC_PD, 3, 1, 12, -ENOSPC}, /* too short a request */
	{IB_USER_VERBS_CMD_ALLOC_PD, 4, 0, 16, -ENOSPC}, /* too short an answer */
	{IB_USER_VERBS_CMD_ALLOC_PD, 4, 1, 16, -EFAULT}, /* response pointer 0 */
	{IB_USER_VERBS_CMD_BIND_MW, 4, 1, 16, -EOPNOTSUPP},
	{IB_USER_VERBS_CMD_ATTACH_MCAST, 8, 0, 32, -EINVAL}, /* no such QP */
	{IB_USER_VERBS_CMD_DETACH_MCAST, 7, 0, 28, -ENOSPC},
	{IB_USER_VERBS_CMD_PEEK_CQ, 4, 0, 16, -EOPNOTSUPP},
	{IB_USER_VERBS_CMD_PEEK_CQ, 5, 0, 16, -EINVAL},
	{200, 4, 0, 16, -EOPNOTSUPP},
	{0x40000003, 4, 1, 16, -EINVAL}, /* a flag that does not exist */
	{EX | 200, 0, 0, 24, -EOPNOTSUPP},
	{EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW, 6, 0, 24, -EOPNOTSUPP},
	{EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 1, 38, 16, -EINVAL},
	{EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 2, 0, 32, -EINVAL},
	{EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 0, 0, 24, -ENOSPC},
	{EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 1, 38, 32, -EINVAL}, /* words, no response */
};

START_TEST(write_headers_are_judged_as_the_kernel_does)
{
	rig_start_context();
	ck_assert_int_eq(raw_write(headers[_i].number, headers[_i].in_words, headers[_i].out_words,
				   headers[_i].len),
			 headers[_i].ret);
	rig_stop();
}
END_TEST

START_TEST(memory_outside_the_process_gets_efault)
{
	uint64_t end = (uintptr_t)rig.user;

	rig_start_context();
	end = (uintptr_t)rig.user + USER_SIZE;
	ck_assert_int_eq(uverbs_write(&rig.call, &rig.context, end - 4, 16), -EFAULT);
	ck_assert_int_eq(uverbs_write(&rig.call, &rig.context, 0, 16), -EFAULT);
	ck_assert_int_eq(uverbs_ioctl(&rig.call, &rig.context, RDMA_VERBS_IOCTL, end), -EFAULT);
	ck_assert_int_eq(uverbs_ioctl(&rig.call, &rig.context, 17, end), -ENOTTY);
	rig_stop();
}
END_TEST

START_TEST(an_answer_that_cannot_be_written_leaves_no_object)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
	} w = {{IB_USER_VERBS_CMD_ALLOC_PD, 4, 1}, 0};
	struct rnic_counts n;

	rig_start_context();
	w.response = (uintptr_t)rig.user + USER_READONLY;
	ck_assert_int_eq(uverbs_write(&rig.call, &rig.context, user_put(&w, 16), 16), -EFAULT);
	rnic_device_counts(rig.dev.rnic, &n);
	ck_assert_uint_eq(n.pd, 0);
	rig_stop();
}
END_TEST

static void device_check(const struct ib_uverbs_query_device_resp *r)
{
	ck_assert_mem_eq(&r->node_guid, rig.dev.guid, 8);
	ck_assert_uint_eq(r->vendor_id, 0xffffff);
	ck_assert_uint_eq(r->device_cap_flags, 0x01223c76);
	ck_assert_uint_eq(r->max_qp, 1048560);
	ck_assert_uint_eq(r->max_res_rd_atom, 258048);
	ck_assert_uint_eq(r->max_total_mcast_qp_attach, 458752);
	ck_assert_uint_eq(r->local_ca_ack_delay, 15);
	ck_assert_uint_eq(r->phys_port_cnt, 1);
}

START_TEST(query_device_shows_what_rxe_shows_both_ways)
{
	struct ib_uverbs_query_device req = {0};
	struct ib_uverbs_ex_query_device ex = {0};
	struct ib_uverbs_query_device_resp resp;
	struct ib_uverbs_ex_query_device_resp ex_resp;

	rig_start_context();
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_DEVICE, &req, 8, &resp, 176), 16);
	device_check(&resp);
	ck_assert_int_eq(do_write(EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &ex, 8, &ex_resp, 304),
			 32);
	device_check(&ex_resp.base);
	ck_assert_uint_eq(ex_resp.response_length, 304);
	ck_assert_uint_eq(ex_resp.device_cap_flags_ex, 0x01223c76);
	ck_assert_int_eq(
		do_invoke(EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &ex, 8, &ex_resp, 184, NULL, 0),
		0);
	ck_assert_uint_eq(ex_resp.response_length, 184);
	ex.comp_mask = 1;
	ck_assert_int_eq(
		do_invoke(EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &ex, 8, &ex_resp, 304, NULL, 0),
		-EINVAL);
	rig_stop();
}
END_TEST

START_TEST(query_port_follows_the_port_and_knows_only_one)
{
	struct ib_uverbs_query_port req = {.port_num = 1};
	struct ib_uverbs_query_port_resp resp;

	rig_start_context();
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_PORT, &req, 16, &resp, 40), 24);
	ck_assert_uint_eq(resp.state, 4);
	ck_assert_uint_eq(resp.phys_state, 5);
	ck_assert_uint_eq(resp.active_mtu, RNIC_MTU_1024);
	ck_assert_uint_eq(resp.max_mtu, RNIC_MTU_4096);
	ck_assert_uint_eq(resp.gid_tbl_len, 1024);
	ck_assert_uint_eq(resp.link_layer, 2);
	rnic_port_set(rig.dev.rnic, false, RNIC_MTU_256);
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_PORT, &req, 16, &resp, 40), 24);
	ck_assert_uint_eq(resp.state, 1);
	req.port_num = 2;
	ck_assert_int_eq(do_write(IB_USER_VERBS_CMD_QUERY_PORT, &req, 16, &resp, 40), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(a_command_that_met_pending_memory_is_run_again_without_a_trace)
{
	struct rnic_counts n;
	uint32_t cq;

	rig_start_context();
	for (uint32_t at = 1; at <= 4; at++) {
		rig.pending_at = at;
		make_pd();
		rig.pending_at = at;
		cq = make_cq(10, -1, NULL);
		ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DESTROY_CQ, cq), 0);
	}
	ck_assert_uint_ge(rig.n_restarts, 5);
	rnic_device_counts(rig.dev.rnic, &n);
	ck_assert_uint_eq(n.pd, 4);
	ck_assert_uint_eq(n.cq, 0);
	rig_stop();
}
END_TEST

TCase *verbs_device_tcase(void)
{
	TCase *tc = tcase_create("device");

	tcase_add_test(tc, probe_for_the_ioctl_gets_enospc);
	tcase_add_test(tc, commands_before_get_context_get_einval);
	tcase_add_test(tc, get_context_comes_once_and_brings_the_async_descriptor);
	tcase_add_loop_test(tc, write_headers_are_judged_as_the_kernel_does, 0,
			    (int)ARRAY_SIZE(headers));
	tcase_add_test(tc, memory_outside_the_process_gets_efault);
	tcase_add_test(tc, an_answer_that_cannot_be_written_leaves_no_object);
	tcase_add_test(tc, query_device_shows_what_rxe_shows_both_ways);
	tcase_add_test(tc, query_port_follows_the_port_and_knows_only_one);
	tcase_add_test(tc, a_command_that_met_pending_memory_is_run_again_without_a_trace);
	return tc;
}
