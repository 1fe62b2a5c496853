/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From a captured frame to the RoCEv2 packet in it. */
#ifndef TOOLS_ROCEFRAME_H
#define TOOLS_ROCEFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roceframe {
	uint8_t src[16], dst[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t sport;
	uint8_t tos;	     /* or traffic class */
	bool known, out;     /* the link header tells the direction */
	const uint8_t *data; /* BTH to ICRC, or as far as was captured */
	size_t len;
	bool cut; /* not all was captured */
};

/* LINKTYPE_... as capture files number them. */
bool roceframe_link_known(uint32_t linktype);
/* False: it is something else. */
bool roceframe_parse(uint32_t linktype, const uint8_t *p, size_t len, struct roceframe *f);
/* "10.0.0.1"; buf: INET6_ADDRSTRLEN. */
const char *roceframe_addr_text(const uint8_t addr[16], char *buf, size_t size);

#endif
