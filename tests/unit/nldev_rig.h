/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * NETLINK_RDMA without sockets: what is sent to nldev, and the packets that it answers. Stands on
 * verbs_rig.h, whose device and context are the kernel's only ones.
 */
#ifndef NLDEV_RIG_H
#define NLDEV_RIG_H

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/nldev.h"
#include "verbs/kernel/ucma.h"

#define NL_PORT 0x01020304u
#define NL_PACKETS_MAX 64
#define NL_IDS_MAX 4

struct nl_rig {
	struct kernel kernel;
	struct nl_peer peer;
	struct {
		uint8_t *data;
		size_t len;
	} packet[NL_PACKETS_MAX];
	uint32_t n; /* packets; those beyond NL_PACKETS_MAX are counted only */
	/* What the rest of the kernel's side was asked for, and answers. */
	int answer;
	char name[64], netdev[64];
	struct kdevice *deleted;
	struct ucma_entry ids[NL_IDS_MAX];
	uint32_t n_ids;
};

extern struct nl_rig nl;

void nl_start(void); /* after rig_start or rig_start_context */
void nl_stop(void);
/* Forgets earlier answers, and sends. */
void nl_send(const void *data, size_t len);

#endif
