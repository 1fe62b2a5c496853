/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The IP and UDP headers of a datagram. A UDP socket shows neither, so they are made anew: what
 * the socket was told or tells, DF as on every socket of ours, and checksums as the kernel's.
 * Linux's own pseudo link header tells interface and direction in classic pcap files, too; and
 * libpcap 1.10 reads no pcapng file with several interfaces of bare IP (LINKTYPE_RAW).
 */
#include "config.h"

#include <string.h>

#include "net/capframe.h"
#include "net/sockaddr.h"

enum { SLL2_HOST = 0, SLL2_MULTICAST = 2, SLL2_OUTGOING = 4, ARPHRD_NO_LINK = 0xfffe };
enum { V4_LEN = 20, V6_LEN = 40, UDP_LEN = 8, PROTO_UDP = 17, DF = 0x4000 };

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* A sum of big-endian 16-bit words, not folded. */
static uint64_t sum_add(uint64_t sum, const uint8_t *p, uint32_t len)
{
	for (; len > 1; p += 2, len -= 2)
		sum += (uint32_t)p[0] << 8 | p[1];
	return len ? sum + ((uint32_t)p[0] << 8) : sum;
}

static uint16_t sum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put_v4(const struct capframe *f, uint8_t *p)
{
	p[0] = 0x45;
	p[1] = f->tos;
	put16(p + 2, V4_LEN + UDP_LEN + f->len);
	put16(p + 4, f->ip_id);
	put16(p + 6, DF);
	p[8] = f->ttl;
	p[9] = PROTO_UDP;
	memcpy(p + 12, f->src + 12, 4);
	memcpy(p + 16, f->dst + 12, 4);
	put16(p + 10, sum_fold(sum_add(0, p, V4_LEN)));
}

static void put_v6(const struct capframe *f, uint8_t *p)
{
	p[0] = (uint8_t)(0x60 | f->tos >> 4);
	p[1] = (uint8_t)(f->tos << 4 | (f->flow_label >> 16 & 0xf));
	put16(p + 2, f->flow_label & 0xffff);
	put16(p + 4, UDP_LEN + f->len);
	p[6] = PROTO_UDP;
	p[7] = f->ttl;
	memcpy(p + 8, f->src, 16);
	memcpy(p + 24, f->dst, 16);
}

static void put_udp(const struct capframe *f, bool v4, uint8_t *p)
{
	uint32_t at = v4 ? 12 : 0;
	uint64_t sum = PROTO_UDP + UDP_LEN + f->len;
	uint16_t check;

	put16(p, f->sport);
	put16(p + 2, f->dport);
	put16(p + 4, UDP_LEN + f->len);
	sum = sum_add(sum, f->src + at, 16 - at);
	sum = sum_add(sum, f->dst + at, 16 - at);
	sum = sum_add(sum, p, UDP_LEN);
	check = sum_fold(sum_add(sum, f->data, f->len));
	put16(p + 6, check ? check : 0xffff); /* 0 would mean that there is none */
}

bool capframe_is_multicast(const struct capframe *f)
{
	return net_addr_is_v4(f->dst) ? f->dst[12] >> 4 == 0xe : f->dst[0] == 0xff;
}

/* Protocol, 2 reserved bytes, interface, ARPHRD, type of packet, length of address, address. */
static void put_link(const struct capframe *f, bool v4, uint8_t *p)
{
	put16(p, v4 ? 0x0800 : 0x86dd);
	put16(p + 4, f->ifindex >> 16);
	put16(p + 6, f->ifindex & 0xffff);
	put16(p + 8, ARPHRD_NO_LINK);
	p[10] = f->out ? SLL2_OUTGOING : capframe_is_multicast(f) ? SLL2_MULTICAST : SLL2_HOST;
}

uint32_t capframe_head(const struct capframe *f, uint8_t head[CAPFRAME_HEAD_MAX])
{
	bool v4 = net_addr_is_v4(f->dst);
	uint32_t len = CAPFRAME_LINK_LEN + (v4 ? V4_LEN : V6_LEN);

	memset(head, 0, CAPFRAME_HEAD_MAX);
	put_link(f, v4, head);
	if (v4)
		put_v4(f, head + CAPFRAME_LINK_LEN);
	else
		put_v6(f, head + CAPFRAME_LINK_LEN);
	put_udp(f, v4, head + len);
	return len + UDP_LEN;
}
