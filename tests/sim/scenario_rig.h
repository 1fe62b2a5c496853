/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A connection for scenarios: clean link, one end a node, and ways to post and to expect. */
#ifndef TESTS_SIM_SCENARIO_RIG_H
#define TESTS_SIM_SCENARIO_RIG_H

#include "endpoint.h"

struct rig {
	struct sim_world world;
	struct sim_end a, b;
};

void rig_begin(struct rig *r, const struct sim_end_config *cfg_a,
	       const struct sim_end_config *cfg_b);
void rig_end(struct rig *r);

/* A signaled request of len bytes from offset 0 on to offset 0 of the other end's memory, which
 * the scenario may change before rig_post. */
struct rnic_send_wr *rig_request(struct sim_end *e, const struct sim_end *peer, enum rnic_wr_op op,
				 uint32_t len);
void rig_post(struct sim_end *e);
void rig_receive(struct sim_end *e, uint32_t len);

/* Until nothing happens any more. */
void rig_run(struct rig *r);
/* Until that queue has a completion; the time when it has. */
uint64_t rig_run_to_completion(struct rig *r, const struct sim_cq *cq);
/* Until nothing happens or until the time given. */
void rig_run_until(struct rig *r, uint64_t time);

/* The next completion of that queue is this. */
void rig_expect(struct sim_cq *cq, uint64_t slot, enum rnic_wc_status status);
void rig_expect_none(struct sim_cq *cq);
void rig_expect_state(const struct sim_end *e, enum rnic_qp_state state);

extern bool rig_verbose;

#endif
