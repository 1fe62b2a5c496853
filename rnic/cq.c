/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Completion queues. The ring is the personality's; the core keeps what the ring cannot say.
 *
 * A CQ that overflows has lost a completion, so nothing that it holds from then on can be trusted
 * to be complete: it raises CQ_ERR once, takes no more, and its QPs enter ERR (IBA vol.
 * 1, 11.6.3.1, unverified). That must not happen in the middle of a QP's work, so cq_settle does it
 * later.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/qp_priv.h"

int rnic_cq_create(struct rnic_device *dev, uint32_t cqe, const struct rnic_personality *ops,
		   void *user, struct rnic_cq **out)
{
	struct rnic_cq *cq;

	if (cqe == 0 || cqe > dev->limits.max_cqe) {
		dev_log(dev, "CQ: %" PRIu32 " entries, 1 to %" PRIu32 " are possible", cqe,
			dev->limits.max_cqe);
		return -EINVAL;
	}
	if (dev->n_cq >= dev->limits.max_cq) {
		dev_log(dev, "CQ: all %" PRIu32 " are in use", dev->limits.max_cq);
		return -ENOMEM;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->dev = dev;
	cq->ops = ops;
	cq->user = user;
	cq->cqe = cqe;
	dev->n_cq++;
	*out = cq;
	return 0;
}

int rnic_cq_destroy(struct rnic_cq *cq)
{
	if (cq->users) {
		dev_log(cq->dev, "CQ: %" PRIu32 " queues of QPs still use it", cq->users);
		return -EBUSY;
	}
	cq->dev->n_cq--;
	free(cq);
	return 0;
}

uint32_t rnic_cq_users(const struct rnic_cq *cq)
{
	return cq->users;
}

void *rnic_cq_user(const struct rnic_cq *cq)
{
	return cq->user;
}

bool rnic_cq_overflowed(const struct rnic_cq *cq)
{
	return cq->overflowed;
}

static void overflow(struct rnic_cq *cq, const struct rnic_cqe *cqe)
{
	struct rnic_device *dev = cq->dev;
	struct rnic_async event = {.type = RNIC_EVENT_CQ_ERR, .cq = cq};

	cq->overflowed = true;
	dev->cq_failed = true;
	dev_log(dev, "QP %" PRIu32 ": its CQ of %" PRIu32 " entries has overflowed", cqe->qp->qpn,
		cq->cqe);
	dev->cfg.ops->async_event(dev->cfg.host, &event);
}

void cq_complete(struct rnic_cq *cq, const struct rnic_cqe *cqe)
{
	struct rnic_device *dev = cq->dev;

	if (cq->overflowed) {
		/* A QP that has come to this CQ since, or begins anew with it. */
		dev->cq_failed |= cqe->qp->attr.state != RNIC_QPS_ERR;
		return;
	}
	if (cq->ops->cq_push(cq->user, cqe->qp->init.user, cqe) < 0) {
		overflow(cq, cqe);
		return;
	}
	if (cq->ops->cq_test_arm(cq->user, cqe->solicited))
		dev->cfg.ops->cq_notify(dev->cfg.host, cq);
}

static void qp_settle(struct rnic_qp *qp, uint64_t now)
{
	if (qp->attr.state == RNIC_QPS_RESET || qp->attr.state == RNIC_QPS_ERR)
		return;
	if (qp->init.send_cq->overflowed || qp->init.recv_cq->overflowed)
		qp_error(qp, now, RNIC_EVENT_QP_FATAL);
}

void cq_settle(struct rnic_device *dev, uint64_t now)
{
	struct rnic_qp *qp;

	while (dev->cq_failed) {
		dev->cq_failed = false; /* flushing a QP may overflow its other CQ */
		if (dev->gsi)
			qp_settle(dev->gsi, now);
		for (uint32_t n = 0; (qp = table_next(&dev->qps, &n)); n++)
			qp_settle(qp, now);
	}
}
