/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port: its addresses, its mode, its life. Sending is in tx.c, receiving in rx.c. */
#include "config.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bth/packet.h"
#include "net/backlog.h"
#include "net/faulty.h"
#include "net/holder.h"
#include "net/port_priv.h"
#include "net/sock.h"

enum { LOOPBACK_IFINDEX = 1 };

void port_log(const struct net_port *port, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!port->cfg.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	port->cfg.log(port->cfg.log_ctx, line);
}

static void port_watch(const struct net_port *port, int fd, bool on)
{
	if (port->cfg.watch)
		port->cfg.watch(port->cfg.watch_ctx, fd, on);
}

struct net_port *net_port_create(const struct net_port_config *cfg)
{
	struct net_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->cfg = *cfg;
	port->udp_port = cfg->udp_port ? cfg->udp_port : BTH_UDP_PORT;
	port->backlog_fd = net_backlog_open();
	net_capture_open(&port->capture);
	port->arena = malloc(NET_ARENA_SIZE);
	port->batches = calloc(NET_BATCH_MAX, sizeof(*port->batches));
	port->peers = peer_table_create();
	port->rx = rx_ring_create();
	port->faulty = cfg->faults ? faulty_create() : NULL;
	if (!port->arena || !port->batches || !port->peers || !port->rx ||
	    (cfg->faults && !port->faulty)) {
		net_port_destroy(port);
		errno = ENOMEM;
		return NULL;
	}
	return port;
}

static void port_addr_destroy(struct net_port *port, struct port_addr *a)
{
	txsock_close_all(a);
	port_watch(port, a->fd, false);
	close(a->fd);
	free(a);
}

void net_port_destroy(struct net_port *port)
{
	if (!port)
		return;
	for (uint32_t i = 0; i < port->naddrs; i++)
		port_addr_destroy(port, port->addrs[i]);
	free(port->addrs);
	faulty_destroy(port->faulty);
	rx_ring_destroy(port->rx);
	peer_table_destroy(port->peers);
	free(port->batches);
	free(port->arena);
	if (port->backlog_fd >= 0)
		close(port->backlog_fd);
	net_capture_close(&port->capture);
	free(port);
}

/* The interface that has the address; 0 if none is found. */
static uint32_t addr_dev(const uint8_t addr[16], uint32_t ifindex)
{
	struct ifaddrs *list, *i;
	uint32_t dev = 0;

	if (ifindex)
		return ifindex;
	if (net_addr_is_v4(addr) && addr[12] == 127)
		return LOOPBACK_IFINDEX;
	if (getifaddrs(&list) < 0)
		return 0;
	for (i = list; i && !dev; i = i->ifa_next) {
		union net_sockaddr sa;
		uint8_t have[16];

		if (!i->ifa_addr ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		memcpy(&sa, i->ifa_addr,
		       i->ifa_addr->sa_family == AF_INET ? sizeof(sa.in) : sizeof(sa.in6));
		net_sockaddr_addr(&sa, have);
		if (memcmp(have, addr, 16) == 0)
			dev = if_nametoindex(i->ifa_name);
	}
	freeifaddrs(list);
	return dev;
}

static int addr_find(const struct net_port *port, const uint8_t addr[16], uint32_t ifindex)
{
	for (uint32_t i = 0; i < port->naddrs; i++)
		if (memcmp(port->addrs[i]->addr, addr, 16) == 0 &&
		    port->addrs[i]->ifindex == ifindex)
			return (int)i;
	return -ENOENT;
}

static int addr_open(struct net_port *port, struct port_addr *a)
{
	char text[NET_SOCKADDR_TEXT_MAX], holder[160];
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, a->addr, a->ifindex, port->udp_port);

	a->fd = net_sock_open_rx(&sa, len);
	if (a->fd == -EADDRINUSE) {
		net_holder_find(&sa, holder, sizeof(holder));
		port_log(port, "cannot receive on UDP %s: it is held by %s",
			 net_sockaddr_text(&sa, text), holder);
	} else if (a->fd < 0) {
		port_log(port, "cannot receive on UDP %s: %s", net_sockaddr_text(&sa, text),
			 strerror(-a->fd));
	}
	return a->fd < 0 ? a->fd : 0;
}

static int addr_append(struct net_port *port, struct port_addr *a)
{
	struct port_addr **addrs = realloc(port->addrs, (port->naddrs + 1) * sizeof(*port->addrs));

	if (!addrs)
		return -ENOMEM;
	port->addrs = addrs;
	port->addrs[port->naddrs] = a;
	return 0;
}

static struct port_addr *addr_new(const uint8_t addr[16], uint32_t ifindex)
{
	struct port_addr *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	memcpy(a->addr, addr, 16);
	a->ifindex = ifindex;
	a->v4 = net_addr_is_v4(addr);
	for (unsigned i = 0; i < NET_TXSOCK_MAX; i++)
		a->pool[i].fd = -1;
	return a;
}

/* Its receiving socket is open. */
static void addr_begin(struct net_port *port, struct port_addr *a)
{
	a->rcvbuf = net_sock_rcvbuf(a->fd);
	a->gro = port_gso_allowed(port) && net_sock_set_gro(a->fd, true) == 0;
	port->naddrs++;
	port_watch(port, a->fd, true);
}

int net_port_addr_add(struct net_port *port, const uint8_t addr[16], uint32_t ifindex)
{
	struct port_addr *a;
	int err;

	if (addr_find(port, addr, ifindex) >= 0)
		return -EEXIST;
	a = addr_new(addr, ifindex);
	if (!a)
		return -ENOMEM;
	err = addr_append(port, a);
	if (!err)
		err = addr_open(port, a);
	if (err) {
		free(a);
		return err;
	}
	a->dev = addr_dev(addr, ifindex);
	net_sock_set_multicast_if(a->fd, a->v4 ? AF_INET : AF_INET6, a->dev);
	addr_begin(port, a);
	return 0;
}

static int group_open(struct net_port *port, struct port_addr *a)
{
	char text[NET_SOCKADDR_TEXT_MAX];
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, a->addr, a->ifindex, port->udp_port);

	a->fd = net_sock_open_group(&sa, len, a->ifindex);
	if (a->fd < 0)
		port_log(port, "cannot join %s: %s", net_sockaddr_text(&sa, text),
			 strerror(-a->fd));
	return a->fd < 0 ? a->fd : 0;
}

int net_port_group_join(struct net_port *port, const uint8_t group[16], uint32_t ifindex)
{
	struct port_addr *a;
	int err;

	if (addr_find(port, group, ifindex) >= 0)
		return -EEXIST;
	a = addr_new(group, ifindex);
	if (!a)
		return -ENOMEM;
	a->group = true;
	a->dev = ifindex;
	err = addr_append(port, a);
	if (!err)
		err = group_open(port, a);
	if (err) {
		free(a);
		return err;
	}
	addr_begin(port, a);
	return 0;
}

void net_port_addr_del(struct net_port *port, const uint8_t addr[16], uint32_t ifindex)
{
	int i = addr_find(port, addr, ifindex);

	if (i < 0)
		return;
	net_port_flush(port, port->now);
	if (port->faulty)
		faulty_addr_gone(port->faulty, port->addrs[i]);
	rx_ring_forget(port->rx, port->addrs[i]);
	port->tx_addr = NULL;
	port_addr_destroy(port, port->addrs[i]);
	port->addrs[i] = port->addrs[--port->naddrs];
}

bool port_gso_allowed(const struct net_port *port)
{
	switch (port->cfg.gso) {
	case NET_GSO_AUTO:
		return !port->captured;
	case NET_GSO_ON:
		return true;
	case NET_GSO_OFF:
		return false;
	}
	return false;
}

void net_port_gso_set(struct net_port *port, enum net_gso gso)
{
	port->cfg.gso = gso;
}

/* Traffic between two addresses of this host passes the loopback interface. */
static bool capture_concerns(void *ctx, uint32_t ifindex)
{
	const struct net_port *port = ctx;

	if (ifindex == LOOPBACK_IFINDEX)
		return true;
	for (uint32_t i = 0; i < port->naddrs; i++)
		if (port->addrs[i]->dev == ifindex || port->addrs[i]->dev == 0)
			return true;
	return false;
}

void port_capture_look(struct net_port *port)
{
	bool captured;

	if (port->cfg.gso != NET_GSO_AUTO || !net_capture_due(&port->capture, port->now))
		return;
	port->gro_seen = false;
	captured = net_capture_seen(&port->capture, capture_concerns, port);
	if (captured == port->captured)
		return;
	port->captured = captured;
	port_log(port, captured ? "somebody captures packets: sending and receiving them singly"
				: "nobody captures packets any more: sending and receiving runs");
}

uint32_t net_port_rcvbuf(const struct net_port *port)
{
	uint32_t least = 0;

	for (uint32_t i = 0; i < port->naddrs; i++)
		if (least == 0 || port->addrs[i]->rcvbuf < least)
			least = port->addrs[i]->rcvbuf;
	return least;
}

bool net_port_room(const struct net_port *port, const uint8_t addr[16], uint32_t ifindex,
		   uint64_t *room)
{
	/* The kernel gives back what was read only when it is a quarter, and does not tell that. */
	uint32_t rcvbuf = net_port_rcvbuf(port) / 4 * 3, used;

	if (net_backlog_get(port->backlog_fd, addr, ifindex, port->udp_port, &used) < 0)
		return false;
	*room = used < rcvbuf ? rcvbuf - used : 0;
	return true;
}

void net_port_time(struct net_port *port, uint64_t now)
{
	if (now > port->now)
		port->now = now;
}

uint64_t net_port_tx_due(const struct net_port *port)
{
	return port->faulty ? faulty_tx_due(port->faulty) : UINT64_MAX;
}

uint64_t net_port_rx_due(const struct net_port *port)
{
	return port->faulty ? faulty_rx_due(port->faulty) : UINT64_MAX;
}

const struct net_counters *net_port_counters(const struct net_port *port)
{
	return &port->counters;
}

const char *net_port_tx_mode(const struct net_port *port)
{
	if (port->cfg.gso == NET_GSO_OFF)
		return "single (off)";
	if (!port_gso_allowed(port))
		return "single (captured)";
	if (port->now < port->routes.last_until)
		return "single (route)";
	return "gso";
}
