/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibv_modify_qp with values that are not possible; transitions and attributes have modify.c. */
#include "refusals.h"

#include <errno.h>
#include <string.h>

/* One step with attributes that `spoil` has made wrong. */
static int step_wrong(struct use *u, struct ibv_qp *qp, enum ibv_qp_state from,
		      enum ibv_qp_state to, int more, void (*spoil)(struct ibv_qp_attr *attr))
{
	struct ibv_qp_attr attr = ladder_attr(&u->r, to);
	int mask = from == to ? 0 : ladder_mask(qp->qp_type, to), rc;

	ladder_to(&u->r, qp, from);
	if (spoil)
		spoil(&attr);
	rc = ibv_modify_qp(qp, &attr, mask | more);
	if (rc && ladder_state(qp) != from)
		return -1;
	return rc;
}

#define SPOIL(what, statement)                                                                     \
	static void spoil_##what(struct ibv_qp_attr *attr)                                         \
	{                                                                                          \
		statement;                                                                         \
	}

#define WRONG(what, qp, from, to, more, statement)                                                 \
	SPOIL(what, statement)                                                                     \
	static int what(struct use *u)                                                             \
	{                                                                                          \
		return step_wrong(u, u->qp, IBV_QPS_##from, IBV_QPS_##to, more, spoil_##what);     \
	}

WRONG(port_0, rc, RESET, INIT, 0, attr->port_num = 0)
WRONG(port_2, rc, RESET, INIT, 0, attr->port_num = 2)
WRONG(pkey_index_1, rc, RESET, INIT, 0, attr->pkey_index = 1)
WRONG(access_zero_based, rc, RESET, INIT, 0, attr->qp_access_flags |= IBV_ACCESS_ZERO_BASED)
WRONG(access_unknown, rc, RESET, INIT, 0, attr->qp_access_flags |= 1 << 15)
WRONG(mtu_0, rc, INIT, RTR, 0, attr->path_mtu = 0)
WRONG(mtu_6, rc, INIT, RTR, 0, attr->path_mtu = 6)
WRONG(mtu_above_active, uc, INIT, RTR, 0, attr->path_mtu = IBV_MTU_2048)
WRONG(no_grh, rc, INIT, RTR, 0, attr->ah_attr.is_global = 0)
WRONG(av_port_2, rc, INIT, RTR, 0, attr->ah_attr.port_num = 2)
WRONG(sgid_empty, rc, INIT, RTR, 0, attr->ah_attr.grh.sgid_index = 200)
WRONG(min_rnr_timer_32, rc, INIT, RTR, 0, attr->min_rnr_timer = 32)
WRONG(max_dest_rd_atomic_129, rc, INIT, RTR, 0, attr->max_dest_rd_atomic = 129)
WRONG(timeout_32, rc, RTR, RTS, 0, attr->timeout = 32)
WRONG(retry_cnt_8, rc, RTR, RTS, 0, attr->retry_cnt = 8)
WRONG(rnr_retry_8, rc, RTR, RTS, 0, attr->rnr_retry = 8)
WRONG(max_rd_atomic_129, rc, RTR, RTS, 0, attr->max_rd_atomic = 129)
WRONG(cur_state_wrong, rc, RTR, RTS, IBV_QP_CUR_STATE, attr->cur_qp_state = IBV_QPS_SQD)
WRONG(cur_state_7, rc, RTR, RTS, IBV_QP_CUR_STATE, attr->cur_qp_state = 7)
WRONG(state_7, rc, INIT, RTR, 0, attr->qp_state = 7)
WRONG(mig_state_3, rc, RTS, RTS, IBV_QP_PATH_MIG_STATE, attr->path_mig_state = 3)
WRONG(alt_port_2, rc, RTS, RTS, IBV_QP_ALT_PATH, attr->alt_port_num = 2)
WRONG(rate_limit, rc, RTS, RTS, IBV_QP_RATE_LIMIT, attr->rate_limit = 1)
WRONG(bit_30, rc, RTS, RTS, 1 << 30, attr->rate_limit = 1)
WRONG(sqd_no_grh, rc, SQD, SQD, IBV_QP_AV, attr->ah_attr.is_global = 0)
WRONG(sqd_timeout_255, rc, SQD, SQD, IBV_QP_TIMEOUT, attr->timeout = 255)

static int of_two_versions(struct use *u)
{
	struct ibv_qp_attr attr = ladder_attr(&u->r, IBV_QPS_RTR);

	ladder_to(&u->r, u->rc, IBV_QPS_INIT);
	memset(attr.ah_attr.grh.dgid.raw, 0, 16);
	attr.ah_attr.grh.dgid.raw[0] = 0xfd;
	attr.ah_attr.grh.dgid.raw[15] = 1;
	return ibv_modify_qp(u->rc, &attr, ladder_mask(IBV_QPT_RC, IBV_QPS_RTR));
}

static int qp_of_no_handle(struct use *u)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp forged = *u->rc;

	forged.handle = 0x00ffffff;
	return ibv_modify_qp(&forged, &attr, IBV_QP_STATE);
}

static int query_of_no_handle(struct use *u)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_qp forged = *u->rc;

	forged.handle = 0x00ffffff;
	return ibv_query_qp(&forged, &attr, IBV_QP_STATE, &init);
}

/* A WRITE to a peer that never answers: it drains until it gives up, and that takes a while. */
static int back_to_rts(struct use *u)
{
	struct ibv_sge sge = {(uintptr_t)u->buf, 8, u->mr->lkey};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .timeout = 0};
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = rig_qp(&u->r, IBV_QPT_RC);
	int rc;

	rig_connect_with(&u->r, qp, 0xfffffe, 0, 7, 7); /* timeout 0: it waits for ever */
	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)u->buf, u->mr->rkey));
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	MUST(attr.qp_state == IBV_QPS_SQD && attr.sq_draining);
	attr.qp_state = IBV_QPS_RTS;
	rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	MUST(attr.qp_state == IBV_QPS_SQD && attr.sq_draining);
	MUST(!ibv_destroy_qp(qp));
	return rc;
}

#define ROW(fn, expected, words)                                                                   \
	{                                                                                          \
#fn, fn, expected, words                                                           \
	}

const struct refusal refusals_modify[] = {
	ROW(port_0, EINVAL, "there is only port 1"),
	ROW(port_2, EINVAL, "there is only port 1"),
	ROW(pkey_index_1, EINVAL, "pkey_index is 1, 0 to 0 are possible"),
	ROW(access_zero_based, EINVAL, "qp_access_flags 0x20 are not known"),
	ROW(access_unknown, EINVAL, "qp_access_flags 0x8000 are not known"),
	ROW(mtu_0, EINVAL, "path_mtu is 0, 1 to 3 are possible"),
	ROW(mtu_6, EINVAL, "path_mtu is 6, 1 to 3 are possible"),
	ROW(mtu_above_active, EINVAL, "path_mtu is 4, 1 to 3 are possible: the port's active_mtu"),
	ROW(no_grh, EINVAL, "the address has no GRH, which RoCE needs"),
	ROW(av_port_2, EINVAL, "there is only port 1"),
	ROW(sgid_empty, ENODATA, "GID index 200 is empty"),
	ROW(min_rnr_timer_32, EINVAL, "min_rnr_timer is 32, 0 to 31 are possible"),
	ROW(max_dest_rd_atomic_129, EINVAL, "max_dest_rd_atomic is 129, 0 to 128 are possible"),
	ROW(timeout_32, EINVAL, "timeout is 32, 0 to 31 are possible"),
	ROW(retry_cnt_8, EINVAL, "retry_cnt is 8, 0 to 7 are possible"),
	ROW(rnr_retry_8, EINVAL, "rnr_retry is 8, 0 to 7 are possible"),
	ROW(max_rd_atomic_129, EINVAL, "max_rd_atomic is 129, 0 to 128 are possible"),
	ROW(cur_state_wrong, EINVAL, "it is in RTR, not in SQD as cur_qp_state says"),
	ROW(cur_state_7, EINVAL, "there is no such state"),
	ROW(state_7, EINVAL, "there is no such state"),
	ROW(mig_state_3, EINVAL, "path_mig_state is 3, 0 to 2 are possible"),
	ROW(alt_port_2, EINVAL, "there is only port 1"),
	ROW(rate_limit, EOPNOTSUPP, NULL),
	ROW(bit_30, EOPNOTSUPP, NULL),
	ROW(sqd_no_grh, EINVAL, "the address has no GRH, which RoCE needs"),
	ROW(sqd_timeout_255, EINVAL, "timeout is 255, 0 to 31 are possible"),
	ROW(of_two_versions, EINVAL, "is IPv4, the destination is not"),
	ROW(qp_of_no_handle, EINVAL, "handle 16777215"),
	ROW(query_of_no_handle, EINVAL, "handle 16777215"),
	ROW(back_to_rts, EINVAL, "its send queue is still draining"),
};
const unsigned int n_refusals_modify = sizeof(refusals_modify) / sizeof(refusals_modify[0]);
