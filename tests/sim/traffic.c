/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections do every RC operation at random, each in areas of memory that no other operation
 * touches, so that what the memory must hold is known: `shadow` is that, and is compared when an
 * operation completes, when a receive completes, and as a whole at the end.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "end_model.h"
#include "traffic.h"

#define STEPS_MAX 4000000
#define TIME_MAX (600 * SIM_S)
#define PAIRS_MAX 4

/* How a connection is to end. */
enum doom {
	DOOM_NONE,
	DOOM_CABLE,	 /* is cut */
	DOOM_NO_RECEIVE, /* is posted any more */
	DOOM_MODIFY,	 /* one end goes to ERR */
	DOOM_COUNT,
};

struct traffic {
	struct sim_world world;
	struct rng rng; /* the clients' */
	struct model_end ends[2 * PAIRS_MAX];
	uint32_t n_ends;
	struct model_common common[SIM_NODES];
	struct model_srq srq[SIM_NODES];
	bool has_srq[SIM_NODES];
	uint32_t laziness; /* chance that a client does nothing in a turn */
	uint32_t recv_laziness;
	enum doom doom;
	uint64_t doom_at;
	bool struck;
};

static void faults_choose(struct traffic *t)
{
	struct sim_faults *f = &t->world.faults;
	struct rng *r = &t->rng;

	*f = (struct sim_faults){.delay = rng_between(r, 1, 30) * SIM_US, .loss_run_max = 2};
	if (rng_chance(r, 2000))
		return; /* a clean link */
	f->loss = rng_chance(r, 6000) ? rng_between(r, 10, 700) : 0;
	f->corrupt = rng_chance(r, 3000) ? rng_between(r, 1, 100) : 0;
	f->duplicate = rng_chance(r, 5000) ? rng_between(r, 10, 2000) : 0;
	f->reorder = rng_chance(r, 5000) ? rng_between(r, 10, 2000) : 0;
	f->jitter = rng_between(r, 1, 100) * SIM_US;
}

static struct sim_end_config config_choose(struct rng *r, enum rnic_mtu mtu)
{
	return (struct sim_end_config){
		.mtu = mtu,
		.timeout = (uint8_t)rng_between(r, 8, 13), /* 1 to 33 ms */
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = (uint8_t)rng_between(r, 1, 14),
		.max_rd_atomic = rng_chance(r, 3000) ? 1 : (uint8_t)rng_between(r, 1, 16),
		.access = SIM_ALL_ACCESS,
		.send_room = rng_between(r, 1, 24),
		.recv_room = rng_between(r, 1, 24),
		.cq_room = 64,
		.mem_len = MODEL_MEM_LEN,
		.sig_all = rng_chance(r, 2000),
	};
}

static void doom_config(struct traffic *t, struct sim_end_config *cfg)
{
	cfg->retry_cnt = (uint8_t)rng_below(&t->rng, 4);
	cfg->rnr_retry = (uint8_t)rng_below(&t->rng, 7);
}

/* Half of the ends of a node that has an SRQ use it. */
static struct model_srq *srq_choose(struct traffic *t, uint32_t node)
{
	return t->has_srq[node] && rng_chance(&t->rng, 5000) ? &t->srq[node] : NULL;
}

static void srqs_begin(struct traffic *t)
{
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		/* A doomed end would keep receives to itself. */
		t->has_srq[i] = !t->doom && rng_chance(&t->rng, 4000);
		if (t->has_srq[i])
			model_srq_begin(&t->srq[i], &t->world, i, &t->rng);
	}
}

static void receives_promise(struct model_end *m)
{
	if (m->srq)
		m->srq->n_left += m->peer->n_takers;
}

static void pair_begin(struct traffic *t, uint32_t operations)
{
	struct model_end *a = &t->ends[t->n_ends], *b = &t->ends[t->n_ends + 1];
	enum rnic_mtu mtu = (enum rnic_mtu)rng_between(&t->rng, RNIC_MTU_256, RNIC_MTU_4096);
	bool both = rng_chance(&t->rng, 6000);
	struct sim_end_config cfg = config_choose(&t->rng, mtu);

	if (t->doom)
		doom_config(t, &cfg);
	model_end_begin(a, &t->world, 0, &cfg, &t->common[0], srq_choose(t, 0), &t->rng);
	cfg = config_choose(&t->rng, mtu);
	if (t->doom)
		doom_config(t, &cfg);
	cfg.max_rd_atomic = a->end.cfg.max_rd_atomic;
	model_end_begin(b, &t->world, 1, &cfg, &t->common[1], srq_choose(t, 1), &t->rng);
	a->may_fail = b->may_fail = t->doom != DOOM_NONE;
	a->recv_laziness = b->recv_laziness = t->recv_laziness;
	model_pair(a, b, operations, both ? operations : 0);
	receives_promise(a);
	receives_promise(b);
	sim_connect(&a->end, &b->end);
	t->n_ends += 2;
}

static void traffic_begin(struct traffic *t, uint64_t seed, bool verbose)
{
	static const uint32_t windows[] = {0, 0, 212992, 40000};
	static const uint32_t pendings[] = {0, 0, 0, 100, 2000};
	uint32_t pairs, pending;

	memset(t, 0, sizeof(*t));
	t->rng.state = seed ^ 0x5eed;
	sim_world_begin(&t->world, seed, RNIC_MTU_4096, windows[rng_below(&t->rng, 4)]);
	t->world.looks_at_reads = true;
	if (seed % 2)
		sim_world_hold_acks(&t->world);
	t->world.verbose = verbose;
	faults_choose(t);
	for (uint32_t i = 0; i < SIM_NODES; i++)
		rnic_credits_set(t->world.node[i].dev, rng_chance(&t->rng, 3000));
	pairs = rng_chance(&t->rng, 5000) ? 1 : rng_between(&t->rng, 1, PAIRS_MAX);
	pending = pendings[rng_below(&t->rng, 5)];
	t->laziness = rng_chance(&t->rng, 5000) ? 0 : rng_between(&t->rng, 1000, 9500);
	t->recv_laziness = rng_chance(&t->rng, 2000) ? rng_between(&t->rng, 9000, 9950) : 0;
	if (rng_chance(&t->rng, 1500)) {
		t->doom = (enum doom)rng_between(&t->rng, 1, DOOM_COUNT - 1);
		t->doom_at = rng_below(&t->rng, 3000) * SIM_US;
	}
	for (uint32_t i = 0; i < SIM_NODES; i++)
		model_common_begin(&t->common[i], &t->world, i);
	srqs_begin(t);
	for (uint32_t i = 0; i < pairs; i++)
		pair_begin(t, rng_between(&t->rng, 1, 40));
	for (uint32_t i = 0; i < t->n_ends; i++)
		t->ends[i].end.mem.pending = pending;
}

/* One turn for the clients; true if one of them did something. */
static bool clients_turn(struct traffic *t, bool all)
{
	bool busy = false;

	for (uint32_t i = 0; i < t->n_ends; i++) {
		model_end_poll(&t->ends[i]);
		if (all || !rng_chance(&t->rng, t->laziness))
			busy |= model_end_post(&t->ends[i], all);
	}
	for (uint32_t i = 0; i < SIM_NODES; i++)
		if (t->has_srq[i])
			busy |= model_srq_post(&t->srq[i], all);
	return busy;
}

static bool all_done(const struct traffic *t)
{
	for (uint32_t i = 0; i < t->n_ends; i++)
		if (!model_end_done(&t->ends[i]))
			return false;
	return true;
}

static void stuck(struct traffic *t, const char *why)
{
	for (uint32_t i = 0; i < t->n_ends; i++)
		model_end_print(&t->ends[i]);
	sim_check(false, "%s at %.3f ms", why, (double)t->world.now / 1e6);
}

static void progress_check(struct traffic *t)
{
	if (t->world.n_steps >= STEPS_MAX)
		stuck(t, "still busy after so many steps");
	if (t->world.now >= TIME_MAX)
		stuck(t, "still waiting");
}

static void doom_strike(struct traffic *t)
{
	struct model_end *m = &t->ends[rng_below(&t->rng, t->n_ends)];

	t->struck = true;
	switch (t->doom) {
	case DOOM_NONE:
	case DOOM_COUNT:
		return;
	case DOOM_CABLE:
		t->world.node[rng_below(&t->rng, SIM_NODES)].unplugged = true;
		return;
	case DOOM_NO_RECEIVE:
		m->recv_stopped = true;
		return;
	case DOOM_MODIFY:
		sim_end_modify(&m->end, RNIC_QPS_ERR);
		return;
	}
}

/* Until nothing happens any more; each request has its end, good or bad. */
static void doomed_run(struct traffic *t)
{
	bool alive = true, quiet = false;

	while (!quiet) {
		quiet = !alive && !clients_turn(t, true) && t->struck;
		if (alive)
			clients_turn(t, false);
		if (!t->struck && (t->world.now >= t->doom_at || !alive))
			doom_strike(t);
		alive = sim_world_step(&t->world);
		quiet = quiet && !alive;
		progress_check(t);
	}
	clients_turn(t, true);
	for (uint32_t i = 0; i < t->n_ends; i++)
		model_end_settled(&t->ends[i]);
}

static void traffic_run(struct traffic *t)
{
	bool alive = true;

	while (!all_done(t)) {
		bool busy = clients_turn(t, !alive);

		if (!busy && !alive && !all_done(t))
			stuck(t, "all is quiet and not all is done");
		alive = sim_world_step(&t->world);
		progress_check(t);
	}
	/* Late duplicates, and one timer that nobody needed any more: then nothing. */
	while (sim_world_step(&t->world))
		progress_check(t);
	clients_turn(t, true);
}

static void traffic_end(struct traffic *t, struct sim_result *result)
{
	struct sim_world *w = &t->world;

	*result = (struct sim_result){
		.hash = w->hash, .packets = w->n_sent, .lost = w->n_lost, .duration = w->now};
	for (uint32_t i = 0; i < t->n_ends; i++) {
		result->operations += t->ends[i].n_ops;
		result->windows_ended +=
			t->ends[i].window.n_local_ends + t->ends[i].window.n_remote_ends;
		result->shared += t->ends[i].srq ? t->ends[i].n_received : 0;
		result->pended += t->ends[i].end.mem.n_pended;
		if (!t->doom)
			model_end_verify(&t->ends[i]);
	}
	for (uint32_t i = 0; i < SIM_NODES && !t->doom; i++)
		model_common_verify(&t->common[i]);
	for (uint32_t i = 0; i < t->n_ends; i++)
		model_end_end(&t->ends[i]);
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		/* An honest peer is accused of nothing. */
		sim_check(w->node[i].n_events[RNIC_EVENT_QP_FATAL] == 0, "node %u", i);
		sim_check(w->node[i].n_events[RNIC_EVENT_QP_REQ_ERR] == 0, "node %u", i);
		/* But for a WRITE that was given up, and whose window was taken away at once. */
		sim_check(t->doom || w->node[i].n_events[RNIC_EVENT_QP_ACCESS_ERR] == 0, "node %u",
			  i);
		model_common_end(&t->common[i]);
		if (t->has_srq[i])
			model_srq_end(&t->srq[i]);
	}
	sim_check(sim_world_end(w), "objects are left");
}

void sim_traffic(uint64_t seed, bool verbose, struct sim_result *result)
{
	static struct traffic t;

	sim_fail_context("again, packet by packet: tests/sim/sim --seed %" PRIu64 " -v", seed);
	traffic_begin(&t, seed, verbose);
	if (t.doom)
		doomed_run(&t);
	else
		traffic_run(&t);
	traffic_end(&t, result);
}
