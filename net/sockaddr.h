/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 16-byte addresses (IPv4 as ::ffff:a.b.c.d) to socket addresses and back. */
#ifndef NET_SOCKADDR_H
#define NET_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union net_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* "[ffff:...]:port" at most */
#define NET_SOCKADDR_TEXT_MAX 72

static const uint8_t net_v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static inline bool net_addr_is_v4(const uint8_t addr[16])
{
	return memcmp(addr, net_v4_prefix, sizeof(net_v4_prefix)) == 0;
}

static inline bool net_addr_is_link_local(const uint8_t addr[16])
{
	return addr[0] == 0xfe && (addr[1] & 0xc0) == 0x80;
}

static inline bool net_addr_is_loopback(const uint8_t addr[16])
{
	static const uint8_t one[16] = {[15] = 1};

	return net_addr_is_v4(addr) ? addr[12] == 127 : memcmp(addr, one, sizeof(one)) == 0;
}

/* port in host order; ifindex counts for IPv6 only. Returns the length. */
socklen_t net_sockaddr_set(union net_sockaddr *sa, const uint8_t addr[16], uint32_t ifindex,
			   uint16_t port);
void net_sockaddr_addr(const union net_sockaddr *sa, uint8_t addr[16]);
uint16_t net_sockaddr_port(const union net_sockaddr *sa);
const char *net_sockaddr_text(const union net_sockaddr *sa, char buf[NET_SOCKADDR_TEXT_MAX]);

#endif
