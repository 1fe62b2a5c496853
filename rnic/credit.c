/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Credits.
 *
 * A responder tells with each ACK how many receives it has for messages that have not completed.
 * Its requester begins no more messages that take a receive than that beyond the acknowledged ones;
 * of the next it sends a packet at a time, when nothing else is in flight, to learn of new receives
 * (the specification calls that limited). SSN and LSN of the specification serve to count
 * just this; counting the entries of the ring does not care in how many requests a READ is asked
 * for.
 *
 * Until the first ACK, and when it says so, there is no limit: an RNR NAK answers what comes too
 * early in any case. SRQs have no credits to give, since others may take the receives.
 */
#include "config.h"

#include "rnic/credit.h"

#include "bth/aeth.h"
#include "rnic/recv.h"
#include "rnic/requester.h"

uint8_t credit_code(const struct rnic_qp *qp)
{
	uint32_t n;

	if (!qp->dev->credits || qp->init.srq)
		return AETH_CREDITS_INVALID;
	n = qp->init.ops->recv_count(qp->init.rq_user);
	return aeth_credit_code(n + recv_is_held(qp));
}

void credit_received(struct rnic_qp *qp, uint8_t syndrome)
{
	if (aeth_kind(syndrome) == AETH_ACK)
		qp->req->credits = aeth_credits(aeth_value(syndrome));
}

static bool takes_receive(enum rnic_wr_op op)
{
	return op == RNIC_WR_SEND || op == RNIC_WR_SEND_IMM || op == RNIC_WR_SEND_INV ||
	       op == RNIC_WR_WRITE_IMM;
}

/* Messages before entry cur that take a receive and are not acknowledged. */
static uint32_t takers(const struct requester *req)
{
	uint32_t n = 0;

	for (uint32_t i = req->una; i != req->cur; i++)
		n += takes_receive(send_entry(req, i)->op);
	return n;
}

uint32_t credit_allowed(struct rnic_qp *qp, struct send_entry *e, uint32_t want, bool *limited)
{
	struct requester *req = qp->req;

	*limited = false;
	if (!want)
		return 0;
	if (!qp->dev->credits || req->credits == AETH_CREDITS_NONE || e->credited ||
	    !takes_receive(e->op))
		return want;
	if (takers(req) < req->credits) {
		e->credited = true;
		return want;
	}
	*limited = true;
	return req->psn == req->una_psn ? 1 : 0;
}
