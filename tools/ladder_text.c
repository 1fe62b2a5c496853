/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ladder as text, for a terminal of 100 columns. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ladder.h"

enum { TIME_WIDTH = 14, SHAFT = 56 };

/* "---- label ---->", of what was lost only the first part. */
static void arrow_draw(const struct ladder_row *r, char *buf)
{
	bool lost = r->marks & (LADDER_LOST | LADDER_DROPPED);
	size_t len = strlen(r->label), width = lost ? SHAFT - 8 : SHAFT, at;
	char shaft = r->marks & LADDER_AGAIN ? '=' : '-';

	memset(buf, ' ', SHAFT);
	buf[SHAFT] = '\0';
	if (len > width - 6)
		len = width - 6;
	if (r->from == 0) {
		memset(buf, shaft, width);
		buf[width - 1] = lost ? 'X' : '>';
		at = 2;
	} else {
		memset(buf + SHAFT - width, shaft, width);
		buf[SHAFT - width] = lost ? 'X' : '<';
		at = SHAFT - 4 - len;
	}
	buf[at] = ' ';
	memcpy(buf + at + 1, r->label, len);
	buf[at + 1 + len] = ' ';
}

static void center_draw(const char *label, char fill, char *buf)
{
	size_t len = strlen(label), at;

	memset(buf, fill, SHAFT);
	buf[SHAFT] = '\0';
	if (len > SHAFT - 4)
		len = SHAFT - 4;
	at = (SHAFT - len) / 2;
	buf[at - 1] = ' ';
	memcpy(buf + at, label, len);
	buf[at + len] = ' ';
}

static void states_print(const struct ladder_flow *f, const struct ladder_row *r, uint32_t *next,
			 FILE *to)
{
	for (; *next < f->n_changes && f->changes[*next].packet <= r->last; ++*next) {
		const struct ladder_change *c = &f->changes[*next];

		fprintf(to, " [%s %s]", c->end == 0 ? "left" : "right",
			ladder_state_name(c->state));
	}
}

static void row_print(const struct ladder_flow *f, const struct ladder_row *r, uint32_t *change,
		      FILE *to)
{
	char middle[SHAFT + 1];
	char side = r->kind == LADDER_ROW_QUIET ? ':' : '|';

	switch (r->kind) {
	case LADDER_ROW_PACKET:
	case LADDER_ROW_FOLD:
		arrow_draw(r, middle);
		break;
	case LADDER_ROW_QUIET:
	case LADDER_ROW_MISSING:
	case LADDER_ROW_SILENCE:
		center_draw(r->label, r->kind == LADDER_ROW_SILENCE ? '.' : ' ', middle);
		break;
	}
	fprintf(to, "%*.6f  %c%s%c", TIME_WIDTH - 2, (double)r->time / 1e9, side, middle, side);
	if (r->note[0])
		fprintf(to, " %s", r->note);
	if (r->kind <= LADDER_ROW_QUIET)
		states_print(f, r, change, to);
	fputc('\n', to);
}

static void flow_print(const struct ladder *l, const struct ladder_flow *f, bool all, FILE *to)
{
	static const char *const transports[] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "?", "?"};
	char left[80], right[80], counts[256];
	struct ladder_rows rows;
	uint32_t change = 0;

	ladder_end_text(&f->end[0], left, sizeof(left));
	ladder_end_text(&f->end[1], right, sizeof(right));
	ladder_counts_text(f, counts, sizeof(counts));
	fprintf(to, "%s: %s\n\n", transports[f->transport & 7], counts);
	fprintf(to, "%*s%-*s%s\n", TIME_WIDTH, "", SHAFT, left, right);
	if (ladder_rows_make(l, f, all, &rows))
		for (uint32_t i = 0; i < rows.n; i++)
			row_print(f, &rows.row[i], &change, to);
	free(rows.row);
	fputc('\n', to);
}

void ladder_text_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to)
{
	for (uint32_t i = 0; i < l->n_flows; i++)
		if (l->flows[i].n && ladder_flow_wanted(&l->flows[i], qpn))
			flow_print(l, &l->flows[i], all, to);
}
