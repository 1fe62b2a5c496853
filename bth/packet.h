/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transport packet in host order: BTH, extension headers, payload (IBA vol. 1, 9.2). */
#ifndef BTH_PACKET_H
#define BTH_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BTH_LEN 12
#define BTH_ICRC_LEN 4
#define BTH_HEADERS_MAX 48 /* the longest known is 40: BTH and AtomicETH */
#define BTH_UDP_PORT 4791

struct bth_packet {
	/* BTH */
	uint8_t opcode;
	bool se;      /* solicited event */
	bool migreq;  /* 1 in the Migrated state, the state of a QP that never migrates */
	uint8_t pad;  /* 0..3 bytes after the payload */
	uint8_t tver; /* 0 */
	uint16_t pkey;
	bool fecn;
	bool becn;
	uint32_t dqpn; /* 24 bits */
	bool ackreq;
	uint32_t psn; /* 24 bits */

	/* Extension headers; only those the opcode has are meaningful, the others are 0. */
	uint32_t qkey, sqpn;	    /* DETH */
	uint64_t va;		    /* RETH, AtomicETH */
	uint32_t rkey, dmalen;	    /* RETH; rkey also AtomicETH */
	uint64_t swap_add, compare; /* AtomicETH */
	uint8_t syndrome;	    /* AETH */
	uint32_t msn;		    /* AETH, 24 bits */
	uint64_t orig;		    /* AtomicAckETH */
	uint32_t imm;		    /* ImmDt, host order */
	uint32_t inv_rkey;	    /* IETH */
	uint32_t flush_type;	    /* FETH, the whole word */

	/* Payload without pad; points into the decoded buffer. On encoding only its length counts.
	 */
	const uint8_t *payload;
	uint32_t payload_len;
};

enum bth_verdict {
	BTH_OK = 0,
	BTH_SHORT,	/* shorter than its headers, pad and ICRC say */
	BTH_BAD_OPCODE, /* unknown or reserved */
	BTH_BAD_VERSION,
	BTH_BAD_LENGTH, /* payload where the opcode has none, pad over the payload, not a multiple
			   of 4 */
};

/*
 * Decode one UDP payload, BTH to the last byte before the ICRC (len does not count the ICRC).
 * On BTH_OK every field of *pkt is set, on BTH_BAD_OPCODE the BTH and nothing else. It checks form
 * only, not whether the packet makes sense.
 */
enum bth_verdict bth_decode(const uint8_t *buf, size_t len, struct bth_packet *pkt);

/*
 * Write BTH and extension headers of *pkt at buf, which has room for BTH_HEADERS_MAX; the payload
 * and the pad are the caller's. pkt->pad must fit pkt->payload_len. Returns the length written.
 */
size_t bth_encode_headers(const struct bth_packet *pkt, uint8_t *buf);

/*
 * The headers, with pkt->pad set as pkt->payload_len wants it, and the pad, zeroed; where the
 * payload between them is to go.
 */
uint8_t *bth_encode_frame(struct bth_packet *pkt, uint8_t *buf);

/* Length of the pad for a payload: (-len) & 3. */
static inline uint8_t bth_pad(uint32_t payload_len)
{
	return (uint8_t)(-payload_len & 3);
}

/* Set psn and ackreq of an already encoded header in place. */
void bth_patch_psn(uint8_t *buf, uint32_t psn, bool ackreq);

#endif
