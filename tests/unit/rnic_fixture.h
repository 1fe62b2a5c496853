/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A device whose host only writes down what it is told. */
#ifndef TESTS_UNIT_RNIC_FIXTURE_H
#define TESTS_UNIT_RNIC_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "rnic/device.h"
#include "rnic/objects.h"
#include "rnic/qp.h"

#define FIXTURE_EVENTS 16

struct fixture {
	struct rnic_device *dev;
	char log[300]; /* the last line */
	uint32_t n_logs;
	struct rnic_async events[FIXTURE_EVENTS];
	uint32_t n_events;
	uint64_t timer; /* as the device set it last */
	uint32_t n_timer_sets;
	uint32_t n_notified;
	uint32_t n_joined, n_left; /* multicast groups */
	int join_ret;
	uint64_t room; /* of every receiver */
	uint32_t n_rooms;
};

/* A CQ's user: counts what is pushed, and refuses more than room. */
struct fixture_cq {
	uint32_t room, pushed;
	bool armed, solicited_only;
	struct rnic_cqe last;
};

extern const struct rnic_personality fixture_personality; /* its queues are always empty */

void fixture_begin(struct fixture *f);
void fixture_end(struct fixture *f); /* destroys the device: all objects must be gone */

/* An RC QP with CQ, PD and a GID at index 0. */
struct fixture_qp {
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct fixture_cq ring;
};

void fixture_qp_begin(struct fixture *f, struct fixture_qp *q, enum rnic_qp_type type);
void fixture_qp_end(struct fixture_qp *q);

/* Attributes that every modify of an RC QP is content with. */
struct rnic_qp_attr fixture_attr(enum rnic_qp_state state);
#define FIXTURE_TO_INIT (RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS)
#define FIXTURE_TO_RTR                                                                             \
	(RNIC_QP_STATE | RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN |       \
	 RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER)
#define FIXTURE_TO_RTS                                                                             \
	(RNIC_QP_STATE | RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY |                 \
	 RNIC_QP_SQ_PSN | RNIC_QP_MAX_QP_RD_ATOMIC)
void fixture_to_rts(struct rnic_qp *qp);

/* A test that is run once for each number of [from, to), which it finds in _i. */
struct fixture_loop {
	const TTest *test;
	int from, to;
};

/* Run one suite of one case; the exit status for main. setup may be NULL, loops end with NULL. */
int fixture_run(const char *name, const TTest *const tests[], int n);
int fixture_run_loops(const char *name, void (*setup)(void), const TTest *const tests[], int n,
		      const struct fixture_loop *loops);

#endif
