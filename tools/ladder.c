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

static int draw(const struct ladder *l, uint32_t qpn, const char *out, bool all,
		const char *capture)
{
	bool text = !out || !strcmp(out, "-");
	FILE *to = text ? stdout : fopen(out, "w");
	int rc = 0;

	if (to && text)
		ladder_text_draw(l, qpn, all, to);
	else if (to && ends_with(out, ".svg"))
		ladder_svg_draw(l, qpn, all, to);
	else if (to)
		ladder_html_draw(l, qpn, all, capture, to);
	if (!to || ferror(to) || (text ? fflush(to) : fclose(to))) {
		fprintf(stderr, "rnicctl: %s: %s\n", text ? "standard output" : out,
			strerror(errno));
		rc = -1;
	}
	return rc;
}

static bool any_wanted(const struct ladder *l, uint32_t qpn)
{
	for (uint32_t i = 0; i < l->n_flows; i++)
		if (l->flows[i].n && ladder_flow_wanted(&l->flows[i], qpn))
			return true;
	return false;
}

int ladder_command(const char *capture, const char *qp, const char *out, bool all)
{
	struct ladder l = {0};
	char err[512] = "";
	uint32_t qpn;
	int rc = qpn_parse(qp, &qpn);

	if (rc)
		return rc;
	/* Of a file that is damaged what comes before the damage is drawn. */
	rc = ladder_load(&l, capture, err, sizeof(err));
	if (rc)
		fprintf(stderr, "rnicctl: %s\n", err);
	if (!analyse(&l)) {
		fprintf(stderr, "rnicctl: no memory\n");
		rc = -1;
	} else if (any_wanted(&l, qpn)) {
		rc |= draw(&l, qpn, out, all, capture);
	} else if (!rc) {
		fprintf(stderr,
			qpn ? "rnicctl: %s: no packets of QP %u\n"
			    : "rnicctl: %s: no RoCEv2 packets\n",
			capture, qpn);
		rc = -1;
	}
	ladder_free(&l);
	return rc;
}
