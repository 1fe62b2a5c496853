/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's QPs: create, modify with exactly the attributes named, query; the barrier. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"

#define BARRIER_PEER_QPN 0xfffffe

#define ATTR(key, mask, field)                                                                     \
	{                                                                                          \
		(key), (mask), offsetof(struct ibv_qp_attr, field),                                \
			sizeof(((struct ibv_qp_attr *)0)->field)                                   \
	}

static const struct {
	const char *key;
	int mask;
	size_t offset, size;
} attrs[] = {
	ATTR("state", IBV_QP_STATE, qp_state),
	ATTR("cur_state", IBV_QP_CUR_STATE, cur_qp_state),
	ATTR("en_sqd_async_notify", IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify),
	ATTR("access", IBV_QP_ACCESS_FLAGS, qp_access_flags),
	ATTR("pkey_index", IBV_QP_PKEY_INDEX, pkey_index),
	ATTR("port", IBV_QP_PORT, port_num),
	ATTR("qkey", IBV_QP_QKEY, qkey),
	ATTR("path_mtu", IBV_QP_PATH_MTU, path_mtu),
	ATTR("timeout", IBV_QP_TIMEOUT, timeout),
	ATTR("retry_cnt", IBV_QP_RETRY_CNT, retry_cnt),
	ATTR("rnr_retry", IBV_QP_RNR_RETRY, rnr_retry),
	ATTR("rq_psn", IBV_QP_RQ_PSN, rq_psn),
	ATTR("max_rd_atomic", IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	ATTR("alt_timeout", IBV_QP_ALT_PATH, alt_timeout),
	ATTR("min_rnr_timer", IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	ATTR("sq_psn", IBV_QP_SQ_PSN, sq_psn),
	ATTR("max_dest_rd_atomic", IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	ATTR("path_mig_state", IBV_QP_PATH_MIG_STATE, path_mig_state),
	ATTR("dest_qpn", IBV_QP_DEST_QPN, dest_qp_num),
	ATTR("rate_limit", IBV_QP_RATE_LIMIT, rate_limit),
};
#define ATTRS (sizeof(attrs) / sizeof(attrs[0]))

void agent_av(const struct agent *ag, struct args *a, struct ibv_ah_attr *av)
{
	const char *dgid = args_str(a, "dgid", "");

	*av = (struct ibv_ah_attr){
		.grh = {.sgid_index = (uint8_t)args_num(a, "sgid_index", (uint64_t)ag->gid_index),
			.traffic_class = (uint8_t)args_num(a, "tclass", 0),
			.hop_limit = (uint8_t)args_num(a, "hops", 64),
			.flow_label = (uint32_t)args_num(a, "flow", 0)},
		.sl = (uint8_t)args_num(a, "sl", 0),
		.is_global = (uint8_t)args_num(a, "grh", 1),
		.port_num = (uint8_t)args_num(a, "av_port", 1)};
	av->grh.dgid.raw[10] = av->grh.dgid.raw[11] = 0xff;
	if (inet_pton(AF_INET, dgid, av->grh.dgid.raw + 12) != 1 &&
	    inet_pton(AF_INET6, dgid, av->grh.dgid.raw) != 1)
		args_wrong(a, "dgid=%s is no address", dgid);
}

/* ATOMIC_WRITEs are posted to QPs only that were made for them, if the provider knows them at all.
 */
static struct ibv_qp *qp_create(struct agent *ag, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
	struct ibv_qp_init_attr_ex ex = {.send_cq = init->send_cq,
					 .recv_cq = init->recv_cq,
					 .srq = init->srq,
					 .cap = init->cap,
					 .qp_type = init->qp_type,
					 .sq_sig_all = init->sq_sig_all,
					 .comp_mask = IBV_QP_INIT_ATTR_PD |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					 .pd = pd,
					 .send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE};
	struct ibv_qp *qp = init->qp_type == IBV_QPT_RC ? ibv_create_qp_ex(ag->ctx, &ex) : NULL;

	if (qp)
		return qp;
	errno = 0;
#endif
	(void)ag;
	return ibv_create_qp(pd, init);
}

int agent_qp(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *pd = agent_find(ag, A_PD, a, "pd", "pd"), *o;
	struct agent_object *send_cq = agent_find(ag, A_CQ, a, "send_cq", "cq");
	struct agent_object *recv_cq = agent_find(ag, A_CQ, a, "recv_cq", "cq");
	struct agent_object *srq =
		args_has(a, "srq") ? agent_find(ag, A_SRQ, a, "srq", NULL) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = (enum ibv_qp_type)args_num(a, "type", IBV_QPT_RC),
		.sq_sig_all = (int)args_num(a, "sig_all", 0),
		.cap = {.max_send_wr = (uint32_t)args_num(a, "send_wr", 16),
			.max_recv_wr = (uint32_t)args_num(a, "recv_wr", 16),
			.max_send_sge = (uint32_t)args_num(a, "send_sge", 4),
			.max_recv_sge = (uint32_t)args_num(a, "recv_sge", 4),
			.max_inline_data = (uint32_t)args_num(a, "inline", 256)}};
	int ret;

	if (!pd || !send_cq || !recv_cq || a->error[0])
		return 0;
	init.send_cq = send_cq->cq;
	init.recv_cq = recv_cq->cq;
	init.srq = srq ? srq->srq : NULL;
	o = agent_new(ag, A_QP, a);
	errno = 0;
	o->qp = qp_create(ag, pd->pd, &init);
	ret = agent_made(ag, o, o->qp);
	if (ret == 0)
		text_add(reply, "qpn=%u", o->qp->qp_num);
	return ret;
}

int agent_modify(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_QP, a, "qp", "qp");
	struct ibv_qp_attr attr = {0};
	int mask = 0;

	(void)reply;
	for (size_t i = 0; i < ATTRS; i++) {
		uint64_t v;

		if (!args_has(a, attrs[i].key))
			continue;
		v = args_num(a, attrs[i].key, 0);
		mask |= attrs[i].mask;
		memcpy((uint8_t *)&attr + attrs[i].offset, &v, attrs[i].size);
	}
	if (args_flag(a, "av")) {
		mask |= IBV_QP_AV;
		agent_av(ag, a, &attr.ah_attr);
	}
	if (!o || a->error[0])
		return 0;
	return ibv_modify_qp(o->qp, &attr, mask);
}

int agent_query(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_QP, a, "qp", "qp");
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {0};
	int ret;

	if (!o)
		return 0;
	ret = ibv_query_qp(o->qp, &attr, (1 << 21) - 1, &init);
	for (size_t i = 0; ret == 0 && i < ATTRS; i++) {
		uint64_t v = 0;

		memcpy(&v, (uint8_t *)&attr + attrs[i].offset, attrs[i].size);
		text_add(reply, "%s=%" PRIu64 " ", attrs[i].key, v);
	}
	if (ret == 0)
		text_add(reply, "sq_draining=%u tclass=%u hops=%u sgid_index=%u flow=%u",
			 attr.sq_draining, attr.ah_attr.grh.traffic_class,
			 attr.ah_attr.grh.hop_limit, attr.ah_attr.grh.sgid_index,
			 attr.ah_attr.grh.flow_label);
	return ret;
}

void agent_barrier_destroy(struct agent *ag)
{
	if (ag->barrier_qp)
		ibv_destroy_qp(ag->barrier_qp);
	if (ag->barrier_cq)
		ibv_destroy_cq(ag->barrier_cq);
	if (ag->barrier_pd)
		ibv_dealloc_pd(ag->barrier_pd);
	ag->barrier_qp = NULL;
	ag->barrier_cq = NULL;
	ag->barrier_pd = NULL;
}

/* barrier dgid=PEER: a QP whose acknowledgement of a WRITE shows that earlier packets are dealt
 * with. */
int agent_barrier(struct agent *ag, struct args *a, struct text *reply)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				   .path_mtu = IBV_MTU_256,
				   .dest_qp_num = BARRIER_PEER_QPN,
				   .min_rnr_timer = 12};

	agent_barrier_destroy(ag);
	ag->barrier_pd = ibv_alloc_pd(ag->ctx);
	ag->barrier_cq = ibv_create_cq(ag->ctx, 1, NULL, NULL, 0);
	if (!ag->barrier_pd || !ag->barrier_cq)
		return errno;
	init.send_cq = init.recv_cq = ag->barrier_cq;
	ag->barrier_qp = ibv_create_qp(ag->barrier_pd, &init);
	if (!ag->barrier_qp)
		return errno;
	if (ibv_modify_qp(ag->barrier_qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return errno;
	attr.qp_state = IBV_QPS_RTR;
	agent_av(ag, a, &attr.ah_attr);
	if (ibv_modify_qp(ag->barrier_qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return errno;
	/* In RTR its first packet would raise COMM_EST. */
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(ag->barrier_qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		return errno;
	text_add(reply, "qpn=%u", ag->barrier_qp->qp_num);
	return 0;
}

static int multicast(struct agent *ag, struct args *a,
		     int (*how)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid))
{
	struct agent_object *o = agent_find(ag, A_QP, a, "qp", "qp");
	struct ibv_ah_attr av;

	agent_av(ag, a, &av);
	return o && !a->error[0] ? how(o->qp, &av.grh.dgid, 0) : 0;
}

int agent_attach(struct agent *ag, struct args *a, struct text *reply)
{
	(void)reply;
	return multicast(ag, a, ibv_attach_mcast);
}

int agent_detach(struct agent *ag, struct args *a, struct text *reply)
{
	(void)reply;
	return multicast(ag, a, ibv_detach_mcast);
}
