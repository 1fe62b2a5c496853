/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the pictures of ladders share: ladder_svg.c, ladder_chart.c and ladder_html.c. */
#ifndef TOOLS_LADDER_SVG_H
#define TOOLS_LADDER_SVG_H

#include <stdbool.h>
#include <stdio.h>

struct ladder;
struct ladder_flow;

enum { LADDER_CHART_HEIGHT = 92 };

extern const char ladder_svg_style[];

/* Text of any origin into XML. */
void ladder_escape(const char *text, FILE *to);

/* A whole <svg>, without its style. */
void ladder_svg_flow(const struct ladder *l, const struct ladder_flow *f, bool all, FILE *to);

/* ladder_chart.c: rates of both ends over time, with what disturbed them. */
bool ladder_chart_wanted(const struct ladder_flow *f);
void ladder_chart_draw(const struct ladder *l, const struct ladder_flow *f, int x, int y, int width,
		       FILE *to);

#endif
