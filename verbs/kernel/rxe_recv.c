/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Receive queues and SRQs of the rxe personality. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "verbs/kernel/rxe.h"

static_assert(sizeof(struct rxe_recv_wqe) == 40, "receive WQE");
static_assert(offsetof(struct rxe_recv_wqe, dma.sge) == 40, "receive WQE");

static uint32_t wqe_size(uint32_t max_sge)
{
	return (uint32_t)(sizeof(struct rxe_recv_wqe) + max_sge * sizeof(struct rxe_sge));
}

int rxe_rq_create(struct context *c, struct rxe_cap *cap, struct rxe_rq *rq)
{
	int rc;

	assert(cap->sge <= RNIC_MAX_SGE);
	memset(rq, 0, sizeof(*rq));
	rc = rxe_ring_create(c, cap->wr, wqe_size(cap->sge), &rq->ring);
	if (rc)
		return rc;
	rq->max_sge = cap->sge;
	cap->wr = rxe_ring_entries(&rq->ring);
	return 0;
}

void rxe_rq_destroy(struct context *c, struct rxe_rq *rq)
{
	rxe_ring_destroy(c, &rq->ring);
}

int rxe_rq_resize(struct context *c, struct rxe_rq *rq, uint32_t wr)
{
	struct rxe_ring *old = &rq->ring, ring;
	uint32_t n = rxe_recv_count(rq);
	int rc = rxe_ring_create(c, wr, wqe_size(rq->max_sge), &ring);

	if (rc)
		return rc;
	if (n > rxe_ring_entries(&ring)) {
		rxe_ring_destroy(c, &ring);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(rxe_ring_slot(&ring, i), rxe_ring_slot(old, old->mine + i),
		       wqe_size(rq->max_sge));
	/* The producer is the client's, which does not know the ring yet. */
	__atomic_store_n(&ring.buf->producer_index, n, __ATOMIC_RELEASE);
	rxe_ring_destroy(c, old);
	*old = ring;
	return 0;
}

int rxe_recv_next(void *rq_user, struct rnic_recv_wr *wr)
{
	struct rxe_rq *rq = rq_user;
	uint32_t index = rq->ring.mine;
	const uint8_t *slot = rxe_ring_slot(&rq->ring, index);
	struct rxe_sge sge[RNIC_MAX_SGE];
	struct rxe_recv_wqe wqe;

	if (!rxe_ring_producer_sane(&rq->ring))
		return -EIO;
	if (index == rxe_ring_producer(&rq->ring))
		return 0;
	rxe_ring_copy(&wqe, slot, sizeof(wqe));
	wr->slot = wqe.wr_id;
	wr->num_sge = wqe.dma.num_sge <= rq->max_sge ? wqe.dma.num_sge : 0;
	rxe_ring_copy(sge, slot + sizeof(wqe), wr->num_sge * sizeof(sge[0]));
	for (uint32_t i = 0; i < wr->num_sge; i++)
		wr->sge[i] = (struct rnic_sge){sge[i].addr, sge[i].length, sge[i].lkey};
	rxe_ring_publish_consumer(&rq->ring, rxe_ring_after(&rq->ring, index));
	return wqe.dma.num_sge <= rq->max_sge ? 1 : -EINVAL;
}

uint32_t rxe_recv_count(void *rq_user)
{
	const struct rxe_rq *rq = rq_user;

	return rxe_ring_distance(&rq->ring, rq->ring.mine, rxe_ring_producer(&rq->ring));
}
