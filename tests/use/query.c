/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibv_query_qp: what was set, in each state; the next PSNs; the capacities as they were made. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ladder.h"

#define ALL ((IBV_QP_DEST_QPN << 1) - 1)
#define SAME(field) MUST(got->field == set.field)

static void query(struct ibv_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init)
{
	memset(attr, 0xee, sizeof(*attr));
	MUST(!ibv_query_qp(qp, attr, ALL, init));
	MUST(attr->qp_state == qp->state && attr->cur_qp_state == attr->qp_state);
}

static void same_path(const struct ibv_ah_attr *got, const struct ibv_ah_attr *set)
{
	MUST(!memcmp(got->grh.dgid.raw, set->grh.dgid.raw, 16));
	MUST(got->grh.sgid_index == set->grh.sgid_index);
	MUST(got->grh.hop_limit == set->grh.hop_limit);
	MUST(got->grh.traffic_class == set->grh.traffic_class);
	MUST(got->grh.flow_label == set->grh.flow_label);
	MUST(got->is_global && got->port_num == 1);
}

/* Whatever the steps up to there have set. */
static void same_as_set(struct rig *r, const struct ibv_qp_attr *got, enum ibv_qp_type type,
			enum ibv_qp_state state)
{
	struct ibv_qp_attr set = ladder_attr(r, state);
	bool connected = type != IBV_QPT_UD, rc = type == IBV_QPT_RC;

	SAME(port_num);
	SAME(pkey_index);
	if (connected)
		SAME(qp_access_flags);
	else
		SAME(qkey);
	if (state >= IBV_QPS_RTR && connected) {
		SAME(path_mtu);
		SAME(dest_qp_num);
		SAME(rq_psn);
		same_path(&got->ah_attr, &set.ah_attr);
	}
	if (state >= IBV_QPS_RTR && rc) {
		SAME(max_dest_rd_atomic);
		SAME(min_rnr_timer);
	}
	if (state < IBV_QPS_RTS)
		return;
	SAME(sq_psn);
	if (rc) {
		SAME(timeout);
		SAME(retry_cnt);
		SAME(rnr_retry);
		SAME(max_rd_atomic);
	}
}

static void same_caps(const struct ibv_qp_init_attr *got, const struct ibv_qp_init_attr *made)
{
	MUST(got->cap.max_send_wr == made->cap.max_send_wr);
	MUST(got->cap.max_recv_wr == made->cap.max_recv_wr);
	MUST(got->cap.max_send_sge == made->cap.max_send_sge);
	MUST(got->cap.max_recv_sge == made->cap.max_recv_sge);
	MUST(got->cap.max_inline_data == made->cap.max_inline_data);
	MUST(got->qp_type == made->qp_type && got->sq_sig_all == made->sq_sig_all);
	MUST(got->send_cq == made->send_cq && got->recv_cq == made->recv_cq && !got->srq);
}

static void states(struct rig *r, enum ibv_qp_type type, int sig_all)
{
	struct ibv_qp_init_attr init, made = {.send_cq = r->cq,
					      .recv_cq = r->cq,
					      .cap = {20, 30, 3, 5, 100},
					      .qp_type = type,
					      .sq_sig_all = sig_all};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &made);
	struct ibv_qp_attr empty, got;

	MUST(qp);
	query(qp, &empty, &init);
	MUST(empty.qp_state == IBV_QPS_RESET && !empty.dest_qp_num && !empty.qp_access_flags);
	for (int s = IBV_QPS_INIT; s <= IBV_QPS_SQD; s++) {
		ladder_to(r, qp, (enum ibv_qp_state)s);
		query(qp, &got, &init);
		MUST(got.qp_state == (enum ibv_qp_state)s && !got.sq_draining);
		same_as_set(r, &got, type, (enum ibv_qp_state)s);
		same_caps(&init, &made);
	}
	ladder_to(r, qp, IBV_QPS_ERR);
	query(qp, &got, &init);
	MUST(got.qp_state == IBV_QPS_ERR);
	same_as_set(r, &got, type, IBV_QPS_INIT);
	ladder_to(r, qp, IBV_QPS_RESET);
	query(qp, &got, &init);
	MUST(!memcmp(&got, &empty, sizeof(got)));
	same_caps(&init, &made);
	MUST(!ibv_destroy_qp(qp));
}

/* Three packets further, at both ends. */
static void psns(struct rig *r)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr got;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	rig_pair(r, IBV_QPT_RC, qp);
	for (int i = 0; i < 3; i++) {
		MUST(!rig_recv(qp[1], NULL, 0));
		MUST(!rig_post(qp[0], IBV_WR_SEND, NULL, 0, 0, 0));
		for (int n = 0; n < 2; n++)
			MUST(rig_wait(r->cq, &wc, RIG_PATIENCE) && wc.status == IBV_WC_SUCCESS);
	}
	query(qp[0], &got, &init);
	MUST(got.sq_psn == RIG_PAIR_PSN + 3 && got.rq_psn == RIG_PAIR_PSN);
	query(qp[1], &got, &init);
	MUST(got.sq_psn == RIG_PAIR_PSN && got.rq_psn == RIG_PAIR_PSN + 3);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	states(&r, IBV_QPT_RC, 1);
	states(&r, IBV_QPT_UC, 0);
	states(&r, IBV_QPT_UD, 1);
	psns(&r);
	rig_close(&r);
	return 0;
}
