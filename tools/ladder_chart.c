/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rate of a flow over time: payload of each end by equal pieces of time. */
#include "config.h"

#include <stdint.h>

#include "tools/ladder.h"
#include "tools/ladder_svg.h"

enum { BINS = 140, HEIGHT = 56, PACKETS_MIN = 64 };

struct chart {
	uint64_t begin, duration;
	uint64_t bytes[2][BINS];
	uint64_t most;
};

bool ladder_chart_wanted(const struct ladder_flow *f)
{
	return f->counts.packets >= PACKETS_MIN;
}

static uint32_t bin_of(const struct chart *c, uint64_t time)
{
	uint64_t bin = (uint64_t)((__uint128_t)(time - c->begin) * BINS / c->duration);

	return bin < BINS ? (uint32_t)bin : BINS - 1;
}

static void chart_fill(struct chart *c, const struct ladder *l, const struct ladder_flow *f)
{
	c->begin = l->packets[f->packets[0]].time;
	c->duration = l->packets[f->packets[f->n - 1]].time - c->begin;
	if (!c->duration)
		c->duration = 1;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct ladder_packet *p = &l->packets[f->packets[i]];
		uint64_t *bytes = &c->bytes[p->from][bin_of(c, p->time)];

		*bytes += p->bth.payload_len;
		c->most = *bytes > c->most ? *bytes : c->most;
	}
	if (!c->most)
		c->most = 1;
}

static void area_draw(const struct chart *c, unsigned end, int x, int y, int width, FILE *to)
{
	fprintf(to, "<path class='area%s' d='M%d %d", end ? "1" : "", x, y + HEIGHT);
	for (int i = 0; i < BINS; i++)
		fprintf(to, "L%.1f %.1f", x + (i + 0.5) * width / BINS,
			y + HEIGHT - (double)c->bytes[end][i] * HEIGHT / (double)c->most);
	fprintf(to, "L%d %dz'/>\n", x + width, y + HEIGHT);
}

/* Where something went wrong. */
static void ticks_draw(const struct chart *c, const struct ladder *l, const struct ladder_flow *f,
		       int x, int y, int width, FILE *to)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct ladder_packet *p = &l->packets[f->packets[i]];
		const char *color = p->marks & LADDER_CNP		   ? "--cnp"
				    : p->marks & (LADDER_NAK | LADDER_RNR) ? "--nak"
				    : p->marks & LADDER_TIMEOUT		   ? "--again"
									   : NULL;
		double at;

		if (!color)
			continue;
		at = x + (double)(p->time - c->begin) * width / (double)c->duration;
		fprintf(to, "<path d='M%.1f %dv6' class='tick' stroke='var(%s)'/>", at,
			y + HEIGHT + 2, color);
	}
}

void ladder_chart_draw(const struct ladder *l, const struct ladder_flow *f, int x, int y, int width,
		       FILE *to)
{
	struct chart c = {0};
	char time[32];
	double rate;

	chart_fill(&c, l, f);
	rate = (double)c.most * 8e9 * BINS / (double)c.duration;
	ladder_time_text(c.duration, time, sizeof(time));
	for (unsigned end = 0; end < 2; end++)
		if (f->counts.bytes[end])
			area_draw(&c, end, x, y, width, to);
	ticks_draw(&c, l, f, x, y, width, to);
	fprintf(to,
		"<path d='M%d %dh%d' stroke='var(--line)'/>"
		"<text x='%d' y='%d' class='t'>%.3g %s</text><text x='%d' y='%d' class='t'>0</text>"
		"<text x='%d' y='%d' class='sub'>rate of payload over %s</text>\n",
		x, y + HEIGHT, width, x - 14, y + 10, rate >= 1e9 ? rate / 1e9 : rate / 1e6,
		rate >= 1e9 ? "Gbit/s" : "Mbit/s", x - 14, y + HEIGHT, x + width + 20, y + HEIGHT,
		time);
}
