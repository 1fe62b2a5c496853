/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets for tests of fault rules. */
#ifndef NET_MADE_H
#define NET_MADE_H

#include "net/fault.h"

struct made {
	uint8_t bytes[256];
	struct fault_packet p;
};

/* A packet of that opcode with 64 bytes of payload, if it may have any; an ACK. */
void make(struct made *m, enum fault_dir dir, uint8_t opcode, uint32_t dqpn, uint32_t psn);

#endif
