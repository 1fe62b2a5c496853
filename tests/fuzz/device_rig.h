/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device under the fuzzer's hands: QPs of every type, with and without SRQ, on node 0 of the
 * simulator's world, whose link is cut, so that nothing comes but what the fuzzer sends.
 */
#ifndef TESTS_FUZZ_DEVICE_RIG_H
#define TESTS_FUZZ_DEVICE_RIG_H

#include "feed.h"
#include "queues.h"
#include "rnic/cm.h"
#include "rnic/objects.h"
#include "rnic/qp.h"
#include "world.h"

#define RIG_QPS 9
#define RIG_CQS 3
#define RIG_MRS 4
#define RIG_MWS 3
#define RIG_CMS 6
#define RIG_MEMS 2
#define RIG_MEM_LEN 32768u
#define RIG_PEER_QPN 0x99u

struct rig_qp {
	struct rnic_qp *qp;
	struct sim_queues queues;
};

struct rig {
	struct sim_world world;
	struct rnic_device *dev;
	struct feed *feed;
	struct rnic_pd *pd[2];
	struct rnic_mem mem[RIG_MEMS];
	struct rnic_cq *cq[RIG_CQS];
	struct sim_cq ring[RIG_CQS];
	struct rnic_srq *srq;
	struct sim_queues srq_queues;
	struct rnic_mr *mr[RIG_MRS]; /* or NULL */
	struct rnic_mw *mw[RIG_MWS]; /* or NULL */
	struct rig_qp qp[RIG_QPS];   /* qp NULL: none */
	bool cm_on;		     /* QP 1 is the CM's, else the GSI QP's */
	struct rnic_cm *cm[RIG_CMS];
};

/* Aborts where the rig itself fails. */
#define RIG_MUST(x) ((x) ? (void)0 : abort())

void rig_begin(struct rig *r, struct feed *feed);
/* All objects go, and none may be left over. */
void rig_end(struct rig *r);

void rig_qp_begin(struct rig *r, uint32_t i);
void rig_qp_end(struct rig *r, uint32_t i);
void rig_mr_begin(struct rig *r, uint32_t i);
/* To that state by the straight way, as far as it goes. */
void rig_qp_bring(struct rig *r, uint32_t i, enum rnic_qp_state last);

/* A key of something that lives, nearly one, or any. */
uint32_t rig_key(struct rig *r);
/* An address in the memory, near its end, or any. */
uint64_t rig_addr(struct rig *r);
uint32_t rig_len(struct rig *r);

#endif
