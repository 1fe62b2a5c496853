/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Modify and query queue pair. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <time.h>

#include "rnic/qp.h"
#include "verbs/abi/doorbell.h"
#include "verbs/kernel/uverbs_av.h"
#include "verbs/kernel/uverbs_obj.h"

#define STANDARD_BITS ((RNIC_QP_DEST_QPN << 1) - 1)
#define PORT 1
#define QKEY_CONTROLLED 0x80000000u /* IBA 3.5.3: not for any program */

/* The clock of the daemon's loop. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void attr_fill(const struct ib_uverbs_modify_qp *in, struct rnic_qp_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->state = (enum rnic_qp_state)in->qp_state;
	a->cur_state = (enum rnic_qp_state)in->cur_qp_state;
	a->path_mtu = (enum rnic_mtu)in->path_mtu;
	a->path_mig_state = in->path_mig_state;
	a->qkey = in->qkey;
	a->rq_psn = in->rq_psn;
	a->sq_psn = in->sq_psn;
	a->dest_qpn = in->dest_qp_num;
	a->access_flags = in->qp_access_flags;
	a->pkey_index = in->pkey_index;
	a->en_sqd_async_notify = in->en_sqd_async_notify;
	a->max_rd_atomic = in->max_rd_atomic;
	a->max_dest_rd_atomic = in->max_dest_rd_atomic;
	a->min_rnr_timer = in->min_rnr_timer;
	a->port_num = in->port_num;
	a->timeout = in->timeout;
	a->retry_cnt = in->retry_cnt;
	a->rnr_retry = in->rnr_retry;
	av_from_qp_dest(&in->dest, &a->av);
	a->alt_port_num = in->alt_port_num;
	a->alt_timeout = in->alt_timeout;
	a->alt_pkey_index = in->alt_pkey_index;
	av_from_qp_dest(&in->alt_dest, &a->alt_av);
}

static int modify_check(struct ucmd *cmd, const struct ib_uverbs_modify_qp *in)
{
	uint32_t mask = in->attr_mask;

	if ((mask & RNIC_QP_PORT && in->port_num != PORT) ||
	    (mask & RNIC_QP_AV && in->dest.port_num != PORT) ||
	    (mask & RNIC_QP_ALT_PATH &&
	     (in->alt_port_num != PORT || in->alt_dest.port_num != PORT))) {
		ucmd_log(cmd, "QP handle %u: there is only port 1", in->qp_handle);
		return -EINVAL;
	}
	if ((mask & RNIC_QP_STATE && in->qp_state >= RNIC_QPS_COUNT) ||
	    (mask & RNIC_QP_CUR_STATE && in->cur_qp_state >= RNIC_QPS_COUNT)) {
		ucmd_log(cmd, "QP handle %u: there is no such state", in->qp_handle);
		return -EINVAL;
	}
	if (mask & RNIC_QP_QKEY && in->qkey & QKEY_CONTROLLED &&
	    !session_is_root(cmd->call->session)) {
		ucmd_log(cmd,
			 "QP handle %u: Q_Key 0x%x is a controlled one, which only root may set: "
			 "leave the top bit out",
			 in->qp_handle, in->qkey);
		return -EPERM;
	}
	return 0;
}

static int qp_modify(struct ucmd *cmd, const struct ib_uverbs_modify_qp *in, uint32_t known)
{
	struct rnic_qp_attr attr;
	struct uverbs_qp *qp;
	struct uobject *u;
	int rc;

	if (in->attr_mask & ~known) {
		ucmd_log(cmd, "QP handle %u: attributes 0x%x are not known", in->qp_handle,
			 in->attr_mask & ~known);
		return -EOPNOTSUPP;
	}
	rc = ucmd_object(cmd, UOBJ_QP, in->qp_handle, &u);
	if (!rc)
		rc = modify_check(cmd, in);
	if (rc)
		return rc;
	qp = u->object;
	attr_fill(in, &attr);
	rc = rnic_qp_modify(qp->qp, &attr, in->attr_mask, now_ns());
	if (rc)
		return rc;
	if (in->attr_mask & RNIC_QP_STATE && attr.state == RNIC_QPS_RESET)
		rxe_qp_reset(&qp->rxe);
	if (u->handle < RNIC_DB_HANDLES)
		doorbell_set_slow(context_doorbell(cmd->context), u->handle,
				  rnic_qp_state(qp->qp) < RNIC_QPS_RTS);
	return 0;
}

int cmd_modify_qp(struct ucmd *cmd)
{
	struct ib_uverbs_modify_qp req;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	return rc ? rc : qp_modify(cmd, &req, STANDARD_BITS);
}

int cmd_modify_qp_ex(struct ucmd *cmd)
{
	struct ib_uverbs_ex_modify_qp req;
	struct ib_uverbs_ex_modify_qp_resp resp = {0};
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	/* Rate limits are known to the ABI, and to no rxe device. */
	rc = qp_modify(cmd, &req.base, STANDARD_BITS);
	if (rc)
		return rc;
	resp.response_length =
		(uint32_t)(cmd->core.outlen < sizeof(resp) ? cmd->core.outlen : sizeof(resp));
	return ucmd_response(cmd, &resp, sizeof(resp));
}

static void query_fill(const struct uverbs_qp *qp, struct ib_uverbs_query_qp_resp *r)
{
	struct rnic_qp_attr a;

	rnic_qp_query(qp->qp, &a);
	memset(r, 0, sizeof(*r));
	av_to_qp_dest(&a.av, &r->dest);
	av_to_qp_dest(&a.alt_av, &r->alt_dest);
	r->max_send_wr = qp->send.wr;
	r->max_send_sge = qp->send.sge;
	r->max_inline_data = qp->send.inline_data;
	r->max_recv_wr = qp->recv.wr;
	r->max_recv_sge = qp->recv.sge;
	r->qkey = a.qkey;
	r->rq_psn = a.rq_psn;
	r->sq_psn = a.sq_psn;
	r->dest_qp_num = a.dest_qpn;
	r->qp_access_flags = a.access_flags;
	r->pkey_index = a.pkey_index;
	r->alt_pkey_index = a.alt_pkey_index;
	r->qp_state = (uint8_t)a.state;
	r->cur_qp_state = (uint8_t)a.cur_state;
	r->path_mtu = (uint8_t)a.path_mtu;
	r->path_mig_state = a.path_mig_state;
	r->sq_draining = a.sq_draining;
	r->max_rd_atomic = a.max_rd_atomic;
	r->max_dest_rd_atomic = a.max_dest_rd_atomic;
	r->min_rnr_timer = a.min_rnr_timer;
	r->port_num = a.port_num;
	r->timeout = a.timeout;
	r->retry_cnt = a.retry_cnt;
	r->rnr_retry = a.rnr_retry;
	r->alt_port_num = a.alt_port_num;
	r->alt_timeout = a.alt_timeout;
	r->sq_sig_all = qp->sq_sig_all;
}

int cmd_query_qp(struct ucmd *cmd)
{
	struct ib_uverbs_query_qp req;
	struct ib_uverbs_query_qp_resp resp;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_QP, req.qp_handle, &u);
	if (rc)
		return rc;
	query_fill(u->object, &resp);
	return ucmd_response(cmd, &resp, sizeof(resp));
}
