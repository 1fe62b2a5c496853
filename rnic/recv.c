/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Receives: taken from the QP's own queue or its SRQ, filled, completed. */
#include "config.h"

#include "rnic/recv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/responder.h"
#include "rnic/sgl.h"

struct recv_state {
	bool held, bad;
	bool broken;	 /* the QP's own queue is corrupt */
	uint64_t length; /* bytes of its SGEs */
	uint64_t filled;
	struct rnic_recv_wr wr;
};

int recv_create(struct rnic_qp *qp)
{
	qp->resp->recv = malloc(sizeof(*qp->resp->recv));
	if (!qp->resp->recv)
		return -ENOMEM;
	recv_drop(qp);
	return 0;
}

void recv_destroy(struct rnic_qp *qp)
{
	free(qp->resp->recv);
	qp->resp->recv = NULL;
}

void recv_drop(struct rnic_qp *qp)
{
	qp->resp->recv->held = false;
	qp->resp->recv->broken = false;
}

static void limit_watch(struct rnic_device *dev, struct rnic_srq *srq)
{
	struct rnic_async event = {.type = RNIC_EVENT_SRQ_LIMIT_REACHED, .srq = srq};

	if (!srq->limit || srq->ops->recv_count(srq->user) >= srq->limit)
		return;
	srq->limit = 0; /* once, until it is armed again */
	dev->cfg.ops->async_event(dev->cfg.host, &event);
}

/* Whoever needs a receive of it from now on enters ERR. */
static void queue_broke(struct rnic_qp *qp)
{
	struct rnic_srq *srq = qp->init.srq;
	struct rnic_async event = {.type = srq ? RNIC_EVENT_SRQ_ERR : RNIC_EVENT_QP_FATAL,
				   .srq = srq,
				   .qp = srq ? NULL : qp};

	dev_log(qp->dev, "QP %" PRIu32 ": its %s is corrupt", qp->qpn,
		srq ? "shared receive queue" : "receive queue");
	if (srq)
		srq->error = true;
	else
		qp->resp->recv->broken = true;
	qp->dev->cfg.ops->async_event(qp->dev->cfg.host, &event);
}

static int next_taken(struct rnic_qp *qp, struct rnic_recv_wr *wr)
{
	struct rnic_srq *srq = qp->init.srq;
	int ret;

	if (srq ? srq->error : qp->resp->recv->broken)
		return -EIO;
	if (srq)
		ret = srq->ops->recv_next(srq->user, wr);
	else
		ret = qp->init.ops->recv_next(qp->init.rq_user, wr);
	if (ret == -EIO)
		queue_broke(qp);
	else if (srq && ret != 0)
		limit_watch(qp->dev, srq);
	return ret;
}

enum recv_verdict recv_hold(struct rnic_qp *qp)
{
	struct recv_state *r = qp->resp->recv;
	uint32_t max_sge = qp->init.srq ? qp->init.srq->max_sge : qp->init.max_recv_sge;
	int ret;

	if (!r->held) {
		ret = next_taken(qp, &r->wr);
		if (ret == 0)
			return RECV_NONE;
		if (ret == -EIO)
			return RECV_BAD;
		r->held = true;
		r->filled = 0;
		r->bad = ret < 0 || r->wr.num_sge > max_sge || r->wr.num_sge > RNIC_MAX_SGE;
		r->length = r->bad ? 0 : sgl_length(r->wr.sge, r->wr.num_sge);
	}
	return r->bad ? RECV_BAD : RECV_HELD;
}

bool recv_is_held(const struct rnic_qp *qp)
{
	return qp->resp->recv->held;
}

uint64_t recv_room(const struct rnic_qp *qp)
{
	return qp->resp->recv->length - qp->resp->recv->filled;
}

uint64_t recv_filled(const struct rnic_qp *qp)
{
	return qp->resp->recv->filled;
}

int recv_put(struct rnic_qp *qp, const struct iovec *piece, uint32_t n, struct rnic_mem **mem)
{
	struct recv_state *r = qp->resp->recv;
	/* A receive from an SRQ is checked against the SRQ's PD. */
	struct rnic_pd *pd = qp->init.srq ? qp->init.srq->pd : qp->pd;

	return sgl_copy(pd, r->wr.sge, r->wr.num_sge, r->filled, piece, n, SGL_WRITE, mem);
}

void recv_advance(struct rnic_qp *qp, uint32_t len)
{
	qp->resp->recv->filled += len;
}

void recv_rewind(struct rnic_qp *qp)
{
	qp->resp->recv->filled = 0;
}

void recv_complete(struct rnic_qp *qp, struct rnic_cqe *cqe)
{
	struct recv_state *r = qp->resp->recv;

	r->held = false;
	cqe->qp = qp;
	cqe->slot = r->wr.slot;
	cqe->recv = true;
	qp->dev->counters.rdma_recvs++;
	cq_complete(qp->init.recv_cq, cqe);
}

void recv_complete_error(struct rnic_qp *qp, enum rnic_wc_status status)
{
	struct rnic_cqe cqe = {
		.status = status,
		.opcode = RNIC_WC_RECV,
		.src_qpn = qp->attr.dest_qpn,
		.solicited = true,
	};

	if (qp->resp->recv->held)
		recv_complete(qp, &cqe);
}

bool recv_flush(struct rnic_qp *qp)
{
	struct recv_state *r = qp->resp->recv;

	if (!r->held) {
		int ret = qp->init.srq ? 0 : next_taken(qp, &r->wr);

		if (ret == 0 || ret == -EIO)
			return false;
		r->held = true;
	}
	recv_complete_error(qp, RNIC_WC_WR_FLUSH_ERR);
	return true;
}
