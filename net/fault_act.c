/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What rules do to packets: from a rule that fires to the caller's orders. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "bth/aeth.h"
#include "bth/line.h"
#include "bth/packet.h"
#include "net/fault_priv.h"

static const char *const names[] = {
	[FAULT_NO_ACTION] = "none",
	[FAULT_DROP] = "drop",
	[FAULT_DUPLICATE] = "duplicate",
	[FAULT_DELAY] = "delay",
	[FAULT_REORDER] = "reorder",
	[FAULT_CORRUPT_FIELD] = "corrupt",
	[FAULT_CORRUPT_BITS] = "corrupt",
	[FAULT_MARK_CE] = "mark",
	[FAULT_NAK] = "nak",
	[FAULT_BOTTLENECK] = "bottleneck",
};

const char *fault_action_name(enum fault_action action)
{
	return names[action];
}

static void edit_add(struct fault_verdict *v, uint32_t at, uint8_t flip, bool after_icrc)
{
	if (flip && v->n_edits < FAULT_EDITS_MAX)
		v->edits[v->n_edits++] =
			(struct fault_edit){.at = at, .flip = flip, .after_icrc = after_icrc};
}

static uint64_t bytes_get(const uint8_t *p, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

/* Another value than there is, or the rule's. */
static void corrupt_field(struct fault_rule *r, const struct fault_packet *p,
			  struct fault_verdict *v)
{
	uint64_t mask, flip;
	uint32_t bytes, at = fault_field_bits(r->field, p, fault_random(&r->random), &bytes, &mask);

	if (r->has_value) {
		/* The ICRC is not known yet: its bits are turned over by the value. */
		uint64_t have = at < p->len ? bytes_get(p->bth + at, bytes) : 0;

		flip = (have ^ r->value * (mask & -mask)) & mask;
	} else {
		flip = fault_random(&r->random) & mask;
		if (!flip)
			flip = mask & -mask;
	}
	for (uint32_t i = 0; i < bytes; i++)
		edit_add(v, at + i, (uint8_t)(flip >> 8 * (bytes - 1 - i)), !r->icrc_right);
}

static void corrupt_bits(struct fault_rule *r, const struct fault_packet *p,
			 struct fault_verdict *v)
{
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t bit = fault_random(&r->random) % (8 * (uint64_t)p->len);

		edit_add(v, (uint32_t)(bit / 8), (uint8_t)(1 << bit % 8), !r->icrc_right);
	}
}

/* A normal distribution closely enough: the sum of twelve even ones. */
static uint64_t delay_normal(struct fault_rule *r)
{
	double sum = -6, delay;

	for (int i = 0; i < 12; i++)
		sum += (double)(fault_random(&r->random) >> 32) / 4294967296.0;
	delay = (double)r->delay + sum * (double)r->deviation;
	return delay > 0 ? (uint64_t)delay : 0;
}

static uint64_t delay_draw(struct fault_rule *r)
{
	if (r->deviation)
		return delay_normal(r);
	if (r->delay_to > r->delay)
		return r->delay + fault_random(&r->random) % (r->delay_to - r->delay + 1);
	return r->delay;
}

static void fired_add(const struct fault_rule *r, enum fault_action action, struct fault_verdict *v)
{
	if (v->n_fired == FAULT_FIRED_MAX)
		return;
	v->fired[v->n_fired].rule = r->id;
	v->fired[v->n_fired].action = action;
	v->fired[v->n_fired].match = r->seen;
	v->n_fired++;
}

static bool bottleneck(struct fault_rule *r, const struct fault_packet *p, struct fault_verdict *v)
{
	uint32_t bytes =
		p->len + BTH_ICRC_LEN + (p->ipv6 ? NET_QUEUE_OVERHEAD_V6 : NET_QUEUE_OVERHEAD_V4);
	uint64_t leaves;

	switch (net_queue_put(&r->queue, p->now, bytes, p->ect, &leaves)) {
	case NET_QUEUE_DROP:
		fired_add(r, FAULT_DROP, v);
		v->drop = true;
		return true;
	case NET_QUEUE_MARK:
		fired_add(r, FAULT_MARK_CE, v);
		v->ce = true;
		v->delay += leaves - p->now;
		return true;
	case NET_QUEUE_PASS:
		v->delay += leaves - p->now;
		break;
	}
	return false;
}

bool fault_act(struct fault_rule *r, const struct fault_packet *p, struct fault_verdict *v)
{
	if (r->action == FAULT_BOTTLENECK)
		return bottleneck(r, p, v);
	fired_add(r, r->action, v);
	switch (r->action) {
	case FAULT_NO_ACTION:
		break;
	case FAULT_DROP:
		v->drop = true;
		break;
	case FAULT_DUPLICATE:
		v->copies += r->count;
		break;
	case FAULT_DELAY:
		v->delay += delay_draw(r);
		break;
	case FAULT_REORDER:
		v->overtake = r->count > v->overtake ? r->count : v->overtake;
		v->overtake_wait = r->delay > v->overtake_wait ? r->delay : v->overtake_wait;
		break;
	case FAULT_CORRUPT_FIELD:
		corrupt_field(r, p, v);
		break;
	case FAULT_CORRUPT_BITS:
		corrupt_bits(r, p, v);
		break;
	case FAULT_MARK_CE:
		v->ce = true;
		break;
	case FAULT_NAK:
		edit_add(v, BTH_LEN, p->bth[BTH_LEN] ^ r->syndrome, false);
		break;
	case FAULT_BOTTLENECK:
		break;
	}
	return true;
}

void fault_edit(const struct fault_verdict *v, uint8_t *bth, bool after_icrc)
{
	for (uint32_t i = 0; i < v->n_edits; i++)
		if (v->edits[i].after_icrc == after_icrc)
			bth[v->edits[i].at] ^= v->edits[i].flip;
}

/* The ICRC takes no notice of this byte, where FECN and BECN are. */
enum { VARIANT_AT = 4 };

bool fault_breaks_icrc(const struct fault_verdict *v)
{
	for (uint32_t i = 0; i < v->n_edits; i++)
		if (v->edits[i].after_icrc && v->edits[i].at != VARIANT_AT)
			return true;
	return false;
}

static void line_add_action(struct line *line, enum fault_action action,
			    const struct fault_verdict *v)
{
	switch (action) {
	case FAULT_NO_ACTION:
		break;
	case FAULT_DROP:
		line_add(line, "dropped");
		break;
	case FAULT_DUPLICATE:
		line_add(line, "duplicated");
		break;
	case FAULT_DELAY:
		line_add(line, "delayed %" PRIu64 ".%03u ms", v->delay / 1000000,
			 (unsigned)(v->delay / 1000 % 1000));
		break;
	case FAULT_REORDER:
		line_add(line, "reordered");
		break;
	case FAULT_CORRUPT_FIELD:
	case FAULT_CORRUPT_BITS:
		line_add(line, "corrupted");
		break;
	case FAULT_MARK_CE:
		line_add(line, "marked CE");
		break;
	case FAULT_NAK:
		line_add(line, "made a NAK");
		break;
	case FAULT_BOTTLENECK:
		break;
	}
}

int fault_verdict_print(const struct fault_verdict *v, char *buf, size_t size)
{
	struct line line = {.buf = buf, .size = size};

	for (uint32_t i = 0; i < v->n_fired; i++) {
		line_add(&line, "%s", i ? ", " : "");
		line_add_action(&line, (enum fault_action)v->fired[i].action, v);
		line_add(&line, " by rule %" PRIu32, v->fired[i].rule);
	}
	return (int)line.len;
}

int fault_fired_print(const struct fault_verdict *v, uint32_t index, char *buf, size_t size)
{
	return snprintf(buf, size, "rule %" PRIu32 " %s, match %" PRIu64, v->fired[index].rule,
			names[v->fired[index].action], v->fired[index].match);
}
