/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared receive queues, so far as objects: IBA vol. 1, 10.2.9. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/device_priv.h"

int rnic_srq_create(struct rnic_pd *pd, uint32_t max_sge, uint32_t limit,
		    const struct rnic_personality *ops, void *user, struct rnic_srq **out)
{
	struct rnic_device *dev = pd->dev;
	struct rnic_srq *srq;

	if (max_sge > dev->limits.max_srq_sge || limit > dev->limits.max_srq_wr) {
		dev_log(dev,
			"SRQ: %" PRIu32 " SGEs and a limit of %" PRIu32
			" are above what the device has",
			max_sge, limit);
		return -EINVAL;
	}
	if (dev->n_srq >= dev->limits.max_srq) {
		dev_log(dev, "SRQ: all %" PRIu32 " are in use", dev->limits.max_srq);
		return -ENOMEM;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->pd = pd;
	srq->ops = ops;
	srq->user = user;
	srq->max_sge = max_sge;
	srq->limit = limit;
	pd->users++;
	dev->n_srq++;
	*out = srq;
	return 0;
}

int rnic_srq_destroy(struct rnic_srq *srq)
{
	struct rnic_device *dev = srq->pd->dev;

	if (srq->users) {
		dev_log(dev, "SRQ: %" PRIu32 " QPs still use it", srq->users);
		return -EBUSY;
	}
	srq->pd->users--;
	dev->n_srq--;
	free(srq);
	return 0;
}

int rnic_srq_arm(struct rnic_srq *srq, uint32_t limit)
{
	struct rnic_device *dev = srq->pd->dev;

	if (srq->error) {
		dev_log(dev, "SRQ: it is in error");
		return -EINVAL;
	}
	if (limit > dev->limits.max_srq_wr) {
		dev_log(dev, "SRQ: a limit of %" PRIu32 " is above %" PRIu32, limit,
			dev->limits.max_srq_wr);
		return -EINVAL;
	}
	srq->limit = limit;
	return 0;
}

uint32_t rnic_srq_limit(const struct rnic_srq *srq)
{
	return srq->limit;
}

struct rnic_pd *rnic_srq_pd(const struct rnic_srq *srq)
{
	return srq->pd;
}

void *rnic_srq_user(const struct rnic_srq *srq)
{
	return srq->user;
}
