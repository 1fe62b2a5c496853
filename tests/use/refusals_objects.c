/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Objects that cannot be made, changed or destroyed. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "refusals.h"

#define TOO_MANY (1u << 24)
#define NO_HANDLE 0x00ffffff

/* ---- PD, CQ ---- */

static int pd_busy(struct use *u)
{
	return ibv_dealloc_pd(u->r.pd);
}

static int pd_of_no_handle(struct use *u)
{
	struct ibv_pd *pd = ibv_alloc_pd(u->r.ctx);
	uint32_t handle;
	int rc;

	MUST(pd);
	handle = pd->handle;
	pd->handle = NO_HANDLE;
	rc = ibv_dealloc_pd(pd);
	MUST(rc);
	pd->handle = handle;
	MUST(!ibv_dealloc_pd(pd));
	return rc;
}

static int cq_busy(struct use *u)
{
	return ibv_destroy_cq(u->r.cq);
}

static int cq_make(struct use *u, int cqe, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(u->r.ctx, cqe, NULL, NULL, vector);

	if (!cq)
		return errno;
	MUST(!ibv_destroy_cq(cq));
	return 0;
}

static int cq_too_large(struct use *u)
{
	struct ibv_device_attr attr;

	MUST(!ibv_query_device(u->r.ctx, &attr));
	MUST(!cq_make(u, attr.max_cqe, 0));
	return cq_make(u, attr.max_cqe + 1, 0);
}

static int cq_of_nothing(struct use *u)
{
	return cq_make(u, 0, 0);
}

static int cq_vector_too_high(struct use *u)
{
	return cq_make(u, 1, u->r.ctx->num_comp_vectors);
}

static int cq_resized_too_large(struct use *u)
{
	struct ibv_device_attr attr;

	MUST(!ibv_query_device(u->r.ctx, &attr));
	return ibv_resize_cq(u->r.cq, attr.max_cqe + 1);
}

/* ---- MR ---- */

static int mr_make(struct use *u, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(u->r.pd, addr, len, access);

	if (!mr)
		return errno;
	MUST(!ibv_dereg_mr(mr));
	return 0;
}

static int mr_of_mapping(struct use *u, int prot, bool gone, int access)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	MUST(page != MAP_FAILED);
	if (gone)
		munmap(page, len);
	rc = mr_make(u, page, len, access);
	if (!gone)
		munmap(page, len);
	return rc;
}

static int mr_unmapped(struct use *u)
{
	return mr_of_mapping(u, PROT_READ | PROT_WRITE, true, RIG_ACCESS);
}

static int mr_of_read_only_memory(struct use *u)
{
	MUST(!mr_of_mapping(u, PROT_READ, false, IBV_ACCESS_REMOTE_READ));
	return mr_of_mapping(u, PROT_READ, false, IBV_ACCESS_LOCAL_WRITE);
}

static int mr_that_wraps(struct use *u)
{
	return mr_make(u, (void *)(UINTPTR_MAX - 4095), 8192, 0);
}

static int mr_remote_write_alone(struct use *u)
{
	return mr_make(u, u->buf, 64, IBV_ACCESS_REMOTE_WRITE);
}

static int mr_remote_atomic_alone(struct use *u)
{
	return mr_make(u, u->buf, 64, IBV_ACCESS_REMOTE_ATOMIC);
}

static int mr_access_unknown(struct use *u)
{
	return mr_make(u, u->buf, 64, 1 << 15);
}

static int mr_iova_elsewhere_in_its_page(struct use *u)
{
	struct ibv_mr *mr = ibv_reg_mr_iova(u->r.pd, u->buf, 64, (uintptr_t)u->buf + 8, 0);

	return mr ? 0 : errno;
}

static int mr_of_no_handle(struct use *u)
{
	uint32_t handle = u->mr->handle;
	int rc;

	u->mr->handle = NO_HANDLE;
	rc = ibv_dereg_mr(u->mr);
	MUST(rc);
	u->mr->handle = handle;
	return rc;
}

/* ---- QP ---- */

static int qp_make(struct use *u, const struct ibv_qp_cap *cap, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = u->r.cq, .recv_cq = u->r.cq, .cap = *cap, .qp_type = type};
	struct ibv_qp *qp = ibv_create_qp(u->r.pd, &init);

	if (!qp)
		return errno;
	MUST(!ibv_destroy_qp(qp));
	return 0;
}

#define QP_WRONG(what, field, limit)                                                               \
	static int what(struct use *u)                                                             \
	{                                                                                          \
		struct ibv_qp_cap cap = {1, 1, 1, 1, 0};                                           \
                                                                                                   \
		cap.field = (limit) + 1;                                                           \
		return qp_make(u, &cap, IBV_QPT_RC);                                               \
	}

QP_WRONG(qp_too_many_sends, max_send_wr, 1048576)
QP_WRONG(qp_too_many_recvs, max_recv_wr, 1048576)
QP_WRONG(qp_too_many_send_sges, max_send_sge, 32)
QP_WRONG(qp_too_many_recv_sges, max_recv_sge, 32)
QP_WRONG(qp_too_much_inline, max_inline_data, 512)

static int qp_of_raw_packets(struct use *u)
{
	return qp_make(u, &(struct ibv_qp_cap){1, 1, 1, 1, 0}, IBV_QPT_RAW_PACKET);
}

static int qp_with_flags(struct use *u)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = u->r.cq,
		.recv_cq = u->r.cq,
		.cap = {1, 1, 1, 1, 0},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = u->r.pd,
		.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(u->r.ctx, &init);

	return qp ? 0 : errno;
}

/* ---- SRQ ---- */

static int srq_make(struct use *u, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = wr, .max_sge = sge}};
	struct ibv_srq *srq = ibv_create_srq(u->r.pd, &init);

	if (!srq)
		return errno;
	MUST(!ibv_destroy_srq(srq));
	return 0;
}

static int srq_too_large(struct use *u)
{
	return srq_make(u, TOO_MANY, 1);
}

static int srq_too_many_sges(struct use *u)
{
	return srq_make(u, 1, 1000);
}

static int srq_limit_above_its_size(struct use *u)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 10, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(u->r.pd, &init);
	struct ibv_srq_attr attr = {.srq_limit = 5000};
	int rc;

	MUST(srq);
	rc = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
	MUST(!ibv_destroy_srq(srq));
	return rc;
}

static int srq_busy(struct use *u)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 10, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(u->r.pd, &init);
	struct ibv_qp_init_attr qp_init = {.send_cq = u->r.cq,
					   .recv_cq = u->r.cq,
					   .srq = srq,
					   .cap = {1, 0, 1, 0, 0},
					   .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(u->r.pd, &qp_init);
	int rc;

	MUST(srq && qp);
	rc = ibv_destroy_srq(srq);
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_srq(srq));
	return rc;
}

/* ---- AH, port, GIDs ---- */

static int ah_make(struct use *u, void (*spoil)(struct ibv_ah_attr *attr))
{
	struct ibv_ah_attr attr = ladder_attr(&u->r, IBV_QPS_RTR).ah_attr;
	struct ibv_ah *ah;

	spoil(&attr);
	ah = ibv_create_ah(u->r.pd, &attr);
	if (!ah)
		return errno;
	MUST(!ibv_destroy_ah(ah));
	return 0;
}

#define AH_WRONG(what, statement)                                                                  \
	static void spoil_##what(struct ibv_ah_attr *attr)                                         \
	{                                                                                          \
		statement;                                                                         \
	}                                                                                          \
	static int what(struct use *u)                                                             \
	{                                                                                          \
		return ah_make(u, spoil_##what);                                                   \
	}

AH_WRONG(ah_without_grh, attr->is_global = 0)
AH_WRONG(ah_port_2, attr->port_num = 2)
AH_WRONG(ah_sgid_empty, attr->grh.sgid_index = 200)

static int port_2_queried(struct use *u)
{
	struct ibv_port_attr attr;

	return ibv_query_port(u->r.ctx, 2, &attr);
}

#define ROW(fn, expected, words)                                                                   \
	{                                                                                          \
#fn, fn, expected, words                                                           \
	}

const struct refusal refusals_objects[] = {
	ROW(pd_busy, EBUSY, "objects still use it"),
	ROW(pd_of_no_handle, ENOENT, "there is no PD with handle 16777215"),
	ROW(cq_busy, EBUSY, "queues of QPs still use it"),
	ROW(cq_too_large, EINVAL, "CQ: 32768 entries, 1 to 32767 are possible"),
	ROW(cq_of_nothing, EINVAL, "CQ: 0 entries, 1 to 32767 are possible"),
	ROW(cq_vector_too_high, EINVAL, "CQ: vector 2 of 2"),
	ROW(cq_resized_too_large, EINVAL, "it cannot have 32768 entries, 32767 at most"),
	ROW(mr_unmapped, EFAULT, "4096 bytes, are not mapped for writing"),
	ROW(mr_of_read_only_memory, EFAULT, "4096 bytes, are not mapped for writing"),
	ROW(mr_that_wraps, EINVAL, "wrap around"),
	ROW(mr_remote_write_alone, EINVAL, "MR: remote write and atomic need local write"),
	ROW(mr_remote_atomic_alone, EINVAL, "MR: remote write and atomic need local write"),
	ROW(mr_access_unknown, EINVAL, "MR: access flags 0x8000 are not known"),
	ROW(mr_iova_elsewhere_in_its_page, EINVAL, "lie differently in their pages"),
	ROW(mr_of_no_handle, ENOENT, "there is no MR with handle 16777215"),
	ROW(qp_too_many_sends, EINVAL, "QP: send 1048577 WR"),
	ROW(qp_too_many_recvs, EINVAL, "receive 1048577 WR"),
	ROW(qp_too_many_send_sges, EINVAL, "QP: send 1 WR, 33 SGE"),
	ROW(qp_too_many_recv_sges, EINVAL, "receive 1 WR, 33 SGE"),
	ROW(qp_too_much_inline, EINVAL, "513 inline"),
	ROW(qp_of_raw_packets, EOPNOTSUPP, "QP: type 8 is not supported"),
	ROW(qp_with_flags, EOPNOTSUPP, NULL),
	ROW(srq_too_large, EINVAL, "SRQ: 16777216 WR, 1 SGE"),
	ROW(srq_too_many_sges, EINVAL, "SRQ: 1 WR, 1000 SGE"),
	ROW(srq_limit_above_its_size, EINVAL, "a limit of 5000 with room for"),
	ROW(srq_busy, EBUSY, "QPs still use it"),
	ROW(ah_without_grh, EINVAL, "AH: the address has no GRH, which RoCE needs"),
	ROW(ah_port_2, EINVAL, "AH: the address names port 2, there is only port 1"),
	ROW(ah_sgid_empty, ENODATA, "AH: GID index 200 is empty"),
	ROW(port_2_queried, EINVAL, "port 2"),
};
const unsigned int n_refusals_objects = sizeof(refusals_objects) / sizeof(refusals_objects[0]);
