/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* UC and UD traffic: see unreliable.h. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "endpoint.h"
#include "unreliable.h"

#define MESSAGES 40
#define MESSAGE_MAX 6000
#define GRH_LEN 40
#define QKEY 0x1234
#define STEPS_MAX 1000000
#define PAIRS_MAX 3

/* Areas of an end's memory, by message: what it sends, what it receives, what WRITEs come to. */
#define AREA 6144
#define OUT(i) ((uint64_t)(i)*AREA)
#define IN(i) ((uint64_t)(MESSAGES + (i)) * AREA)
#define WRITTEN(i) ((uint64_t)(2 * MESSAGES + (i)) * AREA)

struct message {
	enum rnic_wr_op op;
	uint32_t len;
	uint32_t arrived;
	bool solicited;
};

struct end {
	struct sim_end sim;
	struct end *peer;
	struct message msg[MESSAGES]; /* that this end sends */
	uint32_t n, posted, completed;
	uint32_t receives, received;
	uint32_t last; /* message that came last, and one more */
};

struct unreliable {
	struct sim_world world;
	struct rng rng;
	enum rnic_qp_type type;
	struct end ends[2 * PAIRS_MAX];
	uint32_t n_ends;
	bool ordered, clean;
};

static uint8_t byte_of(const struct end *e, uint32_t message, uint32_t at)
{
	uint32_t x = rnic_qp_num(e->sim.qp) * 131 + e->sim.node * 17 + message * 7919 + at * 31;

	return (uint8_t)(x ^ x >> 8);
}

static void faults_choose(struct unreliable *t)
{
	struct sim_faults *f = &t->world.faults;
	struct rng *r = &t->rng;

	*f = (struct sim_faults){.delay = rng_between(r, 1, 30) * SIM_US};
	t->ordered = t->clean = true;
	if (rng_chance(r, 2000))
		return;
	f->loss = rng_chance(r, 6000) ? rng_between(r, 10, 2000) : 0;
	f->corrupt = rng_chance(r, 3000) ? rng_between(r, 1, 300) : 0;
	f->duplicate = rng_chance(r, 4000) ? rng_between(r, 10, 2000) : 0;
	f->reorder = rng_chance(r, 4000) ? rng_between(r, 10, 3000) : 0;
	f->jitter = rng_between(r, 1, 100) * SIM_US;
	t->ordered = !f->duplicate && !f->reorder;
	t->clean = t->ordered && !f->loss && !f->corrupt;
}

static void messages_plan(struct unreliable *t, struct end *e)
{
	static const enum rnic_wr_op uc[] = {RNIC_WR_SEND, RNIC_WR_SEND_IMM, RNIC_WR_WRITE_IMM};
	uint32_t most = t->type == RNIC_QPT_UD ? 4096 : MESSAGE_MAX;

	e->n = rng_between(&t->rng, 1, MESSAGES);
	for (uint32_t i = 0; i < e->n; i++) {
		struct message *m = &e->msg[i];

		m->op = uc[rng_below(&t->rng, t->type == RNIC_QPT_UD ? 2 : 3)];
		m->len = rng_chance(&t->rng, 3000) ? rng_between(&t->rng, 4, 64)
						   : rng_between(&t->rng, 4, most);
		m->solicited = rng_chance(&t->rng, 3000);
		for (uint32_t k = 4; k < m->len; k++)
			e->sim.mem.bytes[OUT(i) + k] = byte_of(e, i, k);
		memcpy(e->sim.mem.bytes + OUT(i), &i, 4);
	}
}

static void receive_post(struct end *e)
{
	struct rnic_recv_wr *wr = sim_queue_recv(&e->sim.queues);

	if (!wr)
		return;
	wr->num_sge = 2;
	wr->sge[0] = sim_sge(&e->sim, IN(e->receives % MESSAGES), 100);
	wr->sge[1] = sim_sge(&e->sim, IN(e->receives % MESSAGES) + 100, AREA - 100);
	sim_queue_recv_post(&e->sim.queues);
	e->receives++;
}

static void pair_begin(struct unreliable *t)
{
	struct end *a = &t->ends[t->n_ends], *b = a + 1;
	struct sim_end_config cfg = sim_end_default;

	cfg.type = t->type;
	cfg.qkey = QKEY;
	cfg.mtu = (enum rnic_mtu)rng_between(&t->rng, RNIC_MTU_256, RNIC_MTU_4096);
	cfg.mem_len = WRITTEN(MESSAGES);
	cfg.send_room = rng_between(&t->rng, 1, 20);
	cfg.recv_room = 2 * MESSAGES;
	cfg.cq_room = 4 * MESSAGES;
	sim_end_begin(&a->sim, &t->world, 0, &cfg);
	sim_end_begin(&b->sim, &t->world, 1, &cfg);
	a->peer = b;
	b->peer = a;
	sim_connect(&a->sim, &b->sim);
	messages_plan(t, a);
	messages_plan(t, b);
	t->n_ends += 2;
}

static void begin(struct unreliable *t, uint64_t seed, bool verbose)
{
	uint32_t pairs;

	memset(t, 0, sizeof(*t));
	t->rng.state = seed ^ 0xdada;
	t->type = rng_chance(&t->rng, 5000) ? RNIC_QPT_UC : RNIC_QPT_UD;
	sim_world_begin(&t->world, seed, RNIC_MTU_4096, 0);
	t->world.verbose = verbose;
	faults_choose(t);
	pairs = rng_between(&t->rng, 1, PAIRS_MAX);
	for (uint32_t i = 0; i < pairs; i++)
		pair_begin(t);
	for (uint32_t i = 0; i < t->n_ends; i++)
		for (uint32_t k = 0; k < MESSAGES; k++)
			receive_post(&t->ends[i]);
	/* A receiver whose memory is not there now drops. */
	if (!t->clean && rng_chance(&t->rng, 3000))
		for (uint32_t i = 0; i < t->n_ends; i++)
			t->ends[i].sim.mem.pending = 200;
}

static bool message_post(struct unreliable *t, struct end *e)
{
	const struct message *m = &e->msg[e->posted];
	struct rnic_send_wr *wr;

	if (e->posted == e->n || !(wr = sim_queue_send(&e->sim.queues)))
		return false;
	wr->op = m->op;
	wr->flags = RNIC_SEND_SIGNALED | (m->solicited ? (uint32_t)RNIC_SEND_SOLICITED : 0);
	wr->imm = e->posted;
	wr->raddr = e->peer->sim.mem.start + WRITTEN(e->posted);
	wr->rkey = rnic_mr_key(e->peer->sim.mr);
	wr->num_sge = 1;
	wr->sge[0] = sim_sge(&e->sim, OUT(e->posted), m->len);
	wr->av = sim_av(&t->world, e->sim.node, e->peer->sim.node);
	wr->remote_qpn = rnic_qp_num(e->peer->sim.qp);
	wr->remote_qkey = QKEY;
	sim_queue_send_post(&e->sim.queues);
	sim_check(rnic_qp_kick(e->sim.qp) == 0, "kick");
	e->posted++;
	return true;
}

static void sends_poll(struct end *e)
{
	const struct rnic_cqe *cqe;

	while ((cqe = sim_cq_poll(&e->sim.send_ring))) {
		sim_check(cqe->status == RNIC_WC_SUCCESS && cqe->slot == e->completed,
			  "request %" PRIu64 ", status %d", cqe->slot, (int)cqe->status);
		e->completed++;
	}
}

/* The message whose completion that is, its data compared. */
static uint32_t message_of(const struct unreliable *t, const struct end *e,
			   const struct rnic_cqe *cqe)
{
	bool write = cqe->opcode == RNIC_WC_RECV_WRITE_IMM;
	uint32_t off = t->type == RNIC_QPT_UD ? GRH_LEN : 0, i = cqe->imm;
	const uint8_t *data = e->sim.mem.bytes + IN(cqe->slot % MESSAGES) + off;
	const struct message *m;

	if (!write)
		memcpy(&i, data, 4);
	sim_check(i < e->peer->n, "message %u was never sent", i);
	m = &e->peer->msg[i];
	if (write)
		data = e->sim.mem.bytes + WRITTEN(i);
	sim_check(write == (m->op == RNIC_WR_WRITE_IMM), "message %u of another kind", i);
	sim_check(cqe->byte_len == m->len + off, "message %u has %u bytes", i, cqe->byte_len);
	sim_check(!(cqe->flags & RNIC_WC_WITH_IMM) == (m->op == RNIC_WR_SEND), "message %u", i);
	sim_check(!(cqe->flags & RNIC_WC_WITH_IMM) || cqe->imm == i, "message %u", i);
	sim_check(cqe->solicited == m->solicited, "message %u", i);
	for (uint32_t k = 4; k < m->len; k++)
		sim_check(data[k] == byte_of(e->peer, i, k), "message %u, byte %u", i, k);
	return i;
}

static void receives_poll(const struct unreliable *t, struct end *e)
{
	const struct rnic_cqe *cqe;

	while ((cqe = sim_cq_poll(&e->sim.recv_ring))) {
		uint32_t i;

		sim_check(cqe->status == RNIC_WC_SUCCESS, "status %d", (int)cqe->status);
		sim_check(cqe->slot == e->received, "receive %" PRIu64, cqe->slot);
		e->received++;
		i = message_of(t, e, cqe);
		e->peer->msg[i].arrived++;
		sim_check(t->world.faults.duplicate || e->peer->msg[i].arrived == 1,
			  "message %u came twice", i);
		sim_check(!t->ordered || i >= e->last, "message %u after %u", i, e->last - 1);
		e->last = i + 1;
		receive_post(e);
	}
}

static bool all_posted(const struct unreliable *t)
{
	for (uint32_t i = 0; i < t->n_ends; i++)
		if (t->ends[i].posted != t->ends[i].n)
			return false;
	return true;
}

static void run(struct unreliable *t)
{
	bool alive = true, busy = true;

	while (alive || busy || !all_posted(t)) {
		busy = false;
		for (uint32_t i = 0; i < t->n_ends; i++) {
			sends_poll(&t->ends[i]);
			receives_poll(t, &t->ends[i]);
			if (!alive || rng_chance(&t->rng, 4000))
				busy |= message_post(t, &t->ends[i]);
		}
		alive = sim_world_step(&t->world);
		sim_check(t->world.n_steps < STEPS_MAX, "still busy after so many steps");
	}
}

static void end(struct unreliable *t, struct sim_result *result)
{
	struct sim_world *w = &t->world;

	*result = (struct sim_result){
		.hash = w->hash, .packets = w->n_sent, .lost = w->n_lost, .duration = w->now};
	for (uint32_t i = 0; i < t->n_ends; i++) {
		struct end *e = &t->ends[i];

		result->operations += e->n;
		result->pended += e->sim.mem.n_pended;
		sim_check(e->completed == e->n, "%u of %u requests", e->completed, e->n);
		for (uint32_t k = 0; k < e->n; k++)
			sim_check(!t->clean || e->msg[k].arrived == 1, "message %u is lost", k);
		sim_check(rnic_qp_state(e->sim.qp) == RNIC_QPS_RTS, "end %u", i);
	}
	for (uint32_t i = 0; i < t->n_ends; i++)
		sim_end_end(&t->ends[i].sim);
	sim_check(sim_world_end(w), "objects are left");
}

void sim_unreliable(uint64_t seed, bool verbose, struct sim_result *result)
{
	static struct unreliable t;

	sim_fail_context(
		"again, packet by packet: tests/sim/sim --unreliable --seed %" PRIu64 " -v", seed);
	begin(&t, seed, verbose);
	run(&t);
	end(&t, result);
}
