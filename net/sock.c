/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* UDP sockets with the options that RoCEv2 needs. */
#include "config.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/in6.h>
#include <netinet/udp.h>
#include <unistd.h>

#include "net/sock.h"

enum { BUF_FORCED = 8 << 20, BUF_ASKED = 4 << 20 };

static int opt(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int sock_bound(const union net_sockaddr *sa, socklen_t len, bool shared)
{
	int fd = socket(sa->sa.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	if (sa->sa.sa_family == AF_INET6)
		opt(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (shared)
		opt(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, &sa->sa, len) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static void sock_set_tx(int fd, int family)
{
	if (opt(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUF_FORCED) < 0)
		opt(fd, SOL_SOCKET, SO_SNDBUF, BUF_ASKED);
	if (family == AF_INET) {
		opt(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		return;
	}
	opt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
	/* The label of the address handle, 0 included, and not one of the kernel's making. */
	opt(fd, IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0);
	opt(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
}

static void sock_set_rx(int fd, int family)
{
	if (opt(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUF_FORCED) < 0)
		opt(fd, SOL_SOCKET, SO_RCVBUF, BUF_ASKED);
	if (family == AF_INET) {
		opt(fd, IPPROTO_IP, IP_RECVTOS, 1);
		opt(fd, IPPROTO_IP, IP_RECVTTL, 1);
	} else {
		opt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		opt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		opt(fd, IPPROTO_IPV6, IPV6_FLOWINFO, 1); /* told unless it is 0 */
		/* Linux's rxe sends none: the ICRC is what protects the packet. */
		opt(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
}

int net_sock_open_rx(const union net_sockaddr *sa, socklen_t len)
{
	int fd = sock_bound(sa, len, false);

	if (fd < 0)
		return fd;
	sock_set_tx(fd, sa->sa.sa_family);
	sock_set_rx(fd, sa->sa.sa_family);
	return fd;
}

int net_sock_open_tx(const union net_sockaddr *sa, socklen_t len)
{
	struct sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {.len = 1, .filter = &drop_all};
	int fd = sock_bound(sa, len, false);

	if (fd < 0)
		return fd;
	sock_set_tx(fd, sa->sa.sa_family);
	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
	return fd;
}

static int group_join(int fd, const union net_sockaddr *group, uint32_t ifindex)
{
	struct ip_mreqn v4 = {.imr_multiaddr = group->in.sin_addr, .imr_ifindex = (int)ifindex};
	struct ipv6_mreq v6 = {.ipv6mr_multiaddr = group->in6.sin6_addr,
			       .ipv6mr_ifindex = (int)ifindex};

	if (group->sa.sa_family == AF_INET) {
		opt(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
		if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof(v4)) < 0)
			return -errno;
		return 0;
	}
	opt(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &v6, sizeof(v6)) < 0)
		return -errno;
	return 0;
}

int net_sock_open_group(const union net_sockaddr *group, socklen_t len, uint32_t ifindex)
{
	int fd = sock_bound(group, len, true), err;

	if (fd < 0)
		return fd;
	sock_set_rx(fd, group->sa.sa_family);
	err = group_join(fd, group, ifindex);
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

void net_sock_set_multicast_if(int fd, int family, uint32_t ifindex)
{
	struct ip_mreqn v4 = {.imr_ifindex = (int)ifindex};

	if (!ifindex)
		return;
	if (family == AF_INET)
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &v4, sizeof(v4));
	else
		opt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)ifindex);
}

int net_sock_set_gro(int fd, bool on)
{
	return opt(fd, IPPROTO_UDP, UDP_GRO, on);
}

uint32_t net_sock_rcvbuf(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &len) < 0 || value < 0)
		return 0;
	return (uint32_t)value;
}
