/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Modify queue pair: first every check, each refusal with its line in the log, then the change of
 * all attributes at once, then the transport hears of it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "bth/psn.h"
#include "rnic/hold.h"
#include "rnic/qp_priv.h"

#define QPN_MASK 0xffffffu
/* Those of the kernel's: local write to MW bind, on demand, flushes, and all optional ones. */
#define ACCESS_KNOWN 0x3ff0035fu

const char *rnic_qp_state_name(enum rnic_qp_state state)
{
	static const char *const names[RNIC_QPS_COUNT] = {"RESET", "INIT", "RTR", "RTS",
							  "SQD",   "SQE",  "ERR"};

	return (unsigned int)state < RNIC_QPS_COUNT ? names[state] : "?";
}

static int states_check(struct rnic_qp *qp, const struct rnic_qp_attr *attr, uint32_t mask)
{
	enum rnic_qp_state from = qp->attr.state;

	if ((mask & RNIC_QP_STATE) && (unsigned int)attr->state >= RNIC_QPS_COUNT) {
		dev_log(qp->dev, "QP %" PRIu32 ": there is no state %d", qp->qpn, (int)attr->state);
		return -EINVAL;
	}
	if ((mask & RNIC_QP_CUR_STATE) && attr->cur_state != from) {
		dev_log(qp->dev, "QP %" PRIu32 ": it is in %s, not in %s as cur_qp_state says",
			qp->qpn, rnic_qp_state_name(from), rnic_qp_state_name(attr->cur_state));
		return -EINVAL;
	}
	return 0;
}

/* While requests are in flight the QP can but leave the send queue's states. */
static int drained_check(struct rnic_qp *qp, enum rnic_qp_state to)
{
	if (qp->attr.state != RNIC_QPS_SQD || !qp->attr.sq_draining ||
	    (to != RNIC_QPS_RTS && to != RNIC_QPS_SQD))
		return 0;
	dev_log(qp->dev,
		"QP %" PRIu32 ": its send queue is still draining: wait for SQ_DRAINED (ask for it "
		"with IBV_QP_EN_SQD_ASYNC_NOTIFY) or until a query says sq_draining 0",
		qp->qpn);
	return -EINVAL;
}

/* A number that lies above what its field or the device can hold. */
static int numbers_check(struct rnic_qp *qp, const struct rnic_qp_attr *attr, uint32_t mask)
{
	uint32_t rd = qp->dev->limits.max_qp_rd_atom;
	const struct {
		uint32_t bit;
		const char *name;
		uint32_t value, least, most;
		const char *why;
	} checks[] = {
		{RNIC_QP_PKEY_INDEX, "pkey_index", attr->pkey_index, 0, 0, "there is one P_Key"},
		{RNIC_QP_PORT, "port_num", attr->port_num, 1, 1, "there is one port"},
		{RNIC_QP_PATH_MTU, "path_mtu", (uint32_t)attr->path_mtu, RNIC_MTU_256,
		 (uint32_t)qp->dev->mtu, "the port's active_mtu is the most"},
		{RNIC_QP_TIMEOUT, "timeout", attr->timeout, 0, 31, "5 bits"},
		{RNIC_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt, 0, 7, "3 bits"},
		{RNIC_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry, 0, 7, "3 bits"},
		{RNIC_QP_MIN_RNR_TIMER, "min_rnr_timer", attr->min_rnr_timer, 0, 31, "5 bits"},
		{RNIC_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr->max_rd_atomic, 0, rd,
		 "the device's max_qp_init_rd_atom is the most"},
		{RNIC_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr->max_dest_rd_atomic, 0, rd,
		 "the device's max_qp_rd_atom is the most"},
		{RNIC_QP_PATH_MIG_STATE, "path_mig_state", attr->path_mig_state, 0, 2,
		 "MIGRATED, REARM, ARMED"},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!(mask & checks[i].bit) ||
		    (checks[i].value >= checks[i].least && checks[i].value <= checks[i].most))
			continue;
		dev_log(qp->dev,
			"QP %" PRIu32 ": %s is %" PRIu32 ", %" PRIu32 " to %" PRIu32
			" are possible: %s",
			qp->qpn, checks[i].name, checks[i].value, checks[i].least, checks[i].most,
			checks[i].why);
		return -EINVAL;
	}
	return 0;
}

static int access_check(struct rnic_qp *qp, uint32_t flags)
{
	if (!(flags & ~ACCESS_KNOWN))
		return 0;
	dev_log(qp->dev, "QP %" PRIu32 ": qp_access_flags 0x%" PRIx32 " are not known: 0x%x are",
		qp->qpn, flags & ~ACCESS_KNOWN, ACCESS_KNOWN);
	return -EINVAL;
}

static void attrs_store(struct rnic_qp_attr *to, const struct rnic_qp_attr *from, uint32_t mask)
{
	if (mask & RNIC_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify;
	if (mask & RNIC_QP_ACCESS_FLAGS)
		to->access_flags = from->access_flags;
	if (mask & RNIC_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & RNIC_QP_PORT)
		to->port_num = from->port_num;
	if (mask & RNIC_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & RNIC_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & RNIC_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & RNIC_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & RNIC_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & RNIC_QP_RQ_PSN)
		to->rq_psn = from->rq_psn & BTH_PSN_MASK;
	if (mask & RNIC_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & RNIC_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & RNIC_QP_SQ_PSN)
		to->sq_psn = from->sq_psn & BTH_PSN_MASK;
	if (mask & RNIC_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & RNIC_QP_PATH_MIG_STATE)
		to->path_mig_state = from->path_mig_state;
	if (mask & RNIC_QP_DEST_QPN)
		to->dest_qpn = from->dest_qpn & QPN_MASK;
}

static int values_check(struct rnic_qp *qp, const struct rnic_qp_attr *attr, uint32_t mask,
			struct rnic_av *av)
{
	char who[20];
	int ret = numbers_check(qp, attr, mask);

	if (ret == 0 && mask & RNIC_QP_ACCESS_FLAGS)
		ret = access_check(qp, attr->access_flags);
	if (ret < 0)
		return ret;
	if (mask & RNIC_QP_ALT_PATH) {
		/* As the kernel: path migration is InfiniBand's, not RoCE's. */
		dev_log(qp->dev,
			"QP %" PRIu32 ": RoCE has no alternate path: leave IBV_QP_ALT_PATH out",
			qp->qpn);
		return -EINVAL;
	}
	if (!(mask & RNIC_QP_AV))
		return 0;
	snprintf(who, sizeof(who), "QP %" PRIu32, qp->qpn);
	return av_resolve(qp->dev, who, &attr->av, av);
}

int rnic_qp_modify(struct rnic_qp *qp, const struct rnic_qp_attr *attr, uint32_t mask, uint64_t now)
{
	enum rnic_qp_state from = qp->attr.state;
	enum rnic_qp_state to = mask & RNIC_QP_STATE ? attr->state : from;
	struct rnic_av av;
	int ret = states_check(qp, attr, mask);

	if (ret == 0)
		ret = qp_transition_check(qp, to, mask);
	if (ret == 0)
		ret = drained_check(qp, to);
	if (ret == 0)
		ret = values_check(qp, attr, mask, &av);
	if (ret < 0)
		return ret;
	hold_end(qp, now);
	if (to == RNIC_QPS_RESET)
		qp->attr = (struct rnic_qp_attr){.state = RNIC_QPS_RESET};
	attrs_store(&qp->attr, attr, mask);
	if (mask & RNIC_QP_AV)
		qp->attr.av = av;
	qp->attr.state = to;
	if (to != from)
		qp_history_add(qp, from, false, now);
	transport_state_entered(qp, from, mask, now);
	cq_settle(qp->dev, now);
	return 0;
}
