/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A peer that is reset: node 0 has connections with node 1, goes away without a word, comes back
 * and connects with the same QPs. Node 1 calls its requests stale, as its own ends still are what
 * they were, and ends these; whatever is lost, each QP is connected again in the end, once, and no
 * late message of an old connection harms a new one.
 *
 *   cm_reset FIRST LAST   runs these seeds
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cm.h"
#include "world.h"

#define CONNS_MAX 16
#define ASKS_MAX 12
#define AT_ONCE 4
#define STEPS_MAX 1000000
#define SERVICE 0x0106000000001234ull

enum life { FIRST, SECOND, LIVES }; /* before the reset, and after it */

struct end {
	struct rnic_cm *cm;
	enum life life;
	uint32_t attempt; /* of the asker, which has brought it about */
	bool to_answer, up, down;
};

struct conn {
	uint32_t number, asks;
	struct end asker, answerer;
	bool stale;
};

static struct sim_world world;
static struct conn conns[CONNS_MAX];
static uint32_t n_conns;
static uint64_t seed;
static enum life life;

static void fail(const struct conn *c, const char *what)
{
	fprintf(stderr, "seed %" PRIu64 ", connection %u: %s\n", seed, c ? c->number : 0, what);
	exit(1);
}

static struct end *end_of(struct conn *c, const struct rnic_cm *cm)
{
	if (cm != c->asker.cm && cm != c->answerer.cm)
		fail(c, "an event of no end");
	return cm == c->asker.cm ? &c->asker : &c->answerer;
}

static void forget(struct end *e)
{
	rnic_cm_destroy(e->cm, world.now);
	e->cm = NULL;
}

static uint16_t request(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	struct conn *c = &conns[msg->qpn - 100];

	(void)host;
	if (c->answerer.cm && !c->answerer.down)
		fail(c, "offered while another connection of the QP is up");
	if (c->answerer.cm)
		forget(&c->answerer);
	c->answerer = (struct end){
		.cm = cm, .life = life, .attempt = msg->private_data[0], .to_answer = true};
	rnic_cm_user_set(cm, c);
	return 0;
}

static void end_down(struct conn *c, struct end *e)
{
	if (e == &c->asker || (e->attempt == c->asks && life == e->life))
		fail(c, "a connection that nobody ended is down");
	e->down = true;
}

static void event(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	struct conn *c = user;
	struct end *e = end_of(c, cm);

	(void)host;
	switch (ev->type) {
	case RNIC_CM_EV_REP:
		e->to_answer = true;
		return;
	case RNIC_CM_EV_ESTABLISHED:
		e->up = true;
		return;
	case RNIC_CM_EV_REJ:
		if (e == &c->answerer) {
			end_down(c, e);
			return;
		}
		if (life != SECOND || ev->msg->reason != CM_REJ_STALE_CONN)
			fail(c, "rejected");
		/* It should wait, but does so only after some tries. */
		c->stale = c->asks % AT_ONCE != 0;
		return;
	case RNIC_CM_EV_DREQ:
	case RNIC_CM_EV_DISCONNECTED:
		end_down(c, e);
		return;
	case RNIC_CM_EV_TIMEWAIT_EXIT:
		c->stale |= e == &c->asker;
		return;
	case RNIC_CM_EV_UNREACHABLE:
	case RNIC_CM_EV_SIDR_REP:
		fail(c, "given up, although most messages arrive");
	}
}

static const struct rnic_cm_host host_ops = {request, event};

static void ask(struct conn *c)
{
	struct rnic_av av = sim_av(&world, 0, 1);
	struct cm_msg msg = {
		.service_id = SERVICE,
		.qpn = 100 + c->number,
		.remote_timeout = 14,
		.local_timeout = 14,
		.max_cm_retries = 15,
	};

	if (++c->asks > ASKS_MAX)
		fail(c, "stale for ever");
	msg.private_data[0] = (uint8_t)c->asks;
	c->stale = false;
	c->asker = (struct end){.cm = rnic_cm_create(world.node[0].dev, c)};
	if (rnic_cm_req(c->asker.cm, world.now, &av, &msg))
		fail(c, "cannot ask");
}

static void act(struct conn *c)
{
	struct cm_msg msg = {.qpn = 500 + c->number};

	if (c->answerer.to_answer && !c->answerer.down &&
	    rnic_cm_rep(c->answerer.cm, world.now, &msg))
		fail(c, "cannot answer");
	c->answerer.to_answer = false;
	if (c->asker.to_answer) {
		if (rnic_cm_rtu(c->asker.cm, world.now, &msg))
			fail(c, "cannot establish");
		c->asker.up = true;
	}
	c->asker.to_answer = false;
	if (c->answerer.down && c->answerer.cm)
		forget(&c->answerer);
	if (c->stale) {
		forget(&c->asker);
		ask(c);
	}
}

static void settle(void)
{
	uint64_t steps = 0;

	while (sim_world_step(&world)) {
		for (uint32_t i = 0; i < n_conns; i++)
			act(&conns[i]);
		if (++steps > STEPS_MAX)
			fail(NULL, "never quiet");
	}
}

static void ends_are(uint32_t node, uint32_t wanted)
{
	uint32_t cursor = 0, n = 0;

	while (rnic_cm_next(world.node[node].dev, &cursor))
		n++;
	if (n != wanted)
		fail(NULL, "ends are left, or lost");
}

static void all_up(void)
{
	for (uint32_t i = 0; i < n_conns; i++)
		if (!conns[i].asker.up || !conns[i].answerer.up)
			fail(&conns[i], "is not connected");
	ends_are(0, n_conns);
	ends_are(1, n_conns);
}

/* Nobody hears it go. */
static void peer_goes(void)
{
	world.node[0].unplugged = true;
	for (uint32_t i = 0; i < n_conns; i++)
		forget(&conns[i].asker);
	settle();
	ends_are(0, 0);
	ends_are(1, n_conns);
	world.node[0].unplugged = false;
}

static void run(void)
{
	static const struct sim_faults faults[] = {
		{.delay = 5 * SIM_US},
		{.loss = 1500, .duplicate = 1000, .delay = 5 * SIM_US, .jitter = SIM_MS},
		{.loss = 1500,
		 .duplicate = 3000,
		 .reorder = 3000,
		 .delay = SIM_MS,
		 .jitter = 200 * SIM_MS},
	};

	sim_world_begin(&world, seed, RNIC_MTU_1024, 0);
	world.faults = faults[seed % 3];
	memset(conns, 0, sizeof(conns));
	n_conns = rng_between(&world.rng, 1, CONNS_MAX);
	for (uint32_t i = 0; i < 2; i++)
		if (rnic_cm_start(world.node[i].dev, &host_ops, &world.node[i], 1 + i))
			exit(1);
	for (life = FIRST; life < LIVES; life++) {
		for (uint32_t i = 0; i < n_conns; i++) {
			conns[i].number = i;
			ask(&conns[i]);
		}
		settle();
		all_up();
		if (life == FIRST)
			peer_goes();
	}
	life = SECOND;
	for (uint32_t i = 0; i < n_conns; i++) {
		forget(&conns[i].answerer);
		forget(&conns[i].asker);
	}
	settle();
	ends_are(0, 0);
	ends_are(1, 0);
	if (!sim_world_end(&world))
		fail(NULL, "objects are left");
}

int main(int argc, char **argv)
{
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : 600;

	for (seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1; seed <= last; seed++)
		run();
	printf("peers that are reset: seeds up to %" PRIu64 " are right\n", last);
	return 0;
}
