/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* UD (IBA vol. 1, 9.8): a message is a packet, and carries its sender's address. */
#ifndef RNIC_UD_H
#define RNIC_UD_H

#include <stdbool.h>
#include <stdint.h>

struct bth_packet;
struct rnic_qp;
struct rnic_rx;

/* Send the next request; true if there may be more. */
bool ud_send(struct rnic_qp *qp, uint64_t now);
void ud_rx(struct rnic_qp *qp, uint64_t now, const struct rnic_rx *rx,
	   const struct bth_packet *pkt);

#endif
