/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios of timeouts, RNR and lost packets: what is sent again, and when that ends. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "scenario.h"
#include "scenario_rig.h"

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

static void doubled_rnr_nak_counts_once(void)
{
	struct sim_end_config cfg = sim_end_default;
	struct sendings s = {0};
	struct rig r;

	cfg.rnr_retry = 3;
	rig_begin(&r, &cfg, &cfg);
	r.world.faults.duplicate = 10000;
	s.psn = r.a.sq_psn;
	r.world.filter = sendings_note;
	r.world.filter_arg = &s;
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 100);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_RNR_RETRY_EXC_ERR);
	sim_check(s.n == 4, "sent %" PRIu32 " times", s.n);
	rig_end(&r);
}

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

const struct scenario scenarios_retry[] = {
	SCENARIO(peer_gone),
	SCENARIO(timeout_zero_waits_for_ever),
	SCENARIO(rnr_exhausted),
	SCENARIO(doubled_rnr_nak_counts_once),
	SCENARIO(rnr_seven_waits_for_the_receive),
	SCENARIO(responder_naks_once_per_gap),
	SCENARIO(reads_stay_within_max_rd_atomic),
	{NULL, NULL},
};
