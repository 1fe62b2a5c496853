/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands as libibverbs would give them. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs_rig.h"

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static int64_t write_run(uint64_t addr, uint64_t len)
{
	int64_t ret;

	rig.n_reads = 0;
	ret = uverbs_write(&rig.call, &rig.context, addr, len);
	while (ret == -EINPROGRESS) {
		rig.n_restarts++;
		ret = uverbs_write(&rig.call, &rig.context, addr, len);
	}
	return ret;
}

static int64_t plain_write(uint32_t number, const void *req, size_t len, void *resp, size_t out_len)
{
	struct ib_uverbs_cmd_hdr hdr = {number, (uint16_t)((8 + len) / 4), (uint16_t)(out_len / 4)};
	uint64_t out = user_alloc(out_len), addr = user_alloc(8 + len);
	int64_t ret;

	memcpy(user_at(addr), &hdr, 8);
	memcpy(user_at(addr + 8), req, len);
	if (out_len)
		memcpy(user_at(addr + 8), &out, 8);
	ret = write_run(addr, 8 + len);
	if (out_len)
		memcpy(resp, user_at(out), out_len);
	return ret;
}

int64_t do_write(uint32_t number, const void *req, size_t len, void *resp, size_t out_len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_ex_cmd_hdr ex;
	} h = {{number, (uint16_t)(len / 8), (uint16_t)(out_len / 8)}, {0}};
	uint64_t addr;
	int64_t ret;

	if (!(number & EX))
		return plain_write(number, req, len, resp, out_len);
	h.ex.response = out_len ? user_alloc(out_len) : 0;
	addr = user_alloc(sizeof(h) + len);
	memcpy(user_at(addr), &h, sizeof(h));
	memcpy(user_at(addr + sizeof(h)), req, len);
	ret = write_run(addr, sizeof(h) + len);
	if (out_len)
		memcpy(resp, user_at(h.ex.response), out_len);
	return ret;
}

struct ib_uverbs_attr attr_in(uint16_t id, uint64_t value, uint16_t len)
{
	return (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = value};
}

struct ib_uverbs_attr attr_ptr(uint16_t id, uint64_t addr, uint16_t len)
{
	return attr_in(id, addr, len);
}

struct ib_uverbs_attr attr_object(uint16_t id, uint64_t handle)
{
	return attr_in(id, handle, 0);
}

int64_t do_ioctl(uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	size_t size = n * sizeof(*attrs);
	struct ib_uverbs_ioctl_hdr hdr = {.length = (uint16_t)(sizeof(hdr) + size),
					  .object_id = object,
					  .method_id = method,
					  .num_attrs = n,
					  .driver_id = RDMA_DRIVER_RXE};
	uint64_t addr = user_alloc(sizeof(hdr) + size);
	int64_t ret;

	memcpy(user_at(addr), &hdr, sizeof(hdr));
	if (size)
		memcpy(user_at(addr + sizeof(hdr)), attrs, size);
	rig.n_reads = 0;
	ret = uverbs_ioctl(&rig.call, &rig.context, RDMA_VERBS_IOCTL, addr);
	while (ret == -EINPROGRESS) {
		rig.n_restarts++;
		ret = uverbs_ioctl(&rig.call, &rig.context, RDMA_VERBS_IOCTL, addr);
	}
	if (size)
		memcpy(attrs, user_at(addr + sizeof(hdr)), size);
	return ret;
}

int64_t do_invoke(uint32_t number, const void *req, size_t len, void *resp, size_t out_len,
		  void *uhw, size_t uhw_len)
{
	struct ib_uverbs_attr a[4];
	uint64_t inline_in = 0, out = user_alloc(out_len), hw = user_alloc(uhw_len);
	uint16_t n = 0;
	int64_t ret;

	memcpy(&inline_in, req, len <= 8 ? len : 0);
	a[n++] = attr_in(UVERBS_ATTR_WRITE_CMD, number, 8);
	a[n++] = attr_in(UVERBS_ATTR_CORE_IN, len <= 8 ? inline_in : user_put(req, len),
			 (uint16_t)len);
	if (out_len)
		a[n++] = attr_ptr(UVERBS_ATTR_CORE_OUT, out, (uint16_t)out_len);
	if (uhw_len)
		a[n++] = attr_ptr(UVERBS_ATTR_UHW_OUT, hw, (uint16_t)uhw_len);
	ret = do_ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, a, n);
	if (out_len)
		memcpy(resp, user_at(out), out_len);
	if (uhw_len)
		memcpy(uhw, user_at(hw), uhw_len);
	return ret;
}

uint32_t make_pd(void)
{
	struct ib_uverbs_alloc_pd req = {0};
	struct ib_uverbs_alloc_pd_resp resp;

	ck_assert_int_eq(
		do_write(IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req), &resp, sizeof(resp)), 16);
	return resp.pd_handle;
}

uint32_t make_cq(uint32_t cqe, int32_t channel_fd, struct mminfo *mi)
{
	struct ib_uverbs_create_cq req = {
		.cqe = cqe, .comp_channel = channel_fd, .user_handle = 0xc0};
	struct ib_uverbs_create_cq_resp resp;
	struct rxe_create_cq_resp uhw;

	ck_assert_int_eq(do_invoke(IB_USER_VERBS_CMD_CREATE_CQ, &req, sizeof(req), &resp,
				   sizeof(resp), &uhw, sizeof(uhw)),
			 0);
	if (mi)
		*mi = uhw.mi;
	return resp.cq_handle;
}

void qp_request(uint32_t pd, uint32_t cq, struct ib_uverbs_create_qp *req)
{
	*req = (struct ib_uverbs_create_qp){.user_handle = 0x99,
					    .pd_handle = pd,
					    .send_cq_handle = cq,
					    .recv_cq_handle = cq,
					    .max_send_wr = 7,
					    .max_recv_wr = 7,
					    .max_send_sge = 2,
					    .max_recv_sge = 2,
					    .max_inline_data = 33,
					    .qp_type = IB_UVERBS_QPT_RC};
}

int64_t make_qp(const struct ib_uverbs_create_qp *req, struct ib_uverbs_create_qp_resp *resp,
		struct rxe_create_qp_resp *uhw)
{
	return do_invoke(IB_USER_VERBS_CMD_CREATE_QP, req, sizeof(*req), resp, sizeof(*resp), uhw,
			 sizeof(*uhw));
}

int64_t make_mr(uint32_t pd, uint64_t addr, uint64_t len, uint32_t access,
		struct ib_uverbs_reg_mr_resp *resp)
{
	struct ib_uverbs_reg_mr req = {.start = addr,
				       .length = len,
				       .hca_va = addr,
				       .pd_handle = pd,
				       .access_flags = access};

	return do_invoke(IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), resp, sizeof(*resp), NULL, 0);
}

int64_t make_ah(uint32_t pd, uint8_t sgid_index, struct ib_uverbs_create_ah_resp *resp,
		struct rxe_create_ah_resp *uhw)
{
	struct ib_uverbs_create_ah req = {
		.pd_handle = pd,
		.attr = {.grh = {.dgid = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 2},
				 .sgid_index = sgid_index,
				 .hop_limit = 64},
			 .is_global = 1,
			 .port_num = 1},
	};

	return do_invoke(IB_USER_VERBS_CMD_CREATE_AH, &req, sizeof(req), resp, sizeof(*resp), uhw,
			 sizeof(*uhw));
}

int64_t make_srq(uint32_t pd, uint32_t wr, uint32_t sge, uint32_t limit,
		 struct ib_uverbs_create_srq_resp *resp, struct rxe_create_srq_resp *uhw)
{
	struct ib_uverbs_create_srq req = {
		.pd_handle = pd, .max_wr = wr, .max_sge = sge, .srq_limit = limit};

	return do_invoke(IB_USER_VERBS_CMD_CREATE_SRQ, &req, sizeof(req), resp, sizeof(*resp), uhw,
			 sizeof(*uhw));
}

int64_t destroy(uint32_t number, uint32_t handle)
{
	struct ib_uverbs_destroy_cq req = {.cq_handle = handle}; /* as for QPs and SRQs */
	uint64_t resp;

	switch (number) {
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		return do_invoke(number, &req, sizeof(req), &resp, 8, NULL, 0);
	case IB_USER_VERBS_CMD_DESTROY_QP:
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		return do_invoke(number, &req, sizeof(req), &resp, 4, NULL, 0);
	default:
		return do_invoke(number, &handle, 4, NULL, 0, NULL, 0);
	}
}
