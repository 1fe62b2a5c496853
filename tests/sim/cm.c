/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections over a link that loses, doubles and reorders, in virtual time, by seed: a node asks,
 * the other answers after a while, either disconnects. In some runs both ask, and their requests
 * cross. Whatever is lost, each end is told each thing once and in order, what was said arrives as
 * it was said, and in the end nothing is left.
 *
 *   cm FIRST LAST   runs these seeds
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cm.h"
#include "world.h"

#define CONNS_MAX 24
#define STEPS_MAX 2000000
#define OWNER_NS (400 * SIM_MS)
#define LOSS_BEARABLE 1000 /* in 10000: 16 tries never fail all */
#define SERVICE 0x0106000000001234ull

enum stage { ST_NEW, ST_ASKED, ST_ANSWERED, ST_UP, ST_DOWN, ST_REFUSED, ST_UNREACHED, ST_GONE };

/* One end, as its owner sees it. */
struct side {
	struct rnic_cm *cm;
	enum stage stage;
	bool down_told, exit_told;
};

struct conn {
	uint32_t number;
	bool sidr;
	bool refuse;	 /* it will be rejected */
	uint32_t asker;	 /* which node asks; the other answers */
	uint32_t closer; /* which node disconnects */
	struct side side[2];
};

static struct sim_world world;
static struct conn conns[CONNS_MAX];
static uint32_t n_conns;
static uint64_t seed, all_acted;

static void fail(const struct conn *c, const char *what)
{
	fprintf(stderr, "seed %" PRIu64 ", connection %u: %s\n", seed, c ? c->number : 0, what);
	exit(1);
}

static void say(struct cm_msg *msg, const struct conn *c, uint8_t salt)
{
	for (uint32_t i = 0; i < 40; i++)
		msg->private_data[i] = (uint8_t)(c->number * 7 + i + salt);
}

static void heard(const struct cm_msg *msg, const struct conn *c, uint8_t salt)
{
	struct cm_msg want;

	say(&want, c, salt);
	if (memcmp(msg->private_data, want.private_data, 40))
		fail(c, "private data are not what was said");
}

static struct side *asking(struct conn *c)
{
	return &c->side[c->asker];
}

static struct side *answering(struct conn *c)
{
	return &c->side[1 - c->asker];
}

static uint16_t request(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	const struct sim_node *node = host;
	struct conn *c;

	if (msg->service_id >> 16 != SERVICE >> 16 || (msg->service_id & 0xffff) >= n_conns)
		return CM_REJ_INVALID_SERVICE_ID;
	c = &conns[msg->service_id & 0xffff];
	if (node->index == c->asker)
		fail(c, "the node that asks is asked");
	if (answering(c)->stage != ST_NEW)
		fail(c, "asked twice");
	heard(msg, c, 1);
	if (!c->sidr && msg->qpn != 100 + c->number)
		fail(c, "another QP number");
	answering(c)->cm = cm;
	answering(c)->stage = ST_ASKED;
	rnic_cm_user_set(cm, c);
	return 0;
}

static void down(struct conn *c, struct side *s)
{
	if (s->down_told)
		fail(c, "disconnected twice");
	s->down_told = true;
	if (s->stage != ST_UP && s->stage != ST_ANSWERED)
		fail(c, "disconnected before it was connected");
	s->stage = ST_DOWN;
}

static void event(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	const struct sim_node *node = host;
	struct conn *c = user;
	struct side *s = &c->side[node->index];
	bool asks = node->index == c->asker;

	if (s->cm != cm)
		fail(c, "an event of another end");
	if (world.faults.loss <= LOSS_BEARABLE && !ev->msg && ev->type != RNIC_CM_EV_TIMEWAIT_EXIT)
		fail(c, "given up although most messages arrive");
	switch (ev->type) {
	case RNIC_CM_EV_REP:
	case RNIC_CM_EV_SIDR_REP:
		if (!asks || s->stage != ST_ASKED)
			fail(c, "answered out of order");
		if (c->sidr && ev->msg->status) {
			s->stage = ST_REFUSED;
			break;
		}
		heard(ev->msg, c, 2);
		if (ev->msg->qpn != 500 + c->number)
			fail(c, "another QP number");
		s->stage = ST_ANSWERED;
		break;
	case RNIC_CM_EV_ESTABLISHED:
		if (asks || s->stage != ST_ANSWERED)
			fail(c, "established out of order");
		if (asking(c)->stage == ST_ASKED || asking(c)->stage == ST_ANSWERED)
			fail(c, "established before the other end is");
		s->stage = ST_UP;
		break;
	case RNIC_CM_EV_REJ:
		if (asks && !c->refuse && answering(c)->stage != ST_UNREACHED &&
		    answering(c)->stage != ST_GONE)
			fail(c, "rejected by nobody");
		s->stage = ST_REFUSED;
		break;
	case RNIC_CM_EV_UNREACHABLE:
		if (s->stage != ST_ASKED && s->stage != ST_ANSWERED)
			fail(c, "unreachable out of order");
		s->stage = ST_UNREACHED;
		break;
	case RNIC_CM_EV_DREQ:
	case RNIC_CM_EV_DISCONNECTED:
		down(c, s);
		break;
	case RNIC_CM_EV_TIMEWAIT_EXIT:
		if (s->exit_told)
			fail(c, "time wait ends twice");
		s->exit_told = true;
		break;
	}
}

static const struct rnic_cm_host host_ops = {request, event};

static void begin(struct conn *c)
{
	struct rnic_av av = sim_av(&world, c->asker, 1 - c->asker);
	struct cm_msg msg = {
		.service_id = (SERVICE & ~0xffffull) | c->number,
		.qpn = 100 + c->number,
		.remote_timeout = 14,
		.local_timeout = 14,
		.max_cm_retries = 15,
	};

	say(&msg, c, 1);
	asking(c)->cm = rnic_cm_create(world.node[c->asker].dev, c);
	asking(c)->stage = ST_ASKED;
	if ((c->sidr ? rnic_cm_sidr_req : rnic_cm_req)(asking(c)->cm, world.now, &av, &msg))
		fail(c, "cannot ask");
}

static void answer(struct conn *c)
{
	struct side *s = answering(c);
	struct cm_msg msg = {.qpn = 500 + c->number, .reason = CM_REJ_CONSUMER};
	int ret;

	say(&msg, c, 2);
	if (c->refuse)
		msg.status = CM_SIDR_REJECT;
	if (c->sidr)
		ret = rnic_cm_sidr_rep(s->cm, world.now, &msg);
	else
		ret = (c->refuse ? rnic_cm_rej : rnic_cm_rep)(s->cm, world.now, &msg);
	if (ret)
		fail(c, "cannot answer");
	s->stage = c->refuse || c->sidr ? ST_REFUSED : ST_ANSWERED;
}

static void destroy(struct side *s)
{
	rnic_cm_destroy(s->cm, world.now);
	s->cm = NULL;
	s->stage = ST_GONE;
}

/* What the owner of this end does next, if anything; it takes its time. */
static bool act(struct conn *c, uint32_t i, bool quiet)
{
	struct side *s = &c->side[i];
	bool asks = i == c->asker;
	struct cm_msg msg = {0};

	switch (s->stage) {
	case ST_NEW:
		if (asks)
			begin(c);
		return asks;
	case ST_ASKED:
		if (!asks)
			answer(c);
		return !asks;
	case ST_ANSWERED:
		if (!asks || c->sidr) {
			if (asks)
				destroy(s);
			return asks;
		}
		s->stage = ST_UP;
		return rnic_cm_rtu(s->cm, world.now, &msg) == 0;
	case ST_UP:
		/* When every message that said so was lost, it finds out by other means. */
		if (quiet && c->side[1 - i].stage == ST_GONE) {
			destroy(s);
			return true;
		}
		if (i != c->closer || (asks && answering(c)->stage < ST_ANSWERED))
			return false;
		if (rng_chance(&world.rng, 3000))
			destroy(s);
		else if (rnic_cm_state(s->cm) == RNIC_CM_ESTABLISHED)
			rnic_cm_dreq(s->cm, world.now, &msg);
		else
			return false;
		return true;
	case ST_DOWN:
		if (rnic_cm_state(s->cm) == RNIC_CM_DREQ_RCVD && rng_chance(&world.rng, 5000))
			rnic_cm_drep(s->cm, world.now, &msg);
		destroy(s);
		return true;
	case ST_REFUSED:
	case ST_UNREACHED:
		destroy(s);
		return true;
	case ST_GONE:
		return false;
	}
	return false;
}

/* An owner takes its time, but not for ever. quiet: nothing is under way any more. */
static bool owners_act(bool quiet)
{
	bool acted = false, all = quiet || world.now > all_acted + OWNER_NS;

	if (all)
		all_acted = world.now;

	for (uint32_t n = 0; n < n_conns; n++)
		for (uint32_t i = 0; i < 2; i++)
			if (all || rng_chance(&world.rng, 300))
				acted |= act(&conns[n], i, quiet);
	return acted;
}

static void ends_are_right(void)
{
	for (uint32_t n = 0; n < n_conns; n++) {
		struct conn *c = &conns[n];

		/* A passive end whose REQ never came was never made. */
		if (asking(c)->stage != ST_GONE ||
		    (answering(c)->stage != ST_GONE && answering(c)->stage != ST_NEW))
			fail(c, "does not end");
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t cursor = 0;

		if (rnic_cm_next(world.node[i].dev, &cursor))
			fail(NULL, "an end is left");
	}
}

static void run(void)
{
	static const struct sim_faults faults[] = {
		{.delay = 5 * SIM_US},
		{.loss = 1000,
		 .duplicate = 500,
		 .reorder = 2000,
		 .delay = 5 * SIM_US,
		 .jitter = SIM_MS},
		{.loss = 4000,
		 .duplicate = 2000,
		 .reorder = 5000,
		 .delay = SIM_MS,
		 .jitter = 200 * SIM_MS},
		{.loss = 9900, .delay = SIM_MS},
	};
	uint64_t steps = 0;

	all_acted = 0;
	sim_world_begin(&world, seed, RNIC_MTU_1024, 0);
	world.faults = faults[seed % 4];
	memset(conns, 0, sizeof(conns));
	n_conns = rng_between(&world.rng, 1, CONNS_MAX);
	for (uint32_t n = 0; n < n_conns; n++) {
		conns[n].number = n;
		conns[n].sidr = rng_chance(&world.rng, 2500);
		conns[n].refuse = rng_chance(&world.rng, 2000);
		conns[n].closer = rng_below(&world.rng, 2);
		conns[n].asker = seed / 4 % 3 == 0 ? rng_below(&world.rng, 2) : 0;
	}
	for (uint32_t i = 0; i < 2; i++)
		if (rnic_cm_start(world.node[i].dev, &host_ops, &world.node[i], 1 + i))
			exit(1);
	do {
		while (sim_world_step(&world)) {
			owners_act(false);
			if (++steps > STEPS_MAX)
				fail(NULL, "never quiet");
		}
	} while (owners_act(true));
	ends_are_right();
	if (!sim_world_end(&world))
		fail(NULL, "objects are left");
}

int main(int argc, char **argv)
{
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;

	for (seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1; seed <= last; seed++)
		run();
	printf("connections: seeds up to %" PRIu64 " are right\n", last);
	return 0;
}
