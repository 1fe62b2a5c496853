/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connects to the daemon and carries messages. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs/preload/client.h"
#include "verbs/preload/connection.h"
#include "verbs/preload/fdtab.h"

static long retried(long number, long a, long b, long c)
{
	long ret;

	do
		ret = syscall(number, a, b, c);
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

int connection_move_high(int fd)
{
	struct rlimit limit;
	long base = 960, high;

	if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur < 1024)
		base = limit.rlim_cur / 2;
	high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, base);
	if (high >= 0) {
		syscall(SYS_close, fd);
		fd = high;
	}
	fdtab_mark(fd, FDTAB_INTERNAL);
	return fd;
}

static bool uid_trusted(uid_t uid)
{
	const char *extra = getenv("RNIC_TRUST_UID");

	return uid == 0 || uid == geteuid() || (extra && *extra && uid == strtoul(extra, NULL, 10));
}

static int folder_check(const char *dir)
{
	struct stat st;

	if (syscall(SYS_newfstatat, AT_FDCWD, dir, &st, 0) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (!uid_trusted(st.st_uid)) {
		client_say(true, "%s belongs to uid %u, which is not trusted (see RNIC_TRUST_UID)",
			   dir, st.st_uid);
		return -EPERM;
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		client_say(true, "%s can be written by others: not trusted", dir);
		return -EPERM;
	}
	return 0;
}

static int peer_check(int fd, const char *dir)
{
	struct ucred cred = {0};
	socklen_t len = sizeof(cred);

	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	if (uid_trusted(cred.uid))
		return 0;
	client_say(true,
		   "the daemon at %s runs as uid %u, which is not trusted (see RNIC_TRUST_UID)",
		   dir, cred.uid);
	return -EPERM;
}

/* The name of the socket, through a descriptor of the folder if it would be too long. */
static int address(const char *dir, struct sockaddr_un *sa, int *dir_fd)
{
	int n;

	*dir_fd = -1;
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "%s/%s", dir, RNIC_CTL_SOCKET);
	if (n > 0 && (size_t)n < sizeof(sa->sun_path))
		return 0;
	*dir_fd = syscall(SYS_openat, AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (*dir_fd < 0)
		return -errno;
	snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", *dir_fd,
		 RNIC_CTL_SOCKET);
	return 0;
}

int connection_open(const char *dir, int *out)
{
	struct sockaddr_un sa;
	int dir_fd = -1, fd = -1;
	int ret = folder_check(dir);

	if (ret)
		return ret;
	ret = address(dir, &sa, &dir_fd);
	if (ret)
		return ret;
	fd = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		ret = -errno;
		goto out;
	}
	ret = retried(SYS_connect, fd, (long)&sa, sizeof(sa));
	if (!ret)
		ret = peer_check(fd, dir);
	if (ret) {
		syscall(SYS_close, fd);
		goto out;
	}
	*out = connection_move_high(fd);
out:
	if (dir_fd >= 0)
		syscall(SYS_close, dir_fd);
	return ret;
}

int connection_send(int fd, const struct rnic_ctl_request *req, const void *data, const int *fds,
		    unsigned int n_fds)
{
	union {
		char buf[CMSG_SPACE(RNIC_CTL_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov[2] = {{(void *)req, sizeof(*req)}, {(void *)data, req->len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = req->len ? 2 : 1};
	long ret;

	if (n_fds) {
		struct cmsghdr *c = &control.align;

		memset(&control, 0, sizeof(control));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	ret = retried(SYS_sendmsg, fd, (long)&msg, MSG_NOSIGNAL);
	return ret < 0 ? ret : 0;
}

/* How many came. */
static unsigned int take_fds(struct msghdr *msg, int fds[RNIC_CTL_FDS_MAX])
{
	unsigned int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (n > RNIC_CTL_FDS_MAX)
			n = RNIC_CTL_FDS_MAX;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

int connection_receive(int fd, struct rnic_ctl_answer *answer, void *data, size_t size,
		       int fds[RNIC_CTL_FDS_MAX])
{
	union {
		char buf[CMSG_SPACE(RNIC_CTL_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov[2] = {{answer, sizeof(*answer)}, {data, size}};
	struct msghdr msg = {
		.msg_iov = iov,
		.msg_iovlen = size ? 2 : 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	unsigned int n;
	long ret;

	for (int i = 0; i < RNIC_CTL_FDS_MAX; i++)
		fds[i] = -1;
	ret = retried(SYS_recvmsg, fd, (long)&msg, MSG_CMSG_CLOEXEC);
	if (ret < 0)
		return ret;
	n = take_fds(&msg, fds);
	if (ret >= (long)sizeof(*answer) && n == answer->n_fds)
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		syscall(SYS_close, fds[i]);
		fds[i] = -1;
	}
	if (ret == 0)
		return -ECONNRESET;
	return ret < (long)sizeof(*answer) ? -EPROTO : -EMFILE;
}
