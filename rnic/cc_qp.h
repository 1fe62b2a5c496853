/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control as the transport sees it; for rnic/ only. */
#ifndef RNIC_CC_QP_H
#define RNIC_CC_QP_H

#include "rnic/qp_priv.h"

struct bth_packet;
struct rnic_rx;

#define ECN_MASK 3
#define ECN_ECT0 2
#define ECN_CE 3

/* Ethernet, IPv4 and UDP: what a packet takes of the line beside itself. */
#define CC_PACKET_OVERHEAD 42

void cc_init(struct rnic_qp *qp);
/* The QP begins anew. */
void cc_reset(struct rnic_qp *qp);

/* The traffic class of the QP's packets. Bits for ECN that its owner has set stay. */
static inline uint8_t cc_traffic_class(const struct rnic_qp *qp)
{
	uint8_t class = qp->attr.av.traffic_class;

	return qp->dev->cc.mode == CC_DCQCN && !(class & ECN_MASK) ? class | ECN_ECT0 : class;
}

/* A packet for the QP that has been marked on its way. */
void cc_marked(struct rnic_qp *qp, uint64_t now);
/* A CNP, well formed. */
void cc_cnp_rx(struct rnic_device *dev, const struct rnic_rx *rx, const struct bth_packet *pkt,
	       uint64_t now);

static inline bool cc_limited(const struct rnic_qp *qp)
{
	return qp->cc.limited && qp->dev->cc.mode == CC_DCQCN;
}

/* How many of `want` packets of len bytes may leave now. 0: the QP is activated when one may. */
uint32_t cc_grant(struct rnic_qp *qp, uint32_t want, uint32_t len, uint64_t now);
/* n packets, len bytes in all, have left. */
void cc_sent(struct rnic_qp *qp, uint32_t n, uint32_t len, uint64_t now);
/* Of a limited QP: packets of len bytes after which an acknowledgement should be asked for. */
uint32_t cc_ack_interval(const struct rnic_qp *qp, uint32_t len);

#endif
