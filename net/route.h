/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the routing table says about a destination. */
#ifndef NET_ROUTE_H
#define NET_ROUTE_H

#include <stdint.h>

/* The source address that the kernel would use to `to` (ifindex: for link-local addresses).
 * Addresses of 16 bytes, IPv4 mapped. 0, or -ENETUNREACH, -EHOSTUNREACH, -EACCES and so on. */
int net_route_source(const uint8_t to[16], uint32_t ifindex, uint8_t from[16]);

#endif
