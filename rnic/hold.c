/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Acknowledgements that wait for a reply: see hold.h. */
#include "config.h"

#include "rnic/hold.h"

#include <stddef.h>

#include "rnic/responder.h"

#define REPLY_NS 50000 /* a reply in time */
#define LATE_COSTS 4   /* so many in time */
#define NEED_MAX 256   /* answers in time that make trust, after some were waited for in vain */
#define FORGIVES 64    /* answers that were waited for and came halve that again */

static bool waits(const struct rnic_qp *qp)
{
	return qp->held.next != &qp->held;
}

static uint32_t need(const struct rnic_qp *qp)
{
	const struct ack_hold *h = &qp->resp->hold;

	return h->need ? h->need : qp->dev->acks_trust;
}

static void waited_in_vain(struct rnic_qp *qp)
{
	struct ack_hold *h = &qp->resp->hold;

	h->need = need(qp) < NEED_MAX ? 2 * need(qp) : NEED_MAX;
	h->score = h->kept = 0;
	h->asked = false;
}

static void waited_well(struct rnic_qp *qp)
{
	struct ack_hold *h = &qp->resp->hold;

	if (++h->kept < FORGIVES)
		return;
	h->kept = 0;
	h->need = need(qp) / 2 > qp->dev->acks_trust ? need(qp) / 2 : 0;
}

static void answered(struct ack_hold *h, bool in_time)
{
	if (in_time)
		h->score += h->score < NEED_MAX + LATE_COSTS;
	else
		h->score -= h->score < LATE_COSTS ? h->score : LATE_COSTS;
	h->asked = false;
}

bool hold_begin(struct rnic_qp *qp, uint64_t now)
{
	struct responder *resp = qp->resp;
	struct ack_hold *h = &resp->hold;

	if (resp->tail != TAIL_ACK || !resp->tail_may_wait)
		return false;
	/* One more message, and no answer yet. */
	if (h->asked)
		answered(h, false);
	h->asked = true;
	h->since = now;
	if (!qp->dev->acks_trust || resp->n_jobs || qp->attr.state != RNIC_QPS_RTS ||
	    h->score < need(qp) || waits(qp))
		return false;
	qp_list_add_tail(&qp->dev->held, &qp->held);
	return true;
}

void hold_replied(struct rnic_qp *qp, uint64_t now)
{
	struct ack_hold *h = &qp->resp->hold;
	bool in_time = now - h->since <= REPLY_NS;

	if (h->asked)
		answered(h, in_time);
	if (!waits(qp))
		return;
	if (in_time)
		waited_well(qp);
	responder_send_tail(qp, now);
}

void hold_end(struct rnic_qp *qp, uint64_t now)
{
	if (waits(qp))
		responder_send_tail(qp, now);
}

void rnic_acks_may_wait(struct rnic_device *dev, uint32_t answers)
{
	dev->acks_trust = answers;
}

bool rnic_acks_wait(const struct rnic_device *dev)
{
	return dev->held.next != &dev->held;
}

void rnic_acks_release(struct rnic_device *dev, uint64_t before, uint64_t now)
{
	while (rnic_acks_wait(dev)) {
		struct rnic_qp *qp =
			(struct rnic_qp *)((char *)dev->held.next - offsetof(struct rnic_qp, held));

		if (qp->resp->hold.since > before)
			return;
		waited_in_vain(qp);
		responder_send_tail(qp, now);
	}
}
