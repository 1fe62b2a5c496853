/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asking the daemon, over its control socket. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/ask.h"
#include "tools/rundir.h"
#include "verbs/abi/control.h"

static int daemon_connect(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, dir) >=
		    (int)sizeof(sa.sun_path) ||
	    connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		int rc = errno ? -errno : -ENAMETOOLONG;

		close(fd);
		return rc;
	}
	return fd;
}

static int message_send(int fd, struct iovec *iov, size_t niov, const struct ask *ask)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * RNIC_CTL_FDS_MAX)];
	} u;
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = niov};

	if (ask->n_fds) {
		size_t size = sizeof(int) * ask->n_fds;
		struct cmsghdr *cm;

		memset(&u, 0, sizeof(u));
		msg.msg_control = u.buf;
		msg.msg_controllen = CMSG_SPACE(size);
		cm = CMSG_FIRSTHDR(&msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(cm), ask->fds, size);
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int command_send(int fd, const struct ask *ask, char *const *words, int n)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_ADMIN, .arg = {ask->json}};
	char data[RNIC_CTL_DATA_MAX];
	struct iovec iov[2] = {{&req, sizeof(req)}, {data, 0}};

	for (int i = 0; i < n; i++) {
		size_t len = strlen(words[i]) + 1;

		if (len > sizeof(data) - req.len)
			return -E2BIG;
		memcpy(data + req.len, words[i], len);
		req.len += (uint32_t)len;
	}
	iov[1].iov_len = req.len;
	return message_send(fd, iov, 2, ask);
}

/* The answer goes to `to`, an error's line to stderr. */
static int answer_print(int fd, FILE *to)
{
	char buf[sizeof(struct rnic_ctl_answer) + RNIC_CTL_DATA_MAX];
	struct rnic_ctl_answer a;

	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < (ssize_t)sizeof(a))
			return -EPROTO;
		memcpy(&a, buf, sizeof(a));
		if (!a.len)
			return (int)a.ret;
		fwrite(buf + sizeof(a), 1, (size_t)n - sizeof(a), a.ret < 0 ? stderr : to);
	}
}

int ask_daemon(const struct ask *ask, char *const *words, int n, FILE *to)
{
	const char *dir = ask->dir;
	char found[RUNDIR_MAX];
	int fd, rc;

	if (!dir) {
		rundir_find(found);
		dir = found;
	}
	fd = daemon_connect(dir);
	if (fd < 0) {
		fprintf(stderr, "rnicctl: no rnicd answers in %s: %s\n", dir, strerror(-fd));
		return fd;
	}
	rc = command_send(fd, ask, words, n);
	if (rc)
		fprintf(stderr, "rnicctl: %s\n", strerror(-rc));
	else
		rc = answer_print(fd, to);
	close(fd);
	return rc;
}
