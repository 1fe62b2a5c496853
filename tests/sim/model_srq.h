/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A shared receive queue of a node: whichever of its ends a message is for takes the next receive.
 */
#ifndef TESTS_SIM_MODEL_SRQ_H
#define TESTS_SIM_MODEL_SRQ_H

#include "endpoint.h"

#define MODEL_SRQ_ROOM 32
#define MODEL_SRQ_SLOT 16384 /* bytes of a receive: 4 packets at most */

struct model_srq {
	struct rnic_pd *pd;
	struct rnic_srq *srq;
	struct rnic_mr *mr;
	struct rnic_mem mem;
	struct sim_queues queue;
	struct rng *rng;
	uint64_t area[MODEL_SRQ_ROOM]; /* slot that is posted there; its number + 1, 0: none */
	uint64_t n_left;	       /* receives that are to be posted still */
	uint32_t n_limits;
};

void model_srq_begin(struct model_srq *s, struct sim_world *w, uint32_t node, struct rng *rng);
void model_srq_end(struct model_srq *s);
/* Post some; true if something was. */
bool model_srq_post(struct model_srq *s, bool eager);
/* A receive has completed with these bytes. */
void model_srq_check(struct model_srq *s, uint64_t slot, const uint8_t *data, uint32_t len);

#endif
