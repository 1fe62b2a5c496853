/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Completion queues of the rxe personality.
 *
 * Arming: the client sets its bit, then looks at the ring; here the CQE is published, then, behind
 * a fence, the bit is looked at. One of the two sees the other.
 */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "rnic/qp.h"
#include "verbs/abi/doorbell.h"
#include "verbs/kernel/rxe.h"

#define CQE_SIZE 64
#define PORT 1

static_assert(sizeof(struct ib_uverbs_wc) == 48, "CQE");

int rxe_cq_create(struct context *c, uint32_t cqe, struct rxe_cq *cq)
{
	memset(cq, 0, sizeof(*cq));
	cq->arm = &cq->own_arm;
	return rxe_ring_create(c, cqe, CQE_SIZE, &cq->ring);
}

void rxe_cq_attach(struct context *c, struct rxe_cq *cq, uint32_t handle)
{
	if (handle < RNIC_DB_HANDLES)
		cq->arm = &context_doorbell(c)->arm[handle];
	atomic_store(cq->arm, 0);
}

void rxe_cq_arm(struct rxe_cq *cq, bool solicited_only)
{
	atomic_fetch_or(cq->arm, solicited_only ? RNIC_ARM_SOLICITED : RNIC_ARM_ANY);
}

int rxe_cq_resize(struct context *c, struct rxe_cq *cq, uint32_t cqe)
{
	struct rxe_ring *old = &cq->ring, ring;
	uint32_t from = rxe_ring_consumer(old);
	uint32_t n = rxe_ring_distance(old, from, old->mine);
	int rc = rxe_ring_create(c, cqe, CQE_SIZE, &ring);

	if (rc)
		return rc;
	if (n > rxe_ring_entries(&ring)) {
		rxe_ring_destroy(c, &ring);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(rxe_ring_slot(&ring, i), rxe_ring_slot(old, from + i), CQE_SIZE);
	rxe_ring_publish_producer(&ring, n);
	rxe_ring_destroy(c, old);
	*old = ring;
	return 0;
}

void rxe_cq_destroy(struct context *c, struct rxe_cq *cq)
{
	rxe_ring_destroy(c, &cq->ring);
}

/*
 * RoCEv2 has no service level, and a program may want to know what the GRH's place holds. rxe says
 * nothing; here as on ConnectX bit 3 tells of a UDP header, bits 0-2 of the header before it.
 */
static uint8_t service_level(const struct rnic_cqe *cqe)
{
	return cqe->ip_version == 4 ? 0xa : cqe->ip_version == 6 ? 0x9 : 0;
}

static void wc_encode(struct ib_uverbs_wc *wc, const struct rxe_qp *qp, const struct rnic_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->recv ? cqe->slot : qp->sq.wr_id[cqe->slot & qp->sq.ring.mask];
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	if (cqe->flags & RNIC_WC_WITH_IMM)
		wc->ex.imm_data = htonl(cqe->imm);
	else if (cqe->flags & RNIC_WC_WITH_INV)
		wc->ex.invalidate_rkey = cqe->imm;
	wc->qp_num = rnic_qp_num(cqe->qp);
	wc->src_qp = cqe->src_qpn;
	wc->wc_flags = cqe->flags;
	wc->pkey_index = cqe->pkey_index;
	wc->sl = service_level(cqe);
	wc->port_num = cqe->recv ? PORT : 0;
}

int rxe_cq_push(void *cq_user, void *qp_user, const struct rnic_cqe *cqe)
{
	struct rxe_cq *cq = cq_user;
	uint32_t next = rxe_ring_after(&cq->ring, cq->ring.mine);
	struct ib_uverbs_wc wc;

	if (next == rxe_ring_consumer(&cq->ring))
		return -ENOSPC;
	wc_encode(&wc, qp_user, cqe);
	memcpy(rxe_ring_slot(&cq->ring, cq->ring.mine), &wc, sizeof(wc));
	rxe_ring_publish_producer(&cq->ring, next);
	return 0;
}

bool rxe_cq_test_arm(void *cq_user, bool solicited)
{
	struct rxe_cq *cq = cq_user;
	uint32_t wanted = RNIC_ARM_ANY | (solicited ? RNIC_ARM_SOLICITED : 0);

	atomic_thread_fence(memory_order_seq_cst);
	if (!(atomic_load_explicit(cq->arm, memory_order_relaxed) & wanted))
		return false;
	atomic_store_explicit(cq->arm, 0, memory_order_relaxed);
	return true;
}
