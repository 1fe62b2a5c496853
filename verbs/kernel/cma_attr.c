/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What rdma_cm says about the QP of a connection: attributes for ibv_modify_qp. */
#include "config.h"

#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "rnic/qp.h"
#include "verbs/kernel/ucma_priv.h"

void cma_ah_attr(const struct cma_id *id, struct ib_uverbs_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	memcpy(ah->grh.dgid, id->av.dgid, sizeof(ah->grh.dgid));
	ah->grh.flow_label = id->av.flow_label;
	ah->grh.sgid_index = (uint8_t)id->av.sgid_index;
	ah->grh.hop_limit = id->av.hop_limit;
	ah->grh.traffic_class = id->av.traffic_class;
	ah->is_global = 1;
	ah->port_num = 1;
}

static void attr_init(const struct cma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_PORT;
	attr->port_num = 1;
	if (id->qp_type == RNIC_QPT_UD) {
		attr->qp_attr_mask |= RNIC_QP_QKEY;
		attr->qkey = id->qkey ? id->qkey : CMA_UDP_QKEY;
		return;
	}
	attr->qp_attr_mask |= RNIC_QP_ACCESS_FLAGS;
	attr->qp_access_flags = RNIC_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC;
}

static void attr_rtr(const struct cma_id *id, struct ib_uverbs_qp_attr *attr)
{
	enum rnic_mtu own = rnic_port_mtu(id->dev->rnic);

	attr->qp_attr_mask = RNIC_QP_STATE;
	if (id->qp_type == RNIC_QPT_UD)
		return;
	attr->qp_attr_mask |= RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN;
	cma_ah_attr(id, &attr->ah_attr);
	attr->path_mtu = id->path_mtu < (uint8_t)own ? id->path_mtu : (uint32_t)own;
	attr->dest_qp_num = id->remote_qpn;
	/* The starting PSN of a REQ or REP is the one at which its receiver begins to send. */
	attr->rq_psn = id->psn;
	if (id->qp_type == RNIC_QPT_UC)
		return;
	attr->qp_attr_mask |= RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER;
	attr->max_dest_rd_atomic = id->responder_resources;
	attr->min_rnr_timer = 0;
}

static void attr_rts(const struct cma_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = RNIC_QP_STATE | RNIC_QP_SQ_PSN;
	attr->sq_psn = id->remote_psn;
	if (id->qp_type != RNIC_QPT_RC)
		return;
	attr->qp_attr_mask |=
		RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY | RNIC_QP_MAX_QP_RD_ATOMIC;
	attr->timeout = id->ack_timeout_set ? id->ack_timeout
			: id->passive	    ? id->remote_ack_timeout
					    : CMA_ACK_TIMEOUT;
	attr->retry_cnt = id->retry_count;
	attr->rnr_retry = id->rnr_retry_count;
	attr->max_rd_atomic = id->initiator_depth;
}

void cma_qp_attr(const struct cma_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	switch (state) {
	case RNIC_QPS_INIT:
		attr_init(id, attr);
		break;
	case RNIC_QPS_RTR:
		attr_rtr(id, attr);
		break;
	case RNIC_QPS_RTS:
		attr_rts(id, attr);
		break;
	default:
		attr->qp_attr_mask = RNIC_QP_STATE;
	}
}
