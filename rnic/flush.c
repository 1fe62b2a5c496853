/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a QP in ERR does, and the send queue of one in SQE. Sends posted later kick the QP; receives
 * kick nothing, so a timer looks for them, more and more seldom, and stops when none came for about
 * ten seconds.
 */
#include "config.h"

#include "rnic/flush.h"

#include <stddef.h>

#include "rnic/recv.h"
#include "rnic/requester.h"
#include "rnic/responder.h"
#include "rnic/transport.h"

#define FLUSH_TURN 1024	     /* requests */
#define SENDS_END_TURNS 1024 /* max_qp_wr requests */
#define FLUSH_MS_MAX 8192    /* 1 + 2 + 4 + ... + 4096 ms are about ten seconds */
#define NS_PER_MS 1000000ull

static bool send_flush(struct rnic_qp *qp)
{
	struct requester *req = qp->req;
	struct rnic_send_wr wr;

	if (req->una != req->tail) {
		requester_complete(qp, RNIC_WC_WR_FLUSH_ERR);
		return true;
	}
	if (qp->init.ops->send_next(qp->init.user, &wr) == 0)
		return false;
	send_wr_complete(qp, wr.slot, wr.op, wr.flags, 0, RNIC_WC_WR_FLUSH_ERR);
	return true;
}

/* The QP takes nothing from its SRQ any more (IBA unverified). */
static void last_wqe_reached(struct rnic_qp *qp)
{
	struct rnic_async event = {.type = RNIC_EVENT_QP_LAST_WQE_REACHED, .qp = qp};

	if (!qp->init.srq || qp->resp->last_wqe)
		return;
	qp->resp->last_wqe = true;
	qp->dev->cfg.ops->async_event(qp->dev->cfg.host, &event);
}

bool flush_turn(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;
	uint32_t n = 0;

	while (n < FLUSH_TURN && send_flush(qp))
		n++;
	while (n < FLUSH_TURN && recv_flush(qp))
		n++;
	if (n < FLUSH_TURN)
		last_wqe_reached(qp);
	if (n) {
		req->flush_ms = 1;
		timer_arm(qp->dev, &qp->rnr_timer, now + NS_PER_MS);
	}
	return n == FLUSH_TURN;
}

bool flush_sends(struct rnic_qp *qp)
{
	uint32_t n = 0;

	while (n < FLUSH_TURN && send_flush(qp))
		n++;
	return n == FLUSH_TURN;
}

/* Nothing of the send queue waits any more. */
static void sends_stop(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	timer_disarm(qp->dev, &qp->retry_timer);
	timer_disarm(qp->dev, &qp->rnr_timer);
	req->deadline = 0;
	req->pause = PAUSE_NONE;
	req->draining = false;
	qp->attr.sq_draining = 0;
	peer_detach(&req->share);
	if (req->ud_held) {
		req->ud_held = false;
		send_wr_complete(qp, req->ud_wr->slot, req->ud_wr->op, req->ud_wr->flags, 0,
				 RNIC_WC_WR_FLUSH_ERR);
	}
}

void flush_sends_begin(struct rnic_qp *qp)
{
	sends_stop(qp);
	transport_wait_update(qp);
	if (flush_sends(qp))
		qp_activate(qp);
}

void flush_sends_end(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	/* What was posted before this belongs to SQE; the count is for a client that never stops.
	 */
	for (int i = 0; i < SENDS_END_TURNS && flush_sends(qp); i++)
		;
	req->una = req->cur = req->tail;
	req->cur_off = 0;
	req->pend_n = 0;
	req->una_psn = req->max_psn = req->psn;
}

void flush_begin(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	sends_stop(qp);
	qp->resp->wait_mem = NULL;
	qp->resp->n_jobs = 0;
	transport_wait_update(qp);
	req->flush_ms = 1;
	timer_arm(qp->dev, &qp->rnr_timer, now + NS_PER_MS);
	/* At once: who sees the first completion may look for the others. */
	if (flush_turn(qp, now))
		qp_activate(qp);
}

void flush_timer_fired(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;
	uint32_t waited = req->flush_ms;

	if (flush_turn(qp, now)) {
		qp_activate(qp);
		return;
	}
	if (qp->rnr_timer.pos || waited >= FLUSH_MS_MAX)
		return;
	req->flush_ms = 2 * waited;
	timer_arm(qp->dev, &qp->rnr_timer, now + req->flush_ms * NS_PER_MS);
}
