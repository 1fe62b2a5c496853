/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The receiving side of UC (IBA vol. 1, 9.8): in order or not at all, and nothing is answered. */
#ifndef RNIC_UC_H
#define RNIC_UC_H

#include <stdint.h>

struct bth_packet;
struct rnic_qp;

void uc_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n);

#endif
