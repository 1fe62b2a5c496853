/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 16-byte addresses to socket addresses and back. */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "net/sockaddr.h"

socklen_t net_sockaddr_set(union net_sockaddr *sa, const uint8_t addr[16], uint32_t ifindex,
			   uint16_t port)
{
	memset(sa, 0, sizeof(*sa));
	if (net_addr_is_v4(addr)) {
		sa->in.sin_family = AF_INET;
		sa->in.sin_port = htons(port);
		memcpy(&sa->in.sin_addr, addr + sizeof(net_v4_prefix), 4);
		return sizeof(sa->in);
	}
	sa->in6.sin6_family = AF_INET6;
	sa->in6.sin6_port = htons(port);
	memcpy(&sa->in6.sin6_addr, addr, 16);
	if (net_addr_is_link_local(addr) || addr[0] == 0xff)
		sa->in6.sin6_scope_id = ifindex;
	return sizeof(sa->in6);
}

void net_sockaddr_addr(const union net_sockaddr *sa, uint8_t addr[16])
{
	if (sa->sa.sa_family == AF_INET) {
		memcpy(addr, net_v4_prefix, sizeof(net_v4_prefix));
		memcpy(addr + sizeof(net_v4_prefix), &sa->in.sin_addr, 4);
	} else {
		memcpy(addr, &sa->in6.sin6_addr, 16);
	}
}

uint16_t net_sockaddr_port(const union net_sockaddr *sa)
{
	return ntohs(sa->sa.sa_family == AF_INET ? sa->in.sin_port : sa->in6.sin6_port);
}

const char *net_sockaddr_text(const union net_sockaddr *sa, char buf[NET_SOCKADDR_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (sa->sa.sa_family == AF_INET) {
		inet_ntop(AF_INET, &sa->in.sin_addr, host, sizeof(host));
		snprintf(buf, NET_SOCKADDR_TEXT_MAX, "%s:%u", host, net_sockaddr_port(sa));
		return buf;
	}
	inet_ntop(AF_INET6, &sa->in6.sin6_addr, host, sizeof(host));
	if (sa->in6.sin6_scope_id)
		snprintf(buf, NET_SOCKADDR_TEXT_MAX, "[%s%%%u]:%u", host, sa->in6.sin6_scope_id,
			 net_sockaddr_port(sa));
	else
		snprintf(buf, NET_SOCKADDR_TEXT_MAX, "[%s]:%u", host, net_sockaddr_port(sa));
	return buf;
}
