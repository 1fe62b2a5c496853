/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fields of a packet by their names, for rules that damage them. */
#include "config.h"

#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "net/fault_priv.h"

enum field_place {
	IN_BTH,
	IN_HEADER, /* that flag names */
	IN_PAYLOAD,
	IN_ICRC,
};

struct fault_field {
	const char *name;
	enum field_place place;
	uint32_t flags; /* IN_HEADER: of enum bth_opcode_flags; any of them has it */
	uint8_t at, bytes;
	uint64_t mask; /* of these bytes as a big-endian number */
};

#define BYTES(n) (UINT64_MAX >> (64 - 8 * (n)))
#define BTH_FIELD(n, a, b, m)                                                                      \
	{                                                                                          \
		.name = n, .place = IN_BTH, .at = a, .bytes = b, .mask = m                         \
	}
#define EXT_FIELD(n, f, a, b, m)                                                                   \
	{                                                                                          \
		.name = n, .place = IN_HEADER, .flags = f, .at = a, .bytes = b, .mask = m          \
	}

static const struct fault_field fields[] = {
	BTH_FIELD("opcode", 0, 1, 0xff),
	BTH_FIELD("se", 1, 1, 0x80),
	BTH_FIELD("migreq", 1, 1, 0x40),
	BTH_FIELD("pad", 1, 1, 0x30),
	BTH_FIELD("tver", 1, 1, 0x0f),
	BTH_FIELD("pkey", 2, 2, BYTES(2)),
	BTH_FIELD("fecn", 4, 1, 0x80),
	BTH_FIELD("becn", 4, 1, 0x40),
	BTH_FIELD("dqpn", 5, 3, BYTES(3)),
	BTH_FIELD("ackreq", 8, 1, 0x80),
	BTH_FIELD("psn", 9, 3, BYTES(3)),
	EXT_FIELD("qkey", BTH_F_DETH, 0, 4, BYTES(4)),
	EXT_FIELD("sqpn", BTH_F_DETH, 5, 3, BYTES(3)),
	EXT_FIELD("va", BTH_F_RETH | BTH_F_ATOMIC_ETH, 0, 8, BYTES(8)),
	EXT_FIELD("rkey", BTH_F_RETH | BTH_F_ATOMIC_ETH, 8, 4, BYTES(4)),
	EXT_FIELD("dmalen", BTH_F_RETH, 12, 4, BYTES(4)),
	EXT_FIELD("swap", BTH_F_ATOMIC_ETH, 12, 8, BYTES(8)),
	EXT_FIELD("compare", BTH_F_ATOMIC_ETH, 20, 8, BYTES(8)),
	EXT_FIELD("syndrome", BTH_F_AETH, 0, 1, 0xff),
	EXT_FIELD("msn", BTH_F_AETH, 1, 3, BYTES(3)),
	EXT_FIELD("orig", BTH_F_ATOMIC_ACK_ETH, 0, 8, BYTES(8)),
	EXT_FIELD("imm", BTH_F_IMM, 0, 4, BYTES(4)),
	EXT_FIELD("inv-rkey", BTH_F_IETH, 0, 4, BYTES(4)),
	{.name = "payload", .place = IN_PAYLOAD, .bytes = 1, .mask = 0xff},
	{.name = "icrc", .place = IN_ICRC, .bytes = 4, .mask = BYTES(4)},
};

const struct fault_field *fault_field_find(const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

bool fault_field_takes(const struct fault_field *f, uint64_t value)
{
	uint64_t mask = f->mask;

	while (!(mask & 1))
		mask >>= 1;
	return f->place != IN_PAYLOAD && value <= mask;
}

bool fault_field_is_icrc(const struct fault_field *f)
{
	return f->place == IN_ICRC;
}

static bool opcode_has(const struct fault_field *f, uint8_t opcode)
{
	uint32_t flags = bth_opcode_info(opcode)->flags;

	if (f->place == IN_PAYLOAD)
		return flags & BTH_F_PAYLOAD;
	return f->place != IN_HEADER || (flags & f->flags);
}

bool fault_field_limit(const struct fault_field *f, uint8_t opcodes[256 / 8])
{
	bool left = false;

	for (unsigned i = 0; i < 256; i++) {
		uint8_t bit = (uint8_t)(1 << i % 8);

		if (!opcode_has(f, (uint8_t)i))
			opcodes[i / 8] &= (uint8_t)~bit;
		left |= opcodes[i / 8] & bit;
	}
	return left;
}

/* Where the header begins; extension headers stand in this order (bth/packet.c). */
static uint32_t header_at(uint32_t flags, uint32_t wanted)
{
	static const struct {
		uint32_t flag, len;
	} order[] = {
		{BTH_F_DETH, 8},	{BTH_F_FETH, 4}, {BTH_F_RETH, 16},
		{BTH_F_ATOMIC_ETH, 28}, {BTH_F_AETH, 4}, {BTH_F_ATOMIC_ACK_ETH, 8},
		{BTH_F_IMM, 4},		{BTH_F_IETH, 4},
	};
	uint32_t at = BTH_LEN;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (order[i].flag & wanted & flags)
			break;
		if (order[i].flag & flags)
			at += order[i].len;
	}
	return at;
}

static uint32_t field_at(const struct fault_field *f, const struct fault_packet *p)
{
	const struct bth_opcode_info *info = bth_opcode_info(p->bth[0]);

	switch (f->place) {
	case IN_BTH:
		return f->at;
	case IN_HEADER:
		return header_at(info->flags, f->flags) + f->at;
	case IN_PAYLOAD:
		return info->headers_len;
	case IN_ICRC:
		return p->len;
	}
	return 0;
}

bool fault_field_there(const struct fault_field *f, const struct fault_packet *p)
{
	return f->place == IN_ICRC || field_at(f, p) + f->bytes <= p->len;
}

uint32_t fault_field_bits(const struct fault_field *f, const struct fault_packet *p,
			  uint64_t random, uint32_t *bytes, uint64_t *mask)
{
	uint32_t at = field_at(f, p);

	*bytes = f->bytes;
	*mask = f->mask;
	if (f->place == IN_PAYLOAD)
		at += (uint32_t)(random % (p->len - at));
	return at;
}
