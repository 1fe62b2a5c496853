/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The invariant CRC of RoCEv2 (IBA vol. 1, annex A17) and what a UDP socket cannot see of it. */
#ifndef BTH_ICRC_H
#define BTH_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The invariant fields of the IP and UDP headers of a datagram. */
struct icrc_flow {
	bool ipv6;
	uint8_t src[16]; /* network order; IPv4 in the first 4 bytes */
	uint8_t dst[16];
	uint16_t sport; /* host order */
	uint16_t dport;
};

/*
 * CRC state over the pseudo header (8 bytes of ones, IP and UDP header with variant fields as
 * ones). len: UDP payload in bytes with the ICRC. ip_id: IPv4 identification; DF is taken as set.
 */
uint32_t icrc_begin(const struct icrc_flow *flow, size_t len, uint16_t ip_id);

/* What icrc_begin needs of a flow, for those that begin many packets of one flow. */
struct icrc_base {
	uint32_t state;
	bool ipv6;
};

struct icrc_base icrc_flow_base(const struct icrc_flow *flow);
/* The same as icrc_begin, cheaper. */
uint32_t icrc_base_begin(const struct icrc_base *base, size_t len, uint16_t ip_id);

/* Continue over the packet, BTH first (its byte 4 is taken as ones), without ICRC; returns the
 * ICRC as a host-order number to be stored little-endian. */
uint32_t icrc_finish(uint32_t state, const uint8_t *bth, size_t len);

/* Store and load the 4 bytes as they stand on the wire. */
void icrc_store(uint8_t *p, uint32_t icrc);
uint32_t icrc_load(const uint8_t *p);

/*
 * IPv4: which identification explains a received ICRC? computed: the ICRC with ip_id 0; received:
 * the packet's. len as in icrc_begin. Returns 0..65535, or -1 if none does. At most one does; for
 * an ICRC that is random, one in 65536 has one.
 */
int32_t icrc_solve_id(uint32_t computed, uint32_t received, size_t len);

/* What the ICRC computed for ip_id 0 becomes with another identification. */
uint32_t icrc_with_id(uint32_t computed, uint16_t ip_id, size_t len);

/* CRC-32 as Ethernet's, on from crc (0 to begin): ISA-L's or zlib's. */
uint32_t icrc_crc32(uint32_t crc, const void *buf, size_t len);

#endif
