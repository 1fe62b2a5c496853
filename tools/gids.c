/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The addresses of a device as the entries of its GID table, in the order of Linux's: on an
 * interface with a MAC the first slot is kept for the link-local address made of it (the "default
 * GID"), which stands there even when the interface has no such address; then come IPv4 and IPv6
 * addresses, each into the first free slot when it appears. A slot keeps its address until the
 * interface loses it.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "net/sockaddr.h"
#include "tools/adapter.h"
#include "tools/daemon.h"
#include "tools/gids.h"

static const uint8_t none[16];

static bool is_used(const struct gid_entry *e)
{
	return memcmp(e->gid, none, sizeof(none));
}

void gids_eui64(const uint8_t mac[6], uint8_t eui[8])
{
	memcpy(eui, mac, 3);
	eui[0] ^= 2;
	eui[3] = 0xff;
	eui[4] = 0xfe;
	memcpy(eui + 5, mac + 3, 3);
}

bool gids_has_mac(const struct net_if *nif)
{
	return memcmp(nif->mac, none, sizeof(nif->mac));
}

const uint8_t *gids_first(const struct adapter *a)
{
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++)
		if (is_used(&a->gids[i]))
			return a->gids[i].gid;
	return none;
}

uint32_t gids_bound(const struct adapter *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++)
		n += a->gids[i].bound;
	return n;
}

static void unbind(struct adapter *a, struct gid_entry *e)
{
	if (e->bound)
		net_port_addr_del(a->port, e->gid, e->ifindex);
	e->bound = false;
}

static void entry_clear(struct adapter *a, uint32_t i)
{
	struct gid_entry *e = &a->gids[i];

	if (!is_used(e))
		return;
	unbind(a, e);
	rnic_gid_set(a->rnic, (uint16_t)i, none, 0);
	memset(e, 0, sizeof(*e));
}

static void entry_set(struct adapter *a, uint32_t i, const uint8_t gid[16], uint32_t ifindex,
		      bool bound)
{
	struct gid_entry *e = &a->gids[i];

	memcpy(e->gid, gid, 16);
	e->ifindex = ifindex;
	e->bound = bound;
	rnic_gid_set(a->rnic, (uint16_t)i, gid, ifindex);
}

/* The slot of a GID, or that of the first free entry if it has none; -1: the table is full. */
static int slot_find(const struct adapter *a, const uint8_t gid[16], uint32_t first)
{
	int is_free = -1;

	for (int i = RNIC_GID_TABLE_LEN - 1; i >= 0; i--) {
		if (!memcmp(a->gids[i].gid, gid, 16))
			return i;
		if (!is_used(&a->gids[i]) && (uint32_t)i >= first)
			is_free = i;
	}
	return is_free;
}

static int addr_take(struct adapter *a, const uint8_t addr[16], uint32_t ifindex, uint32_t first)
{
	int i = slot_find(a, addr, first);
	int rc;

	if (i < 0)
		return -ENOSPC;
	if (a->gids[i].bound)
		return 0;
	rc = net_port_addr_add(a->port, addr, ifindex);
	if (rc)
		return rc;
	entry_set(a, (uint32_t)i, addr, ifindex, true);
	return 0;
}

static bool if_has_addr(struct net_monitor *m, uint32_t ifindex, const uint8_t addr[16])
{
	struct net_addr na;

	for (uint32_t i = 0; net_monitor_addr(m, ifindex, i, &na); i++)
		if (!memcmp(na.addr, addr, 16))
			return true;
	return false;
}

/* The first slot of an interface with a MAC. */
static void default_set(struct adapter *a, const struct net_if *nif)
{
	uint8_t gid[16] = {0xfe, 0x80};

	gids_eui64(nif->mac, gid + 8);
	if (!memcmp(a->gids[0].gid, gid, 16))
		return;
	entry_clear(a, 0);
	entry_set(a, 0, gid, nif->ifindex, false);
}

static int if_sync(struct adapter *a, const struct net_if *nif)
{
	struct net_monitor *m = a->daemon->monitor;
	uint32_t first = gids_has_mac(nif) && !nif->loopback;
	struct net_addr na;
	int busy = 0;

	if (first)
		default_set(a, nif);
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		if (!is_used(&a->gids[i]) || if_has_addr(m, nif->ifindex, a->gids[i].gid))
			continue;
		if (i < first)
			unbind(a, &a->gids[i]);
		else
			entry_clear(a, i);
	}
	for (uint32_t i = 0; net_monitor_addr(m, nif->ifindex, i, &na); i++) {
		int rc = na.tentative ? 0 : addr_take(a, na.addr, nif->ifindex, first);

		if (rc)
			busy = rc;
	}
	return busy;
}

int gids_sync(struct adapter *a, const struct net_if *nif)
{
	if (nif && a->where.plain)
		return addr_take(a, a->where.addr,
				 net_addr_is_loopback(a->where.addr) ? 0 : nif->ifindex, 0);
	if (nif)
		return if_sync(a, nif);
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++)
		entry_clear(a, i);
	return 0;
}
