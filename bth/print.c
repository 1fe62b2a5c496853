/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One line a packet: name, BTH fields that differ from the usual, extension headers, payload. */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/print.h"

struct line {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *fmt, ...)
{
	size_t at = line->len < line->size ? line->len : line->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at < line->size ? line->buf + at : NULL, line->size - at, fmt, ap);
	va_end(ap);
	if (n > 0)
		line->len += (size_t)n;
}

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
		add(line, "NAK %s", names[code]);
	else
		add(line, "NAK reserved %u", code);
}

static void add_aeth(struct line *line, uint8_t syndrome)
{
	uint8_t value = aeth_value(syndrome);
	uint64_t us;

	switch (aeth_kind(syndrome)) {
	case AETH_ACK:
		if (value == AETH_CREDITS_INVALID)
			add(line, "ACK");
		else
			add(line, "ACK credits %u", value);
		break;
	case AETH_RNR_NAK:
		us = aeth_rnr_timer_ns(value) / 1000;
		add(line, "RNR %" PRIu64 ".%02u ms", us / 1000, (unsigned)(us % 1000 / 10));
		break;
	case AETH_NAK:
		add_nak(line, value);
		break;
	case AETH_RESERVED:
		add(line, "reserved syndrome 0x%02x", syndrome);
		break;
	}
}

static void add_bth(struct line *line, const struct bth_packet *pkt)
{
	add(line, " qp 0x%06" PRIx32 " psn 0x%06" PRIx32, pkt->dqpn, pkt->psn);
	if (pkt->pkey != 0xffff)
		add(line, " pkey 0x%04x", pkt->pkey);
	if (pkt->se)
		add(line, " se");
	if (pkt->ackreq)
		add(line, " ackreq");
	if (pkt->fecn)
		add(line, " fecn");
	if (pkt->becn)
		add(line, " becn");
}

static void add_extensions(struct line *line, uint32_t flags, const struct bth_packet *pkt)
{
	if (flags & BTH_F_DETH)
		add(line, " from qp 0x%06" PRIx32 " qkey 0x%08" PRIx32, pkt->sqpn, pkt->qkey);
	if (flags & BTH_F_FETH)
		add(line, " flush 0x%08" PRIx32, pkt->flush_type);
	if (flags & (BTH_F_RETH | BTH_F_ATOMIC_ETH))
		add(line, " va 0x%" PRIx64 " rkey 0x%08" PRIx32, pkt->va, pkt->rkey);
	if (flags & BTH_F_RETH)
		add(line, " dmalen %" PRIu32, pkt->dmalen);
	if (flags & BTH_F_ATOMIC_ETH)
		add(line, " swap/add 0x%" PRIx64 " compare 0x%" PRIx64, pkt->swap_add,
		    pkt->compare);
	if (flags & BTH_F_AETH) {
		add(line, " ");
		add_aeth(line, pkt->syndrome);
		add(line, " msn %" PRIu32, pkt->msn);
	}
	if (flags & BTH_F_ATOMIC_ACK_ETH)
		add(line, " orig 0x%" PRIx64, pkt->orig);
	if (flags & BTH_F_IMM)
		add(line, " imm 0x%08" PRIx32, pkt->imm);
	if (flags & BTH_F_IETH)
		add(line, " invalidate 0x%08" PRIx32, pkt->inv_rkey);
}

int bth_print(char *buf, size_t size, const struct bth_packet *pkt)
{
	const struct bth_opcode_info *info = bth_opcode_info(pkt->opcode);
	struct line line = {.buf = buf, .size = size};

	if (info->name)
		add(&line, "%s", info->name);
	else
		add(&line, "opcode 0x%02x", pkt->opcode);
	add_bth(&line, pkt);
	add_extensions(&line, info->flags, pkt);
	if (info->flags & BTH_F_PAYLOAD)
		add(&line, " payload %" PRIu32, pkt->payload_len);
	return (int)line.len;
}

int aeth_print(char *buf, size_t size, unsigned char syndrome)
{
	struct line line = {.buf = buf, .size = size};

	add_aeth(&line, syndrome);
	return (int)line.len;
}
