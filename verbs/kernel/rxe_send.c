/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Send queues of the rxe personality: WQEs are copied out once and the copy is judged. */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/objects.h"
#include "verbs/kernel/rxe.h"

static_assert(sizeof(struct rxe_send_wqe) == 208, "send WQE");
static_assert(offsetof(struct rxe_send_wqe, dma.sge) == 208, "send WQE");
static_assert(sizeof(struct rxe_sge) == 16, "SGE");

#define SEND_FLAGS (RNIC_SEND_FENCE | RNIC_SEND_SIGNALED | RNIC_SEND_SOLICITED)

int rxe_sq_create(struct context *c, struct rxe_cap *cap, struct rxe_sq *sq)
{
	uint32_t tail = cap->sge * (uint32_t)sizeof(struct rxe_sge);
	int rc;

	memset(sq, 0, sizeof(*sq));
	if (tail < cap->inline_data)
		tail = cap->inline_data;
	assert(tail <= RNIC_MAX_INLINE && tail <= RNIC_MAX_SGE * sizeof(struct rxe_sge));
	rc = rxe_ring_create(c, cap->wr, (uint32_t)sizeof(struct rxe_send_wqe) + tail, &sq->ring);
	if (rc)
		return rc;
	sq->wr_id = calloc((size_t)sq->ring.mask + 1, sizeof(*sq->wr_id));
	if (!sq->wr_id) {
		rxe_ring_destroy(c, &sq->ring);
		return -ENOMEM;
	}
	sq->max_sge = tail / (uint32_t)sizeof(struct rxe_sge);
	sq->max_inline = tail;
	sq->limit = rxe_ring_entries(&sq->ring);
	*cap = (struct rxe_cap){sq->limit, sq->max_sge, sq->max_inline};
	return 0;
}

void rxe_sq_destroy(struct context *c, struct rxe_sq *sq)
{
	rxe_ring_destroy(c, &sq->ring);
	free(sq->wr_id);
	sq->wr_id = NULL;
}

void rxe_qp_reset(struct rxe_qp *qp)
{
	qp->sq.fetched = rxe_ring_producer(&qp->sq.ring);
	rxe_ring_publish_consumer(&qp->sq.ring, qp->sq.fetched);
	if (qp->rq.ring.buf)
		rxe_ring_publish_consumer(&qp->rq.ring, rxe_ring_producer(&qp->rq.ring));
}

/* The tail of the WQE is in the ring still: SGEs or inline data are copied by bounded lengths. */
static int data_read(const struct rxe_sq *sq, const uint8_t *slot, const struct rxe_send_wqe *wqe,
		     struct rnic_send_wr *wr)
{
	const uint8_t *tail = slot + sizeof(*wqe);
	struct rxe_sge sge[RNIC_MAX_SGE];

	/* ibv_wr_set_inline_data of rdma-core 44 leaves no other sign than a length; an
	 * ATOMIC_WRITE's bytes lie in the WQE always. */
	if (wqe->wr.send_flags & RNIC_SEND_INLINE || (!wqe->dma.num_sge && wqe->dma.length) ||
	    wr->op == RNIC_WR_ATOMIC_WRITE) {
		if (wqe->dma.length > sq->max_inline)
			return -EINVAL;
		wr->flags |= RNIC_SEND_INLINE;
		wr->inline_len = wqe->dma.length;
		memcpy(wr->inline_data, tail, wr->inline_len);
		return 0;
	}
	if (wqe->dma.num_sge > sq->max_sge)
		return -EINVAL;
	wr->num_sge = wqe->dma.num_sge;
	rxe_ring_copy(sge, tail, wr->num_sge * sizeof(sge[0]));
	for (uint32_t i = 0; i < wr->num_sge; i++)
		wr->sge[i] = (struct rnic_sge){sge[i].addr, sge[i].length, sge[i].lkey};
	return 0;
}

static void ud_read(const struct rxe_qp *qp, const struct rxe_send_wr *in, struct rnic_send_wr *wr)
{
	uint32_t ah_num = in->wr.ud.ah_num;
	struct uobject *u = ah_num ? uobject_get(qp->context, UOBJ_AH, ah_num - 1) : NULL;

	wr->remote_qpn = in->wr.ud.remote_qpn & 0xffffff;
	wr->remote_qkey = in->wr.ud.remote_qkey;
	wr->av_bad = !u || rnic_ah_pd(u->object) != qp->pd;
	if (!wr->av_bad)
		wr->av = *rnic_ah_av(u->object);
}

/* What only some operations have. -EINVAL for those that this ring cannot ask for. */
static int op_read(const struct rxe_qp *qp, const struct rxe_send_wr *in, struct rnic_send_wr *wr)
{
	switch (wr->op) {
	case RNIC_WR_WRITE_IMM:
		wr->imm = ntohl(in->ex.imm_data);
		/* fall through */
	case RNIC_WR_WRITE:
	case RNIC_WR_READ:
	case RNIC_WR_ATOMIC_WRITE:
		wr->raddr = in->wr.rdma.remote_addr;
		wr->rkey = in->wr.rdma.rkey;
		return wr->op == RNIC_WR_READ && wr->flags & RNIC_SEND_INLINE ? -EINVAL : 0;
	case RNIC_WR_CMP_SWAP:
	case RNIC_WR_FETCH_ADD:
		wr->raddr = in->wr.atomic.remote_addr;
		wr->rkey = in->wr.atomic.rkey;
		wr->compare = in->wr.atomic.compare_add;
		wr->swap_add =
			wr->op == RNIC_WR_CMP_SWAP ? in->wr.atomic.swap : in->wr.atomic.compare_add;
		return wr->flags & RNIC_SEND_INLINE ? -EINVAL : 0;
	case RNIC_WR_SEND_IMM:
		wr->imm = ntohl(in->ex.imm_data);
		/* fall through */
	case RNIC_WR_SEND:
		if (qp->datagram)
			ud_read(qp, in, wr);
		return 0;
	case RNIC_WR_SEND_INV:
		wr->imm = in->ex.invalidate_rkey;
		return 0;
	case RNIC_WR_LOCAL_INV:
		wr->inv_key = in->ex.invalidate_rkey;
		return 0;
	case RNIC_WR_BIND_MW:
		wr->bind = (struct rnic_bind){
			.addr = in->wr.mw.addr,
			.length = in->wr.mw.length,
			.mr_lkey = in->wr.mw.mr_lkey,
			.mw_rkey = in->wr.mw.mw_rkey,
			.rkey = in->wr.mw.rkey,
			.access = in->wr.mw.access,
		};
		return 0;
	}
	return -EINVAL;
}

static void wr_clear(struct rnic_send_wr *wr)
{
	wr->imm = wr->rkey = wr->inv_key = 0;
	wr->raddr = wr->compare = wr->swap_add = 0;
	wr->av_bad = false;
	wr->remote_qpn = wr->remote_qkey = 0;
	wr->num_sge = wr->inline_len = 0;
}

int rxe_send_next(void *qp_user, struct rnic_send_wr *wr)
{
	struct rxe_qp *qp = qp_user;
	struct rxe_sq *sq = &qp->sq;
	uint32_t index = sq->fetched;
	const uint8_t *slot = rxe_ring_slot(&sq->ring, index);
	struct rxe_send_wqe wqe;
	int rc;

	if (index == rxe_ring_producer(&sq->ring) ||
	    rxe_ring_distance(&sq->ring, sq->ring.mine, index) >= sq->limit)
		return 0;
	rxe_ring_copy(&wqe, slot, sizeof(wqe));
	sq->wr_id[index] = wqe.wr.wr_id;
	sq->fetched = rxe_ring_after(&sq->ring, index);

	wr_clear(wr);
	wr->slot = index;
	wr->flags = wqe.wr.send_flags & SEND_FLAGS;
	if (wqe.wr.opcode > RNIC_WR_SEND_INV && wqe.wr.opcode != RNIC_WR_ATOMIC_WRITE) {
		wr->op = RNIC_WR_SEND;
		return -EINVAL;
	}
	wr->op = (enum rnic_wr_op)wqe.wr.opcode;
	rc = data_read(sq, slot, &wqe, wr);
	if (!rc)
		rc = op_read(qp, &wqe.wr, wr);
	return rc ? rc : 1;
}

void rxe_send_retire(void *qp_user, uint64_t slot)
{
	struct rxe_qp *qp = qp_user;
	struct rxe_ring *ring = &qp->sq.ring;
	uint32_t index = (uint32_t)slot;

	assert(slot <= ring->mask);
	/* Requests of before a reset are no longer in the ring. */
	if (rxe_ring_distance(ring, ring->mine, index) <
	    rxe_ring_distance(ring, ring->mine, qp->sq.fetched))
		rxe_ring_publish_consumer(ring, rxe_ring_after(ring, index));
}
