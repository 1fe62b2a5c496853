/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The set of rules. Each packet is shown to every rule that it matches, also when an earlier one
 * has already dropped it, so that what one rule does never depends on the others.
 *
 * Most rules match few packets, so the set keeps for each direction and opcode, and for hashes of
 * the other things that rules match by, the set of rules that might match, one bit a rule: what
 * cannot match costs four loads for all rules together.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/packet.h"
#include "bth/psn.h"
#include "bth/wire.h"
#include "net/fault_priv.h"

enum { BUCKETS = 64 };

_Static_assert(FAULT_RULES_MAX <= 64, "a set of rules is a 64-bit number");

struct fault_rules {
	struct fault_rule rules[FAULT_RULES_MAX];
	uint32_t count;
	uint32_t last_id;
	unsigned dirs; /* of all of them */
	bool seeded;
	uint64_t seed;
	uint64_t by_opcode[2][256]; /* by direction; else by the lowest bits of: */
	uint64_t by_qpn[BUCKETS], by_dqpn[BUCKETS], by_psn[BUCKETS];
};

struct fault_rules *fault_rules_create(void)
{
	return calloc(1, sizeof(struct fault_rules));
}

void fault_rules_destroy(struct fault_rules *rules)
{
	free(rules);
}

bool fault_rules_empty(const struct fault_rules *rules)
{
	return rules->count == 0;
}

bool fault_rules_concern(const struct fault_rules *rules, enum fault_dir dir)
{
	return rules->dirs & (unsigned)dir;
}

void fault_rules_seed(struct fault_rules *rules, uint64_t seed)
{
	rules->seeded = true;
	rules->seed = seed;
}

uint64_t fault_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void index_opcodes(struct fault_rules *rules, const struct fault_rule *r, uint64_t bit)
{
	for (unsigned i = 0; i < 256; i++) {
		if (!(r->opcodes[i / 8] & 1 << i % 8))
			continue;
		if (r->dirs & FAULT_RX)
			rules->by_opcode[0][i] |= bit;
		if (r->dirs & FAULT_TX)
			rules->by_opcode[1][i] |= bit;
	}
}

static void index_rule(struct fault_rules *rules, const struct fault_rule *r, uint64_t bit)
{
	index_opcodes(rules, r, bit);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		if (r->qpn == FAULT_ANY || r->qpn % BUCKETS == i)
			rules->by_qpn[i] |= bit;
		if (r->dqpn == FAULT_ANY || r->dqpn % BUCKETS == i)
			rules->by_dqpn[i] |= bit;
		if (r->psn_span >= BUCKETS - 1 || (i - r->psn_first) % BUCKETS <= r->psn_span)
			rules->by_psn[i] |= bit;
	}
	rules->dirs |= r->dirs;
}

static void index_make(struct fault_rules *rules)
{
	rules->dirs = 0;
	memset(rules->by_opcode, 0, sizeof(rules->by_opcode));
	memset(rules->by_qpn, 0, sizeof(rules->by_qpn));
	memset(rules->by_dqpn, 0, sizeof(rules->by_dqpn));
	memset(rules->by_psn, 0, sizeof(rules->by_psn));
	for (uint32_t i = 0; i < rules->count; i++)
		index_rule(rules, &rules->rules[i], UINT64_C(1) << i);
}

int fault_rules_add(struct fault_rules *rules, uint64_t now, const char *text, uint32_t *id,
		    char *err, size_t err_size)
{
	struct fault_rule r = {.id = rules->last_id + 1, .random = rules->last_id + 1};

	if (rules->count == FAULT_RULES_MAX) {
		snprintf(err, err_size,
			 "fault: there are %d rules already, which is all that "
			 "there can be",
			 FAULT_RULES_MAX);
		return -EINVAL;
	}
	if (rules->seeded) {
		r.random = rules->seed;
		r.random = fault_random(&r.random) + r.id;
	}
	if (!fault_parse(&r, now, text, err, err_size))
		return -EINVAL;
	rules->rules[rules->count++] = r;
	*id = rules->last_id = r.id;
	index_make(rules);
	return 0;
}

int fault_rules_del(struct fault_rules *rules, uint32_t id)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		if (rules->rules[i].id != id)
			continue;
		rules->count--;
		memmove(&rules->rules[i], &rules->rules[i + 1],
			(rules->count - i) * sizeof(rules->rules[0]));
		index_make(rules);
		return 0;
	}
	return -ENOENT;
}

void fault_rules_clear(struct fault_rules *rules)
{
	rules->count = 0;
	index_make(rules);
}

struct seen {
	const struct fault_packet *p;
	uint32_t qpn, dqpn, psn;
};

static bool rule_matches(const struct fault_rule *r, const struct seen *s)
{
	if (r->qpn != FAULT_ANY && r->qpn != s->qpn)
		return false;
	if (r->dqpn != FAULT_ANY && r->dqpn != s->dqpn)
		return false;
	if (r->psn_span != FAULT_ANY && ((s->psn - r->psn_first) & BTH_PSN_MASK) > r->psn_span)
		return false;
	if (s->p->now < r->from || s->p->now >= r->until)
		return false;
	return fault_act_can(r, s->p);
}

static bool rule_fires(struct fault_rule *r)
{
	r->seen++;
	switch (r->when) {
	case FAULT_ALWAYS:
		return true;
	case FAULT_PROBABILITY:
		return fault_random(&r->random) >> 11 < r->threshold;
	case FAULT_NTH:
		return r->seen == r->n;
	case FAULT_EVERY:
		return r->seen % r->n == 0;
	}
	return false;
}

static void verdict_begin(struct fault_verdict *v)
{
	memset(v, 0, offsetof(struct fault_verdict, fired));
}

bool fault_decide(struct fault_rules *rules, const struct fault_packet *p, struct fault_verdict *v)
{
	struct seen s = {.p = p};
	bool fired = false;
	uint64_t maybe;

	if (p->len < BTH_LEN)
		return false;
	maybe = rules->by_opcode[p->dir == FAULT_TX][p->bth[0]];
	s.dqpn = wire_get32(p->bth + 4) & 0xffffff;
	s.psn = wire_get32(p->bth + 8) & BTH_PSN_MASK;
	s.qpn = p->dir == FAULT_RX ? s.dqpn : p->qpn;
	maybe &= rules->by_qpn[s.qpn % BUCKETS] & rules->by_dqpn[s.dqpn % BUCKETS] &
		 rules->by_psn[s.psn % BUCKETS];
	for (; maybe; maybe &= maybe - 1) {
		struct fault_rule *r = &rules->rules[__builtin_ctzll(maybe)];

		if (!rule_matches(r, &s) || !rule_fires(r) || r->fired == r->limit)
			continue;
		if (!fired)
			verdict_begin(v);
		fired = true;
		r->fired += fault_act(r, p, v);
	}
	return fired;
}

int fault_rules_info(const struct fault_rules *rules, uint32_t index, struct fault_info *info)
{
	const struct fault_rule *r;

	if (index >= rules->count)
		return -ENOENT;
	r = &rules->rules[index];
	*info = (struct fault_info){.id = r->id,
				    .dirs = r->dirs,
				    .text = r->text,
				    .action = fault_action_name(r->action),
				    .seen = r->seen,
				    .fired = r->fired};
	return 0;
}

int fault_rules_print(const struct fault_rules *rules, uint32_t index, char *buf, size_t size)
{
	struct fault_info i;

	if (fault_rules_info(rules, index, &i) < 0)
		return -ENOENT;
	snprintf(buf, size, "%" PRIu32 ": %s (seen %" PRIu64 ", fired %" PRIu64 ")", i.id, i.text,
		 i.seen, i.fired);
	return 0;
}
