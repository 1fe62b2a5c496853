/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The set of rules. Each packet is shown to every rule that it matches, also when an earlier one
 * has already dropped it, so that what one rule does never depends on the others.
 *
 * Most packets match no rule, or one that does not fire on them. So rules that match the same
 * packets are one class, which counts these and knows on which of them the next rule of its own
 * fires: what is random is drawn as a number of packets to come. And the set keeps for each
 * direction and opcode, and for hashes of the other things that rules match by, the set of classes
 * that might match, one bit a class: what cannot match costs four loads for all rules together.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "bth/wire.h"
#include "net/fault_priv.h"

enum { BUCKETS = 64 };

#define NEVER UINT64_MAX

_Static_assert(FAULT_RULES_MAX <= 64, "a set of rules is a 64-bit number");

struct fault_class {
	struct fault_match match;
	uint64_t seen; /* packets that match */
	uint64_t next; /* the one of them on which some rule fires; NEVER */
};

struct fault_rules {
	struct fault_rule rules[FAULT_RULES_MAX];
	struct fault_class classes[FAULT_RULES_MAX];
	uint32_t count, n_classes;
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

/* So many packets on the next one that the rule's probability chooses. */
static uint64_t fault_gap(struct fault_rule *r)
{
	double even, gap;

	if (r->chance <= 0)
		return NEVER;
	if (r->chance >= 1)
		return 1;
	even = (double)((fault_random(&r->random) >> 11) + 1) / (double)(UINT64_C(1) << 53);
	gap = floor(log(even) / log1p(-r->chance));
	return gap < 1e18 ? 1 + (uint64_t)gap : NEVER;
}

static void index_opcodes(struct fault_rules *rules, const struct fault_match *m, uint64_t bit)
{
	for (unsigned i = 0; i < 256; i++) {
		if (!(m->opcodes[i / 8] & 1 << i % 8))
			continue;
		if (m->dirs & FAULT_RX)
			rules->by_opcode[0][i] |= bit;
		if (m->dirs & FAULT_TX)
			rules->by_opcode[1][i] |= bit;
	}
}

static void index_class(struct fault_rules *rules, const struct fault_match *m, uint64_t bit)
{
	index_opcodes(rules, m, bit);
	for (uint32_t i = 0; i < BUCKETS; i++) {
		if (m->qpn == FAULT_ANY || m->qpn % BUCKETS == i)
			rules->by_qpn[i] |= bit;
		if (m->dqpn == FAULT_ANY || m->dqpn % BUCKETS == i)
			rules->by_dqpn[i] |= bit;
		if (m->psn_span >= BUCKETS - 1 || (i - m->psn_first) % BUCKETS <= m->psn_span)
			rules->by_psn[i] |= bit;
	}
	rules->dirs |= m->dirs;
}

static void index_make(struct fault_rules *rules)
{
	rules->dirs = 0;
	memset(rules->by_opcode, 0, sizeof(rules->by_opcode));
	memset(rules->by_qpn, 0, sizeof(rules->by_qpn));
	memset(rules->by_dqpn, 0, sizeof(rules->by_dqpn));
	memset(rules->by_psn, 0, sizeof(rules->by_psn));
	for (uint32_t i = 0; i < rules->n_classes; i++)
		index_class(rules, &rules->classes[i].match, UINT64_C(1) << i);
}

static bool match_same(const struct fault_match *a, const struct fault_match *b)
{
	return a->qpn == b->qpn && a->dqpn == b->dqpn && a->psn_first == b->psn_first &&
	       a->psn_span == b->psn_span && a->from == b->from && a->until == b->until &&
	       a->field == b->field && a->ack == b->ack && a->dirs == b->dirs &&
	       memcmp(a->opcodes, b->opcodes, sizeof(a->opcodes)) == 0;
}

/* When it fires next, if rules of its class have not yet been shown more than `seen` packets. */
static uint64_t next_of(struct fault_rule *r, uint64_t seen)
{
	uint64_t done = seen - r->base, gap = NEVER;

	if (r->fired == r->limit)
		return NEVER;
	switch (r->when) {
	case FAULT_ALWAYS:
		gap = 1;
		break;
	case FAULT_PROBABILITY:
		gap = fault_gap(r);
		break;
	case FAULT_NTH:
		gap = r->n > done ? r->n - done : NEVER;
		break;
	case FAULT_EVERY:
		gap = r->n - done % r->n;
		break;
	}
	return gap < NEVER - seen ? seen + gap : NEVER;
}

static void class_plan(struct fault_rules *rules, uint32_t of)
{
	uint64_t next = NEVER;

	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->rules[i].of == of && rules->rules[i].next < next)
			next = rules->rules[i].next;
	rules->classes[of].next = next;
}

static void class_join(struct fault_rules *rules, struct fault_rule *r)
{
	uint32_t i = 0;

	while (i < rules->n_classes && !match_same(&rules->classes[i].match, &r->match))
		i++;
	if (i == rules->n_classes)
		rules->classes[rules->n_classes++] = (struct fault_class){.match = r->match};
	r->of = i;
	r->base = rules->classes[i].seen;
	r->next = next_of(r, r->base);
}

/* The last of its rules has gone? */
static void class_leave(struct fault_rules *rules, uint32_t of)
{
	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->rules[i].of == of) {
			class_plan(rules, of);
			return;
		}
	rules->n_classes--;
	memmove(&rules->classes[of], &rules->classes[of + 1],
		(rules->n_classes - of) * sizeof(rules->classes[0]));
	for (uint32_t i = 0; i < rules->count; i++)
		rules->rules[i].of -= rules->rules[i].of > of;
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
	class_join(rules, &r);
	rules->rules[rules->count++] = r;
	class_plan(rules, r.of);
	*id = rules->last_id = r.id;
	index_make(rules);
	return 0;
}

int fault_rules_del(struct fault_rules *rules, uint32_t id)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		uint32_t of = rules->rules[i].of;

		if (rules->rules[i].id != id)
			continue;
		rules->count--;
		memmove(&rules->rules[i], &rules->rules[i + 1],
			(rules->count - i) * sizeof(rules->rules[0]));
		class_leave(rules, of);
		index_make(rules);
		return 0;
	}
	return -ENOENT;
}

void fault_rules_clear(struct fault_rules *rules)
{
	rules->count = rules->n_classes = 0;
	index_make(rules);
}

struct seen {
	const struct fault_packet *p;
	uint32_t qpn, dqpn, psn;
};

static bool matches(const struct fault_match *m, const struct seen *s)
{
	const struct fault_packet *p = s->p;

	if ((m->qpn != FAULT_ANY && m->qpn != s->qpn) ||
	    (m->dqpn != FAULT_ANY && m->dqpn != s->dqpn))
		return false;
	if (m->psn_span != FAULT_ANY && ((s->psn - m->psn_first) & BTH_PSN_MASK) > m->psn_span)
		return false;
	if (p->now < m->from || p->now >= m->until)
		return false;
	if (m->ack && (p->len <= BTH_LEN || aeth_kind(p->bth[BTH_LEN]) != AETH_ACK))
		return false;
	return !m->field || fault_field_there(m->field, p);
}

static void verdict_begin(struct fault_verdict *v)
{
	memset(v, 0, offsetof(struct fault_verdict, fired));
}

/* Some rule of the class fires on this packet. */
static void class_fires(struct fault_rules *rules, uint32_t of, const struct fault_packet *p,
			struct fault_verdict *v)
{
	struct fault_class *c = &rules->classes[of];

	for (uint32_t i = 0; i < rules->count; i++) {
		struct fault_rule *r = &rules->rules[i];

		if (r->of != of || r->next != c->seen)
			continue;
		r->seen = c->seen - r->base;
		r->fired += fault_act(r, p, v);
		r->next = next_of(r, c->seen);
	}
	class_plan(rules, of);
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
		uint32_t of = (uint32_t)__builtin_ctzll(maybe);
		struct fault_class *c = &rules->classes[of];

		if (!matches(&c->match, &s) || ++c->seen < c->next)
			continue;
		if (!fired)
			verdict_begin(v);
		fired = true;
		class_fires(rules, of, p, v);
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
				    .dirs = r->match.dirs,
				    .text = r->text,
				    .action = fault_action_name(r->action),
				    .seen = rules->classes[r->of].seen - r->base,
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
