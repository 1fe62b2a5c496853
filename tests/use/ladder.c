/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Brings a queue pair to a state. */
#include "ladder.h"

#include <stddef.h>

#define NOBODY 0xfffffe
#define KEY_OF_NOBODY 0x7fffff00

const char *ladder_type_name(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? "RC" : type == IBV_QPT_UC ? "UC" : "UD";
}

struct ibv_qp_attr ladder_attr(const struct rig *r, enum ibv_qp_state to)
{
	return (struct ibv_qp_attr){
		.qp_state = to,
		.path_mtu = IBV_MTU_1024,
		.qkey = 0x11111111,
		.rq_psn = 0x123456,
		.sq_psn = 0x654321,
		.dest_qp_num = NOBODY,
		.qp_access_flags = RIG_ACCESS,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = r->gid,
				    .sgid_index = (uint8_t)r->gid_index,
				    .hop_limit = 61,
				    .traffic_class = 8,
				    .flow_label = 0x12345}},
		.max_rd_atomic = 3,
		.max_dest_rd_atomic = 5,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 8,
		.retry_cnt = 1,
		.rnr_retry = 2,
	};
}

int ladder_mask(enum ibv_qp_type type, enum ibv_qp_state to)
{
	bool rc = type == IBV_QPT_RC, ud = type == IBV_QPT_UD;
	int mask = IBV_QP_STATE;

	if (to == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (to == IBV_QPS_RTR && !ud)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (to == IBV_QPS_RTR && rc)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (to == IBV_QPS_RTS)
		mask |= IBV_QP_SQ_PSN;
	if (to == IBV_QPS_RTS && rc)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return mask;
}

enum ibv_qp_state ladder_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

static void step(struct rig *r, struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = ladder_attr(r, to);

	MUST(!ibv_modify_qp(qp, &attr, ladder_mask(qp->qp_type, to)));
}

void ladder_to(struct rig *r, struct ibv_qp *qp, enum ibv_qp_state state)
{
	step(r, qp, IBV_QPS_RESET);
	if (state == IBV_QPS_RESET)
		return;
	step(r, qp, IBV_QPS_INIT);
	for (int s = IBV_QPS_RTR; s <= (int)state && s <= IBV_QPS_SQD && state != IBV_QPS_ERR; s++)
		step(r, qp, (enum ibv_qp_state)s);
	if (state == IBV_QPS_ERR)
		step(r, qp, IBV_QPS_ERR);
}

static struct ibv_ah *ah_make(struct rig *r)
{
	struct ibv_ah_attr attr = ladder_attr(r, IBV_QPS_RTR).ah_attr;
	struct ibv_ah *ah = ibv_create_ah(r->pd, &attr);

	MUST(ah);
	return ah;
}

enum ibv_qp_state ladder_fail(struct rig *r, struct ibv_qp *qp)
{
	struct ibv_sge sge = {4096, 64, KEY_OF_NOBODY};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_ah *ah = NULL;
	struct ibv_wc wc;

	if (qp->qp_type == IBV_QPT_UD) {
		ah = ah_make(r);
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = NOBODY;
	}
	MUST(!ibv_post_send(qp, &wr, &bad));
	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE));
	if (wc.status != IBV_WC_LOC_PROT_ERR)
		rig_fail("a send from nobody's memory: %s", ibv_wc_status_str(wc.status));
	if (ah)
		MUST(!ibv_destroy_ah(ah));
	return ladder_state(qp);
}
