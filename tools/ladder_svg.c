/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ladder as SVG: time goes down, one end left, the other right. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/print.h"
#include "tools/ladder.h"
#include "tools/ladder_svg.h"

enum {
	WIDTH = 1240,
	TIME_X = 120, /* right end of times */
	LEFT = 250,
	RIGHT = 810,
	NOTE_X = RIGHT + 86,
	BAR = 10, /* width of a lifeline */
	HEAD = 128,
	ROW = 36,
	BAND = 46, /* of a silence */
	SLOPE = 9,
	LOST_PART = 80, /* of 100 that the arrow of what was lost goes */
	PILL_W = 48,
	PILL_Y = 22, /* in a row */
	LEAD = 22,   /* of a lifeline before the first row */
	BOX_W = 230,
};

const char ladder_svg_style[] =
	":root{--bg:#fff;--ink:#1a2330;--dim:#6b7785;--line:#dfe4ea;--band:#fff3e0;--box:#f3f6f9;"
	"--data:#2166b5;--read:#17806d;--ack:#7b8794;--nak:#c62828;--again:#d9730d;--cnp:#7b3fb5;"
	"--cm:#8a6d1b;--ok:#3a9d5d;--rtr:#86b8e0;--init:#c9d1da;--err:#c62828;--unk:#e6eaee}"
	"@media(prefers-color-scheme:dark){:root{--bg:#12171e;--ink:#e4e9ef;--dim:#93a0ae;"
	"--line:#2a333e;--band:#33281a;--box:#1c242e;--data:#6aa9ec;--read:#4fc3ab;--ack:#8f9cab;"
	"--nak:#ff6b6b;--again:#ffa64d;--cnp:#c08cf0;--cm:#d8b75a;--ok:#3f9e62;--rtr:#3c6d99;"
	"--init:#4a5561;--err:#d84a4a;--unk:#2c343e}}"
	"svg{background:var(--bg);font-family:ui-sans-serif,system-ui,'DejaVu Sans',sans-serif}"
	"text{fill:var(--ink);font-size:13px}"
	".t,.lbl{font-family:ui-monospace,'DejaVu Sans Mono',monospace}"
	".t{fill:var(--dim);font-size:12px;text-anchor:end}"
	".lbl{font-size:12px;text-anchor:middle;paint-order:stroke;stroke:var(--bg);stroke-width:"
	"4px;"
	"stroke-linejoin:round}"
	".fly{fill:var(--dim);font-size:10px}.note{font-size:12.5px}.dim{fill:var(--dim)}"
	".end{font-weight:600;text-anchor:middle}.sub{fill:var(--dim);font-size:12px}"
	".box{fill:var(--box);stroke:var(--line)}"
	".pill{font-size:10.5px;font-weight:600;text-anchor:middle;fill:#fff}"
	".a{stroke-width:1.8;fill:none}.fold{stroke-width:4}.gone{stroke-dasharray:3 5;opacity:.45}"
	".data{--c:var(--data)}.read{--c:var(--read)}.ack{--c:var(--ack)}.nak{--c:var(--nak)}"
	".again{--c:var(--again)}.cnp{--c:var(--cnp)}.cm{--c:var(--cm)}"
	".a{stroke:var(--c)}.h{fill:var(--c)}.nak .note,.bad .note{fill:var(--nak)}"
	".again .note{fill:var(--again)}.cnp .note,.ce .note{fill:var(--cnp)}.bad.again "
	".note{fill:var(--nak)}"
	".x{stroke:var(--nak);stroke-width:2.6;fill:none;stroke-linecap:round}"
	".band{fill:var(--band)}.bandt{text-anchor:middle;fill:var(--again);font-weight:600}"
	".quiet{text-anchor:middle;fill:var(--dim);font-style:italic}"
	".hit{fill:transparent}.r:hover .hit{fill:var(--ink);fill-opacity:.06}"
	".s0{fill:var(--unk)}.s1{fill:var(--init)}.s2{fill:var(--rtr)}.s3{fill:var(--ok)}"
	".s4{fill:var(--err)}.s5{fill:var(--dim)}"
	".area{fill:var(--data);fill-opacity:.25;stroke:var(--data);stroke-width:1.2}"
	".area1{fill:var(--read);fill-opacity:.25;stroke:var(--read);stroke-width:1.2}"
	".tick{stroke-width:1.4}";

void ladder_escape(const char *text, FILE *to)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		default:
			fputc(*text >= ' ' && *text <= '~' ? *text : '?', to);
		}
}

static void text_put(FILE *to, int x, int y, const char *class, const char *text)
{
	fprintf(to, "<text x='%d' y='%d' class='%s'>", x, y, class);
	ladder_escape(text, to);
	fputs("</text>", to);
}

static int row_height(const struct ladder_row *r)
{
	return r->kind == LADDER_ROW_SILENCE || r->kind == LADDER_ROW_QUIET ? BAND : ROW;
}

static int chart_height(const struct ladder_flow *f)
{
	return ladder_chart_wanted(f) ? LADDER_CHART_HEIGHT : 0;
}

static int flow_height(const struct ladder_flow *f, const struct ladder_rows *rows)
{
	int h = HEAD + chart_height(f) + 30;

	for (uint32_t i = 0; i < rows->n; i++)
		h += row_height(&rows->row[i]);
	return h;
}

/* ---- lifelines ---- */

static void row_of(const struct ladder_rows *rows, uint32_t packet, int top, int *y)
{
	*y = top;
	for (uint32_t i = 0; i < rows->n; i++) {
		if (rows->row[i].last >= packet && rows->row[i].kind <= LADDER_ROW_QUIET)
			return;
		*y += row_height(&rows->row[i]);
	}
}

static void bar_put(FILE *to, int x, int y, int height, enum ladder_state state)
{
	fprintf(to, "<rect x='%d' y='%d' width='%d' height='%d' rx='3' class='s%d'/>", x - BAR / 2,
		y, BAR, height > 0 ? height : 0, state);
}

static void pill_put(FILE *to, int x, int y, enum ladder_state state)
{
	fprintf(to, "<rect x='%d' y='%d' width='%d' height='18' rx='9' class='s%d'/>",
		x - PILL_W / 2, y - 9, PILL_W, state);
	text_put(to, x, y + 4, "pill", ladder_state_name(state));
}

static void lifeline_put(FILE *to, const struct ladder_flow *f, const struct ladder_rows *rows,
			 uint8_t end, int top, int bottom)
{
	enum ladder_state state = LADDER_STATE_UNKNOWN;
	int x = end ? RIGHT : LEFT, from = top, y;

	for (uint32_t i = 0; i < f->n_changes; i++) {
		const struct ladder_change *c = &f->changes[i];

		if (c->end != end)
			continue;
		row_of(rows, c->packet, top + LEAD, &y);
		y += PILL_Y;
		bar_put(to, x, from, y - from, state);
		from = y;
		state = c->state;
	}
	bar_put(to, x, from, bottom - from, state);
	for (uint32_t i = 0; i < f->n_changes; i++) {
		if (f->changes[i].end != end)
			continue;
		row_of(rows, f->changes[i].packet, top + LEAD, &y);
		pill_put(to, end ? x + 44 : x - 44, y + PILL_Y, f->changes[i].state);
	}
}

/* ---- rows ---- */

static const char *class_of(const struct ladder_flow *f, const struct ladder *l,
			    const struct ladder_row *r)
{
	const struct ladder_packet *p = &l->packets[f->packets[r->first]];
	uint32_t flags = bth_opcode_info(p->bth.opcode)->flags;

	if (r->marks & LADDER_CM)
		return "cm";
	if (r->marks & (LADDER_NAK | LADDER_RNR))
		return "nak";
	if (r->marks & LADDER_CNP)
		return "cnp";
	if (r->marks & LADDER_AGAIN)
		return "again";
	if (flags & BTH_F_READ || flags & BTH_F_ATOMIC)
		return "read";
	if (flags & BTH_F_ACK)
		return "ack";
	return r->marks & LADDER_CE ? "data ce" : "data";
}

static void head_put(FILE *to, int x, int y, int way)
{
	fprintf(to, "<path d='M%d %dl%d -5v10z' class='h'/>", x, y, -way * 10);
}

static void arrow_put(FILE *to, const struct ladder_row *r, int y)
{
	bool lost = r->marks & (LADDER_LOST | LADDER_DROPPED);
	const char *fold = r->kind == LADDER_ROW_FOLD ? " fold" : "";
	int way = r->from ? -1 : 1;
	int x0 = r->from ? RIGHT - BAR : LEFT + BAR, x1 = r->from ? LEFT + BAR : RIGHT - BAR;
	int y0 = y + 18, y1 = y0 + SLOPE, xl, yl;

	if (!lost) {
		fprintf(to, "<path d='M%d %dL%d %d' class='a%s'/>", x0, y0, x1 - way * 8, y1, fold);
		head_put(to, x1, y1, way);
		return;
	}
	xl = x0 + (x1 - x0) * LOST_PART / 100;
	yl = y0 + SLOPE * LOST_PART / 100;
	fprintf(to,
		"<path d='M%d %dL%d %d' class='a%s'/><path d='M%d %dL%d %d' class='a gone'/>"
		"<path d='M%d %dl14 14m0 -14l-14 14' class='x'/>",
		x0, y0, xl, yl, fold, xl, yl, x1, y1, xl - 7, yl - 7);
}

static void tooltip_put(FILE *to, const struct ladder *l, const struct ladder_flow *f,
			const struct ladder_row *r)
{
	const struct ladder_packet *p = &l->packets[f->packets[r->first]];
	char line[300], time[32];

	bth_print(line, sizeof(line), &p->bth);
	fputs("<title>", to);
	ladder_escape(line, to);
	if (p->arrived) {
		ladder_time_text(p->arrived - p->time, time, sizeof(time));
		fprintf(to, "&#10;captured again at its receiver after %s", time);
	}
	if (p->comment) {
		fputs("&#10;", to);
		ladder_escape(p->comment, to);
	}
	if (r->last > r->first)
		fprintf(to, "&#10;and %" PRIu32 " more", r->last - r->first);
	fputs("</title>", to);
}

static void time_put(FILE *to, const struct ladder_row *r, int y)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f ms", (double)r->time / 1e6);
	text_put(to, TIME_X, y, "t", text);
}

static void packet_put(FILE *to, const struct ladder *l, const struct ladder_flow *f,
		       const struct ladder_row *r, int y)
{
	const char *bad =
		r->marks & (LADDER_LOST | LADDER_DROPPED | LADDER_MALFORMED) ? " bad" : "";

	fprintf(to, "<g class='r %s%s'>", class_of(f, l, r), bad);
	tooltip_put(to, l, f, r);
	fprintf(to, "<rect x='0' y='%d' width='%d' height='%d' class='hit'/>", y, WIDTH, ROW);
	time_put(to, r, y + 22);
	arrow_put(to, r, y);
	text_put(to, (LEFT + RIGHT) / 2 + (r->from ? 30 : -30), y + 13, "lbl", r->label);
	if (r->note[0])
		text_put(to, NOTE_X, y + 26, "note", r->note);
	fputs("</g>\n", to);
}

static void band_put(FILE *to, const struct ladder_row *r, int y)
{
	bool silence = r->kind == LADDER_ROW_SILENCE;
	int h = row_height(r);

	if (silence)
		fprintf(to, "<rect x='%d' y='%d' width='%d' height='%d' rx='6' class='band'/>",
			LEFT + BAR, y + 5, RIGHT - LEFT - 2 * BAR, h - 10);
	else
		fprintf(to,
			"<rect x='%d' y='%d' width='%d' height='%d' fill='var(--bg)' "
			"fill-opacity='.75'/>",
			LEFT - BAR, y + 6, RIGHT - LEFT + 2 * BAR, h - 12);
	text_put(to, (LEFT + RIGHT) / 2, y + h / 2 + 4, silence ? "bandt" : "quiet", r->label);
	if (r->kind == LADDER_ROW_QUIET)
		time_put(to, r, y + h / 2 + 4);
}

static void rows_put(FILE *to, const struct ladder *l, const struct ladder_flow *f,
		     const struct ladder_rows *rows, int y)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct ladder_row *r = &rows->row[i];

		if (r->kind <= LADDER_ROW_FOLD)
			packet_put(to, l, f, r, y);
		else
			band_put(to, r, y);
		y += row_height(r);
	}
}

static void end_put(FILE *to, const struct ladder_end *e, int x, int y)
{
	char text[80];

	ladder_end_text(e, text, sizeof(text));
	fprintf(to, "<rect x='%d' y='%d' width='%d' height='34' rx='7' class='box'/>",
		x - BOX_W / 2, y, BOX_W);
	text_put(to, x, y + 22, "end", text);
}

static void flow_put(FILE *to, const struct ladder *l, const struct ladder_flow *f,
		     const struct ladder_rows *rows, int y)
{
	static const char *const transports[] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "?", "?"};
	int top = y + HEAD + chart_height(f), bottom = y + flow_height(f, rows) - 16;
	char counts[256];

	ladder_counts_text(f, counts, sizeof(counts));
	fprintf(to,
		"<text x='24' y='%d'><tspan font-weight='700' font-size='17'>%s</tspan>"
		"<tspan dx='10' class='sub'>",
		y + 32, transports[f->transport & 7]);
	ladder_escape(counts, to);
	fputs("</tspan></text>\n", to);
	if (ladder_chart_wanted(f))
		ladder_chart_draw(l, f, LEFT, y + 52, RIGHT - LEFT, to);
	end_put(to, &f->end[0], LEFT, top - 62);
	end_put(to, &f->end[1], RIGHT, top - 62);
	lifeline_put(to, f, rows, 0, top - LEAD, bottom);
	lifeline_put(to, f, rows, 1, top - LEAD, bottom);
	rows_put(to, l, f, rows, top);
}

static void flow_draw(const struct ladder *l, const struct ladder_flow *f, bool all, int y,
		      int *height, FILE *to)
{
	struct ladder_rows rows;

	*height = 0;
	if (ladder_rows_make(l, f, all, &rows)) {
		*height = flow_height(f, &rows);
		if (to)
			flow_put(to, l, f, &rows, y);
	}
	free(rows.row);
}

static bool is_drawn(const struct ladder_flow *f, uint32_t qpn)
{
	return f->n && ladder_flow_wanted(f, qpn);
}

void ladder_svg_flow(const struct ladder *l, const struct ladder_flow *f, bool all, FILE *to)
{
	int height;

	flow_draw(l, f, all, 0, &height, NULL);
	fprintf(to, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d'>\n",
		WIDTH, height, WIDTH);
	flow_draw(l, f, all, 0, &height, to);
	fputs("</svg>\n", to);
}

void ladder_svg_draw(const struct ladder *l, uint32_t qpn, bool all, FILE *to)
{
	int y = 0, height;

	for (uint32_t i = 0; i < l->n_flows; i++)
		if (is_drawn(&l->flows[i], qpn)) {
			flow_draw(l, &l->flows[i], all, 0, &height, NULL);
			y += height;
		}
	fprintf(to,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' "
		"height='%d'>\n<style>%s</style>\n",
		WIDTH, y, WIDTH, y, ladder_svg_style);
	y = 0;
	for (uint32_t i = 0; i < l->n_flows; i++)
		if (is_drawn(&l->flows[i], qpn)) {
			flow_draw(l, &l->flows[i], all, y, &height, to);
			y += height;
		}
	fputs("</svg>\n", to);
}
