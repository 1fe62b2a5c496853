/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The clock, the event queue and the link of the simulator. */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/print.h"
#include "bth/psn.h"
#include "host.h"
#include "world.h"

#define BATCH_MAX 32
#define PATIENCE 4	/* steps */
#define SIM_OVERHEAD 46 /* ICRC, UDP, IPv4, Ethernet */

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void event_add(struct sim_world *w, struct sim_event ev)
{
	uint32_t i = w->n_events++;

	if (i == w->room) {
		w->room = w->room ? w->room * 2 : 256;
		w->events = must(realloc(w->events, w->room * sizeof(*w->events)));
	}
	ev.order = w->order++;
	while (i > 0 && before(&ev, &w->events[(i - 1) / 2])) {
		w->events[i] = w->events[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->events[i] = ev;
}

static struct sim_event event_take(struct sim_world *w)
{
	struct sim_event first = w->events[0], last = w->events[--w->n_events];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < w->n_events && before(&w->events[child + 1], &w->events[child]))
			child++;
		if (child >= w->n_events || !before(&w->events[child], &last))
			break;
		w->events[i] = w->events[child];
		i = child;
	}
	w->events[i] = last;
	return first;
}

void sim_resume_later(struct rnic_mem *m)
{
	struct sim_world *w = m->world;
	struct sim_event ev = {.at = w->now + rng_between(&w->rng, 1, 300) * SIM_US, .resume = m};

	event_add(w, ev);
}

void sim_packet_print(uint64_t now, const char *what, uint32_t from, const struct bth_packet *pkt)
{
	char line[200];

	bth_print(line, sizeof(line), pkt);
	printf("%12.3f us  %s%u %s\n", (double)now / 1000, what, from, line);
}

static bool loses(struct sim_world *w, struct sim_node *from, uint32_t to,
		  const struct bth_packet *pkt)
{
	const struct sim_faults *f = &w->faults;
	bool lost = rng_chance(&w->rng, f->loss) || rng_chance(&w->rng, f->corrupt);

	if (f->loss_run_max && from->losses_in_a_row >= f->loss_run_max)
		lost = false;
	if (w->filter && w->filter(w->filter_arg, from->index, pkt, w->now))
		lost = true;
	from->losses_in_a_row = lost ? from->losses_in_a_row + 1 : 0;
	return lost || from->unplugged || w->node[to].unplugged;
}

static void deliver_later(struct sim_world *w, const struct sim_packet *p)
{
	const struct sim_faults *f = &w->faults;
	struct sim_event ev = {.at = w->node[p->from].link_free + f->delay};

	if (rng_chance(&w->rng, f->reorder))
		ev.at += rng_below(&w->rng, (uint32_t)f->jitter + 1);
	ev.packet = must(malloc(sizeof(*p) + p->len));
	memcpy(ev.packet, p, sizeof(*p) + p->len);
	ev.packet->before_line = w->line;
	event_add(w, ev);
}

void sim_pass_out(struct sim_world *w, const struct sim_packet *p)
{
	struct sim_node *from = &w->node[p->from];

	if (from->link_free < w->now)
		from->link_free = w->now;
	deliver_later(w, p);
	if (rng_chance(&w->rng, w->faults.duplicate))
		deliver_later(w, p);
}

void sim_pass_in(struct sim_world *w, const struct sim_packet *p)
{
	struct sim_event ev = {.at = w->now};

	ev.packet = must(malloc(sizeof(*p) + p->len));
	memcpy(ev.packet, p, sizeof(*p) + p->len);
	ev.packet->past_gate = true;
	event_add(w, ev);
}

void sim_gate_wake(struct sim_world *w, uint64_t at)
{
	event_add(w, (struct sim_event){.at = at});
}

static void line_reached(struct sim_world *w, struct sim_packet *p)
{
	struct sim_event ev = {.packet = p};

	p->before_line = false;
	if (w->line(w->line_arg, p->to, p->len, &p->traffic_class, w->now, &ev.at)) {
		event_add(w, ev);
		return;
	}
	w->n_lost++;
	free(p);
}

static uint64_t send_time(const struct sim_world *w, uint32_t len)
{
	if (w->rate)
		return ((uint64_t)(len + SIM_OVERHEAD) * 8 * SIM_S + w->rate - 1) / w->rate;
	return 100 + len / 4; /* 4 GB/s */
}

/* By its address; a packet to nobody goes to the next one, which does not get it. */
static uint32_t node_of(const struct sim_node *from, const uint8_t gid[16])
{
	const struct sim_world *w = from->world;

	for (uint32_t i = 0; i < w->n_nodes; i++)
		if (i != from->index && memcmp(gid, w->node[i].gid, 16) == 0)
			return i;
	return (from->index + 1) % w->n_nodes;
}

/* Is it the rest of that request, from some response on? */
static bool read_repeats(const struct sim_read *r, const struct bth_packet *pkt)
{
	int32_t packets = psn_diff(pkt->psn, r->psn);
	uint64_t bytes = pkt->va - r->va;

	if (r->dqpn != pkt->dqpn || packets < 0 || pkt->va < r->va || pkt->va >= r->va_end)
		return false;
	for (int mtu = RNIC_MTU_256; mtu <= RNIC_MTU_4096; mtu++)
		if (bytes == (uint64_t)packets * rnic_mtu_bytes((enum rnic_mtu)mtu))
			return true;
	return false;
}

/*
 * A READ that is asked for again must be the rest of the request that it repeats, as a whole: a
 * responder may have no more than that request to go by (Linux's rxe forgets where it began).
 */
static void read_is_whole(struct sim_node *from, const struct bth_packet *pkt)
{
	uint64_t va_end = pkt->va + pkt->dmalen;

	for (uint32_t i = 0; i < SIM_READS && i < from->n_reads; i++) {
		const struct sim_read *r = &from->reads[(from->n_reads - 1 - i) % SIM_READS];

		if (!read_repeats(r, pkt))
			continue;
		if (r->va_end == va_end)
			return;
		fprintf(stderr, "node %u asks again for a part of a READ, PSN 0x%06x\n",
			from->index, pkt->psn);
		abort();
	}
	from->reads[from->n_reads++ % SIM_READS] = (struct sim_read){
		.dqpn = pkt->dqpn, .psn = pkt->psn, .va = pkt->va, .va_end = va_end};
}

void sim_send(struct sim_node *from, const struct rnic_tx *tx, const uint8_t *data, uint32_t len)
{
	struct sim_world *w = from->world;
	struct sim_packet *p = must(malloc(sizeof(*p) + len));
	struct bth_packet pkt;
	bool lost;

	*p = (struct sim_packet){.from = from->index,
				 .to = node_of(from, tx->av->dgid),
				 .len = len,
				 .traffic_class = tx->traffic_class,
				 .hop_limit = tx->av->hop_limit,
				 .sport = 0xc000};
	from->sent_class = tx->traffic_class;
	memcpy(p->data, data, len);
	if (bth_decode(p->data, len, &pkt) != BTH_OK) {
		fprintf(stderr, "node %u sent a malformed packet of %u bytes\n", from->index, len);
		abort();
	}
	if (pkt.opcode == BTH_OPCODE(BTH_RC, BTH_READ_REQUEST) && w->looks_at_reads)
		read_is_whole(from, &pkt);
	if (from->link_free < w->now)
		from->link_free = w->now;
	from->link_free += send_time(w, len);
	lost = loses(w, from, p->to, &pkt);
	w->n_sent++;
	w->n_lost += lost;
	if (w->verbose)
		sim_packet_print(w->now, lost ? "LOST  " : "sends ", from->index, &pkt);
	if (lost || memcmp(tx->av->dgid, w->node[p->to].gid, 16) != 0)
		;
	else if (w->gate)
		w->gate->leaves(w->gate->arg, tx->qpn, p);
	else
		sim_pass_out(w, p);
	free(p);
}

static void hash_add(struct sim_world *w, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		w->hash = (w->hash ^ p[i]) * 0x100000001b3;
}

static void describe(struct sim_world *w, const struct sim_packet *p, struct rnic_rx *rx)
{
	struct bth_packet pkt;

	hash_add(w, &w->now, sizeof(w->now));
	hash_add(w, p->data, p->len < BTH_HEADERS_MAX ? p->len : BTH_HEADERS_MAX);
	*rx = (struct rnic_rx){.data = p->data,
			       .len = p->len,
			       .traffic_class = p->traffic_class,
			       .hop_limit = p->hop_limit,
			       .sport = p->sport};
	memcpy(rx->sgid, w->node[p->from].gid, 16);
	memcpy(rx->dgid, w->node[p->to].gid, 16);
	if (w->verbose && bth_decode(p->data, p->len, &pkt) == BTH_OK)
		sim_packet_print(w->now, "  gets  ", p->to, &pkt);
}

/* What has arrived for the node of `first` by now, at most BATCH_MAX packets, in one call. */
static void packets_arrive(struct sim_world *w, struct sim_packet *first)
{
	struct sim_packet *batch[BATCH_MAX] = {first};
	struct rnic_rx rx[BATCH_MAX];
	uint32_t most = rng_between(&w->rng, 1, BATCH_MAX), n = 1;

	while (n < most && w->n_events && w->events[0].at <= w->now && w->events[0].packet &&
	       w->events[0].packet->to == first->to && !w->events[0].packet->before_line &&
	       w->events[0].packet->past_gate == first->past_gate)
		batch[n++] = event_take(w).packet;
	for (uint32_t i = 0; i < n; i++)
		describe(w, batch[i], &rx[i]);
	rnic_rx(w->node[first->to].dev, w->now, rx, n);
	for (uint32_t i = 0; i < n; i++)
		free(batch[i]);
}

static struct sim_node *timer_first(struct sim_world *w)
{
	struct sim_node *first = &w->node[0];

	for (uint32_t i = 1; i < w->n_nodes; i++)
		if (w->node[i].timer < first->timer)
			first = &w->node[i];
	return first->timer == UINT64_MAX ? NULL : first;
}

static bool devices_run(struct sim_world *w)
{
	bool more = false;

	for (uint32_t i = 0; i < w->n_nodes; i++)
		if (!w->rate || w->node[i].link_free <= w->now)
			more |= rnic_run(w->node[i].dev, w->now);
	return more;
}

void sim_world_hold_acks(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->n_nodes; i++)
		rnic_acks_may_wait(w->node[i].dev, 1);
}

/* Where nothing else will happen they have waited long enough. */
static bool acks_release(struct sim_world *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->n_nodes; i++) {
		struct sim_node *n = &w->node[i];

		if (rnic_acks_wait(n->dev) && w->n_events && ++n->patience < PATIENCE)
			continue;
		any |= rnic_acks_wait(n->dev);
		rnic_acks_release(n->dev, w->now, w->now);
		n->patience = 0;
	}
	return any;
}

/* When a node that could not send because its line was busy can. */
static uint64_t link_frees(const struct sim_world *w)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; w->rate && i < w->n_nodes; i++)
		if (w->node[i].link_free > w->now && w->node[i].link_free < at)
			at = w->node[i].link_free;
	return at;
}

static void event_happens(struct sim_world *w, const struct sim_event *ev)
{
	if (ev->resume) {
		ev->resume->busy = false;
		rnic_mem_resume(w->node[ev->resume->node].dev, ev->resume, w->now);
	} else if (!ev->packet) {
		w->gate->due(w->gate->arg);
	} else if (ev->packet->before_line) {
		line_reached(w, ev->packet);
	} else if (w->gate && !ev->packet->past_gate) {
		w->gate->arrives(w->gate->arg, ev->packet);
		free(ev->packet);
	} else {
		if (!w->rate)
			w->now += rng_below(&w->rng, 2000); /* the host was late */
		packets_arrive(w, ev->packet);
	}
}

bool sim_world_step(struct sim_world *w)
{
	struct sim_node *timer;
	struct sim_event ev;
	bool more = devices_run(w) && !w->rate;
	uint64_t link = link_frees(w);

	w->n_steps++;
	if (acks_release(w))
		return true;
	timer = timer_first(w);
	if (link != UINT64_MAX && (!timer || link < timer->timer) &&
	    (!w->n_events || link < w->events[0].at)) {
		w->now = link;
		return true;
	}
	if (more)
		w->now += 50; /* a turn costs time */
	if (timer && (!w->n_events || timer->timer <= w->events[0].at)) {
		if (more && timer->timer > w->now)
			return true;
		if (w->now < timer->timer)
			w->now = timer->timer;
		timer->timer = UINT64_MAX;
		rnic_timer_fired(timer->dev, w->now);
		return true;
	}
	if (!w->n_events || (more && w->events[0].at > w->now))
		return more;
	ev = event_take(w);
	if (w->now < ev.at)
		w->now = ev.at;
	event_happens(w, &ev);
	return true;
}

struct rnic_av sim_av(const struct sim_world *w, uint32_t from, uint32_t to)
{
	struct rnic_av av = {.grh = true, .port_num = 1, .hop_limit = 64};

	memcpy(av.sgid, w->node[from].gid, 16);
	memcpy(av.dgid, w->node[to].gid, 16);
	return av;
}

void sim_world_begin(struct sim_world *w, uint64_t seed, enum rnic_mtu mtu, uint32_t window_bytes)
{
	sim_world_begin_nodes(w, seed, mtu, window_bytes, SIM_NODES);
}

void sim_world_begin_nodes(struct sim_world *w, uint64_t seed, enum rnic_mtu mtu,
			   uint32_t window_bytes, uint32_t n_nodes)
{
	memset(w, 0, offsetof(struct sim_world, node) + n_nodes * sizeof(w->node[0]));
	w->n_nodes = n_nodes;
	w->rng.state = seed;
	w->hash = 0xcbf29ce484222325;
	for (uint32_t i = 0; i < w->n_nodes; i++) {
		struct sim_node *n = &w->node[i];
		struct rnic_device_config cfg = {.ops = &sim_ops,
						 .host = n,
						 .active_mtu = mtu,
						 .window_bytes = window_bytes};

		snprintf(cfg.name, sizeof(cfg.name), "sim%u", i);
		n->world = w;
		n->index = i;
		n->timer = UINT64_MAX;
		n->tx = must(malloc(RNIC_TX_RUN_MAX));
		memcpy(n->gid, (uint8_t[16]){[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(i + 1)}, 16);
		n->dev = must(rnic_device_create(&cfg));
		rnic_gid_set(n->dev, 0, n->gid, 1);
	}
}

bool sim_world_end(struct sim_world *w)
{
	bool clean = true;

	while (w->n_events)
		free(event_take(w).packet);
	free(w->events);
	for (uint32_t i = 0; i < w->n_nodes; i++) {
		struct rnic_counts counts, none = {0};

		rnic_device_counts(w->node[i].dev, &counts);
		clean = clean && memcmp(&counts, &none, sizeof(none)) == 0;
		if (clean)
			rnic_device_destroy(w->node[i].dev);
		free(w->node[i].tx);
	}
	return clean;
}
