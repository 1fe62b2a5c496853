/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * When a requester sends again, and when it gives up.
 *
 * The ACK timeout runs while a packet that asked for an acknowledgement is unanswered. It fires 2 T
 * to 3 T after the last progress (IBA 9.7.6.1.3: between T and 4 T), without back-off; by chance,
 * so that QPs whose peer is gone do not all come at once. The timer in the heap is not moved at
 * each ACK; when it fires too early it is armed for the rest.
 */
#include "config.h"

#include "rnic/retry.h"

#include <stddef.h>

#include "bth/aeth.h"
#include "bth/psn.h"
#include "rnic/flush.h"
#include "rnic/requester.h"

#define RNR_RETRY_INFINITE 7

static uint64_t timeout_ns(const struct rnic_qp *qp)
{
	uint64_t t = ib_timeout_ns(qp->attr.timeout);

	return 2 * t + (t * qp->req->jitter >> 16);
}

void retry_jitter(struct rnic_qp *qp)
{
	qp->req->jitter = (uint16_t)qp->dev->cfg.ops->random(qp->dev->cfg.host);
}

static bool in_flight(const struct requester *req)
{
	return req->una_psn != req->max_psn && req->una != req->tail;
}

void retry_progress(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	req->retries_left = qp->attr.retry_cnt;
	req->rnr_left = qp->attr.rnr_retry;
	req->gap_seen = false;
}

void retry_ack_expected(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;
	uint64_t t = timeout_ns(qp);

	if (t == 0 || req->deadline)
		return;
	req->deadline = now + t;
	if (!qp->retry_timer.pos || qp->retry_timer.deadline > req->deadline)
		timer_arm(qp->dev, &qp->retry_timer, req->deadline);
}

void retry_restart(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	if (req->deadline == 0)
		return;
	if (in_flight(req)) {
		req->deadline = now + timeout_ns(qp);
		return;
	}
	req->deadline = 0;
	timer_disarm(qp->dev, &qp->retry_timer);
}

void retry_suspend(struct rnic_qp *qp)
{
	retry_progress(qp);
	qp->req->deadline = 0;
	timer_disarm(qp->dev, &qp->retry_timer);
}

/* What is sent again has a timeout of its own, from when it is sent. */
static void send_again(struct rnic_qp *qp)
{
	qp->dev->counters.completer_retry_err++;
	qp->req->deadline = 0;
	peer_lost(&qp->req->share);
	requester_go_back(qp);
}

static void go_back_or_fail(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	if (req->retries_left == 0) {
		qp->dev->counters.retry_exceeded_err++;
		requester_fail(qp, RNIC_WC_RETRY_EXC_ERR, now);
		return;
	}
	req->retries_left--;
	send_again(qp);
}

void retry_sequence_nak(struct rnic_qp *qp, uint64_t now)
{
	qp->dev->counters.rcvd_seq_err++;
	go_back_or_fail(qp, now);
}

void retry_gap(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	(void)now;
	if (req->gap_seen || req->pause == PAUSE_MEMORY)
		return;
	req->gap_seen = true;
	send_again(qp);
}

void retry_rnr_nak(struct rnic_qp *qp, uint8_t code, uint64_t now)
{
	struct requester *req = qp->req;

	qp->dev->counters.rcvd_rnr_err++;
	if (req->rnr_left == 0) {
		qp->dev->counters.retry_rnr_exceeded_err++;
		requester_fail(qp, RNIC_WC_RNR_RETRY_EXC_ERR, now);
		return;
	}
	if (qp->attr.rnr_retry != RNR_RETRY_INFINITE)
		req->rnr_left--;
	/* The peer is there, so timeouts before this one do not count any more. */
	req->retries_left = qp->attr.retry_cnt;
	requester_go_back(qp);
	req->deadline = 0;
	timer_disarm(qp->dev, &qp->retry_timer);
	timer_arm(qp->dev, &qp->rnr_timer, now + aeth_rnr_timer_ns(code));
	if (req->pause != PAUSE_MEMORY)
		req->pause = PAUSE_RNR;
}

void retry_memory_arrived(struct rnic_qp *qp)
{
	qp->req->pause = qp->rnr_timer.pos ? PAUSE_RNR : PAUSE_NONE;
}

static void ack_timeout_fired(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	if (req->deadline == 0 || !in_flight(req))
		return;
	if (qp->attr.state != RNIC_QPS_RTS && qp->attr.state != RNIC_QPS_SQD)
		return;
	if (req->pause == PAUSE_MEMORY)
		req->deadline = now + timeout_ns(qp);
	if (now < req->deadline) {
		timer_arm(qp->dev, &qp->retry_timer, req->deadline);
		return;
	}
	req->gap_seen = false;
	retry_jitter(qp);
	qp->dev->counters.local_ack_timeout_err++;
	go_back_or_fail(qp, now);
}

static void retry_timer_fired(struct rnic_device *dev, struct rnic_timer *t, uint64_t now)
{
	(void)dev;
	ack_timeout_fired((struct rnic_qp *)((char *)t - offsetof(struct rnic_qp, retry_timer)),
			  now);
}

static void rnr_timer_fired(struct rnic_device *dev, struct rnic_timer *t, uint64_t now)
{
	struct rnic_qp *qp = (struct rnic_qp *)((char *)t - offsetof(struct rnic_qp, rnr_timer));

	(void)dev;
	if (qp->attr.state == RNIC_QPS_ERR) {
		flush_timer_fired(qp, now);
		return;
	}
	if (qp->req->pause == PAUSE_RNR)
		qp->req->pause = PAUSE_NONE;
	qp_activate(qp);
}

void retry_init(struct rnic_qp *qp)
{
	qp->retry_timer.fired = retry_timer_fired;
	qp->rnr_timer.fired = rnr_timer_fired;
}
