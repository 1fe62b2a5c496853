/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The other end of librnic, for its tests. Dies with a message where the contract is broken. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/preload/fake_daemon.h"

#define CONNS 64
#define CONTEXTS 16

struct session {
	uint32_t refs;
	uint8_t token[16];
	int mem;
	int event;
};

struct conn {
	int fd;
	struct session *session;
	struct rnic_ctl_request req; /* under way, while it waits */
};

static struct {
	int fd;
	ino_t ino;
	struct rnic_doorbell *db;
} contexts[CONTEXTS];

static struct conn conns[CONNS];
static uint32_t n_contexts;
static uint64_t counters[8];
static uint64_t wakes, refusals;
static int wake_memfd;
static struct rnic_wake *wake;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fake daemon: %s (%s)\n", what, strerror(errno));
	exit(99);
}

static void answer(struct conn *c, int64_t ret, const struct rnic_ctl_fd *info, const int *fds,
		   unsigned int n, const void *data, uint32_t len)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = {0};
	struct rnic_ctl_answer a = {.ret = ret, .len = len, .n_fds = n};
	struct iovec iov[2] = {{&a, sizeof(a)}, {(void *)data, len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	if (info)
		a.fd[0] = *info;
	if (n) {
		struct cmsghdr *cm = (struct cmsghdr *)control;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, n * sizeof(int));
	}
	sendmsg(c->fd, &msg, MSG_NOSIGNAL);
}

static void hello(struct conn *c, const struct rnic_ctl_hello *h, const int *fds, int n)
{
	static uint64_t sessions;
	struct rnic_ctl_welcome w = {.session = ++sessions};
	struct session *s = calloc(1, sizeof(*s));
	int pass[2];

	check(h->version == RNIC_CTL_VERSION && n == 2, "HELLO without its descriptors");
	counters[FAKE_HELLOS]++;
	counters[FAKE_SESSIONS]++;
	s->refs = 1;
	memcpy(s->token, &sessions, sizeof(sessions));
	memcpy(w.token, s->token, sizeof(w.token));
	s->mem = fds[0];
	close(fds[1]);
	s->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->session = s;
	pass[0] = wake_memfd;
	pass[1] = s->event;
	answer(c, 0, NULL, pass, 2, &w, sizeof(w));
}

static void join(struct conn *c, const struct rnic_ctl_hello *h)
{
	counters[FAKE_JOINS]++;
	for (int i = 0; i < CONNS; i++) {
		struct session *s = conns[i].session;

		if (!s || memcmp(s->token, h->token, sizeof(s->token)))
			continue;
		s->refs++;
		c->session = s;
		answer(c, 0, NULL, NULL, 0, NULL, 0);
		return;
	}
	answer(c, -ENOENT, NULL, NULL, 0, NULL, 0);
}

static void context_open(struct conn *c)
{
	struct rnic_ctl_fd info = {.kind = RNIC_FD_CONTEXT,
				   .rdev = makedev(FAKE_RDEV_MAJOR, FAKE_RDEV_MINOR)};
	int fd = memfd_create("rnic-uverbs0", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat st;

	check(n_contexts < CONTEXTS && ftruncate(fd, RNIC_DB_FILE_SIZE) == 0, "memfd");
	check(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0, "seals");
	fstat(fd, &st);
	contexts[n_contexts].fd = fd;
	contexts[n_contexts].ino = st.st_ino;
	contexts[n_contexts].db =
		mmap(NULL, RNIC_DB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	info.id = ++n_contexts;
	answer(c, 0, &info, &fd, 1, NULL, 0);
}

static void open_path(struct conn *c, const char *path)
{
	if (!strcmp(path, "/dev/infiniband/uverbs0"))
		context_open(c);
	else if (!strcmp(path, "/sys/class/infiniband/rxe0/forbidden"))
		answer(c, -EACCES, NULL, NULL, 0, NULL, 0);
	else
		answer(c, -EXDEV, NULL, NULL, 0, NULL, 0);
}

static void attach(struct conn *c, int fd)
{
	struct rnic_ctl_fd info = {.kind = RNIC_FD_CONTEXT,
				   .rdev = makedev(FAKE_RDEV_MAJOR, FAKE_RDEV_MINOR)};
	struct stat st = {0};

	counters[FAKE_ATTACHES]++;
	fstat(fd, &st);
	close(fd);
	for (uint32_t i = 0; i < n_contexts; i++) {
		if (contexts[i].ino == st.st_ino) {
			answer(c, i + 1, &info, NULL, 0, NULL, 0);
			return;
		}
	}
	answer(c, -ENOENT, NULL, NULL, 0, NULL, 0);
}

static void channel(struct conn *c, const struct fake_command *cmd)
{
	struct rnic_ctl_fd info = {.where = cmd->out, .width = 8, .kind = RNIC_FD_CHANNEL};
	int pair[2];

	check(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "socketpair");
	answer(c, c->req.arg[2], &info, &pair[0], 1, NULL, 0);
	close(pair[0]);
	close(pair[1]);
}

/* Its other end stays with the next such socket: the test has one at a time. */
static int netlink_end = -1;

static void netlink(struct conn *c)
{
	struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_NETLINK, .id = 1000};
	int pair[2];

	check(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "socketpair");
	if (netlink_end >= 0)
		close(netlink_end);
	netlink_end = pair[1];
	answer(c, 0, &info, &pair[0], 1, NULL, 0);
	close(pair[0]);
}

/* Asking for the port sends a message, too: there is something to be received then. */
static void port(struct conn *c, uint64_t id, uint64_t wanted)
{
	check(id == 1000, "id of the netlink socket");
	if (wanted == RNIC_CTL_PORT_ASK)
		check(send(netlink_end, "hello", 5, MSG_NOSIGNAL) == 5, "send");
	answer(c, wanted && wanted != RNIC_CTL_PORT_ASK ? (int64_t)wanted : FAKE_PORT, NULL, NULL,
	       0, NULL, 0);
}

static void finish(struct conn *c, const struct fake_command *cmd, uint64_t out)
{
	check(pwrite(c->session->mem, &out, sizeof(out), cmd->out) == sizeof(out), "pwrite");
	answer(c, c->req.arg[2], NULL, NULL, 0, NULL, 0);
}

static uint64_t kicked(struct rnic_doorbell *db, uint32_t qp)
{
	uint64_t bit = 1ull << qp % 64;
	bool pending = atomic_exchange(&db->pending, 0);

	return (atomic_fetch_and(&db->kick[qp / 64], ~bit) & bit) && pending;
}

static uint64_t sleep_set(struct conn *c, uint32_t sleeping)
{
	uint64_t n = 0;

	if (read(c->session->event, &n, sizeof(n)) == sizeof(n))
		wakes += n;
	atomic_store(&wake->sleeping, sleeping);
	return wakes;
}

static void release(void)
{
	for (int i = 0; i < CONNS; i++) {
		if (conns[i].fd && conns[i].req.op == UINT32_MAX)
			answer(&conns[i], conns[i].req.arg[2], NULL, NULL, 0, NULL, 0);
		conns[i].req.op = 0;
	}
}

static void command(struct conn *c)
{
	struct rnic_ctl_fd need = {0};
	struct fake_command cmd = {0};
	struct rnic_doorbell *db;

	check(c->session && c->req.arg[0] >= 1 && c->req.arg[0] <= n_contexts, "id of a context");
	db = contexts[c->req.arg[0] - 1].db;
	if (pread(c->session->mem, &cmd, sizeof(cmd), c->req.arg[1]) != sizeof(cmd)) {
		answer(c, -EFAULT, NULL, NULL, 0, NULL, 0);
		return;
	}
	switch ((enum fake_op)cmd.op) {
	case FAKE_ECHO:
		finish(c, &cmd, cmd.value);
		break;
	case FAKE_CHANNEL:
		channel(c, &cmd);
		break;
	case FAKE_IDENTIFY:
		need.where = cmd.value;
		answer(c, RNIC_CTL_NEED_FD, &need, NULL, 0, NULL, 0);
		break;
	case FAKE_STAT:
		finish(c, &cmd, counters[cmd.value]);
		break;
	case FAKE_KICKED:
		finish(c, &cmd, kicked(db, cmd.value));
		break;
	case FAKE_ARMED:
		finish(c, &cmd, atomic_exchange(&db->arm[cmd.value], 0));
		break;
	case FAKE_SLEEP:
		finish(c, &cmd, sleep_set(c, cmd.value));
		break;
	case FAKE_ERRNO:
		answer(c, -(int64_t)cmd.value, NULL, NULL, 0, NULL, 0);
		break;
	case FAKE_WAIT:
		c->req.op = UINT32_MAX;
		break;
	case FAKE_RELEASE:
		release();
		finish(c, &cmd, 0);
		break;
	case FAKE_REFUSE:
		refusals = cmd.value;
		finish(c, &cmd, 0);
		break;
	}
}

static void shown(struct conn *c, int fd)
{
	struct fake_command cmd = {0};
	struct stat st = {0};

	if (fd >= 0)
		fstat(fd, &st);
	if (fd >= 0)
		close(fd);
	check(pread(c->session->mem, &cmd, sizeof(cmd), c->req.arg[1]) == sizeof(cmd), "pread");
	finish(c, &cmd, st.st_ino);
}

static void serve(struct conn *c, const struct rnic_ctl_request *req, const char *data,
		  const int *fds, int n)
{
	if (req->op != RNIC_CTL_FD)
		c->req = *req;
	switch ((enum rnic_ctl_op)req->op) {
	case RNIC_CTL_HELLO:
		hello(c, (const void *)data, fds, n);
		break;
	case RNIC_CTL_JOIN:
		join(c, (const void *)data);
		break;
	case RNIC_CTL_OPEN:
		open_path(c, data);
		break;
	case RNIC_CTL_ATTACH:
		attach(c, n ? fds[0] : -1);
		break;
	case RNIC_CTL_WRITE:
	case RNIC_CTL_IOCTL:
		if (req->op == RNIC_CTL_IOCTL) {
			c->req.arg[1] = req->arg[2];
			c->req.arg[2] = 0;
		}
		command(c);
		break;
	case RNIC_CTL_CLOSED:
		counters[FAKE_CLOSED]++;
		answer(c, 0, NULL, NULL, 0, NULL, 0);
		break;
	case RNIC_CTL_NETLINK:
		netlink(c);
		break;
	case RNIC_CTL_PORT:
		port(c, req->arg[0], req->arg[1]);
		break;
	case RNIC_CTL_FD:
		shown(c, n ? fds[0] : -1);
		break;
	case RNIC_CTL_ADMIN:
		check(false, "ADMIN from librnic");
	}
}

static void conn_end(struct conn *c)
{
	struct session *s = c->session;

	close(c->fd);
	if (s && --s->refs == 0) {
		close(s->mem);
		close(s->event);
		free(s);
		counters[FAKE_SESSIONS]--;
	}
	memset(c, 0, sizeof(*c));
}

static void receive(struct conn *c)
{
	static _Alignas(8) char buf[sizeof(struct rnic_ctl_request) + RNIC_CTL_DATA_MAX + 1];
	char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec iov = {buf, sizeof(buf) - 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct rnic_ctl_request req;
	ssize_t len = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cm;
	int fds[4], n = 0;

	if (len <= 0) {
		conn_end(c);
		return;
	}
	cm = CMSG_FIRSTHDR(&msg);
	if (cm) {
		n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(cm), n * sizeof(int));
	}
	memcpy(&req, buf, sizeof(req));
	check((size_t)len == sizeof(req) + req.len, "length of a request");
	buf[len] = '\0';
	serve(c, &req, buf + sizeof(req), fds, n);
}

static void refuse_one(int listener)
{
	const struct rnic_ctl_answer no = {.ret = -EMFILE};
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	check(fd > 0 && send(fd, &no, sizeof(no), MSG_NOSIGNAL) == sizeof(no), "refusal");
	close(fd);
	refusals--;
}

static void accept_one(int listener)
{
	if (refusals) {
		refuse_one(listener);
		return;
	}
	for (int i = 0; i < CONNS; i++) {
		if (conns[i].fd)
			continue;
		conns[i].fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		check(conns[i].fd > 0, "accept");
		return;
	}
	check(false, "too many connections");
}

int fake_daemon_listen(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s/%s", dir, RNIC_CTL_SOCKET);
	check(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 && listen(fd, 100) == 0, "bind");
	wake_memfd = memfd_create("rnic-wake", MFD_CLOEXEC);
	check(ftruncate(wake_memfd, 4096) == 0, "wake page");
	wake = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, wake_memfd, 0);
	return fd;
}

void fake_daemon_run(int listener, int stop)
{
	for (;;) {
		struct pollfd p[CONNS + 2] = {{stop, POLLIN, 0}, {listener, POLLIN, 0}};

		for (int i = 0; i < CONNS; i++)
			p[i + 2] = (struct pollfd){conns[i].fd ? conns[i].fd : -1, POLLIN, 0};
		if (poll(p, CONNS + 2, -1) < 0)
			continue;
		if (p[0].revents)
			exit(0);
		for (int i = 0; i < CONNS; i++) {
			if (p[i + 2].revents && conns[i].fd == p[i + 2].fd)
				receive(&conns[i]);
		}
		if (p[1].revents)
			accept_one(listener);
	}
}
