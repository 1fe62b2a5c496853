/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Destinations to which the kernel refused a GSO run. */
#include "config.h"

#include <string.h>

#include "net/routes.h"

#define REMEMBER_NS (UINT64_C(30) * 1000 * 1000 * 1000)

static unsigned place(const uint8_t dst[16])
{
	unsigned h = 0;

	for (int i = 0; i < 16; i++)
		h = h * 31 + dst[i];
	return h % NET_ROUTES_MAX;
}

void net_routes_refused(struct net_routes *routes, const uint8_t dst[16], uint64_t now)
{
	unsigned i = place(dst);

	memcpy(routes->entry[i].dst, dst, 16);
	routes->entry[i].until = now + REMEMBER_NS;
	routes->last_until = now + REMEMBER_NS;
}

bool net_routes_is_single(const struct net_routes *routes, const uint8_t dst[16], uint64_t now)
{
	unsigned i;

	if (now >= routes->last_until)
		return false;
	i = place(dst);
	return now < routes->entry[i].until && memcmp(routes->entry[i].dst, dst, 16) == 0;
}
