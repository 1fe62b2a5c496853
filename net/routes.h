/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Destinations to which the kernel refused a GSO run, remembered for a while. */
#ifndef NET_ROUTES_H
#define NET_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

enum { NET_ROUTES_MAX = 64 };

/* Zeros are an empty table. Of two destinations in one place the later one is remembered. */
struct net_routes {
	uint64_t last_until; /* nothing is remembered after it */
	struct {
		uint8_t dst[16];
		uint64_t until;
	} entry[NET_ROUTES_MAX];
};

void net_routes_refused(struct net_routes *routes, const uint8_t dst[16], uint64_t now);
bool net_routes_is_single(const struct net_routes *routes, const uint8_t dst[16], uint64_t now);

#endif
