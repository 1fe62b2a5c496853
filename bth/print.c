/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One line a packet: name, BTH fields that differ from the usual, extension headers, payload. */
#include "config.h"

#include <inttypes.h>

#include "bth/aeth.h"
#include "bth/line.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/print.h"

static void add_nak(struct line *line, uint8_t code)
{
	static const char *const names[] = {
		[AETH_NAK_PSN_SEQUENCE] = "PSN sequence error",
		[AETH_NAK_INVALID_REQUEST] = "invalid request",
		[AETH_NAK_REMOTE_ACCESS] = "remote access error",
		[AETH_NAK_REMOTE_OPERATIONAL] = "remote operational error",
		[AETH_NAK_INVALID_RD_REQUEST] = "invalid RD request",
	};

	if (code < sizeof(names) / sizeof(names[0]))
		line_add(line, "NAK %s", names[code]);
	else
		line_add(line, "NAK reserved %u", code);
}

static void add_aeth(struct line *line, uint8_t syndrome)
{
	uint8_t value = aeth_value(syndrome);
	uint64_t us;

	switch (aeth_kind(syndrome)) {
	case AETH_ACK:
		if (value == AETH_CREDITS_INVALID)
			line_add(line, "ACK");
		else
			line_add(line, "ACK credits %u", value);
		break;
	case AETH_RNR_NAK:
		us = aeth_rnr_timer_ns(value) / 1000;
		line_add(line, "RNR %" PRIu64 ".%02u ms", us / 1000, (unsigned)(us % 1000 / 10));
		break;
	case AETH_NAK:
		add_nak(line, value);
		break;
	case AETH_RESERVED:
		line_add(line, "reserved syndrome 0x%02x", syndrome);
		break;
	}
}

static void add_bth(struct line *line, const struct bth_packet *pkt)
{
	line_add(line, " qp 0x%06" PRIx32 " psn 0x%06" PRIx32, pkt->dqpn, pkt->psn);
	if (pkt->pkey != 0xffff)
		line_add(line, " pkey 0x%04x", pkt->pkey);
	if (pkt->se)
		line_add(line, " se");
	if (pkt->ackreq)
		line_add(line, " ackreq");
	if (pkt->fecn)
		line_add(line, " fecn");
	if (pkt->becn)
		line_add(line, " becn");
}

static void add_extensions(struct line *line, uint32_t flags, const struct bth_packet *pkt)
{
	if (flags & BTH_F_DETH)
		line_add(line, " from qp 0x%06" PRIx32 " qkey 0x%08" PRIx32, pkt->sqpn, pkt->qkey);
	if (flags & BTH_F_FETH)
		line_add(line, " flush 0x%08" PRIx32, pkt->flush_type);
	if (flags & (BTH_F_RETH | BTH_F_ATOMIC_ETH))
		line_add(line, " va 0x%" PRIx64 " rkey 0x%08" PRIx32, pkt->va, pkt->rkey);
	if (flags & BTH_F_RETH)
		line_add(line, " dmalen %" PRIu32, pkt->dmalen);
	if (flags & BTH_F_ATOMIC_ETH)
		line_add(line, " swap/add 0x%" PRIx64 " compare 0x%" PRIx64, pkt->swap_add,
			 pkt->compare);
	if (flags & BTH_F_AETH) {
		line_add(line, " ");
		add_aeth(line, pkt->syndrome);
		line_add(line, " msn %" PRIu32, pkt->msn);
	}
	if (flags & BTH_F_ATOMIC_ACK_ETH)
		line_add(line, " orig 0x%" PRIx64, pkt->orig);
	if (flags & BTH_F_IMM)
		line_add(line, " imm 0x%08" PRIx32, pkt->imm);
	if (flags & BTH_F_IETH)
		line_add(line, " invalidate 0x%08" PRIx32, pkt->inv_rkey);
}

int bth_print(char *buf, size_t size, const struct bth_packet *pkt)
{
	const struct bth_opcode_info *info = bth_opcode_info(pkt->opcode);
	struct line line = {.buf = buf, .size = size};

	if (info->name)
		line_add(&line, "%s", info->name);
	else
		line_add(&line, "opcode 0x%02x", pkt->opcode);
	add_bth(&line, pkt);
	add_extensions(&line, info->flags, pkt);
	if (info->flags & BTH_F_PAYLOAD)
		line_add(&line, " payload %" PRIu32, pkt->payload_len);
	return (int)line.len;
}

int aeth_print(char *buf, size_t size, unsigned char syndrome)
{
	struct line line = {.buf = buf, .size = size};

	add_aeth(&line, syndrome);
	return (int)line.len;
}
