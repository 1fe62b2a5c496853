/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A capture file in words: one line for each RoCEv2 packet. */
#include "config.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>

#include "bth/packet.h"
#include "bth/print.h"
#include "tools/capread.h"
#include "tools/explain.h"
#include "tools/roceframe.h"

#define NS 1000000000ull

static void comment_print(const struct capread_packet *p)
{
	if (!p->comment)
		return;
	fputs("  # ", stdout);
	for (uint32_t i = 0; i < p->comment_len; i++)
		putchar(p->comment[i] >= ' ' && p->comment[i] <= '~' ? p->comment[i] : '?');
}

static void packet_print(const struct capread_packet *p, const struct roceframe *f)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	char line[256] = "too short for a BTH and an ICRC";
	struct bth_packet pkt;

	/* A capture that cut packets short still has their headers. */
	if (f->len >= BTH_LEN + BTH_ICRC_LEN &&
	    bth_decode(f->data, f->len - BTH_ICRC_LEN, &pkt) == BTH_OK)
		bth_print(line, sizeof(line), &pkt);
	else if (f->len >= BTH_LEN + BTH_ICRC_LEN)
		snprintf(line, sizeof(line), "malformed, or cut short by the capture");
	printf("%llu.%06llu %s > %s  %s", (unsigned long long)(p->time / NS),
	       (unsigned long long)(p->time % NS / 1000),
	       roceframe_addr_text(f->src, src, sizeof(src)),
	       roceframe_addr_text(f->dst, dst, sizeof(dst)), line);
	comment_print(p);
	putchar('\n');
}

int explain_capture(const char *path)
{
	char err[512];
	struct capread *c = capread_open(path, err, sizeof(err));
	struct capread_packet p;
	int rc = -1;

	while (c && (rc = capread_next(c, &p, err, sizeof(err))) == 1) {
		struct roceframe f;

		if (!roceframe_link_known(p.linktype)) {
			snprintf(err, sizeof(err), "%s: link type %u is not known", path,
				 p.linktype);
			rc = -1;
			break;
		}
		if (roceframe_parse(p.linktype, p.data, p.len, &f))
			packet_print(&p, &f);
	}
	if (rc)
		fprintf(stderr, "rnicctl: %s\n", err);
	capread_close(c);
	return rc;
}
