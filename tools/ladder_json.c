/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ladders for programs: what the text shows, as JSON. */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tools/ladder.h"
#include "tools/roceframe.h"

static const struct {
	enum ladder_mark mark;
	const char *name;
} marks[] = {
	{LADDER_AGAIN, "again"},     {LADDER_LOST, "lost"},
	{LADDER_DROPPED, "dropped"}, {LADDER_NAK, "nak"},
	{LADDER_RNR, "rnr"},	     {LADDER_CNP, "cnp"},
	{LADDER_CE, "ce"},	     {LADDER_GAP, "gap"},
	{LADDER_TIMEOUT, "timeout"}, {LADDER_MALFORMED, "malformed"},
	{LADDER_CM, "cm"},	     {LADDER_UNANSWERED, "unanswered"},
};

static void string_put(const char *text, FILE *to)
{
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text >= ' ' && *text <= '~' ? *text : '?', to);
	}
	fputc('"', to);
}

static void marks_put(uint32_t set, FILE *to)
{
	const char *comma = "";

	fputs("\"marks\": [", to);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (set & (uint32_t)marks[i].mark) {
			fprintf(to, "%s\"%s\"", comma, marks[i].name);
			comma = ", ";
		}
	fputc(']', to);
}

static void row_put(const struct ladder_row *r, FILE *to)
{
	fprintf(to, "      {\"time_ns\": %" PRIu64 ", \"from\": %u, \"packets\": %" PRIu32 ", ",
		r->time, r->from, r->kind <= LADDER_ROW_QUIET ? r->last - r->first + 1 : 0);
	fprintf(to, "\"bytes\": %" PRIu64 ", ", r->bytes);
	marks_put(r->marks, to);
	fputs(", \"what\": ", to);
	string_put(r->label, to);
	fputs(", \"note\": ", to);
	string_put(r->note, to);
	fputc('}', to);
}

static void end_put(const struct ladder_end *e, FILE *to)
{
	char addr[INET6_ADDRSTRLEN];

	fputs("{\"address\": ", to);
	string_put(roceframe_addr_text(e->addr, addr, sizeof(addr)), to);
	if (e->qpn != LADDER_QPN_UNKNOWN)
		fprintf(to, ", \"qpn\": %" PRIu32, e->qpn);
	fputc('}', to);
}

static void states_put(const struct ladder *l, const struct ladder_flow *f, FILE *to)
{
	uint64_t begin = l->packets[f->packets[0]].time;

	fputs("    \"states\": [", to);
	for (uint32_t i = 0; i < f->n_changes; i++) {
		const struct ladder_change *c = &f->changes[i];

		fprintf(to, "%s{\"time_ns\": %" PRIu64 ", \"end\": %u, \"state\": \"%s\"}",
			i ? ", " : "", l->packets[f->packets[c->packet]].time - begin, c->end,
			ladder_state_name(c->state));
	}
	fputs("],\n", to);
}

static void flow_put(const struct ladder *l, const struct ladder_flow *f, bool all, FILE *to)
{
	const struct ladder_counts *c = &f->counts;
	struct ladder_rows rows;

	fputs("  {\n    \"ends\": [", to);
	end_put(&f->end[0], to);
	fputs(", ", to);
	end_put(&f->end[1], to);
	fprintf(to,
		"],\n    \"packets\": %" PRIu32 ", \"lost\": %" PRIu32 ", \"dropped\": %" PRIu32
		", \"again\": %" PRIu32 ", \"naks\": %" PRIu32 ", \"rnrs\": %" PRIu32
		", \"timeouts\": %" PRIu32 ", \"ces\": %" PRIu32 ", \"cnps\": %" PRIu32 ",\n",
		c->packets, c->lost, c->dropped, c->again, c->naks, c->rnrs, c->timeouts, c->ces,
		c->cnps);
	states_put(l, f, to);
	fputs("    \"rows\": [\n", to);
	if (ladder_rows_make(l, f, all, &rows))
		for (uint32_t i = 0; i < rows.n; i++) {
			row_put(&rows.row[i], to);
			fputs(i + 1 < rows.n ? ",\n" : "\n", to);
		}
	free(rows.row);
	fputs("    ]\n  }", to);
}

void ladder_json_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to)
{
	const char *comma = "";

	fputs("[\n", to);
	for (uint32_t i = 0; i < l->n_flows; i++)
		if (l->flows[i].n && ladder_flow_wanted(&l->flows[i], qpn)) {
			fputs(comma, to);
			flow_put(l, &l->flows[i], all, to);
			comma = ",\n";
		}
	fputs("\n]\n", to);
}
