/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rxe personality: what the stock rxe provider of rdma-core expects behind a QP, a CQ and an
 * SRQ. A send's slot is its ring index and its wr_id is kept apart, since the client can overwrite
 * it; a receive's slot is its wr_id.
 */
#ifndef KERNEL_RXE_H
#define KERNEL_RXE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rnic/personality.h"
#include "verbs/kernel/rxe_ring.h"

struct context;
struct rnic_pd;

struct rxe_sq {
	struct rxe_ring ring; /* mine: consumer; what has been retired */
	uint32_t fetched;     /* index of the next WQE for the core */
	uint32_t limit;	      /* WQEs that the core may have at a time */
	uint32_t max_sge, max_inline;
	uint64_t *wr_id; /* by ring index */
};

struct rxe_rq {
	struct rxe_ring ring; /* mine: consumer */
	uint32_t max_sge;
};

struct rxe_qp {
	struct context *context;
	const struct rnic_pd *pd;
	bool datagram; /* WQEs name an address handle */
	struct rxe_sq sq;
	struct rxe_rq rq; /* no ring if the QP has an SRQ */
};

struct rxe_cq {
	struct rxe_ring ring;	  /* mine: producer */
	_Atomic uint32_t *arm;	  /* in the doorbell area, or own_arm */
	_Atomic uint32_t own_arm; /* of a handle that has no doorbell */
};

/* Its users are struct rxe_qp (send_*, cq_push), struct rxe_rq (recv_*) and struct rxe_cq. */
extern const struct rnic_personality rxe_personality;

/*
 * Capabilities: what is asked for is rounded up to what the rings hold, in place. The caller has
 * checked them against the limits. 0 or -ENOMEM.
 */
struct rxe_cap {
	uint32_t wr, sge, inline_data;
};
int rxe_sq_create(struct context *c, struct rxe_cap *cap, struct rxe_sq *sq);
void rxe_sq_destroy(struct context *c, struct rxe_sq *sq);
int rxe_rq_create(struct context *c, struct rxe_cap *cap, struct rxe_rq *rq);
/* Replace the ring; receives that wait move over. -EINVAL if they are more than fit. */
int rxe_rq_resize(struct context *c, struct rxe_rq *rq, uint32_t wr);
void rxe_rq_destroy(struct context *c, struct rxe_rq *rq);
/* The QP is in RESET: what was posted is gone (IBA 10.3). */
void rxe_qp_reset(struct rxe_qp *qp);

int rxe_cq_create(struct context *c, uint32_t cqe, struct rxe_cq *cq);
/* Where arming is seen; clears what an earlier owner of the handle left. */
void rxe_cq_attach(struct context *c, struct rxe_cq *cq, uint32_t handle);
void rxe_cq_arm(struct rxe_cq *cq, bool solicited_only);
/* Replace the ring; unpolled completions move over. -EINVAL if they are more than fit. */
int rxe_cq_resize(struct context *c, struct rxe_cq *cq, uint32_t cqe);
void rxe_cq_destroy(struct context *c, struct rxe_cq *cq);

/* For the table in rxe.c. */
int rxe_send_next(void *qp_user, struct rnic_send_wr *wr);
void rxe_send_retire(void *qp_user, uint64_t slot);
int rxe_recv_next(void *rq_user, struct rnic_recv_wr *wr);
uint32_t rxe_recv_count(void *rq_user);
int rxe_cq_push(void *cq_user, void *qp_user, const struct rnic_cqe *cqe);
bool rxe_cq_test_arm(void *cq_user, bool solicited);

#endif
