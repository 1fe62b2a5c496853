/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Is somebody capturing? Packet sockets as /proc/net/packet shows them. */
#ifndef NET_CAPTURE_H
#define NET_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

struct net_capture {
	int fd;	       /* -1: cannot be looked at */
	uint64_t next; /* do not look again before */
	uint64_t used; /* when a run was last about to be sent, or came */
};

/* Looks into the network namespace of the calling thread, also later. */
void net_capture_open(struct net_capture *c);
void net_capture_close(struct net_capture *c);

/*
 * A run is about to be sent, or came: is it time to look? Yes at the first after a pause, so that
 * a capture begun in it sees no run, and then a few times a second. Sets the next time.
 */
bool net_capture_due(struct net_capture *c, uint64_t now);

/* Is there a packet socket for all, IPv4 or IPv6 packets, on all interfaces or one for which
 * concerns() says so? */
bool net_capture_seen(const struct net_capture *c, bool (*concerns)(void *ctx, uint32_t ifindex),
		      void *ctx);

#endif
