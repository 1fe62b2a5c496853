/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rows of a ladder. Like packets behind each other share one; where for a long time nothing is
 * to be said its middle is left out.
 */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bth/cm.h"
#include "bth/opcode.h"
#include "bth/print.h"
#include "bth/psn.h"
#include "tools/ladder.h"
#include "tools/roceframe.h"

enum { FOLD_MIN = 3, QUIET_MIN = 48, QUIET_EDGE = 12 };

static const struct ladder_packet *packet_at(const struct ladder *l, const struct ladder_flow *f,
					     uint32_t i)
{
	return &l->packets[f->packets[i]];
}

void ladder_time_text(uint64_t ns, char *buf, size_t size)
{
	if (ns >= 1000000000)
		snprintf(buf, size, "%.6g s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buf, size, "%.4g ms", (double)ns / 1e6);
	else
		snprintf(buf, size, "%.4g us", (double)ns / 1e3);
}

void ladder_end_text(const struct ladder_end *e, char *buf, size_t size)
{
	char addr[INET6_ADDRSTRLEN];

	roceframe_addr_text(e->addr, addr, sizeof(addr));
	if (e->qpn == LADDER_QPN_UNKNOWN)
		snprintf(buf, size, "%s", addr);
	else
		snprintf(buf, size, "%s QP %" PRIu32, addr, e->qpn);
}

__attribute__((format(printf, 3, 4))) static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	if (len && len + 3 < size) {
		strcpy(buf + len, ", ");
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(buf + len, size - len, fmt, ap);
	va_end(ap);
}

void ladder_counts_text(const struct ladder_flow *f, char *buf, size_t size)
{
	const struct ladder_counts *c = &f->counts;
	const struct {
		uint32_t n;
		const char *what, *plural;
	} parts[] = {
		{c->lost, "lost", ""},	      {c->dropped, "dropped", ""},
		{c->again, "sent again", ""}, {c->naks, "NAK", "s"},
		{c->rnrs, "RNR NAK", "s"},    {c->timeouts, "timeout", "s"},
		{c->ces, "marked CE", ""},    {c->cnps, "CNP", "s"},
	};

	buf[0] = '\0';
	add(buf, size, "%" PRIu32 " packets", c->packets);
	add(buf, size, "%" PRIu64 " bytes of payload", c->bytes[0] + c->bytes[1]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			add(buf, size, "%" PRIu32 " %s%s", parts[i].n, parts[i].what,
			    parts[i].n > 1 ? parts[i].plural : "");
}

bool ladder_flow_wanted(const struct ladder_flow *f, uint32_t qpn)
{
	return !qpn || f->end[0].qpn == qpn || f->end[1].qpn == qpn;
}

/* The opcode's name, without the transport that the heading has. */
static const char *short_name(const struct ladder_packet *p)
{
	const char *name = bth_opcode_info(p->bth.opcode)->name;
	const char *space = name ? strchr(name, ' ') : NULL;

	return space ? space + 1 : name ? name : "unknown opcode";
}

static void label_make(const struct ladder_packet *p, char *buf, size_t size)
{
	uint32_t flags = bth_opcode_info(p->bth.opcode)->flags;
	char aeth[48];

	if (p->marks & LADDER_CM) {
		snprintf(buf, size, "CM %s", cm_type_name(p->cm_type));
	} else if (p->marks & LADDER_CNP) {
		snprintf(buf, size, "CNP");
	} else if (flags & BTH_F_AETH && flags & BTH_F_ACK) {
		aeth_print(aeth, sizeof(aeth), p->bth.syndrome);
		snprintf(buf, size, "%s  psn 0x%06" PRIx32 " msn %" PRIu32, aeth, p->bth.psn,
			 p->bth.msn);
	} else if (flags & BTH_F_PAYLOAD) {
		snprintf(buf, size, "%s  psn 0x%06" PRIx32 "  %" PRIu32 " B", short_name(p),
			 p->bth.psn, p->bth.payload_len);
	} else if (flags & BTH_F_RETH) {
		snprintf(buf, size, "%s  psn 0x%06" PRIx32 "  of %" PRIu32 " B", short_name(p),
			 p->bth.psn, p->bth.dmalen);
	} else {
		snprintf(buf, size, "%s  psn 0x%06" PRIx32, short_name(p), p->bth.psn);
	}
}

/* Bit/s of payload of that end from packet i to the CNP before it, or behind it, or to the end of
 * the flow. */
static double rate(const struct ladder *l, const struct ladder_flow *f, uint32_t i, unsigned from,
		   int step)
{
	uint64_t bytes = 0, here = packet_at(l, f, i)->time, there = here;

	for (int64_t k = (int64_t)i + step; k >= 0 && k < f->n; k += step) {
		const struct ladder_packet *p = packet_at(l, f, (uint32_t)k);

		if (p->from == from)
			bytes += p->bth.payload_len;
		there = p->time;
		if (p->marks & LADDER_CNP)
			break;
	}
	return here == there
		       ? 0
		       : (double)bytes * 8e9 / (double)(here > there ? here - there : there - here);
}

static void rate_text(double rate, char *buf, size_t size)
{
	if (rate >= 1e9)
		snprintf(buf, size, "%.3g Gbit/s", rate / 1e9);
	else
		snprintf(buf, size, "%.3g Mbit/s", rate / 1e6);
}

static void note_cnp(const struct ladder *l, const struct ladder_flow *f, uint32_t i,
		     struct ladder_row *r)
{
	const struct ladder_packet *p = packet_at(l, f, i);
	double before = rate(l, f, i, !p->from, -1), after = rate(l, f, i, !p->from, 1);
	char from[24], to[24];

	rate_text(before, from, sizeof(from));
	rate_text(after, to, sizeof(to));
	add(r->note, sizeof(r->note), "rate until here %s, then %s", from, to);
}

static void note_nak(const struct ladder_packet *p, struct ladder_row *r)
{
	if (p->bth.syndrome == 0x60)
		add(r->note, sizeof(r->note), "expects PSN 0x%06" PRIx32, p->bth.psn);
	else
		add(r->note, sizeof(r->note), "refused");
}

static void note_make(const struct ladder *l, const struct ladder_flow *f, uint32_t i,
		      struct ladder_row *r)
{
	const struct ladder_packet *p = packet_at(l, f, i);
	char *note = r->note;
	size_t size = sizeof(r->note);

	if (p->marks & LADDER_AGAIN)
		add(note, size, "sent again");
	if (p->marks & LADDER_LOST)
		add(note, size, "lost");
	if (p->marks & LADDER_GAP)
		add(note, size, "%" PRIu32 " before it missing, from 0x%06" PRIx32, p->gap_n,
		    p->gap_psn);
	if (p->marks & LADDER_NAK)
		note_nak(p, r);
	if (p->marks & LADDER_RNR)
		add(note, size, "no receive posted: wait");
	if (p->marks & LADDER_CNP)
		note_cnp(l, f, i, r);
	if (p->marks & LADDER_CE && !(p->marks & LADDER_COMMENTED))
		add(note, size, "marked CE");
	if (p->marks & LADDER_UNANSWERED)
		add(note, size, "no answer");
	if (p->marks & (LADDER_DROPPED | LADDER_COMMENTED) && p->comment)
		add(note, size, "%s", p->comment);
	else if (p->marks & LADDER_MALFORMED)
		add(note, size, "malformed");
}

static struct ladder_row *row_add(struct ladder_rows *rows, struct ladder_row r)
{
	if (rows->n == rows->room) {
		uint32_t room = rows->room ? rows->room * 2 : 64;
		struct ladder_row *all = realloc(rows->row, room * sizeof(*all));

		if (!all)
			return NULL;
		rows->row = all;
		rows->room = room;
	}
	rows->row[rows->n] = r;
	return &rows->row[rows->n++];
}

static uint32_t kind_of(const struct ladder_packet *p)
{
	return bth_opcode_info(p->bth.opcode)->flags &
	       (BTH_F_SEND | BTH_F_WRITE | BTH_F_READ | BTH_F_REQUEST | BTH_F_RESPONSE |
		BTH_F_PAYLOAD);
}

/* May b share a row with a, which is right before it? */
static bool is_like(const struct ladder_packet *a, const struct ladder_packet *b)
{
	return a->from == b->from && a->marks == b->marks && !(a->marks & ~LADDER_AGAIN) &&
	       kind_of(a) == kind_of(b) && kind_of(a) & BTH_F_PAYLOAD && !b->missing &&
	       psn_add(a->bth.psn, 1) == b->bth.psn;
}

static bool changes_at(const struct ladder_flow *f, uint32_t i, uint32_t *next)
{
	while (*next < f->n_changes && f->changes[*next].packet < i)
		++*next;
	return *next < f->n_changes && f->changes[*next].packet == i;
}

static const char *kind_name(uint32_t kind)
{
	if (kind & BTH_F_READ)
		return "READ Response";
	return kind & BTH_F_WRITE ? "WRITE" : "SEND";
}

/* The packets i.. that share a row: how many. */
static uint32_t fold_len(const struct ladder *l, const struct ladder_flow *f, uint32_t i,
			 uint32_t *change)
{
	uint32_t n = 1;

	if (f->transport == BTH_UD)
		return 1;
	while (i + n < f->n && is_like(packet_at(l, f, i + n - 1), packet_at(l, f, i + n)) &&
	       !changes_at(f, i + n, change))
		n++;
	return n < FOLD_MIN ? 1 : n;
}

static bool fold_add(const struct ladder *l, const struct ladder_flow *f, uint32_t i, uint32_t n,
		     struct ladder_rows *rows)
{
	const struct ladder_packet *p = packet_at(l, f, i);
	struct ladder_row r = {.kind = n > 1 ? LADDER_ROW_FOLD : LADDER_ROW_PACKET,
			       .first = i,
			       .last = i + n - 1,
			       .time = p->time - packet_at(l, f, 0)->time,
			       .from = p->from,
			       .marks = p->marks};

	for (uint32_t k = i; k < i + n; k++)
		r.bytes += packet_at(l, f, k)->bth.payload_len;
	if (n > 1)
		snprintf(r.label, sizeof(r.label),
			 "%s x%" PRIu32 "  psn 0x%06" PRIx32 "-0x%06" PRIx32 "  %" PRIu64 " B",
			 kind_name(kind_of(p)), n, p->bth.psn, psn_add(p->bth.psn, n - 1), r.bytes);
	else
		label_make(p, r.label, sizeof(r.label));
	note_make(l, f, i, &r);
	return row_add(rows, r);
}

static bool before_add(const struct ladder *l, const struct ladder_flow *f, uint32_t i,
		       struct ladder_rows *rows)
{
	const struct ladder_packet *p = packet_at(l, f, i);
	struct ladder_row r = {
		.first = i, .last = i, .time = p->time - packet_at(l, f, 0)->time, .from = p->from};
	char silence[32];

	if (p->missing) {
		r.kind = LADDER_ROW_MISSING;
		snprintf(r.label, sizeof(r.label), "%" PRIu64 " packets are not in the capture",
			 p->missing);
		if (!row_add(rows, r))
			return false;
	}
	if (p->marks & LADDER_TIMEOUT) {
		r.kind = LADDER_ROW_SILENCE;
		r.marks = LADDER_TIMEOUT;
		ladder_time_text(p->silence, silence, sizeof(silence));
		snprintf(r.label, sizeof(r.label), "timeout: no answer for %s", silence);
		return row_add(rows, r);
	}
	return true;
}

static bool is_plain(const struct ladder_flow *f, const struct ladder_row *r, uint32_t *change)
{
	return r->kind <= LADDER_ROW_FOLD && !r->marks && !changes_at(f, r->first, change);
}

/* Rows [from, to) become one. */
static void quiet_make(struct ladder_rows *rows, uint32_t from, uint32_t to)
{
	struct ladder_row *r = &rows->row[from];
	const struct ladder_row *last = &rows->row[to - 1];
	uint64_t bytes = 0, begin = r->time;
	char time[32];

	for (uint32_t i = from; i < to; i++)
		bytes += rows->row[i].bytes;
	r->kind = LADDER_ROW_QUIET;
	r->last = last->last;
	r->bytes = bytes;
	r->note[0] = '\0';
	ladder_time_text(last->time - begin, time, sizeof(time));
	snprintf(r->label, sizeof(r->label),
		 "%" PRIu32 " packets, %" PRIu64 " B, %s: nothing unusual", r->last - r->first + 1,
		 bytes, time);
	memmove(r + 1, rows->row + to, (rows->n - to) * sizeof(*r));
	rows->n -= to - from - 1;
}

static void quiet_leave_out(const struct ladder_flow *f, struct ladder_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t n = 0, change = 0;

		while (i + n < rows->n && is_plain(f, &rows->row[i + n], &change))
			n++;
		if (n < QUIET_MIN) {
			i += n;
			continue;
		}
		quiet_make(rows, i + QUIET_EDGE, i + n - QUIET_EDGE);
		i += 2 * QUIET_EDGE;
	}
}

bool ladder_rows_make(const struct ladder *l, const struct ladder_flow *f, bool all,
		      struct ladder_rows *rows)
{
	uint32_t change = 0, n;

	*rows = (struct ladder_rows){0};
	for (uint32_t i = 0; i < f->n; i += n) {
		n = all ? 1 : fold_len(l, f, i, &change);
		if (!before_add(l, f, i, rows) || !fold_add(l, f, i, n, rows))
			return false;
	}
	if (!all)
		quiet_leave_out(f, rows);
	return true;
}
