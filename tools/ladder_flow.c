/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which packets belong to one conversation. A packet names the QP that it goes to and not the one
 * that it comes from, so all that go to a QP are one half of a flow, and the halves are paired: by
 * what communication management said, by answers to PSNs that were asked, by UDP source ports, or
 * because nobody else is left.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/cm.h"
#include "bth/opcode.h"
#include "bth/psn.h"
#include "tools/ladder.h"

enum { QPN_GSI = 1, READ_MTU_MIN = 256 };
#define NONE UINT32_MAX

struct half {
	uint8_t src[16], dst[16];
	uint32_t sqpn; /* of UD, which tells; else LADDER_QPN_UNKNOWN */
	uint32_t dqpn;
	uint8_t transport;
	uint16_t sport;
	uint32_t first;		 /* packet */
	bool asks;		 /* requests are among them, */
	uint32_t psn_lo, psn_hi; /* with these PSNs */
	uint32_t partner;	 /* or NONE */
	uint32_t flow;
	uint8_t end; /* of the flow, from which it comes */
};

struct connection {
	uint8_t addr[2][16]; /* active side first */
	uint32_t id[2], qpn[2];
	uint32_t flow;
};

struct search {
	struct ladder *l;
	struct half *halves;
	uint32_t n, room, last;
	uint32_t *half_of; /* packet */
	struct connection *conns;
	uint32_t n_conns, room_conns;
};

static bool grow(void **array, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 16;
	void *p;

	if (n < *room)
		return true;
	p = realloc(*array, more * size);
	if (!p)
		return false;
	*array = p;
	*room = more;
	return true;
}

static bool half_has(const struct half *h, const struct ladder_packet *p)
{
	uint8_t transport = bth_opcode_transport(p->bth.opcode);

	return h->dqpn == p->bth.dqpn && (transport != BTH_UD || h->sqpn == p->bth.sqpn) &&
	       (h->transport == transport || transport == BTH_CNP) && !memcmp(h->src, p->src, 16) &&
	       !memcmp(h->dst, p->dst, 16);
}

static uint32_t half_find(struct search *s, const struct ladder_packet *p)
{
	if (s->last < s->n && half_has(&s->halves[s->last], p))
		return s->last;
	for (uint32_t i = 0; i < s->n; i++)
		if (half_has(&s->halves[i], p))
			return s->last = i;
	return NONE;
}

static void half_see(struct half *h, const struct ladder_packet *p)
{
	uint32_t end = p->bth.psn;

	if (!(bth_opcode_info(p->bth.opcode)->flags & BTH_F_REQUEST))
		return;
	if (bth_opcode_op(p->bth.opcode) == BTH_READ_REQUEST)
		end = psn_add(end, p->bth.dmalen / READ_MTU_MIN);
	if (!h->asks)
		h->psn_lo = h->psn_hi = p->bth.psn;
	h->asks = true;
	if (psn_diff(p->bth.psn, h->psn_lo) < 0)
		h->psn_lo = p->bth.psn;
	if (psn_diff(end, h->psn_hi) > 0)
		h->psn_hi = end;
}

static bool halves_make(struct search *s)
{
	for (uint32_t i = 0; i < s->l->n; i++) {
		struct ladder_packet *p = &s->l->packets[i];
		uint8_t transport = bth_opcode_transport(p->bth.opcode);
		uint32_t h = half_find(s, p);

		if (h == NONE) {
			if (!grow((void **)&s->halves, s->n, &s->room, sizeof(*s->halves)))
				return false;
			h = s->n++;
			s->halves[h] = (struct half){
				.dqpn = p->bth.dqpn,
				.sqpn = transport == BTH_UD ? p->bth.sqpn : LADDER_QPN_UNKNOWN,
				.transport = transport,
				.sport = p->sport,
				.first = i,
				.partner = NONE,
				.flow = NONE,
			};
			memcpy(s->halves[h].src, p->src, 16);
			memcpy(s->halves[h].dst, p->dst, 16);
		}
		half_see(&s->halves[h], p);
		s->half_of[i] = h;
	}
	return true;
}

static bool may_pair(const struct half *a, const struct half *b)
{
	return a != b && a->partner == NONE && b->partner == NONE && a->transport == b->transport &&
	       !memcmp(a->src, b->dst, 16) && !memcmp(a->dst, b->src, 16);
}

static void pair(struct search *s, uint32_t a, uint32_t b)
{
	s->halves[a].partner = b;
	s->halves[b].partner = a;
}

/* ---- communication management ---- */

static struct connection *conn_find(struct search *s, const struct ladder_packet *p)
{
	for (uint32_t i = s->n_conns; i > 0; i--) {
		struct connection *c = &s->conns[i - 1];

		if (!memcmp(c->addr[0], p->src, 16) && !memcmp(c->addr[1], p->dst, 16) &&
		    c->id[0] == p->cm_local && (!p->cm_remote || c->id[1] == p->cm_remote))
			return c;
		if (!memcmp(c->addr[1], p->src, 16) && !memcmp(c->addr[0], p->dst, 16) &&
		    c->id[0] == p->cm_remote && (!c->id[1] || c->id[1] == p->cm_local))
			return c;
	}
	return NULL;
}

static bool conns_make(struct search *s)
{
	for (uint32_t i = 0; i < s->l->n; i++) {
		const struct ladder_packet *p = &s->l->packets[i];
		struct connection *c;

		if (!(p->marks & LADDER_CM))
			continue;
		c = conn_find(s, p);
		if (!c && p->cm_type == CM_REQ) {
			if (!grow((void **)&s->conns, s->n_conns, &s->room_conns,
				  sizeof(*s->conns)))
				return false;
			c = &s->conns[s->n_conns++];
			*c = (struct connection){
				.id = {p->cm_local}, .qpn = {p->cm_qpn}, .flow = NONE};
			memcpy(c->addr[0], p->src, 16);
			memcpy(c->addr[1], p->dst, 16);
		} else if (c && p->cm_type == CM_REP) {
			c->id[1] = p->cm_local;
			c->qpn[1] = p->cm_qpn;
		}
	}
	return true;
}

static bool half_goes(const struct half *h, const struct connection *c, unsigned from)
{
	return h->dqpn == c->qpn[!from] && h->transport != BTH_UD &&
	       !memcmp(h->src, c->addr[from], 16) && !memcmp(h->dst, c->addr[!from], 16);
}

static void pair_by_conns(struct search *s)
{
	for (uint32_t i = 0; i < s->n_conns; i++)
		for (uint32_t a = 0; a < s->n; a++)
			for (uint32_t b = 0; b < s->n; b++)
				if (half_goes(&s->halves[a], &s->conns[i], 0) &&
				    half_goes(&s->halves[b], &s->conns[i], 1) &&
				    may_pair(&s->halves[a], &s->halves[b]))
					pair(s, a, b);
}

/* ---- the other ways ---- */

static bool asked(const struct half *h, uint32_t psn)
{
	return h->asks && psn_diff(psn, h->psn_lo) >= 0 && psn_diff(psn, h->psn_hi) <= 0;
}

static void pair_by_answers(struct search *s)
{
	for (uint32_t i = 0; i < s->l->n; i++) {
		const struct ladder_packet *p = &s->l->packets[i];
		uint32_t mine = s->half_of[i], found = NONE, n = 0;

		if (!(bth_opcode_info(p->bth.opcode)->flags & BTH_F_RESPONSE) ||
		    s->halves[mine].partner != NONE)
			continue;
		for (uint32_t h = 0; h < s->n; h++)
			if (may_pair(&s->halves[h], &s->halves[mine]) &&
			    asked(&s->halves[h], p->bth.psn)) {
				found = h;
				n++;
			}
		if (n == 1)
			pair(s, mine, found);
	}
}

static void pair_if_unique(struct search *s, bool by_port)
{
	for (uint32_t a = 0; a < s->n; a++) {
		uint32_t found = NONE, n = 0;

		for (uint32_t b = 0; b < s->n; b++)
			if (may_pair(&s->halves[a], &s->halves[b]) &&
			    (!by_port || s->halves[a].sport == s->halves[b].sport)) {
				found = b;
				n++;
			}
		if (n == 1)
			pair(s, a, found);
	}
}

/* A UD packet names both QPs. */
static void pair_datagrams(struct search *s)
{
	for (uint32_t a = 0; a < s->n; a++)
		for (uint32_t b = a + 1; b < s->n; b++)
			if (s->halves[a].transport == BTH_UD &&
			    may_pair(&s->halves[a], &s->halves[b]) &&
			    s->halves[a].sqpn == s->halves[b].dqpn &&
			    s->halves[a].dqpn == s->halves[b].sqpn)
				pair(s, a, b);
	for (uint32_t a = 0; a < s->n; a++)
		if (s->halves[a].transport == BTH_UD && s->halves[a].partner == NONE)
			s->halves[a].partner = a; /* one way */
}

/* ---- flows ---- */

/* End 0 is who asks first. */
static bool flow_make(struct search *s, uint32_t a)
{
	struct ladder *l = s->l;
	struct half *h = &s->halves[a];
	struct half *back = h->partner == NONE || h->partner == a ? NULL : &s->halves[h->partner];
	struct ladder_flow *all = realloc(l->flows, (l->n_flows + 1) * sizeof(*all)), *f;
	struct half *zero = back && !h->asks && back->asks ? back : h;
	struct half *one = zero == h ? back : h;

	if (!all)
		return false;
	l->flows = all;
	f = &all[l->n_flows];
	*f = (struct ladder_flow){.transport = h->transport};
	memcpy(f->end[0].addr, zero->src, 16);
	memcpy(f->end[1].addr, zero->dst, 16);
	f->end[1].qpn = zero->dqpn;
	f->end[0].qpn = one ? one->dqpn : zero->sqpn;
	zero->flow = l->n_flows;
	if (one)
		one->flow = l->n_flows;
	if (one)
		one->end = 1;
	l->n_flows++;
	return true;
}

static bool flow_put(struct ladder_flow *f, uint32_t packet)
{
	if (!grow((void **)&f->packets, f->n, &f->room, sizeof(*f->packets)))
		return false;
	f->packets[f->n++] = packet;
	return true;
}

static uint32_t conn_flow(struct search *s, const struct ladder_packet *p, uint8_t *from)
{
	struct connection *c = p->marks & LADDER_CM ? conn_find(s, p) : NULL;
	bool active;

	if (!c)
		return NONE;
	for (uint32_t i = 0; c->flow == NONE && i < s->n; i++)
		if (half_goes(&s->halves[i], c, 0))
			c->flow = s->halves[i].flow;
	if (c->flow == NONE)
		return NONE;
	active = p->cm_local == c->id[0] && !memcmp(p->src, c->addr[0], 16);
	*from = active == (s->l->flows[c->flow].end[1].qpn == c->qpn[1]) ? 0 : 1;
	return c->flow;
}

static bool flows_fill(struct search *s)
{
	struct ladder *l = s->l;

	for (uint32_t i = 0; i < l->n; i++) {
		struct ladder_packet *p = &l->packets[i];
		const struct half *h = &s->halves[s->half_of[i]];

		p->flow = conn_flow(s, p, &p->from);
		if (p->flow == NONE) {
			p->flow = h->flow;
			p->from = h->end;
		}
		if (p->flow != NONE && !flow_put(&l->flows[p->flow], i))
			return false;
	}
	return true;
}

static bool flows_make(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->halves[i].flow == NONE && !flow_make(s, i))
			return false;
	return flows_fill(s);
}

bool ladder_flows_find(struct ladder *l)
{
	struct search s = {.l = l, .half_of = calloc(l->n + 1, sizeof(uint32_t))};
	bool done = s.half_of && halves_make(&s) && conns_make(&s);

	if (done) {
		pair_by_conns(&s);
		pair_datagrams(&s);
		pair_by_answers(&s);
		pair_if_unique(&s, true);
		pair_if_unique(&s, false);
		done = flows_make(&s);
	}
	free(s.half_of);
	free(s.halves);
	free(s.conns);
	return done;
}
