/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kernel's answer to where packets would come from: connecting a UDP socket sends nothing. */
#include "config.h"

#include "net/route.h"

#include <errno.h>
#include <unistd.h>

#include "net/sockaddr.h"

#define PORT 4791

static int ask(int fd, const union net_sockaddr *to, socklen_t len, uint8_t from[16])
{
	union net_sockaddr own;
	socklen_t own_len = sizeof(own);

	if (connect(fd, &to->sa, len) || getsockname(fd, &own.sa, &own_len))
		return -errno;
	net_sockaddr_addr(&own, from);
	return 0;
}

int net_route_source(const uint8_t to[16], uint32_t ifindex, uint8_t from[16])
{
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, to, ifindex, PORT);
	int fd = socket(sa.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = ask(fd, &sa, len, from);
	close(fd);
	return rc;
}
