/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sockets of NETLINK_RDMA. Answers that do not fit into the program's socket wait here, and as long
 * as some wait nothing more is done: a program that does not read costs one request's answers. Of
 * all requests, of all sockets, one is done a turn of the loop: it may have much to look at.
 */
#include "config.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/netlink.h"
#include "verbs/kernel/nldev.h"
#include "verbs/kernel/passed.h"

#define REQUEST_MAX 65536
#define SOCKS_MAX 1024		/* of one user */
#define WAITING_MAX (64u << 20) /* bytes of answers to one user */

struct packet {
	struct packet *next;
	size_t len;
	uint8_t data[];
};

struct nl_sock {
	struct nl_sock *next;
	struct kernel *kernel;
	uint64_t id;
	uid_t uid;
	bool admin;
	uint32_t pid, portid;
	struct owner *opener; /* or NULL */
	int fd;
	dev_t client_dev;
	ino_t client_ino;
	ev_io readable, writable;
	ev_timer more;
	/* What one send() has brought, as long as it is not done with. */
	uint8_t *request;
	size_t request_len, request_at;
	bool busy; /* a dump was among it */
	struct packet *head, **tail;
	size_t waiting, others; /* bytes: here, and of this user's other sockets */
	bool full;
};

static void packet_drop(struct nl_sock *s)
{
	struct packet *p = s->head;

	s->waiting -= p->len;
	s->head = p->next;
	if (!s->head)
		s->tail = &s->head;
	free(p);
}

static void sock_close(struct nl_sock *s)
{
	for (struct nl_sock **p = &s->kernel->nl_socks; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	while (s->head)
		packet_drop(s);
	free(s->request);
	ev_timer_stop(s->kernel->cfg.loop, &s->more);
	ev_io_stop(s->kernel->cfg.loop, &s->readable);
	ev_io_stop(s->kernel->cfg.loop, &s->writable);
	passed_socket_close(s->kernel, s->uid, s->fd);
	if (s->opener)
		owner_close(s->opener, 1);
	free(s);
}

/* What the socket takes of what waits; false: the other end is gone. */
static bool flush(struct nl_sock *s)
{
	while (s->head) {
		const struct packet *p = s->head;

		if (send(s->fd, p->data, p->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			if (errno == EINTR)
				continue;
			if (errno != EMSGSIZE)
				return errno == EAGAIN || errno == ENOBUFS;
			kernel_log(s->kernel, "a netlink answer of %zu bytes is too long", p->len);
		}
		packet_drop(s);
	}
	return true;
}

static void watch(struct nl_sock *s)
{
	struct ev_loop *loop = s->kernel->cfg.loop;

	ev_io_stop(loop, &s->readable);
	ev_io_stop(loop, &s->writable);
	ev_timer_stop(loop, &s->more);
	if (s->head) {
		ev_io_start(loop, &s->writable);
	} else if (s->request) {
		ev_timer_set(&s->more, 0., 0.);
		ev_timer_start(loop, &s->more);
	} else {
		ev_io_start(loop, &s->readable);
	}
}

static void packet_add(void *ctx, const void *data, size_t len)
{
	struct nl_sock *s = ctx;
	struct packet *p = NULL;

	if (len <= WAITING_MAX && s->others + s->waiting <= WAITING_MAX - len)
		p = malloc(sizeof(*p) + len);
	if (!p) {
		s->full = true;
		return;
	}
	p->next = NULL;
	p->len = len;
	memcpy(p->data, data, len);
	*s->tail = p;
	s->tail = &p->next;
	s->waiting += len;
}

static bool port_is_taken(const struct kernel *k, uint32_t portid)
{
	const struct nl_sock *s = k->nl_socks;

	while (s && s->portid != portid)
		s = s->next;
	return s;
}

/* The process's number, or one from far above, as the kernel gives them. */
static uint32_t port_any(const struct nl_sock *s)
{
	uint32_t portid = s->pid;

	for (uint32_t i = 0; !portid || port_is_taken(s->kernel, portid); i++)
		portid = UINT32_MAX - 4096 - i;
	return portid;
}

int64_t nl_sock_bind(struct nl_sock *s, uint32_t portid)
{
	if (s->portid)
		return !portid || portid == s->portid ? (int64_t)s->portid : -EINVAL;
	if (portid && port_is_taken(s->kernel, portid))
		return -EADDRINUSE;
	s->portid = portid ? portid : port_any(s);
	return s->portid;
}

uint32_t nl_sock_portid(const struct nl_sock *s)
{
	return s->portid;
}

static size_t others_waiting(const struct nl_sock *s)
{
	size_t sum = 0;

	for (const struct nl_sock *o = s->kernel->nl_socks; o; o = o->next)
		if (o != s && o->uid == s->uid)
			sum += o->waiting;
	return sum;
}

/* One message of the request. */
static void request_run(struct nl_sock *s)
{
	struct nl_peer peer = {
		.portid = (uint32_t)nl_sock_bind(s, 0),
		.admin = s->admin,
		.busy = s->busy,
		.packet = packet_add,
		.ctx = s,
	};

	s->others = others_waiting(s);
	s->request_at += nldev_receive(s->kernel, &peer, s->request + s->request_at,
				       s->request_len - s->request_at);
	s->busy = peer.busy;
	if (s->request_at < s->request_len)
		return;
	free(s->request);
	s->request = NULL;
}

/* What can be done now. A kernel would say ENOBUFS to who is full: here it finds the end. */
static void go_on(struct nl_sock *s)
{
	unsigned int turn = ev_iteration(s->kernel->cfg.loop);

	if (!s->head && s->request && s->kernel->nl_turn != turn) {
		s->kernel->nl_turn = turn;
		request_run(s);
	}
	if (s->full)
		kernel_log(s->kernel, "netlink: too many answers to user %u wait: ENOBUFS",
			   (unsigned int)s->uid);
	if (!s->full && flush(s))
		watch(s);
	else
		sock_close(s);
}

static bool request_keep(struct nl_sock *s, const void *data, size_t len)
{
	s->request = malloc(len);
	if (!s->request)
		return false;
	memcpy(s->request, data, len);
	s->request_len = len;
	s->request_at = 0;
	s->busy = false;
	return true;
}

static void readable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	static uint8_t buf[REQUEST_MAX];
	struct nl_sock *s = w->data;
	ssize_t n;

	(void)loop;
	(void)revents;
	if (passed_follow(s->fd)) {
		kernel_log(s->kernel, "netlink: a request of user %u has descriptors with it",
			   (unsigned int)s->uid);
		sock_close(s);
		return;
	}
	n = recv(s->fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > (ssize_t)sizeof(buf)) {
		kernel_log(s->kernel, "a netlink message of %zd bytes is too long", n);
		return;
	}
	if (n > 0 && request_keep(s, buf, (size_t)n))
		go_on(s);
	else
		sock_close(s);
}

static void writable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	go_on(w->data);
}

static void more_fired(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)revents;
	go_on(w->data);
}

static int sockets_make(struct nl_sock *s, int *client_fd)
{
	struct stat st;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return -errno;
	if (fstat(sv[1], &st)) {
		int rc = -errno;

		close(sv[0]);
		close(sv[1]);
		return rc;
	}
	s->fd = sv[0];
	s->client_dev = st.st_dev;
	s->client_ino = st.st_ino;
	*client_fd = sv[1];
	return 0;
}

int nl_sock_open(struct kernel *k, uid_t uid, bool admin, uint32_t pid, struct nl_sock **out,
		 int *client_fd)
{
	uint32_t mine = 0;
	struct nl_sock *s;
	int rc;

	for (s = k->nl_socks; s; s = s->next)
		mine += s->uid == uid;
	s = mine < SOCKS_MAX ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return mine < SOCKS_MAX ? -ENOMEM : -EMFILE;
	rc = sockets_make(s, client_fd);
	if (rc) {
		free(s);
		return rc;
	}
	s->kernel = k;
	s->id = ++k->next_id;
	s->uid = uid;
	s->admin = admin;
	s->pid = pid;
	s->tail = &s->head;
	ev_io_init(&s->readable, readable_fired, s->fd, EV_READ);
	ev_io_init(&s->writable, writable_fired, s->fd, EV_WRITE);
	ev_timer_init(&s->more, more_fired, 0., 0.);
	s->readable.data = s->writable.data = s->more.data = s;
	s->next = k->nl_socks;
	k->nl_socks = s;
	watch(s);
	*out = s;
	return 0;
}

void nl_sock_opener_set(struct nl_sock *s, struct owner *opener)
{
	s->opener = opener;
}

struct nl_sock *nl_sock_find(struct kernel *k, uint64_t id)
{
	struct nl_sock *s = k->nl_socks;

	while (s && s->id != id)
		s = s->next;
	return s;
}

struct nl_sock *nl_sock_find_inode(struct kernel *k, dev_t dev, ino_t ino)
{
	struct nl_sock *s = k->nl_socks;

	while (s && (s->client_dev != dev || s->client_ino != ino))
		s = s->next;
	return s;
}

uint64_t nl_sock_id(const struct nl_sock *s)
{
	return s->id;
}

void nl_socks_close(struct kernel *k)
{
	while (k->nl_socks)
		sock_close(k->nl_socks);
}
