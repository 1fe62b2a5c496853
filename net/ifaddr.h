/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Interfaces and their addresses by rtnetlink (libnl3), kept up to date. */
#ifndef NET_IFADDR_H
#define NET_IFADDR_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct net_if {
	uint32_t ifindex;
	char name[IFNAMSIZ];
	bool enabled; /* IFF_UP */
	bool up;      /* and has a carrier (lo counts as carrier) */
	bool loopback;
	uint32_t mtu; /* bytes */
	uint8_t mac[6];
};

struct net_addr {
	uint32_t ifindex;
	uint8_t addr[16]; /* IPv4 as ::ffff:a.b.c.d */
	bool tentative;	  /* IPv6 DAD has not ended: not usable yet */
};

struct net_monitor;

struct net_monitor_events {
	/* Something about interfaces or addresses has changed: look again. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* NULL with errno. Reads the present state before it returns. */
struct net_monitor *net_monitor_create(const struct net_monitor_events *events);
void net_monitor_destroy(struct net_monitor *m);
int net_monitor_fd(const struct net_monitor *m); /* readable: call net_monitor_read */
void net_monitor_read(struct net_monitor *m);

/* By index 0..; false at the end. Interfaces in order of ifindex, addresses of one interface:
 * IPv4 first, then IPv6, in the kernel's order: the order in which Linux enters them in the GID
 * table of a new device. */
bool net_monitor_if(const struct net_monitor *m, uint32_t index, struct net_if *out);
bool net_monitor_if_named(const struct net_monitor *m, const char *name, struct net_if *out);
bool net_monitor_if_indexed(const struct net_monitor *m, uint32_t ifindex, struct net_if *out);
bool net_monitor_addr(const struct net_monitor *m, uint32_t ifindex, uint32_t index,
		      struct net_addr *out);

#endif
