/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The addresses of a device as the entries of its GID table. */
#ifndef TOOLS_GIDS_H
#define TOOLS_GIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/ifaddr.h"
#include "rnic/types.h"

struct adapter;

struct gid_entry {
	uint8_t gid[16]; /* all zero: free */
	uint32_t ifindex;
	bool bound; /* packets to it are received */
};

/* The first address of the table, or zeros. */
const uint8_t *gids_first(const struct adapter *a);
/*
 * Bring the table up to date: what the interface has no more goes, what is new comes into the
 * first free slots. nif NULL: the interface is gone. 0, or the -errno of the last address that
 * could not be had (its port is busy, say).
 */
int gids_sync(struct adapter *a, const struct net_if *nif);
/* How many addresses packets are received on. */
uint32_t gids_bound(const struct adapter *a);
/* EUI-64 of a MAC with its universal bit turned, as in node GUIDs and link-local addresses. */
void gids_eui64(const uint8_t mac[6], uint8_t eui[8]);
bool gids_has_mac(const struct net_if *nif);

#endif
