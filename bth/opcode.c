/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The opcode table: what each BTH opcode is and which extension headers follow. */
#include "config.h"

#include "bth/opcode.h"
#include "bth/packet.h"

#define ONLY (BTH_F_FIRST | BTH_F_LAST)
#define REQ BTH_F_REQUEST
#define RSP BTH_F_RESPONSE
#define SEND (BTH_F_SEND | BTH_F_REQUEST | BTH_F_PAYLOAD)
#define WRITE (BTH_F_WRITE | BTH_F_REQUEST | BTH_F_PAYLOAD)
#define READ_RSP (BTH_F_READ | BTH_F_RESPONSE | BTH_F_PAYLOAD)

/* Bytes that the extension headers named in flags take; a constant expression. */
#define EXT_LEN(f)                                                                                 \
	(((f)&BTH_F_DETH ? 8 : 0) + ((f)&BTH_F_RETH ? 16 : 0) + ((f)&BTH_F_AETH ? 4 : 0) +         \
	 ((f)&BTH_F_ATOMIC_ETH ? 28 : 0) + ((f)&BTH_F_ATOMIC_ACK_ETH ? 8 : 0) +                    \
	 ((f)&BTH_F_IMM ? 4 : 0) + ((f)&BTH_F_IETH ? 4 : 0) + ((f)&BTH_F_FETH ? 4 : 0) +           \
	 ((f)&BTH_F_CNP ? 16 : 0))

#define ENTRY(t, o, n, f)                                                                          \
	[(t) << 5 | (o)] = {.name = (n), .flags = (f), .headers_len = BTH_LEN + EXT_LEN(f)}
#define RC(o, n, f) ENTRY(BTH_RC, o, "RC " n, f)
#define UC(o, n, f) ENTRY(BTH_UC, o, "UC " n, f)
#define UD(o, n, f) ENTRY(BTH_UD, o, "UD " n, (f) | BTH_F_DETH)

static const struct bth_opcode_info opcodes[256] = {
	RC(BTH_SEND_FIRST, "SEND First", SEND | BTH_F_FIRST),
	RC(BTH_SEND_MIDDLE, "SEND Middle", SEND | BTH_F_MIDDLE),
	RC(BTH_SEND_LAST, "SEND Last", SEND | BTH_F_LAST),
	RC(BTH_SEND_LAST_IMM, "SEND Last with Immediate", SEND | BTH_F_LAST | BTH_F_IMM),
	RC(BTH_SEND_ONLY, "SEND Only", SEND | ONLY),
	RC(BTH_SEND_ONLY_IMM, "SEND Only with Immediate", SEND | ONLY | BTH_F_IMM),
	RC(BTH_WRITE_FIRST, "WRITE First", WRITE | BTH_F_FIRST | BTH_F_RETH),
	RC(BTH_WRITE_MIDDLE, "WRITE Middle", WRITE | BTH_F_MIDDLE),
	RC(BTH_WRITE_LAST, "WRITE Last", WRITE | BTH_F_LAST),
	RC(BTH_WRITE_LAST_IMM, "WRITE Last with Immediate", WRITE | BTH_F_LAST | BTH_F_IMM),
	RC(BTH_WRITE_ONLY, "WRITE Only", WRITE | ONLY | BTH_F_RETH),
	RC(BTH_WRITE_ONLY_IMM, "WRITE Only with Immediate", WRITE | ONLY | BTH_F_RETH | BTH_F_IMM),
	RC(BTH_READ_REQUEST, "READ Request", REQ | BTH_F_READ | ONLY | BTH_F_RETH),
	RC(BTH_READ_RESPONSE_FIRST, "READ Response First", READ_RSP | BTH_F_FIRST | BTH_F_AETH),
	RC(BTH_READ_RESPONSE_MIDDLE, "READ Response Middle", READ_RSP | BTH_F_MIDDLE),
	RC(BTH_READ_RESPONSE_LAST, "READ Response Last", READ_RSP | BTH_F_LAST | BTH_F_AETH),
	RC(BTH_READ_RESPONSE_ONLY, "READ Response Only", READ_RSP | ONLY | BTH_F_AETH),
	RC(BTH_ACKNOWLEDGE, "Acknowledge", RSP | BTH_F_ACK | ONLY | BTH_F_AETH),
	RC(BTH_ATOMIC_ACKNOWLEDGE, "ATOMIC Acknowledge",
	   RSP | BTH_F_ATOMIC | ONLY | BTH_F_AETH | BTH_F_ATOMIC_ACK_ETH),
	RC(BTH_CMP_SWAP, "CmpSwap", REQ | BTH_F_ATOMIC | ONLY | BTH_F_ATOMIC_ETH),
	RC(BTH_FETCH_ADD, "FetchAdd", REQ | BTH_F_ATOMIC | ONLY | BTH_F_ATOMIC_ETH),
	RC(BTH_SEND_LAST_INV, "SEND Last with Invalidate", SEND | BTH_F_LAST | BTH_F_IETH),
	RC(BTH_SEND_ONLY_INV, "SEND Only with Invalidate", SEND | ONLY | BTH_F_IETH),
	RC(BTH_FLUSH, "FLUSH", REQ | ONLY | BTH_F_FETH | BTH_F_RETH),
	RC(BTH_ATOMIC_WRITE, "ATOMIC WRITE", REQ | ONLY | BTH_F_RETH | BTH_F_PAYLOAD),

	UC(BTH_SEND_FIRST, "SEND First", SEND | BTH_F_FIRST),
	UC(BTH_SEND_MIDDLE, "SEND Middle", SEND | BTH_F_MIDDLE),
	UC(BTH_SEND_LAST, "SEND Last", SEND | BTH_F_LAST),
	UC(BTH_SEND_LAST_IMM, "SEND Last with Immediate", SEND | BTH_F_LAST | BTH_F_IMM),
	UC(BTH_SEND_ONLY, "SEND Only", SEND | ONLY),
	UC(BTH_SEND_ONLY_IMM, "SEND Only with Immediate", SEND | ONLY | BTH_F_IMM),
	UC(BTH_WRITE_FIRST, "WRITE First", WRITE | BTH_F_FIRST | BTH_F_RETH),
	UC(BTH_WRITE_MIDDLE, "WRITE Middle", WRITE | BTH_F_MIDDLE),
	UC(BTH_WRITE_LAST, "WRITE Last", WRITE | BTH_F_LAST),
	UC(BTH_WRITE_LAST_IMM, "WRITE Last with Immediate", WRITE | BTH_F_LAST | BTH_F_IMM),
	UC(BTH_WRITE_ONLY, "WRITE Only", WRITE | ONLY | BTH_F_RETH),
	UC(BTH_WRITE_ONLY_IMM, "WRITE Only with Immediate", WRITE | ONLY | BTH_F_RETH | BTH_F_IMM),

	UD(BTH_SEND_ONLY, "SEND Only", SEND | ONLY),
	UD(BTH_SEND_ONLY_IMM, "SEND Only with Immediate", SEND | ONLY | BTH_F_IMM),

	[BTH_OPCODE_CNP] = {.name = "CNP",
			    .flags = BTH_F_CNP,
			    .headers_len = BTH_LEN + EXT_LEN(BTH_F_CNP)},
};

const struct bth_opcode_info *bth_opcode_info(uint8_t opcode)
{
	return &opcodes[opcode];
}
