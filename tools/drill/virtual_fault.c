/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules of the virtual side: the same decisions as in net/, on packets of a script. */
#include "config.h"

#include "virtual_fault.h"

#include <errno.h>
#include <stdlib.h>

#include "bth/packet.h"
#include "bth/wire.h"
#include "net/fault.h"
#include "net/late.h"

#define LATE_BYTES_MAX (64u << 20)
#define TCLASS_CE 3

struct waiting {
	struct side_packet pkt;
	uint32_t copies;
};

struct v_faults {
	struct fault_rules *rules;
	struct late_queue in, out;
};

struct v_faults *v_faults_new(void)
{
	struct v_faults *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->rules = fault_rules_create();
	late_begin(&f->in, sizeof(struct waiting), LATE_BYTES_MAX);
	late_begin(&f->out, sizeof(struct waiting), LATE_BYTES_MAX);
	if (f->rules)
		return f;
	free(f);
	return NULL;
}

void v_faults_free(struct v_faults *f)
{
	if (!f)
		return;
	late_end(&f->in);
	late_end(&f->out);
	fault_rules_destroy(f->rules);
	free(f);
}

static void pass(struct virtual_side *v, bool in, const struct waiting *w)
{
	for (uint32_t i = 0; i <= w->copies; i++) {
		if (in)
			v_burst_add(v, &w->pkt);
		else
			v_sent_add(v, &w->pkt);
	}
}

static void change(const struct fault_verdict *v, struct waiting *w)
{
	struct fault_verdict there = *v; /* without the ICRC's bytes, which are not */

	w->copies = v->copies;
	if (v->ce)
		w->pkt.tclass |= TCLASS_CE;
	w->pkt.bad_icrc = fault_breaks_icrc(v);
	for (uint32_t i = 0; i < v->n_edits; i++)
		if (there.edits[i].at >= w->pkt.len)
			there.edits[i] = (struct fault_edit){0};
	fault_edit(&there, w->pkt.data, false);
	fault_edit(&there, w->pkt.data, true);
}

static bool release(struct virtual_side *v, bool in, struct late_queue *q)
{
	struct late_item *item;
	bool any = false;

	while ((item = late_take(q, v->now))) {
		struct waiting *w = item->head;

		any = true;
		w->pkt.time = v->now;
		pass(v, in, w);
		free(item);
	}
	return any;
}

static void faulty(struct virtual_side *v, const struct fault_packet *p,
		   const struct side_packet *pkt)
{
	bool in = p->dir == FAULT_RX;
	struct late_queue *q = in ? &v->faults->in : &v->faults->out;
	static struct waiting w;
	struct fault_verdict verdict;
	struct late_item like = {0};

	w = (struct waiting){.pkt = *pkt};
	if (pkt->len < BTH_LEN) {
		pass(v, in, &w);
		return;
	}
	like.dqpn = wire_get32(pkt->data + 4) & 0xffffff;
	if (fault_decide(v->faults->rules, p, &verdict)) {
		change(&verdict, &w);
		like.overtake = verdict.overtake;
		like.due = v->now + verdict.delay + (like.overtake ? verdict.overtake_wait : 0);
		if (verdict.drop || (in && w.pkt.bad_icrc))
			return;
		if (verdict.delay || verdict.overtake) {
			late_put(q, &like, &w, pkt->data, 0);
			return;
		}
	}
	pass(v, in, &w);
	late_passed(q, like.dqpn);
	release(v, in, q);
}

void v_fault_in(struct virtual_side *v, const struct side_packet *pkt)
{
	const struct fault_packet p = {
		.dir = FAULT_RX, .now = v->now, .bth = pkt->data, .len = pkt->len};

	faulty(v, &p, pkt);
}

void v_fault_out(struct virtual_side *v, uint32_t qpn, const struct side_packet *pkt)
{
	const struct fault_packet p = {
		.dir = FAULT_TX, .now = v->now, .qpn = qpn, .bth = pkt->data, .len = pkt->len};

	faulty(v, &p, pkt);
}

uint64_t v_fault_due(const struct virtual_side *v)
{
	uint64_t in = late_due(&v->faults->in), out = late_due(&v->faults->out);

	return in < out ? in : out;
}

bool v_fault_release(struct virtual_side *v)
{
	bool in = release(v, true, &v->faults->in), out = release(v, false, &v->faults->out);

	return in || out;
}

int v_fault(struct virtual_side *v, struct args *a, struct text *reply)
{
	char err[FAULT_ERROR_MAX], rule[FAULT_TEXT_MAX + 1];
	uint32_t id;

	(void)reply;
	args_quoted(a, "rule", rule, sizeof(rule));
	if (fault_rules_add(v->faults->rules, v->now, rule, &id, err, sizeof(err)))
		args_wrong(a, "%s", err);
	return 0;
}
