/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios of errors: who is told what, and when. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "scenario.h"
#include "scenario_rig.h"

/* ---- the responder refuses ---- */

struct refusal {
	enum rnic_wr_op op;
	uint32_t key_xor;
	uint64_t offset; /* of the address */
	bool no_access;	 /* the responder's QP permits nothing */
	enum rnic_wc_status status;
};

static void refusal_run(const struct refusal *row)
{
	struct sim_end_config closed = sim_end_default;
	struct rnic_send_wr *wr;
	struct rig r;

	closed.access = row->no_access ? 0 : SIM_ALL_ACCESS;
	rig_begin(&r, &sim_end_default, &closed);
	rig_receive(&r.b, 64);
	wr = rig_request(&r.a, &r.b, row->op, 8);
	wr->rkey ^= row->key_xor;
	wr->raddr += row->offset;
	rig_post(&r.a);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 8);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, row->status);
	rig_expect(&r.a.send_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_none(&r.a.send_ring);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	rig_expect_state(&r.b, RNIC_QPS_ERR);
	rig_expect(&r.b.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_none(&r.b.recv_ring);
	for (uint64_t i = 0; i < r.b.mem.len; i++)
		sim_check(r.b.mem.bytes[i] == 0, "byte %" PRIu64 " was written", i);
	rig_end(&r);
}

static void bad_rkey(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_WRITE_IMM, 0x5500, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_READ, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_CMP_SWAP, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_FETCH_ADD, 0xff000000, 0, false, RNIC_WC_REM_ACCESS_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

static void out_of_range(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 0, 65536 - 7, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_READ, 0, -1ull, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_FETCH_ADD, 0, 65536, false, RNIC_WC_REM_ACCESS_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

static void no_access(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
		{RNIC_WR_READ, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
		{RNIC_WR_CMP_SWAP, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

/* As rxe's post_send: no packet is made of it. */
static void unaligned_atomic(void)
{
	struct rnic_send_wr *wr;
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	wr = rig_request(&r.a, &r.b, RNIC_WR_FETCH_ADD, 8);
	wr->raddr += 4;
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	rig_expect_state(&r.b, RNIC_QPS_RTS);
	sim_check(r.world.n_sent == 0, "%" PRIu64 " packets", r.world.n_sent);
	rig_end(&r);
}

static void receive_too_small(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	rig_receive(&r.b, 1500);
	rig_receive(&r.b, 1500);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 1501);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_REM_INV_REQ_ERR);
	rig_expect(&r.b.recv_ring, 0, RNIC_WC_LOC_LEN_ERR);
	rig_expect(&r.b.recv_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	rig_expect_state(&r.b, RNIC_QPS_ERR);
	rig_end(&r);
}

/* ---- the responder is not there, or not ready ---- */

#define TIMES_MAX 16

struct sendings { /* of node 0's requests */
	uint64_t at[TIMES_MAX];
	uint32_t n;
	uint32_t psn;
};

static bool sendings_note(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct sendings *s = arg;

	if (from == 0 && pkt->psn == s->psn && s->n < TIMES_MAX)
		s->at[s->n++] = now;
	return false;
}

static void peer_gone_with(uint8_t timeout, uint8_t retry_cnt)
{
	struct sim_end_config cfg = sim_end_default;
	uint64_t t = ib_timeout_ns(timeout);
	struct sendings s = {0};
	uint64_t end;
	struct rig r;

	cfg.timeout = timeout;
	cfg.retry_cnt = retry_cnt;
	rig_begin(&r, &cfg, &cfg);
	s.psn = r.a.sq_psn;
	r.world.filter = sendings_note;
	r.world.filter_arg = &s;
	r.world.node[1].unplugged = true;
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 100);
	rig_post(&r.a);
	end = rig_run_to_completion(&r, &r.a.send_ring);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_RETRY_EXC_ERR);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	sim_check(s.n == retry_cnt + 1u, "sent %" PRIu32 " times", s.n);
	for (uint32_t i = 0; i < s.n; i++) {
		uint64_t next = i + 1 < s.n ? s.at[i + 1] : end;

		sim_check(next - s.at[i] >= t && next - s.at[i] <= 4 * t,
			  "timeout %u, try %" PRIu32 ": after %.3f ms, T is %.3f ms", timeout, i,
			  (double)(next - s.at[i]) / 1e6, (double)t / 1e6);
	}
	rig_end(&r);
}

/* IBA 9.7.6.1.3: at least T, at most 4T; the same every time. */
static void peer_gone(void)
{
	static const uint8_t timeouts[] = {1, 8, 12, 14, 18}, counts[] = {0, 1, 3, 7};

	for (size_t i = 0; i < sizeof(timeouts); i++)
		for (size_t j = 0; j < sizeof(counts); j++)
			peer_gone_with(timeouts[i], counts[j]);
}

static void timeout_zero_waits_for_ever(void)
{
	struct sim_end_config cfg = sim_end_default;
	struct rig r;

	cfg.timeout = 0;
	rig_begin(&r, &cfg, &cfg);
	r.world.node[1].unplugged = true;
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 100);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect_none(&r.a.send_ring);
	rig_expect_state(&r.a, RNIC_QPS_RTS);
	rig_end(&r);
}

static void rnr_exhausted(void)
{
	struct sim_end_config cfg = sim_end_default;
	uint64_t wait = aeth_rnr_timer_ns(14);
	struct sendings s = {0};
	struct rig r;

	cfg.rnr_retry = 3;
	cfg.min_rnr_timer = 14;
	rig_begin(&r, &cfg, &cfg);
	s.psn = r.a.sq_psn;
	r.world.filter = sendings_note;
	r.world.filter_arg = &s;
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 100);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_RNR_RETRY_EXC_ERR);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	sim_check(s.n == 4, "sent %" PRIu32 " times", s.n);
	for (uint32_t i = 0; i + 1 < s.n; i++)
		sim_check(s.at[i + 1] - s.at[i] >= wait && s.at[i + 1] - s.at[i] < 2 * wait,
			  "try %" PRIu32, i);
	rig_end(&r);
}

static void rnr_seven_waits_for_the_receive(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 3000);
	rig_post(&r.a);
	rig_run_until(&r, 100 * SIM_MS);
	rig_expect_none(&r.a.send_ring);
	rig_receive(&r.b, 3000);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_SUCCESS);
	rig_expect(&r.b.recv_ring, 0, RNIC_WC_SUCCESS);
	sim_check(memcmp(r.a.mem.bytes, r.b.mem.bytes, 3000) == 0, "data");
	rig_end(&r);
}

/* ---- flushing ---- */

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

/* ---- keys and memory of the client ---- */

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

/* ---- counting packets ---- */

struct gap {
	uint32_t drop, naks;
	bool dropped;
};

static bool gap_make(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct gap *g = arg;

	(void)now;
	if (from == 1 && bth_opcode_op(pkt->opcode) == BTH_ACKNOWLEDGE &&
	    aeth_kind(pkt->syndrome) == AETH_NAK)
		g->naks++;
	if (from != 0 || pkt->psn != g->drop || g->dropped)
		return false;
	g->dropped = true;
	return true;
}

static void responder_naks_once_per_gap(void)
{
	struct gap g = {0};
	uint64_t end;
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	g.drop = (r.a.sq_psn + 3) & 0xffffff;
	r.world.filter = gap_make;
	r.world.filter_arg = &g;
	rig_request(&r.a, &r.b, RNIC_WR_WRITE, 20000);
	rig_post(&r.a);
	end = rig_run_to_completion(&r, &r.a.send_ring);
	sim_check(end < 1 * SIM_MS, "a timeout was waited for");
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_SUCCESS);
	sim_check(g.naks == 1 && g.dropped, "%" PRIu32 " NAKs", g.naks);
	rig_end(&r);
}

struct reads {
	uint32_t asked, answered, most;
};

static bool reads_count(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct reads *c = arg;
	enum bth_op op = bth_opcode_op(pkt->opcode);

	(void)now;
	if (from == 0 && (op == BTH_READ_REQUEST || op == BTH_FETCH_ADD))
		c->asked++;
	if (from == 1 && (op == BTH_READ_RESPONSE_LAST || op == BTH_READ_RESPONSE_ONLY ||
			  op == BTH_ATOMIC_ACKNOWLEDGE))
		c->answered++;
	if (c->asked - c->answered > c->most)
		c->most = c->asked - c->answered;
	return false;
}

static void reads_stay_within_max_rd_atomic(void)
{
	struct sim_end_config cfg = sim_end_default;
	struct reads c = {0};
	struct rig r;

	cfg.max_rd_atomic = 2;
	rig_begin(&r, &cfg, &cfg);
	r.world.filter = reads_count;
	r.world.filter_arg = &c;
	for (int i = 0; i < 12; i++) {
		rig_request(&r.a, &r.b, i % 3 ? RNIC_WR_READ : RNIC_WR_FETCH_ADD, i % 3 ? 3000 : 8);
		rig_post(&r.a);
	}
	rig_run(&r);
	for (uint64_t i = 0; i < 12; i++)
		rig_expect(&r.a.send_ring, i, RNIC_WC_SUCCESS);
	sim_check(c.asked == 12 && c.most <= 2, "%" PRIu32 " asked, %" PRIu32 " at once", c.asked,
		  c.most);
	rig_end(&r);
}

#define SCENARIO(name)                                                                             \
	{                                                                                          \
#name, name                                                                        \
	}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	SCENARIO(bad_rkey),
	SCENARIO(out_of_range),
	SCENARIO(no_access),
	SCENARIO(unaligned_atomic),
	SCENARIO(receive_too_small),
	SCENARIO(peer_gone),
	SCENARIO(timeout_zero_waits_for_ever),
	SCENARIO(rnr_exhausted),
	SCENARIO(rnr_seven_waits_for_the_receive),
	SCENARIO(error_state_flushes_in_order),
	SCENARIO(reset_forgets_and_connects_again),
	SCENARIO(cq_overflow_ends_the_qp),
	SCENARIO(bad_lkey),
	SCENARIO(requester_memory_faults),
	SCENARIO(responder_memory_faults),
	SCENARIO(stuck_memory_holds_up_its_qp_only),
	SCENARIO(responder_naks_once_per_gap),
	SCENARIO(reads_stay_within_max_rd_atomic),
};

int scenarios_run(const char *name, bool verbose)
{
	bool all = strcmp(name, "all") == 0, found = false;

	rig_verbose = verbose;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (!all && strcmp(name, scenarios[i].name) != 0)
			continue;
		found = true;
		sim_fail_context("again, packet by packet: tests/sim/sim --scenario %s -v",
				 scenarios[i].name);
		scenarios[i].run();
		printf("ok %s\n", scenarios[i].name);
	}
	if (!found)
		fprintf(stderr, "sim: there is no scenario %s\n", name);
	return !found;
}

void scenarios_list(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		puts(scenarios[i].name);
}
