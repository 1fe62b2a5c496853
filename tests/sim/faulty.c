/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules as the gate of a simulated world. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/wire.h"
#include "endpoint.h"
#include "faulty.h"
#include "net/fault_file.h"

#define LATE_BYTES_MAX (16u << 20)
#define CLASS_CE 3

struct waiting {
	bool bad_icrc;
	uint32_t copies;
};

static void trace_add(struct sim_trace *t, const void *bytes, size_t len)
{
	if (t->len + len > t->room) {
		t->room = 2 * (t->len + len);
		t->bytes = realloc(t->bytes, t->room);
		if (!t->bytes)
			abort();
	}
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

static void trace_packet(struct sim_faulty *f, char what, const struct sim_packet *p)
{
	trace_add(&f->trace, &what, 1);
	trace_add(&f->trace, &f->world->now, sizeof(f->world->now));
	trace_add(&f->trace, &p->len, sizeof(p->len));
	trace_add(&f->trace, &p->traffic_class, 1);
	trace_add(&f->trace, p->data, p->len);
}

static void pass(struct sim_faulty *f, bool in, const struct waiting *w, const struct sim_packet *p)
{
	for (uint32_t i = 0; i <= w->copies; i++) {
		trace_packet(f, in ? '<' : '>', p);
		if (w->bad_icrc)
			continue; /* the receiver drops it */
		if (in)
			sim_pass_in(f->world, p);
		else
			sim_pass_out(f->world, p);
	}
}

static void change(const struct fault_verdict *v, struct waiting *w, struct sim_packet *p)
{
	struct fault_verdict there = *v; /* without the ICRC's bytes, which are not */

	w->copies = v->copies;
	w->bad_icrc = fault_breaks_icrc(v);
	if (v->ce)
		p->traffic_class |= CLASS_CE;
	for (uint32_t i = 0; i < v->n_edits; i++)
		if (there.edits[i].at >= p->len)
			there.edits[i] = (struct fault_edit){0};
	fault_edit(&there, p->data, false);
	fault_edit(&there, p->data, true);
}

static void release(struct sim_faulty *f, bool in, struct late_queue *q)
{
	struct late_item *item;

	while ((item = late_take(q, f->world->now))) {
		pass(f, in, item->head, (const void *)item->data);
		free(item);
	}
}

static void wait(struct sim_faulty *f, struct late_queue *q, const struct fault_verdict *v,
		 const struct waiting *w, const struct sim_packet *p)
{
	struct late_item like = {
		.due = f->world->now + v->delay + (v->overtake ? v->overtake_wait : 0),
		.overtake = v->overtake,
		.dqpn = wire_get32(p->data + 4) & 0xffffff,
	};

	if (late_put(q, &like, w, (const uint8_t *)p, (uint32_t)sizeof(*p) + p->len))
		sim_gate_wake(f->world, like.due);
}

static void packet(struct sim_faulty *f, uint32_t node, bool in, uint32_t qpn,
		   const struct sim_packet *given)
{
	struct sim_packet *p = malloc(sizeof(*p) + given->len);
	struct late_queue *q = in ? &f->node[node].in : &f->node[node].out;
	struct fault_packet seen = {
		.dir = in ? FAULT_RX : FAULT_TX, .now = f->world->now, .qpn = qpn};
	struct fault_verdict v = {0};
	struct waiting w = {.copies = 0};

	if (!p)
		abort();
	memcpy(p, given, sizeof(*p) + given->len);
	seen.bth = p->data;
	seen.len = p->len;
	if (fault_decide(f->node[node].rules, &seen, &v)) {
		f->n_fired++;
		change(&v, &w, p);
	}
	if (v.drop) {
		trace_packet(f, in ? '(' : ')', p);
	} else if (v.delay || v.overtake) {
		wait(f, q, &v, &w, p);
	} else {
		pass(f, in, &w, p);
		late_passed(q, wire_get32(p->data + 4) & 0xffffff);
		release(f, in, q);
	}
	free(p);
}

static void leaves(void *arg, uint32_t qpn, const struct sim_packet *p)
{
	packet(arg, p->from, false, qpn, p);
}

static void arrives(void *arg, const struct sim_packet *p)
{
	packet(arg, p->to, true, 0, p);
}

static void due(void *arg)
{
	struct sim_faulty *f = arg;

	for (uint32_t i = 0; i < SIM_NODES; i++) {
		release(f, false, &f->node[i].out);
		release(f, true, &f->node[i].in);
	}
}

static int line_take(void *ctx, const struct fault_line *line, char *err, size_t err_size)
{
	struct sim_faulty *f = ctx;
	uint32_t id;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < SIM_NODES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "sim%u", i);
		if (line->device && strcmp(line->device, name))
			continue;
		/* Not the same at both ends. */
		if (line->seeded)
			fault_rules_seed(f->node[i].rules, line->seed + i);
		rc = fault_rules_add(f->node[i].rules, f->world->now, line->rule, &id, err,
				     err_size);
	}
	return rc;
}

void sim_faulty_begin(struct sim_faulty *f, struct sim_world *w, const char *file)
{
	FILE *from = fmemopen((char *)(uintptr_t)file, strlen(file), "r");
	char err[FAULT_ERROR_MAX] = "";
	int rc;

	memset(f, 0, sizeof(*f));
	f->world = w;
	f->gate = (struct sim_gate){.leaves = leaves, .arrives = arrives, .due = due, .arg = f};
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		f->node[i].rules = fault_rules_create();
		late_begin(&f->node[i].in, sizeof(struct waiting), LATE_BYTES_MAX);
		late_begin(&f->node[i].out, sizeof(struct waiting), LATE_BYTES_MAX);
	}
	rc = from ? fault_file_read(from, line_take, f, err, sizeof(err)) : -1;
	sim_check(rc == 0, "%s", err);
	fclose(from);
	w->gate = &f->gate;
}

void sim_faulty_end(struct sim_faulty *f)
{
	for (uint32_t i = 0; i < SIM_NODES; i++) {
		fault_rules_destroy(f->node[i].rules);
		late_end(&f->node[i].in);
		late_end(&f->node[i].out);
	}
	free(f->trace.bytes);
	f->world->gate = NULL;
}
