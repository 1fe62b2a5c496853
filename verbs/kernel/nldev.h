/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NETLINK_RDMA as Linux's ib_core answers it: the RDMA_NLDEV messages about devices, their ports,
 * what programs have made on them, and counters. One request in, its answers out.
 */
#ifndef KERNEL_NLDEV_H
#define KERNEL_NLDEV_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;

/* Who asks, and where the answers go: each packet is what one recvmsg() gets. */
struct nl_peer {
	uint32_t portid;
	bool admin; /* may change things: CAP_NET_ADMIN */
	bool busy;  /* an earlier dump is not all read: no other is begun */
	void (*packet)(void *ctx, const void *data, size_t len);
	void *ctx;
};

/*
 * The first message of what one send() has brought: any bytes, aligned as a message. How many bytes
 * are done with: all, where no other message follows.
 */
size_t nldev_receive(struct kernel *k, struct nl_peer *peer, const void *data, size_t len);

#endif
