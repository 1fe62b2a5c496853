/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rnicctl ladder: from a capture file to its picture. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/ladder.h"

#define QPN_MAX 0xffffff

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* 0: all. */
static int qpn_parse(const char *qp, uint32_t *qpn)
{
	char *end;
	unsigned long v;

	*qpn = 0;
	if (!qp)
		return 0;
	v = strtoul(qp, &end, 0);
	if (!*qp || *end || v == 0 || v > QPN_MAX) {
		fprintf(stderr, "rnicctl: --qp %s: not the number of a QP\n", qp);
		return -1;
	}
	*qpn = (uint32_t)v;
	return 0;
}

static bool analyse(struct ladder *l)
{
	if (!ladder_flows_find(l))
		return false;
	for (uint32_t i = 0; i < l->n_flows; i++) {
		ladder_flow_judge(l, &l->flows[i]);
		if (!ladder_flow_states(l, &l->flows[i]))
			return false;
	}
	return true;
}

static int draw(const struct ladder *l, uint32_t qpn, const struct ladder_options *o)
{
	bool print = !o->out || !strcmp(o->out, "-");
	FILE *to = print ? stdout : fopen(o->out, "w");

	if (to && print && o->json)
		ladder_json_draw(l, qpn, o->all, to);
	else if (to && print)
		ladder_text_draw(l, qpn, o->all, to);
	else if (to && ends_with(o->out, ".svg"))
		ladder_svg_draw(l, qpn, o->all, to);
	else if (to)
		ladder_html_draw(l, qpn, o->all, o->capture, to);
	if (to && !ferror(to) && !(print ? fflush(to) : fclose(to)))
		return 0;
	fprintf(stderr, "rnicctl: %s: %s\n", print ? "standard output" : o->out, strerror(errno));
	return -1;
}

static bool any_wanted(const struct ladder *l, uint32_t qpn)
{
	for (uint32_t i = 0; i < l->n_flows; i++)
		if (l->flows[i].n && ladder_flow_wanted(&l->flows[i], qpn))
			return true;
	return false;
}

int ladder_command(const struct ladder_options *o)
{
	struct ladder l = {0};
	char err[512] = "";
	uint32_t qpn;
	int rc = qpn_parse(o->qp, &qpn);

	if (rc)
		return rc;
	/* Of a file that is damaged what comes before the damage is drawn. */
	rc = ladder_load(&l, o->capture, err, sizeof(err));
	if (rc)
		fprintf(stderr, "rnicctl: %s\n", err);
	if (!analyse(&l)) {
		fprintf(stderr, "rnicctl: no memory\n");
		rc = -1;
	} else if (any_wanted(&l, qpn)) {
		rc |= draw(&l, qpn, o);
	} else if (!rc) {
		fprintf(stderr,
			qpn ? "rnicctl: %s: no packets of QP %u\n"
			    : "rnicctl: %s: no RoCEv2 packets\n",
			o->capture, qpn);
		rc = -1;
	}
	ladder_free(&l);
	return rc;
}
