/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands through a session, in their order with what was posted to the rings. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "rnic/qp.h"
#include "verbs/abi/doorbell.h"

static struct rig rig;
static int client, context;
static struct rnic_ctl_fd info;

static void setup(void)
{
	rig_start(&rig);
	client = client_connect(&rig);
	ck_assert_int_eq(client_hello(&rig, client), 0);
	context = client_open(&rig, client, "/dev/infiniband/uverbs0", &info);
	ck_assert_int_ge(context, 0);
}

static void teardown(void)
{
	close(context);
	close(client);
	rig_stop(&rig);
}

/* write() of a command; its response's address goes to the beginning of the request. */
static int64_t command(uint32_t number, const void *in, size_t len, void *out, size_t out_len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t body[200];
	} w = {{number, (uint16_t)((8 + len) / 4), (uint16_t)(out_len / 4)}, {0}};
	struct rnic_ctl_request req = {.op = RNIC_CTL_WRITE,
				       .arg = {info.id, (uintptr_t)&w, sizeof(w.hdr) + len}};
	uint64_t response = (uintptr_t)out;

	memcpy(w.body, in, len);
	if (out_len)
		memcpy(w.body, &response, sizeof(response));
	return client_call(&rig, client, &req, NULL, NULL, 0, NULL, NULL);
}

static void modify(uint32_t qp, enum rnic_qp_state state, uint32_t mask)
{
	struct ib_uverbs_modify_qp m = {
		.qp_handle = qp, .qp_state = state, .attr_mask = mask, .port_num = 1};

	ck_assert_int_gt(command(IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m), NULL, 0), 0);
}

/* A QP that flushes all that is posted to it, and its CQ. */
static uint32_t flushing_qp(uint32_t *cq_handle, struct mminfo *sq)
{
	struct ib_uverbs_get_context gc = {0};
	struct ib_uverbs_get_context_resp gc_resp;
	struct ib_uverbs_alloc_pd pd = {0};
	struct ib_uverbs_alloc_pd_resp pd_resp;
	struct ib_uverbs_create_cq cq = {.cqe = 3, .comp_channel = -1};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct rxe_create_cq_resp rxe;
	} cq_resp;
	struct ib_uverbs_create_qp qp = {.max_send_wr = 3, .qp_type = IB_UVERBS_QPT_RC};
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct rxe_create_qp_resp rxe;
	} qp_resp;

	ck_assert_int_gt(
		command(IB_USER_VERBS_CMD_GET_CONTEXT, &gc, sizeof(gc), &gc_resp, sizeof(gc_resp)),
		0);
	close((int)gc_resp.async_fd);
	ck_assert_int_gt(
		command(IB_USER_VERBS_CMD_ALLOC_PD, &pd, sizeof(pd), &pd_resp, sizeof(pd_resp)), 0);
	ck_assert_int_gt(
		command(IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), &cq_resp, sizeof(cq_resp)),
		0);
	qp.pd_handle = pd_resp.pd_handle;
	qp.send_cq_handle = qp.recv_cq_handle = *cq_handle = cq_resp.core.cq_handle;
	ck_assert_int_gt(
		command(IB_USER_VERBS_CMD_CREATE_QP, &qp, sizeof(qp), &qp_resp, sizeof(qp_resp)),
		0);
	*sq = qp_resp.rxe.sq_mi;
	modify(qp_resp.core.qp_handle, RNIC_QPS_INIT,
	       RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS);
	modify(qp_resp.core.qp_handle, RNIC_QPS_ERR, RNIC_QP_STATE);
	return qp_resp.core.qp_handle;
}

/* Linux's rxe sends within the system call that rings its doorbell, and pyverbs' test_resize_cq
 * relies on it. */
START_TEST(command_sees_what_was_posted_before_it)
{
	struct ib_uverbs_resize_cq resize = {.cqe = 1};
	uint64_t resp[3];
	struct mminfo mi;
	uint32_t qp = flushing_qp(&resize.cq_handle, &mi);
	size_t size = (size_t)mi.offset + mi.size;
	uint8_t *file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, context, 0);

	ck_assert_ptr_ne(file, MAP_FAILED);
	((struct rxe_queue_buf *)(void *)(file + mi.offset))->producer_index = 3;
	doorbell_kick((struct rnic_doorbell *)(void *)file, qp);
	ck_assert_int_eq(
		command(IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize), resp, sizeof(resp)),
		-EINVAL);
	munmap(file, size);
}
END_TEST

TCase *kernel_command_tcase(void)
{
	TCase *tc = tcase_create("command");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, command_sees_what_was_posted_before_it);
	return tc;
}
