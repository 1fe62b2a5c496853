/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios of what one end does to itself: states, CQs, keys, memory. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "scenario.h"
#include "scenario_rig.h"

static void error_state_flushes_in_order(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	r.world.node[1].unplugged = true;
	for (int i = 0; i < 3; i++)
		rig_receive(&r.a, 100);
	for (int i = 0; i < 5; i++) {
		rig_request(&r.a, &r.b, RNIC_WR_SEND, 3000);
		rig_post(&r.a);
	}
	rig_run_until(&r, 20 * SIM_US);
	sim_end_modify(&r.a, RNIC_QPS_ERR);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 3000);
	rig_post(&r.a);
	rig_run(&r);
	for (uint64_t i = 0; i < 6; i++)
		rig_expect(&r.a.send_ring, i, RNIC_WC_WR_FLUSH_ERR);
	for (uint64_t i = 0; i < 3; i++)
		rig_expect(&r.a.recv_ring, i, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_none(&r.a.send_ring);
	rig_expect_none(&r.a.recv_ring);
	rig_end(&r);
}

static void reset_forgets_and_connects_again(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 50000);
	rig_post(&r.a);
	rig_run_until(&r, 8 * SIM_US);
	sim_end_modify(&r.a, RNIC_QPS_RESET);
	sim_end_modify(&r.b, RNIC_QPS_RESET);
	rig_run(&r);
	rig_expect_none(&r.a.send_ring);
	r.a.queues.send_retired = r.a.queues.sent; /* as a provider does at RESET */
	r.a.sq_psn = 0x777777;
	sim_connect(&r.a, &r.b);
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 50000);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 1, RNIC_WC_SUCCESS);
	sim_check(memcmp(r.a.mem.bytes, r.b.mem.bytes, 50000) == 0, "data");
	rig_end(&r);
}

static void cq_overflow_ends_the_qp(void)
{
	struct sim_end_config cfg = sim_end_default;
	struct rig r;

	cfg.cq_room = 2;
	rig_begin(&r, &cfg, &sim_end_default);
	for (int i = 0; i < 6; i++) {
		rig_request(&r.a, &r.b, RNIC_WR_WRITE, 10);
		rig_post(&r.a);
	}
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_SUCCESS);
	rig_expect(&r.a.send_ring, 1, RNIC_WC_SUCCESS);
	rig_expect_none(&r.a.send_ring);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	sim_check(r.world.node[0].n_events[RNIC_EVENT_CQ_ERR] == 1, "events");
	rig_end(&r);
}

static void bad_lkey(void)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_READ,
					      RNIC_WR_FETCH_ADD};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct rnic_send_wr *wr;
		struct rig r;

		rig_begin(&r, &sim_end_default, &sim_end_default);
		rig_receive(&r.b, 100);
		wr = rig_request(&r.a, &r.b, ops[i], 8);
		wr->sge[0].lkey ^= 1;
		rig_post(&r.a);
		rig_run(&r);
		rig_expect(&r.a.send_ring, 0, RNIC_WC_LOC_PROT_ERR);
		rig_expect_state(&r.a, RNIC_QPS_ERR);
		rig_expect_none(&r.b.recv_ring);
		rig_end(&r);
	}
}

static void requester_memory_faults(void)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_READ,
					      RNIC_WR_FETCH_ADD};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct rig r;

		rig_begin(&r, &sim_end_default, &sim_end_default);
		rig_receive(&r.b, 100);
		r.a.mem.broken = true;
		rig_request(&r.a, &r.b, ops[i], 8);
		rig_post(&r.a);
		rig_run(&r);
		rig_expect(&r.a.send_ring, 0, RNIC_WC_LOC_PROT_ERR);
		rig_expect_state(&r.a, RNIC_QPS_ERR);
		rig_end(&r);
	}
}

static void responder_memory_faults(void)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_READ,
					      RNIC_WR_FETCH_ADD};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const struct rnic_cqe *cqe;
		struct rig r;

		rig_begin(&r, &sim_end_default, &sim_end_default);
		rig_receive(&r.b, 100);
		r.b.mem.broken = true;
		rig_request(&r.a, &r.b, ops[i], 8);
		rig_post(&r.a);
		rig_run(&r);
		cqe = sim_cq_poll(&r.a.send_ring);
		sim_check(cqe && (cqe->status == RNIC_WC_REM_OP_ERR ||
				  cqe->status == RNIC_WC_REM_ACCESS_ERR),
			  "op %d: status %d", (int)ops[i], cqe ? (int)cqe->status : -1);
		rig_expect(&r.b.recv_ring, 0,
			   ops[i] == RNIC_WR_SEND ? RNIC_WC_LOC_PROT_ERR : RNIC_WC_WR_FLUSH_ERR);
		rig_expect_state(&r.a, RNIC_QPS_ERR);
		rig_expect_state(&r.b, RNIC_QPS_ERR);
		rig_end(&r);
	}
}

static void stuck_memory_holds_up_its_qp_only(void)
{
	struct sim_end_config cfg = sim_end_default;
	struct sim_end c, d;
	struct rig r;

	rig_begin(&r, &cfg, &cfg);
	sim_end_begin(&c, &r.world, 0, &cfg);
	sim_end_begin(&d, &r.world, 1, &cfg);
	sim_connect(&c, &d);
	r.a.mem.busy = true; /* with nobody to end it */
	r.b.mem.busy = true;
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 5000);
	rig_post(&r.a);
	rig_request(&r.b, &r.a, RNIC_WR_READ, 5000);
	rig_post(&r.b);
	for (int i = 0; i < 10; i++) {
		rig_request(&c, &d, i % 2 ? RNIC_WR_WRITE : RNIC_WR_READ, 5000);
		rig_post(&c);
	}
	rig_run_until(&r, 1 * SIM_S);
	for (uint64_t i = 0; i < 10; i++)
		rig_expect(&c.send_ring, i, RNIC_WC_SUCCESS);
	rig_expect_none(&r.a.send_ring);
	rig_expect_state(&r.a, RNIC_QPS_RTS);
	sim_end_end(&c);
	sim_end_end(&d);
	rig_end(&r);
}

const struct scenario scenarios_local[] = {
	SCENARIO(error_state_flushes_in_order),	     SCENARIO(reset_forgets_and_connects_again),
	SCENARIO(cq_overflow_ends_the_qp),	     SCENARIO(bad_lkey),
	SCENARIO(requester_memory_faults),	     SCENARIO(responder_memory_faults),
	SCENARIO(stuck_memory_holds_up_its_qp_only), {NULL, NULL},
};
