/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ladders as one page that needs nothing else: no script, no font, no network. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "tools/ladder.h"
#include "tools/ladder_svg.h"

static const char page_style[] =
	"body{margin:0;background:var(--bg);color:var(--ink);"
	"font-family:ui-sans-serif,system-ui,'DejaVu Sans',sans-serif}"
	"header{padding:26px 24px 8px;max-width:1200px}h1{font-size:21px;margin:0 0 4px}"
	"header p{color:var(--dim);margin:4px 0;font-size:14px}"
	"ul{list-style:none;display:flex;flex-wrap:wrap;gap:6px 18px;padding:0;margin:10px 0 0;"
	"font-size:13px;color:var(--dim)}li{display:flex;align-items:center;gap:7px}"
	"i{display:inline-block;width:22px;height:4px;border-radius:2px;background:var(--c)}"
	"section{border-top:1px solid "
	"var(--line);margin-top:14px;overflow-x:auto}svg{display:block}";

static void legend_put(FILE *to)
{
	static const struct {
		const char *class, *text;
	} entries[] = {
		{"data", "SEND, WRITE"},	 {"read", "READ, atomics"}, {"ack", "ACK"},
		{"again", "sent again"},	 {"nak", "NAK, RNR"},	    {"cnp", "CNP"},
		{"cm", "connection management"},
	};

	fputs("<ul>", to);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		fprintf(to, "<li><i class='%s'></i>%s</li>", entries[i].class, entries[i].text);
	fputs("<li><svg width='14' height='14'><path class='x' d='M2 2l10 10m0 -10l-10 10'/></svg>"
	      "lost or dropped</li></ul>\n",
	      to);
}

void ladder_html_draw(const struct ladder *l, uint32_t qpn, bool all, const char *title, FILE *to)
{
	const char *name = strrchr(title, '/') ? strrchr(title, '/') + 1 : title;

	fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
	      "<meta name='viewport' content='width=device-width'><title>",
	      to);
	ladder_escape(name, to);
	fprintf(to, ": packet ladder</title>\n<style>%s%s</style></head>\n<body><header><h1>",
		ladder_svg_style, page_style);
	ladder_escape(name, to);
	fprintf(to,
		"</h1><p>%" PRIu32
		" RoCEv2 packets. Time goes down, not to scale; the states of the "
		"queue pairs are those that the packets show. Point at a packet for all of "
		"it.</p>\n",
		l->n);
	legend_put(to);
	fputs("</header>\n", to);
	for (uint32_t i = 0; i < l->n_flows; i++) {
		if (!l->flows[i].n || !ladder_flow_wanted(&l->flows[i], qpn))
			continue;
		fputs("<section>\n", to);
		ladder_svg_flow(l, &l->flows[i], all, to);
		fputs("</section>\n", to);
	}
	fputs("</body></html>\n", to);
}
