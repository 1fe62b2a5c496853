/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups: which QPs want the packets of a group. The host is asked to
 * join a group for its first QP, and to leave it after its last one.
 */
#ifndef RNIC_MCAST_H
#define RNIC_MCAST_H

#include <stdbool.h>
#include <stdint.h>

struct bth_packet;
struct rnic_device;
struct rnic_qp;
struct rnic_rx;

#define RNIC_QPN_MULTICAST 0xffffffu

/* ff00::/8, or ::ffff:224.0.0.0/100 */
bool rnic_gid_is_multicast(const uint8_t gid[16]);

/* 0, also if it is attached already; -EINVAL: not a UD QP, or no multicast GID; -ENOMEM: a limit;
 * or what the host said when it was to join. */
int rnic_mcast_attach(struct rnic_qp *qp, const uint8_t gid[16]);
/* -EINVAL if it is not attached. */
int rnic_mcast_detach(struct rnic_qp *qp, const uint8_t gid[16]);
/* Groups that the QP is attached to. */
uint32_t rnic_mcast_count(const struct rnic_qp *qp);

/* ---- for rnic/ only ---- */

void mcast_detach_all(struct rnic_qp *qp);
/* A packet for QPN_MULTICAST: each attached QP sees it as its own. False: none is attached. */
bool mcast_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
	      const struct bth_packet *pkt,
	      void (*deliver)(struct rnic_qp *qp, uint64_t now, const struct rnic_rx *rx,
			      const struct bth_packet *pkt));

#endif
