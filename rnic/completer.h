/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a requester does with the answers: ACKs, NAKs, READ and atomic responses (IBA 9.7). */
#ifndef RNIC_COMPLETER_H
#define RNIC_COMPLETER_H

#include <stdint.h>

struct bth_packet;
struct rnic_qp;

/* Response packets of one batch for this QP, in the order in which they came. */
void completer_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n);

#endif
