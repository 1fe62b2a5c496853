/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sending sockets of an address. The 14-bit hash of a flow picks one of 64 places; its socket
 * is opened at first use, on the port that this hash asks for or, if that is taken, on another
 * one. Other flows of the same place share it.
 */
#include "config.h"

#include <unistd.h>

#include "net/port_priv.h"
#include "net/sock.h"

enum { SPORT_BASE = 0xc000, HASH_MASK = 0x3fff, TRIES = 16 };

/* Any odd number far from the others will do. */
enum { HASH_STEP = 0x0a35 };

static int sock_open(const struct net_port *port, const struct port_addr *a, uint16_t hash,
		     uint16_t *sport)
{
	union net_sockaddr sa;
	socklen_t len;
	int fd;

	for (unsigned i = 0; i < TRIES; i++) {
		*sport = (uint16_t)(SPORT_BASE | ((hash + i * HASH_STEP) & HASH_MASK));
		len = net_sockaddr_set(&sa, a->addr, a->ifindex, *sport);
		fd = net_sock_open_tx(&sa, len);
		if (fd < 0)
			continue;
		net_sock_set_multicast_if(fd, sa.sa.sa_family, a->dev);
		return fd;
	}
	*sport = port->udp_port;
	return a->fd;
}

struct txsock *txsock_get(struct net_port *port, struct port_addr *a, uint16_t hash)
{
	struct txsock *s = &a->pool[(hash ^ hash >> 6 ^ hash >> 12) % NET_TXSOCK_MAX];

	if (s->fd < 0)
		s->fd = sock_open(port, a, hash & HASH_MASK, &s->sport);
	return s;
}

void txsock_close_all(struct port_addr *a)
{
	for (unsigned i = 0; i < NET_TXSOCK_MAX; i++) {
		if (a->pool[i].fd >= 0 && a->pool[i].fd != a->fd)
			close(a->pool[i].fd);
		a->pool[i].fd = -1;
	}
}
