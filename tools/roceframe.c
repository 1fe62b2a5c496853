/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link, IP and UDP headers of captured frames. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "bth/packet.h"
#include "tools/roceframe.h"

enum { UDP_LEN = 8, PROTO_UDP = 17, VLAN_LEN = 4, OUTGOING = 4 };
enum {
	LINKTYPE_NULL = 0,
	LINKTYPE_ETHERNET = 1,
	LINKTYPE_RAW = 101,
	LINKTYPE_SLL = 113,
	LINKTYPE_SLL2 = 276,
};

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static unsigned int be16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

static bool is_vlan(unsigned int type)
{
	return type == 0x8100 || type == 0x88a8;
}

bool roceframe_link_known(uint32_t linktype)
{
	return linktype == LINKTYPE_NULL || linktype == LINKTYPE_ETHERNET ||
	       linktype == LINKTYPE_RAW || linktype == 12 || linktype == LINKTYPE_SLL ||
	       linktype == LINKTYPE_SLL2;
}

/* Length of the link header. */
static size_t link_parse(uint32_t linktype, const uint8_t *p, size_t len, struct roceframe *f)
{
	size_t at = 14;

	switch (linktype) {
	case LINKTYPE_ETHERNET:
		while (at + VLAN_LEN <= len && is_vlan(be16(p + at - 2)))
			at += VLAN_LEN;
		return at;
	case LINKTYPE_SLL:
		f->known = len > 2;
		f->out = f->known && be16(p) == OUTGOING;
		return 16;
	case LINKTYPE_SLL2:
		f->known = len > 10;
		f->out = f->known && p[10] == OUTGOING;
		return 20;
	case LINKTYPE_NULL:
		return 4;
	default:
		return 0;
	}
}

static bool udp_parse(const uint8_t *p, size_t len, struct roceframe *f)
{
	size_t said;

	if (len < UDP_LEN || be16(p + 2) != BTH_UDP_PORT)
		return false;
	f->sport = (uint16_t)be16(p);
	said = be16(p + 4);
	f->cut = said > len;
	if (said >= UDP_LEN && said < len)
		len = said;
	f->data = p + UDP_LEN;
	f->len = len - UDP_LEN;
	return true;
}

static bool ip_parse(const uint8_t *p, size_t len, struct roceframe *f)
{
	size_t head;

	if (len >= 40 && p[0] >> 4 == 6) {
		memcpy(f->src, p + 8, 16);
		memcpy(f->dst, p + 24, 16);
		f->tos = (uint8_t)(p[0] << 4 | p[1] >> 4);
		return p[6] == PROTO_UDP && udp_parse(p + 40, len - 40, f);
	}
	if (len < 20 || p[0] >> 4 != 4)
		return false;
	head = (size_t)(p[0] & 15) * 4;
	if (head < 20 || head > len || p[9] != PROTO_UDP)
		return false;
	memcpy(f->src, v4_prefix, 12);
	memcpy(f->src + 12, p + 12, 4);
	memcpy(f->dst, v4_prefix, 12);
	memcpy(f->dst + 12, p + 16, 4);
	f->tos = p[1];
	return udp_parse(p + head, len - head, f);
}

bool roceframe_parse(uint32_t linktype, const uint8_t *p, size_t len, struct roceframe *f)
{
	size_t skip;

	*f = (struct roceframe){0};
	if (!roceframe_link_known(linktype))
		return false;
	skip = link_parse(linktype, p, len, f);
	return skip < len && ip_parse(p + skip, len - skip, f);
}

const char *roceframe_addr_text(const uint8_t addr[16], char *buf, size_t size)
{
	if (memcmp(addr, v4_prefix, sizeof(v4_prefix)))
		inet_ntop(AF_INET6, addr, buf, (socklen_t)size);
	else
		inet_ntop(AF_INET, addr + 12, buf, (socklen_t)size);
	return buf;
}
