/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The headers of a datagram in a capture: IP and UDP as they stand on the wire, before them what
 * Linux says of packets without a link header of their own (LINKTYPE_LINUX_SLL2). */
#ifndef NET_CAPFRAME_H
#define NET_CAPFRAME_H

#include <stdbool.h>
#include <stdint.h>

#define CAPFRAME_LINK_LEN 20
#define CAPFRAME_HEAD_MAX (CAPFRAME_LINK_LEN + 48)

struct capframe {
	bool out;
	uint32_t ifindex;
	uint8_t src[16], dst[16]; /* IPv4 as ::ffff:a.b.c.d; both of one family */
	uint16_t sport, dport;
	uint8_t tos, ttl;    /* or traffic class and hop limit */
	uint16_t ip_id;	     /* IPv4; DF is set */
	uint32_t flow_label; /* IPv6 */
	const uint8_t *data; /* the UDP payload */
	uint32_t len;
};

bool capframe_is_multicast(const struct capframe *f);

/* Writes the headers, with right checksums; returns their length. */
uint32_t capframe_head(const struct capframe *f, uint8_t head[CAPFRAME_HEAD_MAX]);

#endif
