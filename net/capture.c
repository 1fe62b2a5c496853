/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packet sockets as /proc/net/packet shows them. */
#include "config.h"

#include <fcntl.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/capture.h"

#define INTERVAL_NS (UINT64_C(200) * 1000 * 1000)
#define PAUSE_NS (UINT64_C(20) * 1000 * 1000)

void net_capture_open(struct net_capture *c)
{
	c->fd = open("/proc/thread-self/net/packet", O_RDONLY | O_CLOEXEC);
	c->next = 0;
	c->used = 0;
}

void net_capture_close(struct net_capture *c)
{
	if (c->fd >= 0)
		close(c->fd);
}

bool net_capture_due(struct net_capture *c, uint64_t now)
{
	bool paused = now - c->used >= PAUSE_NS;

	c->used = now;
	if (c->fd < 0 || (now < c->next && !paused))
		return false;
	c->next = now + INTERVAL_NS;
	return true;
}

/* sk RefCnt Type Proto Iface ... */
static bool line_concerns(const char *line, bool (*concerns)(void *ctx, uint32_t ifindex),
			  void *ctx)
{
	unsigned proto, ifindex;

	if (sscanf(line, "%*s %*u %*u %x %u", &proto, &ifindex) != 2)
		return false; /* the heading */
	if (proto != ETH_P_ALL && proto != ETH_P_IP && proto != ETH_P_IPV6)
		return false;
	return ifindex == 0 || concerns(ctx, ifindex);
}

bool net_capture_seen(const struct net_capture *c, bool (*concerns)(void *ctx, uint32_t ifindex),
		      void *ctx)
{
	char buf[4096];
	size_t have = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(c->fd, buf + have, sizeof(buf) - 1 - have, at)) > 0) {
		char *line = buf;
		char *end;

		at += n;
		have += (size_t)n;
		buf[have] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (line_concerns(line, concerns, ctx))
				return true;
		}
		have -= (size_t)(line - buf);
		if (have == sizeof(buf) - 1)
			have = 0; /* no line is that long */
		memmove(buf, line, have);
	}
	return false;
}
