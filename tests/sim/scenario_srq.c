/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared receive queues: a and c send, b and d receive from the one queue of their node. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "scenario.h"
#include "scenario_rig.h"

#define LEN 100

struct shared {
	struct sim_world world;
	struct sim_end a, b, c, d;
	struct sim_queues queue;
	struct rnic_pd *pd; /* of the SRQ alone */
	struct rnic_srq *srq;
	struct rnic_mr *mr; /* b's memory in the SRQ's PD */
};

static void shared_begin(struct shared *s)
{
	struct sim_end_config cfg = sim_end_default;
	struct rnic_mr_attr attr;

	sim_world_begin(&s->world, 1, RNIC_MTU_4096, 0);
	s->world.verbose = rig_verbose;
	s->world.faults.delay = 5 * SIM_US;
	sim_queues_begin(&s->queue, 1, 16);
	sim_check(rnic_pd_create(s->world.node[1].dev, &s->pd) == 0, "PD");
	sim_check(rnic_srq_create(s->pd, 4, 0, &sim_personality, &s->queue, &s->srq) == 0, "SRQ");
	sim_end_begin(&s->a, &s->world, 0, &cfg);
	sim_end_begin(&s->c, &s->world, 0, &cfg);
	cfg.srq = s->srq;
	sim_end_begin(&s->b, &s->world, 1, &cfg);
	sim_end_begin(&s->d, &s->world, 1, &cfg);
	attr = (struct rnic_mr_attr){.mem = &s->b.mem,
				     .start = s->b.mem.start,
				     .length = s->b.mem.len,
				     .iova = s->b.mem.start,
				     .access = RNIC_ACCESS_LOCAL_WRITE};
	sim_check(rnic_mr_create(s->pd, &attr, &s->mr) == 0, "MR");
	for (uint64_t i = 0; i < s->a.mem.len; i++) {
		s->a.mem.bytes[i] = (uint8_t)(i * 7 + 1);
		s->c.mem.bytes[i] = (uint8_t)(i * 5 + 2);
	}
	sim_connect(&s->a, &s->b);
	sim_connect(&s->c, &s->d);
}

static void shared_end(struct shared *s)
{
	sim_end_end(&s->a);
	sim_end_end(&s->b);
	sim_end_end(&s->c);
	sim_end_end(&s->d);
	sim_check(rnic_srq_destroy(s->srq) == 0, "SRQ");
	sim_check(rnic_mr_destroy(s->mr) == 0 && rnic_pd_destroy(s->pd) == 0, "left");
	sim_queues_end(&s->queue);
	sim_check(sim_world_end(&s->world), "objects are left");
}

static void receive(struct shared *s, uint32_t offset, uint32_t len)
{
	struct rnic_recv_wr *wr = sim_queue_recv(&s->queue);

	sim_check(wr, "the queue is full");
	wr->num_sge = 1;
	wr->sge[0] = (struct rnic_sge){s->b.mem.start + offset, len, rnic_mr_key(s->mr)};
	sim_queue_recv_post(&s->queue);
}

static void send(struct sim_end *e, const struct sim_end *peer, uint32_t len)
{
	rig_request(e, peer, RNIC_WR_SEND, len);
	rig_post(e);
}

static void run(struct shared *s)
{
	while (sim_world_step(&s->world))
		sim_check(s->world.n_steps < 1000000, "no end");
}

static uint32_t events(const struct shared *s, enum rnic_event_type type)
{
	return s->world.node[1].n_events[type];
}

static void srq_serves_all_its_qps(void)
{
	struct shared s;

	shared_begin(&s);
	for (uint32_t i = 0; i < 4; i++)
		receive(&s, i * LEN, LEN);
	for (int i = 0; i < 2; i++) {
		send(&s.a, &s.b, LEN);
		run(&s);
		send(&s.c, &s.d, LEN);
		run(&s);
	}
	for (uint64_t i = 0; i < 2; i++) {
		rig_expect(&s.b.recv_ring, 2 * i, RNIC_WC_SUCCESS);
		rig_expect(&s.d.recv_ring, 2 * i + 1, RNIC_WC_SUCCESS);
		sim_check(!memcmp(s.b.mem.bytes + 2 * i * LEN, s.a.mem.bytes, LEN), "a's data");
		sim_check(!memcmp(s.b.mem.bytes + (2 * i + 1) * LEN, s.c.mem.bytes, LEN), "c's");
	}
	shared_end(&s);
}

static void empty_srq_is_rnr_until_a_receive_is_posted(void)
{
	struct shared s;

	shared_begin(&s);
	send(&s.a, &s.b, LEN);
	while (s.world.now < 3 * SIM_MS && sim_world_step(&s.world))
		;
	rig_expect_none(&s.a.send_ring);
	sim_check(rnic_device_counters(s.world.node[1].dev)->send_rnr_err > 0, "no RNR NAK");
	receive(&s, 0, LEN);
	run(&s);
	rig_expect(&s.a.send_ring, 0, RNIC_WC_SUCCESS);
	rig_expect(&s.b.recv_ring, 0, RNIC_WC_SUCCESS);
	shared_end(&s);
}

/* When a receive is taken and fewer than the limit are left: once, until it is armed again. */
static void srq_limit_is_told_once_until_armed_again(void)
{
	struct shared s;

	shared_begin(&s);
	for (uint32_t i = 0; i < 6; i++)
		receive(&s, 0, LEN);
	sim_check(rnic_srq_arm(s.srq, 4) == 0, "arm");
	send(&s.a, &s.b, LEN);
	send(&s.a, &s.b, LEN);
	run(&s);
	sim_check(events(&s, RNIC_EVENT_SRQ_LIMIT_REACHED) == 0, "4 are left");
	send(&s.a, &s.b, LEN);
	run(&s);
	sim_check(events(&s, RNIC_EVENT_SRQ_LIMIT_REACHED) == 1, "3 are left");
	sim_check(rnic_srq_limit(s.srq) == 0, "it is disarmed");
	send(&s.a, &s.b, LEN);
	run(&s);
	sim_check(events(&s, RNIC_EVENT_SRQ_LIMIT_REACHED) == 1, "it was disarmed");
	sim_check(rnic_srq_arm(s.srq, 2) == 0, "arm");
	send(&s.a, &s.b, LEN);
	run(&s);
	sim_check(events(&s, RNIC_EVENT_SRQ_LIMIT_REACHED) == 2, "1 is left");
	shared_end(&s);
}

/* The QP's PD does not matter to a receive, its SRQ's does. */
static void srq_receive_is_checked_against_the_srqs_pd(void)
{
	struct shared s;

	shared_begin(&s);
	receive(&s, 0, LEN);
	s.queue.recv[0].sge[0].lkey = rnic_mr_key(s.b.mr);
	send(&s.a, &s.b, LEN);
	run(&s);
	rig_expect(&s.b.recv_ring, 0, RNIC_WC_LOC_PROT_ERR);
	rig_expect(&s.a.send_ring, 0, RNIC_WC_REM_OP_ERR);
	rig_expect_state(&s.b, RNIC_QPS_ERR);
	rig_expect_state(&s.d, RNIC_QPS_RTS);
	shared_end(&s);
}

/* What it holds is flushed, what it has not taken stays for the others. */
static void qp_in_error_tells_of_its_last_wqe_once(void)
{
	struct shared s;

	shared_begin(&s);
	receive(&s, 0, 5000);
	receive(&s, 0, 5000);
	send(&s.a, &s.b, 5000);
	while (s.queue.recv_taken == 0 && sim_world_step(&s.world))
		;
	sim_check(events(&s, RNIC_EVENT_QP_LAST_WQE_REACHED) == 0, "too early");
	sim_end_modify(&s.b, RNIC_QPS_ERR);
	sim_check(events(&s, RNIC_EVENT_QP_LAST_WQE_REACHED) == 1, "no event");
	rig_expect(&s.b.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	s.world.node[0].unplugged = true;
	run(&s);
	sim_check(events(&s, RNIC_EVENT_QP_LAST_WQE_REACHED) == 1, "more events");
	rig_expect_none(&s.b.recv_ring);
	sim_check(s.queue.recv_taken == 1, "it took one more");
	s.world.node[0].unplugged = false;
	send(&s.c, &s.d, LEN);
	run(&s);
	rig_expect(&s.d.recv_ring, 1, RNIC_WC_SUCCESS);
	sim_end_modify(&s.b, RNIC_QPS_RESET);
	shared_end(&s);
}

static void srq_in_use_cannot_go(void)
{
	struct shared s;

	shared_begin(&s);
	sim_check(rnic_srq_destroy(s.srq) == -EBUSY, "it went");
	sim_check(rnic_pd_destroy(s.pd) == -EBUSY, "its PD went");
	shared_end(&s);
}

/* Each QP when it needs a receive; the event once. */
static void corrupt_srq_fails_and_stops_its_qps(void)
{
	struct shared s;

	shared_begin(&s);
	s.queue.corrupt = true;
	send(&s.a, &s.b, LEN);
	run(&s);
	rig_expect(&s.a.send_ring, 0, RNIC_WC_REM_OP_ERR);
	rig_expect_state(&s.b, RNIC_QPS_ERR);
	rig_expect_state(&s.d, RNIC_QPS_RTS);
	s.queue.corrupt = false;
	receive(&s, 0, LEN);
	send(&s.c, &s.d, LEN);
	run(&s);
	rig_expect(&s.c.send_ring, 0, RNIC_WC_REM_OP_ERR);
	rig_expect_state(&s.d, RNIC_QPS_ERR);
	sim_check(events(&s, RNIC_EVENT_SRQ_ERR) == 1, "%" PRIu32, events(&s, RNIC_EVENT_SRQ_ERR));
	sim_check(rnic_srq_arm(s.srq, 1) == -EINVAL, "an SRQ in error takes no limit");
	shared_end(&s);
}

static void corrupt_receive_queue_is_fatal_to_its_qp(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	r.b.queues.corrupt = true;
	send(&r.a, &r.b, LEN);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_REM_OP_ERR);
	rig_expect_state(&r.b, RNIC_QPS_ERR);
	sim_check(r.world.node[1].n_events[RNIC_EVENT_QP_FATAL] == 1, "events");
	rig_end(&r);
}

const struct scenario scenarios_srq[] = {
	SCENARIO(srq_serves_all_its_qps),
	SCENARIO(empty_srq_is_rnr_until_a_receive_is_posted),
	SCENARIO(srq_limit_is_told_once_until_armed_again),
	SCENARIO(srq_receive_is_checked_against_the_srqs_pd),
	SCENARIO(qp_in_error_tells_of_its_last_wqe_once),
	SCENARIO(srq_in_use_cannot_go),
	SCENARIO(corrupt_srq_fails_and_stops_its_qps),
	SCENARIO(corrupt_receive_queue_is_fatal_to_its_qp),
	{NULL, NULL},
};
