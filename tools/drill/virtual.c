/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The virtual side: its clock and its packets. Nothing here reads a clock or random numbers. */
#include "config.h"

#include "virtual.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virtual_cm.h"
#include "virtual_fault.h"

#define ADDRESS "127.0.0.1"
#define PEER "127.0.0.2"
#define OTHER "127.0.0.3"
#define BURST_MAX 64

static void gid_of(const char *text, uint8_t gid[16])
{
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	if (inet_pton(AF_INET6, text, gid) != 1)
		inet_pton(AF_INET, text, gid + 12);
}

/* What is there of it; true. */
static bool burst_deliver(struct virtual_side *v)
{
	struct rnic_rx rx[BURST_MAX];

	for (uint32_t i = 0; i < v->n_burst; i++) {
		const struct side_packet *p = &v->burst[i];

		rx[i] = (struct rnic_rx){.data = p->data,
					 .len = p->len,
					 .traffic_class = p->tclass,
					 .hop_limit = p->hops_known ? p->hops : 64,
					 .sport = p->sport ? p->sport : 0xc000};
		gid_of(p->from_other ? OTHER : PEER, rx[i].sgid);
		gid_of(p->group[0] ? p->group : ADDRESS, rx[i].dgid);
	}
	if (v->n_burst)
		rnic_rx(v->dev, v->now, rx, v->n_burst);
	v->n_burst = 0;
	return true;
}

void v_run(struct virtual_side *v)
{
	do {
		while (rnic_run(v->dev, v->now))
			;
		if (v->timer <= v->now) {
			rnic_timer_fired(v->dev, v->now);
			while (rnic_run(v->dev, v->now))
				;
		}
	} while (v_fault_release(v) && burst_deliver(v));
}

/* When something happens by itself. */
static uint64_t due(const struct virtual_side *v)
{
	uint64_t late = v_fault_due(v);

	return v->timer < late ? v->timer : late;
}

void v_until(struct virtual_side *v, uint64_t deadline, bool (*done)(void *arg), void *arg)
{
	v_run(v);
	while (!(done && done(arg)) && due(v) <= deadline && due(v) != UINT64_MAX) {
		if (due(v) > v->now)
			v->now = due(v);
		v_run(v);
	}
	if (deadline != SIDE_NEVER && !(done && done(arg)) && v->now < deadline)
		v->now = deadline;
}

void v_burst_add(struct virtual_side *v, const struct side_packet *pkt)
{
	if (v->n_burst == BURST_MAX)
		burst_deliver(v);
	v->burst[v->n_burst++] = *pkt;
}

static void inject(struct side *side, const struct side_packet *pkt, bool more)
{
	struct virtual_side *v = (struct virtual_side *)side;

	/* What a real device's network side throws away. */
	if (!pkt->bad_icrc)
		v_fault_in(v, pkt);
	if (more)
		return;
	burst_deliver(v);
	v_run(v);
}

static bool has_sent(void *arg)
{
	return ((struct virtual_side *)arg)->first != NULL;
}

static bool next(struct side *side, uint64_t deadline, struct side_packet *pkt)
{
	struct virtual_side *v = (struct virtual_side *)side;
	struct v_sent *s;

	v_until(v, deadline, has_sent, v);
	s = v->first;
	if (!s)
		return false;
	*pkt = s->pkt;
	v->first = s->next;
	if (!v->first)
		v->last = &v->first;
	free(s);
	return true;
}

static void wait_until(struct side *side, uint64_t until)
{
	v_until((struct virtual_side *)side, until, NULL, NULL);
}

static void settle(struct side *side)
{
	v_run((struct virtual_side *)side);
}

static uint64_t now(struct side *side)
{
	return ((struct virtual_side *)side)->now;
}

static int hello(struct virtual_side *v)
{
	struct rnic_device_config cfg = {
		.ops = &v_ops, .host = v, .active_mtu = RNIC_MTU_4096, .name = "drill"};
	uint8_t gid[16];

	v->timer = SIDE_NEVER;
	v->faults = v_faults_new();
	if (!v->faults)
		return ENOMEM;
	v->dev = rnic_device_create(&cfg);
	if (!v->dev)
		return ENOMEM;
	gid_of(ADDRESS, gid);
	rnic_gid_set(v->dev, 1, gid, 1);
	v->n_events = v->events_read = 0;
	return v_cm_begin(v) ? 0 : ENOMEM;
}

static void packets_forget(struct virtual_side *v)
{
	while (v->first) {
		struct v_sent *s = v->first;

		v->first = s->next;
		free(s);
	}
	v->last = &v->first;
	v->n_burst = 0;
}

static int reset(struct virtual_side *v, struct args *a, struct text *reply)
{
	(void)a;
	(void)reply;
	v_cm_end(v);
	v_objects_destroy(v);
	rnic_device_destroy(v->dev);
	packets_forget(v);
	v_faults_free(v->faults);
	v->now = 0;
	v->log[0] = '\0';
	v->rng = 1;
	return hello(v);
}

static const struct {
	const char *name;
	v_verb *verb;
} verbs[] = {
	{"reset", reset},
	{"pd", v_pd},
	{"cq", v_cq},
	{"mr", v_mr},
	{"mw", v_mw},
	{"srq", v_srq},
	{"ah", v_ah},
	{"qp", v_qp},
	{"modify", v_modify},
	{"query", v_query},
	{"destroy", v_destroy},
	{"attach", v_attach},
	{"detach", v_detach},
	{"post_send", v_post_send},
	{"post_recv", v_post_recv},
	{"poll", v_poll},
	{"arm", v_arm},
	{"notified", v_notified},
	{"peek", v_peek},
	{"poke", v_poke},
	{"memory", v_memory},
	{"fault", v_fault},
	{"event", v_event},
	{"log", v_log},
	{"modify_srq", v_modify_srq},
	{"query_srq", v_query_srq},
	{"cm_listen", v_cm_listen},
	{"cm_connect", v_cm_connect},
	{"cm_accept", v_cm_accept},
	{"cm_establish", v_cm_establish},
	{"cm_reject", v_cm_reject},
	{"cm_disconnect", v_cm_disconnect},
	{"cm_notify", v_cm_notify},
	{"cm_destroy", v_cm_destroy},
	{"cm_event", v_cm_event},
};

static v_verb *verb_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, name))
			return verbs[i].verb;
	return NULL;
}

static int exec(struct side *side, const char *request, struct args *reply)
{
	struct virtual_side *v = (struct virtual_side *)side;
	struct text text;
	struct args a;
	v_verb *verb;
	int ret = -1;

	args_parse(&a, request);
	text_begin(&text);
	verb = verb_of(args_word(&a));
	if (!verb)
		args_wrong(&a, "the core cannot do this yet");
	else
		ret = verb(v, &a, &text);
	if (!a.error[0])
		v_run(v);
	args_parse(reply, text.buf);
	if (a.error[0] || (ret == 0 && !args_done(&a))) {
		ret = -1;
		args_wrong(reply, "%s", a.error);
	}
	text_end(&text);
	args_free(&a);
	return ret;
}

static void end(struct side *side)
{
	struct virtual_side *v = (struct virtual_side *)side;

	v_cm_end(v);
	v_objects_destroy(v);
	rnic_device_destroy(v->dev);
	packets_forget(v);
	v_faults_free(v->faults);
	free(v->burst);
	free(v->tx);
	free(v);
}

struct side *side_virtual(bool verbose)
{
	struct virtual_side *v = calloc(1, sizeof(*v));

	if (!v)
		abort();
	v->side = (struct side){.gid = ADDRESS,
				.peer = PEER,
				.other = OTHER,
				.gid_index = 1,
				.exec = exec,
				.inject = inject,
				.next = next,
				.wait = wait_until,
				.settle = settle,
				.now = now,
				.end = end};
	v->verbose = verbose;
	v->last = &v->first;
	v->burst = calloc(BURST_MAX, sizeof(*v->burst));
	v->tx = malloc(RNIC_TX_RUN_MAX);
	if (!v->burst || !v->tx || hello(v) != 0)
		abort();
	return &v->side;
}
