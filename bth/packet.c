/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Decode and encode of BTH and extension headers. The opcode table says which headers there are
 * and how long they are together, so that one length check at the front covers all reads.
 * Extension headers stand in the order of the functions below.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "bth/wire.h"

#define QPN_MASK 0xffffffu

enum { SE = 0x80, MIGREQ = 0x40, PAD_SHIFT = 4, TVER = 0x0f };
enum { FECN = 0x80, BECN = 0x40 };
enum { ACKREQ = 0x80 };

static void bth_get(const uint8_t *p, struct bth_packet *pkt)
{
	pkt->opcode = p[0];
	pkt->se = p[1] & SE;
	pkt->migreq = p[1] & MIGREQ;
	pkt->pad = p[1] >> PAD_SHIFT & 3;
	pkt->tver = p[1] & TVER;
	pkt->pkey = wire_get16(p + 2);
	pkt->fecn = p[4] & FECN;
	pkt->becn = p[4] & BECN;
	pkt->dqpn = wire_get32(p + 4) & QPN_MASK;
	pkt->ackreq = p[8] & ACKREQ;
	pkt->psn = wire_get32(p + 8) & BTH_PSN_MASK;
}

static void bth_put(const struct bth_packet *pkt, uint8_t *p)
{
	p[0] = pkt->opcode;
	p[1] = (uint8_t)((pkt->se ? SE : 0) | (pkt->migreq ? MIGREQ : 0) |
			 (pkt->pad & 3) << PAD_SHIFT | (pkt->tver & TVER));
	wire_put16(p + 2, pkt->pkey);
	wire_put32(p + 4, pkt->dqpn & QPN_MASK);
	p[4] = (uint8_t)((pkt->fecn ? FECN : 0) | (pkt->becn ? BECN : 0));
	bth_patch_psn(p, pkt->psn, pkt->ackreq);
}

static const uint8_t *request_get(const uint8_t *p, uint32_t flags, struct bth_packet *pkt)
{
	if (flags & BTH_F_DETH) {
		pkt->qkey = wire_get32(p);
		pkt->sqpn = wire_get32(p + 4) & QPN_MASK;
		p += 8;
	}
	if (flags & BTH_F_FETH) {
		pkt->flush_type = wire_get32(p);
		p += 4;
	}
	if (flags & BTH_F_RETH) {
		pkt->va = wire_get64(p);
		pkt->rkey = wire_get32(p + 8);
		pkt->dmalen = wire_get32(p + 12);
		p += 16;
	}
	if (flags & BTH_F_ATOMIC_ETH) {
		pkt->va = wire_get64(p);
		pkt->rkey = wire_get32(p + 8);
		pkt->swap_add = wire_get64(p + 12);
		pkt->compare = wire_get64(p + 20);
		p += 28;
	}
	return p;
}

static uint8_t *request_put(const struct bth_packet *pkt, uint32_t flags, uint8_t *p)
{
	if (flags & BTH_F_DETH) {
		wire_put32(p, pkt->qkey);
		wire_put32(p + 4, pkt->sqpn & QPN_MASK);
		p += 8;
	}
	if (flags & BTH_F_FETH) {
		wire_put32(p, pkt->flush_type);
		p += 4;
	}
	if (flags & BTH_F_RETH) {
		wire_put64(p, pkt->va);
		wire_put32(p + 8, pkt->rkey);
		wire_put32(p + 12, pkt->dmalen);
		p += 16;
	}
	if (flags & BTH_F_ATOMIC_ETH) {
		wire_put64(p, pkt->va);
		wire_put32(p + 8, pkt->rkey);
		wire_put64(p + 12, pkt->swap_add);
		wire_put64(p + 20, pkt->compare);
		p += 28;
	}
	return p;
}

static const uint8_t *response_get(const uint8_t *p, uint32_t flags, struct bth_packet *pkt)
{
	if (flags & BTH_F_AETH) {
		pkt->syndrome = p[0];
		pkt->msn = wire_get32(p) & BTH_PSN_MASK;
		p += 4;
	}
	if (flags & BTH_F_ATOMIC_ACK_ETH) {
		pkt->orig = wire_get64(p);
		p += 8;
	}
	return p;
}

static uint8_t *response_put(const struct bth_packet *pkt, uint32_t flags, uint8_t *p)
{
	if (flags & BTH_F_AETH) {
		wire_put32(p, (uint32_t)pkt->syndrome << 24 | (pkt->msn & BTH_PSN_MASK));
		p += 4;
	}
	if (flags & BTH_F_ATOMIC_ACK_ETH) {
		wire_put64(p, pkt->orig);
		p += 8;
	}
	return p;
}

static const uint8_t *trailer_get(const uint8_t *p, uint32_t flags, struct bth_packet *pkt)
{
	if (flags & BTH_F_IMM) {
		pkt->imm = wire_get32(p);
		p += 4;
	}
	if (flags & BTH_F_IETH) {
		pkt->inv_rkey = wire_get32(p);
		p += 4;
	}
	if (flags & BTH_F_CNP)
		p += 16;
	return p;
}

static uint8_t *trailer_put(const struct bth_packet *pkt, uint32_t flags, uint8_t *p)
{
	if (flags & BTH_F_IMM) {
		wire_put32(p, pkt->imm);
		p += 4;
	}
	if (flags & BTH_F_IETH) {
		wire_put32(p, pkt->inv_rkey);
		p += 4;
	}
	if (flags & BTH_F_CNP) {
		memset(p, 0, 16);
		p += 16;
	}
	return p;
}

enum bth_verdict bth_decode(const uint8_t *buf, size_t len, struct bth_packet *pkt)
{
	const struct bth_opcode_info *info;
	size_t room;
	uint8_t pad;

	if (len < BTH_LEN)
		return BTH_SHORT;
	/* The version comes first: another one might number its opcodes otherwise. */
	if ((buf[1] & TVER) != 0)
		return BTH_BAD_VERSION;
	info = bth_opcode_info(buf[0]);
	if (!info->name) {
		memset(pkt, 0, sizeof(*pkt));
		bth_get(buf, pkt);
		return BTH_BAD_OPCODE;
	}
	if (len < info->headers_len)
		return BTH_SHORT;

	room = len - info->headers_len;
	pad = buf[1] >> PAD_SHIFT & 3;
	if (room & 3 || pad > room || (room > 0 && !(info->flags & BTH_F_PAYLOAD)))
		return BTH_BAD_LENGTH;
	if (room > UINT32_MAX)
		return BTH_BAD_LENGTH;

	memset(pkt, 0, sizeof(*pkt));
	bth_get(buf, pkt);
	pkt->payload = request_get(buf + BTH_LEN, info->flags, pkt);
	pkt->payload = response_get(pkt->payload, info->flags, pkt);
	pkt->payload = trailer_get(pkt->payload, info->flags, pkt);
	assert(pkt->payload == buf + info->headers_len);
	pkt->payload_len = (uint32_t)(room - pad);
	return BTH_OK;
}

size_t bth_encode_headers(const struct bth_packet *pkt, uint8_t *buf)
{
	const struct bth_opcode_info *info = bth_opcode_info(pkt->opcode);
	uint8_t *p = buf + BTH_LEN;

	assert(info->name);
	assert(pkt->pad == bth_pad(pkt->payload_len));
	bth_put(pkt, buf);
	p = request_put(pkt, info->flags, p);
	p = response_put(pkt, info->flags, p);
	p = trailer_put(pkt, info->flags, p);
	assert(p == buf + info->headers_len);
	return (size_t)(p - buf);
}

uint8_t *bth_encode_frame(struct bth_packet *pkt, uint8_t *buf)
{
	uint8_t *payload;

	pkt->pad = bth_pad(pkt->payload_len);
	payload = buf + bth_encode_headers(pkt, buf);
	memset(payload + pkt->payload_len, 0, pkt->pad);
	return payload;
}

void bth_patch_psn(uint8_t *buf, uint32_t psn, bool ackreq)
{
	wire_put32(buf + 8, psn & BTH_PSN_MASK);
	if (ackreq)
		buf[8] |= ACKREQ;
}
