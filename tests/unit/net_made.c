/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets for tests of fault rules. */
#include "config.h"

#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "net_made.h"

void make(struct made *m, enum fault_dir dir, uint8_t opcode, uint32_t dqpn, uint32_t psn)
{
	struct bth_packet pkt = {
		.opcode = opcode,
		.pkey = 0xffff,
		.dqpn = dqpn,
		.psn = psn,
		.rkey = 0x1234,
		.syndrome = aeth_syndrome(AETH_ACK, AETH_CREDITS_INVALID),
		.payload_len = bth_opcode_info(opcode)->flags & BTH_F_PAYLOAD ? 64 : 0,
	};
	size_t len;

	memset(m, 0, sizeof(*m));
	len = bth_encode_headers(&pkt, m->bytes) + pkt.payload_len;
	m->p = (struct fault_packet){
		.dir = dir, .qpn = 0x77, .bth = m->bytes, .len = (uint32_t)len};
}
