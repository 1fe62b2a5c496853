/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QPs of the virtual side: create, modify with exactly the attributes named, query. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/mcast.h"
#include "virtual.h"

#define QUEUE_MAX 65536

static void queues_make(struct v_object *o, const struct rnic_qp_init *init)
{
	o->sq.room = init->max_send_wr;
	o->rq.room = init->max_recv_wr;
	o->sq.send = calloc(init->max_send_wr + 1, sizeof(*o->sq.send));
	o->rq.recv = calloc(init->max_recv_wr + 1, sizeof(*o->rq.recv));
	if (!o->sq.send || !o->rq.recv)
		abort();
}

int v_qp(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *pd = v_find(v, V_PD, a, "pd", "pd"), *o;
	struct v_object *send_cq = v_find(v, V_CQ, a, "send_cq", "cq");
	struct v_object *recv_cq = v_find(v, V_CQ, a, "recv_cq", "cq");
	struct v_object *srq = args_has(a, "srq") ? v_find(v, V_SRQ, a, "srq", NULL) : NULL;
	struct rnic_qp_init init = {
		.type = (enum rnic_qp_type)args_num(a, "type", RNIC_QPT_RC),
		.max_send_wr = (uint32_t)args_num(a, "send_wr", 16),
		.max_recv_wr = (uint32_t)args_num(a, "recv_wr", 16),
		.max_send_sge = (uint32_t)args_num(a, "send_sge", 4),
		.max_recv_sge = (uint32_t)args_num(a, "recv_sge", 4),
		.max_inline = (uint32_t)args_num(a, "inline", 256),
		.sq_sig_all = args_num(a, "sig_all", 0) != 0,
		.ops = &v_personality,
	};
	int ret;

	if (!pd || !send_cq || !recv_cq || a->error[0])
		return EINVAL;
	o = v_new(v, V_QP, a);
	init.send_cq = send_cq->cq;
	init.recv_cq = recv_cq->cq;
	init.srq = srq ? srq->srq : NULL;
	init.user = o;
	o->rq_owner = srq ? srq : o;
	init.rq_user = o->rq_owner;
	if (init.max_send_wr <= QUEUE_MAX && init.max_recv_wr <= QUEUE_MAX)
		queues_make(o, &init);
	ret = v_made(v, o, rnic_qp_create(pd->pd, &init, &o->qp));
	if (ret == 0)
		text_add(reply, "qpn=%u", rnic_qp_num(o->qp));
	return ret;
}

#define ATTR(key, mask, field)                                                                     \
	{                                                                                          \
		(key), (mask), offsetof(struct rnic_qp_attr, field),                               \
			sizeof(((struct rnic_qp_attr *)0)->field)                                  \
	}

static const struct {
	const char *key;
	uint32_t mask;
	size_t offset, size;
} attrs[] = {
	ATTR("state", RNIC_QP_STATE, state),
	ATTR("cur_state", RNIC_QP_CUR_STATE, cur_state),
	ATTR("en_sqd_async_notify", RNIC_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify),
	ATTR("access", RNIC_QP_ACCESS_FLAGS, access_flags),
	ATTR("pkey_index", RNIC_QP_PKEY_INDEX, pkey_index),
	ATTR("port", RNIC_QP_PORT, port_num),
	ATTR("qkey", RNIC_QP_QKEY, qkey),
	ATTR("path_mtu", RNIC_QP_PATH_MTU, path_mtu),
	ATTR("timeout", RNIC_QP_TIMEOUT, timeout),
	ATTR("retry_cnt", RNIC_QP_RETRY_CNT, retry_cnt),
	ATTR("rnr_retry", RNIC_QP_RNR_RETRY, rnr_retry),
	ATTR("rq_psn", RNIC_QP_RQ_PSN, rq_psn),
	ATTR("max_rd_atomic", RNIC_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	ATTR("alt_timeout", RNIC_QP_ALT_PATH, alt_timeout),
	ATTR("min_rnr_timer", RNIC_QP_MIN_RNR_TIMER, min_rnr_timer),
	ATTR("sq_psn", RNIC_QP_SQ_PSN, sq_psn),
	ATTR("max_dest_rd_atomic", RNIC_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	ATTR("path_mig_state", RNIC_QP_PATH_MIG_STATE, path_mig_state),
	ATTR("dest_qpn", RNIC_QP_DEST_QPN, dest_qpn),
	ATTR("rate_limit", RNIC_QP_RATE_LIMIT, rate_limit),
};

static void attr_put(struct rnic_qp_attr *attr, size_t i, uint64_t value)
{
	memcpy((uint8_t *)attr + attrs[i].offset, &value, attrs[i].size);
}

static uint64_t attr_get(const struct rnic_qp_attr *attr, size_t i)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)attr + attrs[i].offset, attrs[i].size);
	return value;
}

static void av_read(struct args *a, struct rnic_av *av)
{
	const char *dgid = args_str(a, "dgid", "");

	*av = (struct rnic_av){.sgid_index = (uint16_t)args_num(a, "sgid_index", 1),
			       .traffic_class = (uint8_t)args_num(a, "tclass", 0),
			       .hop_limit = (uint8_t)args_num(a, "hops", 64),
			       .flow_label = (uint32_t)args_num(a, "flow", 0),
			       .sl = (uint8_t)args_num(a, "sl", 0),
			       .port_num = (uint8_t)args_num(a, "av_port", 1),
			       .grh = args_num(a, "grh", 1) != 0};
	av->dgid[10] = av->dgid[11] = 0xff;
	if (inet_pton(AF_INET, dgid, av->dgid + 12) != 1 &&
	    inet_pton(AF_INET6, dgid, av->dgid) != 1)
		args_wrong(a, "dgid=%s is no address", dgid);
}

int v_modify(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *qp = v_find(v, V_QP, a, "qp", "qp");
	struct rnic_qp_attr attr = {0};
	uint32_t mask = 0;
	int ret;

	(void)reply;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (!args_has(a, attrs[i].key))
			continue;
		mask |= attrs[i].mask;
		attr_put(&attr, i, args_num(a, attrs[i].key, 0));
	}
	if (args_flag(a, "av")) {
		mask |= RNIC_QP_AV;
		av_read(a, &attr.av);
	}
	if (!qp || a->error[0])
		return EINVAL;
	ret = -rnic_qp_modify(qp->qp, &attr, mask, v->now);
	if (!ret && mask & RNIC_QP_STATE && attr.state == RNIC_QPS_RESET)
		v_queues_empty(qp);
	return ret;
}

int v_query(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *qp = v_find(v, V_QP, a, "qp", "qp");
	struct rnic_qp_attr attr;

	if (!qp)
		return EINVAL;
	rnic_qp_query(qp->qp, &attr);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		text_add(reply, "%s=%" PRIu64 " ", attrs[i].key, attr_get(&attr, i));
	text_add(reply, "sq_draining=%u tclass=%u hops=%u sgid_index=%u flow=%u", attr.sq_draining,
		 attr.av.traffic_class, attr.av.hop_limit, attr.av.sgid_index, attr.av.flow_label);
	return 0;
}

static int multicast(struct virtual_side *v, struct args *a,
		     int (*how)(struct rnic_qp *qp, const uint8_t gid[16]))
{
	struct v_object *qp = v_find(v, V_QP, a, "qp", "qp");
	struct rnic_av av;

	av_read(a, &av);
	return qp && !a->error[0] ? -how(qp->qp, av.dgid) : EINVAL;
}

int v_attach(struct virtual_side *v, struct args *a, struct text *reply)
{
	(void)reply;
	return multicast(v, a, rnic_mcast_attach);
}

int v_detach(struct virtual_side *v, struct args *a, struct text *reply)
{
	(void)reply;
	return multicast(v, a, rnic_mcast_detach);
}
