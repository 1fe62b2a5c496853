/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What went wrong in a flow, by the rules of PSNs: what is sent again and why, what a NAK or a gap
 * shows to be lost, and where nobody answered.
 */
#include "config.h"

#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/psn.h"
#include "tools/ladder.h"

enum { LOOK_BACK = 4096, MTU_MIN = 256 };

/* Why the requests of an end may be sent again. */
enum cause { CAUSE_NONE, CAUSE_NAK, CAUSE_RNR, CAUSE_GAP };

struct side {
	bool begun, answers;
	uint32_t next;	      /* PSN of its next request */
	uint32_t next_answer; /* PSN of its next READ response */
	enum cause cause;     /* for its next going back */
	bool going_back;      /* its last request was sent again, */
	uint32_t again_next;  /* and this would be the next of them */
	uint32_t rnr_psn;     /* CAUSE_RNR: what the other end has no receive for */
};

struct judge {
	struct ladder *l;
	struct ladder_flow *f;
	struct side side[2];
	uint32_t mtu;
};

static struct ladder_packet *packet_at(const struct judge *j, uint32_t i)
{
	return &j->l->packets[j->f->packets[i]];
}

static uint32_t flags_of(const struct ladder_packet *p)
{
	return bth_opcode_info(p->bth.opcode)->flags;
}

static bool reliable(const struct ladder_packet *p)
{
	enum bth_transport t = bth_opcode_transport(p->bth.opcode);

	return t == BTH_RC || t == BTH_XRC;
}

/* First and Middle packets are full. */
static void mtu_find(struct judge *j)
{
	for (uint32_t i = 0; i < j->f->n; i++) {
		const struct ladder_packet *p = packet_at(j, i);
		uint32_t flags = flags_of(p);

		if (flags & BTH_F_LAST || !(flags & (BTH_F_FIRST | BTH_F_MIDDLE)))
			continue;
		for (j->mtu = MTU_MIN; j->mtu < p->bth.payload_len; j->mtu *= 2)
			;
		return;
	}
}

/* PSNs that a request takes; 0: not known, since the MTU is not. */
static uint32_t span(const struct judge *j, const struct ladder_packet *p)
{
	if (bth_opcode_op(p->bth.opcode) != BTH_READ_REQUEST || p->bth.dmalen <= MTU_MIN)
		return 1;
	return j->mtu ? (p->bth.dmalen + j->mtu - 1) / j->mtu : 0;
}

/* The last packet before i that took this PSN from that end as a request. */
static struct ladder_packet *earlier(const struct judge *j, uint32_t i, unsigned from, uint32_t psn)
{
	for (uint32_t k = i; k > 0 && k + LOOK_BACK > i; k--) {
		struct ladder_packet *p = packet_at(j, k - 1);

		if (p->from == from && p->bth.psn == psn && flags_of(p) & BTH_F_REQUEST &&
		    !(p->marks & LADDER_CM))
			return p;
	}
	return NULL;
}

static void lose(struct ladder_packet *p)
{
	if (p && !p->arrived && !(p->marks & LADDER_DROPPED))
		p->marks |= LADDER_LOST;
}

static void went_back(struct judge *j, uint32_t i, struct ladder_packet *p)
{
	struct side *s = &j->side[p->from];
	struct ladder_packet *before;

	p->marks |= LADDER_AGAIN;
	if (s->going_back && s->cause == CAUSE_NONE && p->bth.psn == s->again_next)
		return; /* the rest of it */
	before = earlier(j, i, p->from, p->bth.psn);
	if (s->cause == CAUSE_NONE && before) {
		p->marks |= LADDER_TIMEOUT;
		p->silence = p->time - before->time;
		if (!before->arrived && !(before->marks & LADDER_DROPPED))
			before->marks |= LADDER_UNANSWERED;
	}
	s->cause = CAUSE_NONE;
}

static void request_judge(struct judge *j, uint32_t i, struct ladder_packet *p)
{
	struct side *s = &j->side[p->from];
	uint32_t n = span(j, p);
	int32_t ahead = s->begun ? psn_diff(p->bth.psn, s->next) : 0;
	bool behind = ahead < 0 || p->marks & LADDER_AGAIN;

	if (behind && reliable(p)) {
		went_back(j, i, p);
		s->going_back = true;
		s->again_next = psn_add(p->bth.psn, n);
	} else {
		if (ahead > 0) {
			p->marks |= LADDER_GAP;
			p->gap_psn = s->next;
			p->gap_n = (uint32_t)ahead;
		}
		s->going_back = false;
	}
	s->begun = n > 0;
	if (!behind || !reliable(p))
		s->next = psn_add(p->bth.psn, n);
}

static void answer_judge(struct judge *j, uint32_t i, struct ladder_packet *p)
{
	struct side *asker = &j->side[!p->from], *s = &j->side[p->from];
	uint32_t flags = flags_of(p);
	int32_t ahead;

	if (p->marks & LADDER_DROPPED)
		return;
	if (p->marks & LADDER_RNR) {
		asker->cause = CAUSE_RNR;
		asker->rnr_psn = p->bth.psn;
	}
	if (p->marks & LADDER_NAK && aeth_value(p->bth.syndrome) == AETH_NAK_PSN_SEQUENCE) {
		/* Linux's rxe also says so of what comes behind a packet that it was not ready for.
		 */
		if (asker->cause != CAUSE_RNR || asker->rnr_psn != p->bth.psn)
			lose(earlier(j, i, !p->from, p->bth.psn));
		asker->cause = CAUSE_NAK;
	}
	if (!(flags & BTH_F_READ))
		return;
	ahead = s->answers ? psn_diff(p->bth.psn, s->next_answer) : 0;
	if (ahead < 0) {
		p->marks |= LADDER_AGAIN;
	} else if (ahead > 0 && !(flags & BTH_F_FIRST)) {
		p->marks |= LADDER_GAP;
		p->gap_psn = s->next_answer;
		p->gap_n = (uint32_t)ahead;
		asker->cause = CAUSE_GAP;
	}
	if (ahead >= 0) {
		s->answers = true;
		s->next_answer = psn_add(p->bth.psn, 1);
	}
}

/* Where packets are captured at both ends, what is not seen to arrive has not, unless the capture
 * ends first. */
static void arrivals_judge(struct judge *j)
{
	bool later[2] = {false, false};

	if (!j->l->sides[0] || !j->l->sides[1])
		return;
	for (uint32_t i = j->f->n; i > 0; i--) {
		struct ladder_packet *p = packet_at(j, i - 1);

		if (p->arrived)
			later[p->from] = true;
		else if (p->out && later[p->from])
			lose(p);
	}
}

/* The last thing that an end sends again, for which nothing comes back. */
static void end_judge(struct judge *j)
{
	for (uint32_t i = j->f->n; i > 0; i--) {
		struct ladder_packet *p = packet_at(j, i - 1);

		if (flags_of(p) & BTH_F_RESPONSE)
			return;
		if (p->marks & LADDER_TIMEOUT) {
			p->marks |= LADDER_UNANSWERED;
			return;
		}
	}
}

static void count(const struct judge *j)
{
	struct ladder_counts *c = &j->f->counts;

	*c = (struct ladder_counts){.packets = j->f->n};
	for (uint32_t i = 0; i < j->f->n; i++) {
		const struct ladder_packet *p = packet_at(j, i);

		c->again += !!(p->marks & LADDER_AGAIN);
		c->lost += !!(p->marks & LADDER_LOST);
		c->dropped += !!(p->marks & LADDER_DROPPED);
		c->naks += !!(p->marks & LADDER_NAK);
		c->rnrs += !!(p->marks & LADDER_RNR);
		c->timeouts += !!(p->marks & LADDER_TIMEOUT);
		c->cnps += !!(p->marks & LADDER_CNP);
		c->ces += !!(p->marks & LADDER_CE);
		c->bytes[p->from] += p->bth.payload_len;
	}
}

void ladder_flow_judge(struct ladder *l, struct ladder_flow *f)
{
	struct judge j = {.l = l, .f = f};

	mtu_find(&j);
	arrivals_judge(&j);
	for (uint32_t i = 0; i < f->n; i++) {
		struct ladder_packet *p = packet_at(&j, i);
		uint32_t flags = flags_of(p);

		if (f->transport == BTH_UD || p->marks & (LADDER_CM | LADDER_MALFORMED))
			continue;
		if (flags & BTH_F_REQUEST)
			request_judge(&j, i, p);
		else if (flags & BTH_F_RESPONSE)
			answer_judge(&j, i, p);
	}
	if (f->transport != BTH_UD)
		end_judge(&j);
	count(&j);
}
