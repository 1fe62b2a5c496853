/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What scenarios share. */
#include "config.h"

#include <inttypes.h>

#include "scenario_rig.h"

#define STEPS_MAX 1000000

bool rig_verbose;

void rig_begin(struct rig *r, const struct sim_end_config *cfg_a,
	       const struct sim_end_config *cfg_b)
{
	sim_world_begin(&r->world, 1, RNIC_MTU_4096, 0);
	r->world.verbose = rig_verbose;
	r->world.faults.delay = 5 * SIM_US;
	sim_end_begin(&r->a, &r->world, 0, cfg_a);
	sim_end_begin(&r->b, &r->world, 1, cfg_b);
	for (uint64_t i = 0; i < r->a.mem.len; i++)
		r->a.mem.bytes[i] = (uint8_t)(i * 7 + 1);
	sim_connect(&r->a, &r->b);
}

void rig_end(struct rig *r)
{
	sim_end_end(&r->a);
	sim_end_end(&r->b);
	sim_check(sim_world_end(&r->world), "objects are left");
}

struct rnic_send_wr *rig_request(struct sim_end *e, const struct sim_end *peer, enum rnic_wr_op op,
				 uint32_t len)
{
	struct rnic_send_wr *wr = sim_queue_send(&e->queues);

	sim_check(wr, "the send queue is full");
	wr->op = op;
	wr->flags = RNIC_SEND_SIGNALED;
	wr->raddr = peer->mem.start;
	wr->rkey = rnic_mr_key(peer->mr);
	wr->num_sge = len ? 1 : 0;
	wr->sge[0] = sim_sge(e, 0, len);
	return wr;
}

void rig_post(struct sim_end *e)
{
	sim_queue_send_post(&e->queues);
	sim_check(rnic_qp_kick(e->qp) == 0, "kick");
}

void rig_receive(struct sim_end *e, uint32_t len)
{
	struct rnic_recv_wr *wr = sim_queue_recv(&e->queues);

	sim_check(wr, "the receive queue is full");
	wr->num_sge = 1;
	wr->sge[0] = sim_sge(e, 0, len);
	sim_queue_recv_post(&e->queues);
}

void rig_run_until(struct rig *r, uint64_t time)
{
	uint64_t steps = r->world.n_steps + STEPS_MAX;

	while (r->world.now < time && sim_world_step(&r->world))
		sim_check(r->world.n_steps < steps, "no end");
}

void rig_run(struct rig *r)
{
	rig_run_until(r, UINT64_MAX);
}

uint64_t rig_run_to_completion(struct rig *r, const struct sim_cq *cq)
{
	uint64_t steps = r->world.n_steps + STEPS_MAX;

	while (cq->pushed == cq->polled && sim_world_step(&r->world))
		sim_check(r->world.n_steps < steps, "no end");
	return r->world.now;
}

void rig_expect(struct sim_cq *cq, uint64_t slot, enum rnic_wc_status status)
{
	const struct rnic_cqe *cqe = sim_cq_poll(cq);

	sim_check(cqe, "no completion where request %" PRIu64 " with status %d should be", slot,
		  (int)status);
	sim_check(cqe->slot == slot && cqe->status == status,
		  "request %" PRIu64 " with status %d, not %" PRIu64 " with %d", cqe->slot,
		  (int)cqe->status, slot, (int)status);
	sim_check(cqe->solicited || status == RNIC_WC_SUCCESS, "an error is always solicited");
}

void rig_expect_none(struct sim_cq *cq)
{
	const struct rnic_cqe *cqe = sim_cq_poll(cq);

	sim_check(!cqe, "request %" PRIu64 " with status %d", cqe->slot, (int)cqe->status);
}

void rig_expect_state(const struct sim_end *e, enum rnic_qp_state state)
{
	sim_check(rnic_qp_state(e->qp) == state, "the QP of node %" PRIu32 " is in %s", e->node,
		  rnic_qp_state_name(rnic_qp_state(e->qp)));
}
