/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One question to NETLINK_SOCK_DIAG for one socket, which the kernel answers before the send
 * returns. Any user may ask. Its source is the remote end and its destination the local one.
 */
#include "config.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>

#include "net/backlog.h"
#include "net/sockaddr.h"

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 req;
};

union answer {
	struct nlmsghdr head;
	struct {
		struct nlmsghdr head;
		struct inet_diag_msg msg;
	} found;
	uint8_t room[512];
};

int net_backlog_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
}

static void question_make(struct question *q, const uint8_t addr[16], uint32_t ifindex,
			  uint16_t port)
{
	bool v4 = net_addr_is_v4(addr);

	*q = (struct question){
		.head = {.nlmsg_len = sizeof(*q),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.req = {.sdiag_family = v4 ? AF_INET : AF_INET6,
			.sdiag_protocol = IPPROTO_UDP,
			.idiag_states = UINT32_MAX,
			.id = {.idiag_dport = htons(port),
			       .idiag_if = v4 ? 0 : ifindex,
			       .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
	};
	memcpy(q->req.id.idiag_dst, addr + (v4 ? 12 : 0), v4 ? 4 : 16);
}

int net_backlog_get(int fd, const uint8_t addr[16], uint32_t ifindex, uint16_t port, uint32_t *used)
{
	struct question q;
	union answer a;
	ssize_t n;

	question_make(&q, addr, ifindex, port);
	if (fd < 0 || send(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
		return -EOPNOTSUPP;
	n = recv(fd, &a, sizeof(a), 0);
	if (n < (ssize_t)sizeof(a.head))
		return -EOPNOTSUPP;
	if (a.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || n < (ssize_t)sizeof(a.found))
		return -ENOENT;
	*used = a.found.msg.idiag_rqueue;
	return 0;
}
