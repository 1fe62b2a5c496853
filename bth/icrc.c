/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The ICRC. A CRC is linear: what a field adds to it depends on the field and on its distance
 * from the end only. So the length and the identification are added to the CRC of a flow's
 * headers by table (icrc_base_begin), and the identification can be had back from the difference
 * of two ICRCs by moving that difference back to where the field stands (icrc_solve_id).
 */
#include "config.h"

#include <endian.h>
#include <string.h>
#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

#include "bth/crcpoly.h"
#include "bth/icrc.h"
#include "bth/wire.h"

enum { ONES_LEN = 8, IPV4_LEN = 20, IPV6_LEN = 40, UDP_LEN = 8, ICRC_LEN = 4 };
enum { PROTO_UDP = 17, IPV4_DF = 0x4000 };

/* Bytes of the pseudo header behind a 16-bit field of it. */
enum {
	AFTER_UDP_LEN = 2,
	AFTER_IPV4_ID = 14 + UDP_LEN,
	AFTER_IPV4_LEN = 16 + UDP_LEN,
	AFTER_IPV6_LEN = 34 + UDP_LEN,
};

/* What a byte of such a field adds to the state: [0] for the first byte, [1] for the second. */
static uint32_t udp_len_adds[2][256];
static uint32_t ipv4_id_adds[2][256];
static uint32_t ipv4_len_adds[2][256];
static uint32_t ipv6_len_adds[2][256];

static void adds_init(uint32_t adds[2][256], size_t after)
{
	for (unsigned v = 0; v < 256; v++) {
		adds[0][v] = crcpoly_word((uint16_t)(v << 8), after);
		adds[1][v] = crcpoly_word((uint16_t)v, after);
	}
}

__attribute__((constructor)) static void tables_init(void)
{
	adds_init(udp_len_adds, AFTER_UDP_LEN);
	adds_init(ipv4_id_adds, AFTER_IPV4_ID);
	adds_init(ipv4_len_adds, AFTER_IPV4_LEN);
	adds_init(ipv6_len_adds, AFTER_IPV6_LEN);
}

static uint32_t adds(uint32_t table[2][256], size_t v)
{
	return table[0][v >> 8 & 0xff] ^ table[1][v & 0xff];
}

uint32_t icrc_crc32(uint32_t crc, const void *buf, size_t len)
{
#ifdef HAVE_ISAL
	return crc32_gzip_refl(crc, buf, len);
#else
	return (uint32_t)crc32_z(crc, buf, len);
#endif
}

static size_t ipv4_put(const struct icrc_flow *flow, uint8_t *p)
{
	p[0] = 0x45;
	p[1] = 0xff; /* ToS */
	wire_put16(p + 2, 0);
	wire_put16(p + 4, 0);
	wire_put16(p + 6, IPV4_DF);
	p[8] = 0xff; /* TTL */
	p[9] = PROTO_UDP;
	wire_put16(p + 10, 0xffff); /* checksum */
	memcpy(p + 12, flow->src, 4);
	memcpy(p + 16, flow->dst, 4);
	return IPV4_LEN;
}

static size_t ipv6_put(const struct icrc_flow *flow, uint8_t *p)
{
	wire_put32(p, 0x6fffffff); /* version 6; traffic class and flow label */
	wire_put16(p + 4, 0);
	p[6] = PROTO_UDP;
	p[7] = 0xff; /* hop limit */
	memcpy(p + 8, flow->src, 16);
	memcpy(p + 24, flow->dst, 16);
	return IPV6_LEN;
}

struct icrc_base icrc_flow_base(const struct icrc_flow *flow)
{
	uint8_t buf[ONES_LEN + IPV6_LEN + UDP_LEN];
	size_t n = ONES_LEN;

	memset(buf, 0xff, ONES_LEN);
	n += flow->ipv6 ? ipv6_put(flow, buf + n) : ipv4_put(flow, buf + n);
	wire_put16(buf + n, flow->sport);
	wire_put16(buf + n + 2, flow->dport);
	wire_put16(buf + n + 4, 0);
	wire_put16(buf + n + 6, 0xffff); /* checksum */
	return (struct icrc_base){
		.state = icrc_crc32(0, buf, n + UDP_LEN),
		.ipv6 = flow->ipv6,
	};
}

uint32_t icrc_base_begin(const struct icrc_base *base, size_t len, uint16_t ip_id)
{
	uint32_t state = base->state ^ adds(udp_len_adds, len + UDP_LEN);

	if (base->ipv6)
		return state ^ adds(ipv6_len_adds, len + UDP_LEN);
	return state ^ adds(ipv4_len_adds, len + UDP_LEN + IPV4_LEN) ^ adds(ipv4_id_adds, ip_id);
}

uint32_t icrc_begin(const struct icrc_flow *flow, size_t len, uint16_t ip_id)
{
	struct icrc_base base = icrc_flow_base(flow);

	return icrc_base_begin(&base, len, ip_id);
}

uint32_t icrc_finish(uint32_t state, const uint8_t *bth, size_t len)
{
	uint8_t head[16];
	size_t n = len < sizeof(head) ? len : sizeof(head);

	memcpy(head, bth, n);
	head[4] = 0xff; /* FECN, BECN and reserved bits */
	state = icrc_crc32(state, head, n);
	return icrc_crc32(state, bth + n, len - n);
}

void icrc_store(uint8_t *p, uint32_t icrc)
{
	icrc = htole32(icrc);
	memcpy(p, &icrc, sizeof(icrc));
}

uint32_t icrc_load(const uint8_t *p)
{
	uint32_t icrc;

	memcpy(&icrc, p, sizeof(icrc));
	return le32toh(icrc);
}

/* len of icrc_begin to the bytes that follow the identification. */
static size_t after_id(size_t len)
{
	return len < ICRC_LEN ? AFTER_IPV4_ID : AFTER_IPV4_ID + len - ICRC_LEN;
}

int32_t icrc_solve_id(uint32_t computed, uint32_t received, size_t len)
{
	uint32_t difference = computed ^ received;
	uint32_t poly;

	if (difference == 0)
		return 0;
	poly = crcpoly_mul(difference, crcpoly_unshift(after_id(len) + 4));
	if (poly & 0xffff) /* more than the 16 bits of the field would have to differ */
		return -1;
	return (int32_t)((poly >> 24) | (poly >> 8 & 0xff00));
}

uint32_t icrc_with_id(uint32_t computed, uint16_t ip_id, size_t len)
{
	return computed ^ crcpoly_word(ip_id, after_id(len));
}
