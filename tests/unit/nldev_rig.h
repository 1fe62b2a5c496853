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

/* Messages and attributes, byte by byte. */
#define SEQ 0x77u
#define B16(v) (uint8_t)((v)&255), (uint8_t)((v) >> 8 & 255)
#define B32(v) B16((v)&0xffff), B16((uint32_t)(v) >> 16)
#define B64(v) B32((uint64_t)(v)&0xffffffff), B32((uint64_t)(v) >> 32)
#define A(type, len) B16(4 + (len)), B16(RDMA_NLDEV_##type)
#define U8(type, v) A(type, 1), (v), 0, 0, 0
#define U32(type, v) A(type, 4), B32(v)
#define U64(type, v) A(type, 8), B64(v)
#define HEAD(len, type, flags) B32(len), B16(type), B16(flags), B32(SEQ)
#define CMD(cmd) (RDMA_NL_NLDEV << 10 | RDMA_NLDEV_CMD_##cmd)
#define ASK(len, cmd, flags) HEAD(len, CMD(cmd), NLM_F_REQUEST | (flags)), B32(0)
#define DEVICE U32(ATTR_DEV_INDEX, 5), A(ATTR_DEV_NAME, 5), 'r', 'x', 'e', '0', 0, 0, 0, 0
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

#endif
