/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sockets of NETLINK_RDMA: one end of a socket pair of the daemon's, on which polling, sending and
 * receiving are the system's own. What a socket pair cannot do is here: netlink's addresses and
 * options, and that sending never raises SIGPIPE.
 */
#include "config.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>

#include "verbs/abi/control.h"
#include "verbs/preload/client.h"
#include "verbs/preload/device.h"
#include "verbs/preload/hooks.h"
#include "verbs/preload/real.h"

#define LONGEST_OPTION NETLINK_GET_STRICT_CHK

/* Costs a look into the table. */
static inline struct file *netlink(int fd)
{
	return __builtin_expect(fdtab_hint(fd) != FDTAB_NONE, 0) ? device_netlink_get(fd) : NULL;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* RNIC_NETLINK=off: as on a kernel that has no such sockets; rdma-core looks into sysfs then. */
static bool is_off(void)
{
	const char *env = getenv("RNIC_NETLINK");

	return env && !strcmp(env, "off");
}

int socket(int domain, int type, int protocol)
{
	int fd;

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA || !client_ready())
		return real()->socket(domain, type, protocol);
	fd = is_off() ? -EPROTONOSUPPORT : device_netlink(type);
	return fd < 0 ? fail(-fd) : fd;
}

int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	struct file *f = netlink(fd);
	struct sockaddr_nl nl;
	int64_t ret;

	if (!f)
		return real()->bind(fd, addr, len);
	if (len < sizeof(nl))
		return fail(EINVAL);
	memcpy(&nl, addr.__sockaddr__, sizeof(nl));
	if (nl.nl_family != AF_NETLINK)
		return fail(EINVAL);
	ret = device_port(fd, f, nl.nl_pid);
	return ret < 0 ? fail((int)-ret) : 0;
}

/* As the kernel: cut to what there is room for, and the whole length told. */
static void address_give(uint32_t port, void *to, socklen_t *len)
{
	const struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_pid = port};

	memcpy(to, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
}

int getsockname(int fd, __SOCKADDR_ARG addr, socklen_t *restrict len)
{
	struct file *f = netlink(fd);
	int64_t ret;

	if (!f)
		return real()->getsockname(fd, addr, len);
	ret = device_port(fd, f, RNIC_CTL_PORT_ASK);
	if (ret < 0)
		return fail((int)-ret);
	address_give((uint32_t)ret, addr.__sockaddr__, len);
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level != SOL_NETLINK || !netlink(fd))
		return real()->setsockopt(fd, level, name, value, len);
	return name > 0 && name <= LONGEST_OPTION ? 0 : fail(ENOPROTOOPT);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	return real()->send(fd, buf, n, netlink(fd) ? flags | MSG_NOSIGNAL : flags);
}

ssize_t sendto(int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG addr,
	       socklen_t len)
{
	return real()->sendto(fd, buf, n, netlink(fd) ? flags | MSG_NOSIGNAL : flags, addr, len);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return real()->sendmsg(fd, msg, netlink(fd) ? flags | MSG_NOSIGNAL : flags);
}

ssize_t recvfrom(int fd, void *restrict buf, size_t n, int flags, __SOCKADDR_ARG addr,
		 socklen_t *restrict len)
{
	socklen_t room = addr.__sockaddr__ && len ? *len : 0;
	ssize_t ret = real()->recvfrom(fd, buf, n, flags, addr, len);

	if (ret >= 0 && addr.__sockaddr__ && len && netlink(fd)) {
		*len = room;
		address_give(0, addr.__sockaddr__, len);
	}
	return ret;
}

ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t buflen, int flags,
		       __SOCKADDR_ARG addr, socklen_t *restrict len)
{
	if (n > buflen)
		__chk_fail();
	return recvfrom(fd, buf, n, flags, addr, len);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	socklen_t room = msg ? msg->msg_namelen : 0;
	ssize_t ret = real()->recvmsg(fd, msg, flags);

	if (ret >= 0 && msg && msg->msg_name && netlink(fd)) {
		msg->msg_namelen = room;
		address_give(0, msg->msg_name, &msg->msg_namelen);
	}
	return ret;
}
