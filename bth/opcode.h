/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* BTH opcodes and what each one carries (IBA vol. 1, 9.2; CNP: annex A17). */
#ifndef BTH_OPCODE_H
#define BTH_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Transport: bits 7-5 of the opcode. */
enum bth_transport {
	BTH_RC = 0,
	BTH_UC = 1,
	BTH_RD = 2,
	BTH_UD = 3,
	BTH_CNP = 4,
	BTH_XRC = 5,
};

/* Operation: bits 4-0. FLUSH and ATOMIC_WRITE are of IBA release 1.5. */
enum bth_op {
	BTH_SEND_FIRST = 0x00,
	BTH_SEND_MIDDLE = 0x01,
	BTH_SEND_LAST = 0x02,
	BTH_SEND_LAST_IMM = 0x03,
	BTH_SEND_ONLY = 0x04,
	BTH_SEND_ONLY_IMM = 0x05,
	BTH_WRITE_FIRST = 0x06,
	BTH_WRITE_MIDDLE = 0x07,
	BTH_WRITE_LAST = 0x08,
	BTH_WRITE_LAST_IMM = 0x09,
	BTH_WRITE_ONLY = 0x0a,
	BTH_WRITE_ONLY_IMM = 0x0b,
	BTH_READ_REQUEST = 0x0c,
	BTH_READ_RESPONSE_FIRST = 0x0d,
	BTH_READ_RESPONSE_MIDDLE = 0x0e,
	BTH_READ_RESPONSE_LAST = 0x0f,
	BTH_READ_RESPONSE_ONLY = 0x10,
	BTH_ACKNOWLEDGE = 0x11,
	BTH_ATOMIC_ACKNOWLEDGE = 0x12,
	BTH_CMP_SWAP = 0x13,
	BTH_FETCH_ADD = 0x14,
	BTH_SEND_LAST_INV = 0x16,
	BTH_SEND_ONLY_INV = 0x17,
	BTH_FLUSH = 0x1c,
	BTH_ATOMIC_WRITE = 0x1d,
};

#define BTH_OPCODE_CNP 0x81
#define BTH_OPCODE(transport, op) ((uint8_t)((transport) << 5 | (op)))

static inline enum bth_transport bth_opcode_transport(uint8_t opcode)
{
	return (enum bth_transport)(opcode >> 5);
}

static inline enum bth_op bth_opcode_op(uint8_t opcode)
{
	return (enum bth_op)(opcode & 0x1f);
}

enum bth_opcode_flags {
	BTH_F_REQUEST = 1 << 0,	 /* goes to the responder */
	BTH_F_RESPONSE = 1 << 1, /* goes to the requester */
	BTH_F_FIRST = 1 << 2,	 /* begins a message; ONLY has FIRST and LAST */
	BTH_F_MIDDLE = 1 << 3,
	BTH_F_LAST = 1 << 4,
	BTH_F_SEND = 1 << 5,
	BTH_F_WRITE = 1 << 6,
	BTH_F_READ = 1 << 7, /* request or response */
	BTH_F_ATOMIC = 1 << 8,
	BTH_F_ACK = 1 << 9,
	BTH_F_PAYLOAD = 1 << 10, /* may carry payload */
	BTH_F_DETH = 1 << 11,
	BTH_F_RETH = 1 << 12,
	BTH_F_AETH = 1 << 13,
	BTH_F_ATOMIC_ETH = 1 << 14,
	BTH_F_ATOMIC_ACK_ETH = 1 << 15,
	BTH_F_IMM = 1 << 16,
	BTH_F_IETH = 1 << 17,
	BTH_F_FETH = 1 << 18,
	BTH_F_CNP = 1 << 19, /* neither request nor response; 16 reserved bytes follow the BTH */
};

struct bth_opcode_info {
	const char *name;    /* "RC SEND First"; NULL: no such opcode */
	uint32_t flags;	     /* enum bth_opcode_flags */
	uint8_t headers_len; /* BTH and all extension headers, bytes */
};

/* Never NULL; for an opcode that does not exist the entry's name is NULL and flags are 0. */
const struct bth_opcode_info *bth_opcode_info(uint8_t opcode);

#endif
