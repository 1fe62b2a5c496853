/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections of clients: one request at a time on each, and its answer.
 *
 * A connection whose request waits for memory is only watched for its end; other connections go
 * on.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/kernel/admin.h"
#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/passed.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/umem.h"

#define HELLO_FDS 2
#define REQUEST_MAX (sizeof(struct rnic_ctl_request) + RNIC_CTL_DATA_MAX)

enum conn_stage {
	CONN_READING,
	CONN_LOOKING,	/* waits until its descriptors have been looked at */
	CONN_NEEDS_FD,	/* the client is to send a descriptor that its call names */
	CONN_RUNNING,	/* waits for memory to run again */
	CONN_FINISHING, /* waits for memory to write results */
	CONN_REPLYING,	/* waits for the client to read what it was told */
};

struct conn {
	struct conn *next, *prev;
	struct kernel *kernel;
	struct session *session;
	uid_t uid;
	pid_t pid;
	int fd;
	ev_io readable, writable;
	enum conn_stage stage;
	struct passed_look *look; /* LOOKING */
	bool held;		  /* not read: passed_is_full */
	struct call call;
	int64_t ret; /* of a call that FINISHING, or REPLYING */
	struct admin_reply reply;
	size_t replied; /* bytes of it */
	_Alignas(struct rnic_ctl_request) uint8_t request[REQUEST_MAX];
	size_t request_len;
};

static void call_fds_close(struct conn *c)
{
	for (uint32_t i = 0; i < c->call.n_fds; i++)
		if (c->call.fds[i] >= 0)
			close(c->call.fds[i]);
	c->call.n_fds = 0;
}

/* What of the client's nobody has asked for. */
static void passed_drop(struct conn *c)
{
	for (uint32_t i = 0; i < c->call.n_fds; i++)
		passed_close(c->kernel, c->uid, c->call.fds[i]);
	c->call.n_fds = 0;
}

static void conn_close(struct conn *c)
{
	struct kernel *k = c->kernel;

	call_fds_close(c);
	if (c->look)
		passed_look_abandon(c->look);
	call_io_destroy(c->call.io);
	admin_reply_free(&c->reply);
	ev_io_stop(k->cfg.loop, &c->readable);
	ev_io_stop(k->cfg.loop, &c->writable);
	passed_socket_close(k, c->uid, c->fd);
	k->n_conns--;
	k->refusal_told = false;
	if (c->prev)
		c->prev->next = c->next;
	else
		k->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	if (c->session)
		session_leave(c->session);
	free(c);
}

static int send_message(int fd, const void *head, size_t head_len, const void *data, size_t len,
			const int *fds, uint32_t n_fds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * RNIC_CTL_FDS_MAX)];
	} u;
	struct iovec iov[2] = {{.iov_base = (void *)head, .iov_len = head_len},
			       {.iov_base = (void *)data, .iov_len = len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = len ? 2 : 1};
	ssize_t n;

	if (n_fds) {
		struct cmsghdr *cm;

		memset(&u, 0, sizeof(u));
		msg.msg_control = u.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		cm = CMSG_FIRSTHDR(&msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(cm), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* A client with one call under way reads its answer: one that does not is cut off. */
static bool conn_answer(struct conn *c, int64_t ret, const void *data, uint32_t len)
{
	struct rnic_ctl_answer a = {.ret = ret, .len = len};
	int rc;

	/* ATTACH describes one without passing it, and a command of rdma_cm that fails may still
	 * have taken events away. */
	memcpy(a.fd, c->call.fd_info, sizeof(a.fd));
	if (ret >= 0)
		a.n_fds = c->call.n_fds;
	rc = send_message(c->fd, &a, sizeof(a), data, len, c->call.fds, a.n_fds);
	call_fds_close(c);
	if (rc)
		conn_close(c);
	return !rc;
}

static void conn_finish(struct conn *c)
{
	int rc = c->ret >= 0 ? call_io_finish(&c->call) : 0;

	if (rc == -EINPROGRESS) {
		c->stage = CONN_FINISHING;
		return;
	}
	call_io_destroy(c->call.io);
	c->call.io = NULL;
	c->stage = CONN_READING;
	conn_answer(c, rc ? rc : c->ret, NULL, 0);
}

static void conn_ask_fd(struct conn *c, int32_t number)
{
	struct rnic_ctl_answer a = {.ret = RNIC_CTL_NEED_FD};

	a.fd[0].where = (uint64_t)number;
	c->stage = CONN_NEEDS_FD;
	if (send_message(c->fd, &a, sizeof(a), NULL, 0, NULL, 0))
		conn_close(c);
}

static void conn_run(struct conn *c)
{
	int32_t number;

	call_io_begin(c->call.io);
	c->ret = session_call(&c->call);
	if (c->ret == -EINPROGRESS && call_needs_fd(&c->call, &number)) {
		conn_ask_fd(c, number);
		return;
	}
	if (c->ret == -EINPROGRESS) {
		c->stage = CONN_RUNNING;
		return;
	}
	conn_finish(c);
}

void server_resume(struct kernel *k, struct umem *u)
{
	struct conn *next;

	for (struct conn *c = k->conns; c; c = next) {
		next = c->next;
		if (c->stage == CONN_RUNNING && call_awaits(&c->call, u))
			conn_run(c);
		else if (c->stage == CONN_FINISHING && call_awaits(&c->call, u))
			conn_finish(c);
	}
}

/* RNIC_CTL_FD: with a descriptor, or with none if the process has it not open. */
static void conn_fd_came(struct conn *c)
{
	struct ucma_file *file = NULL;
	struct channel *ch = NULL;
	struct stat st;

	if (c->call.n_fds == 1 && passed_is_plain(c->call.fds[0]) && !fstat(c->call.fds[0], &st)) {
		ch = channel_find_inode(st.st_dev, st.st_ino);
		file = ch ? NULL : ucma_find_inode(c->kernel, st.st_dev, st.st_ino);
	}
	passed_drop(c);
	call_fd_came(&c->call, ch ? channel_id(ch) : file ? ucma_id(file) : 0);
	conn_run(c);
}

static void answer_welcome(struct conn *c)
{
	struct rnic_ctl_welcome w = {0};
	const struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_FILE};

	int page = fcntl(wake_page_fd(c->kernel->wake), F_DUPFD_CLOEXEC, 0);
	int event = fcntl(session_eventfd(c->session), F_DUPFD_CLOEXEC, 0);

	if (page < 0 || event < 0) {
		if (page >= 0)
			close(page);
		conn_answer(c, -EMFILE, NULL, 0);
		return;
	}
	session_welcome(c->session, &w);
	call_pass_fd(&c->call, page, &info);
	call_pass_fd(&c->call, event, &info);
	conn_answer(c, 0, &w, sizeof(w));
}

static void conn_hello(struct conn *c, const struct rnic_ctl_request *req, const uint8_t *data)
{
	struct rnic_ctl_hello hello;
	int rc = -EPROTO;

	if (c->session || req->len != sizeof(hello))
		goto refuse;
	memcpy(&hello, data, sizeof(hello));
	if (hello.version != RNIC_CTL_VERSION) {
		kernel_log(c->kernel, "a client's librnic.so speaks version %u, this rnicd %u",
			   hello.version, RNIC_CTL_VERSION);
		rc = -EPROTONOSUPPORT;
		goto refuse;
	}
	if (req->op == RNIC_CTL_JOIN) {
		struct session *s = session_find(c->kernel, hello.token);

		if (!s)
			goto refuse;
		session_join(s);
		c->session = s;
		conn_answer(c, 0, NULL, 0);
		return;
	}
	if (c->call.n_fds != HELLO_FDS)
		goto refuse;
	c->call.n_fds = 0;
	rc = session_create(c->kernel, c->call.fds[0], c->call.fds[1], &hello, c->uid, c->pid,
			    &c->session);
	if (rc)
		goto refuse;
	answer_welcome(c);
	return;
refuse:
	conn_answer(c, rc, NULL, 0);
}

/* The next part of a reply, or its end. */
static int reply_part(struct conn *c, size_t *len)
{
	struct rnic_ctl_answer a = {.ret = c->ret};
	size_t left = c->reply.len - c->replied;

	*len = left < RNIC_CTL_DATA_MAX ? left : RNIC_CTL_DATA_MAX;
	a.len = (uint32_t)*len;
	return send_message(c->fd, &a, sizeof(a), c->reply.text + c->replied, *len, NULL, 0);
}

/* As much as the socket takes now; the client reads at its own pace. */
static void conn_reply(struct conn *c)
{
	size_t len;
	int rc;

	do {
		rc = reply_part(c, &len);
		if (!rc)
			c->replied += len;
	} while (!rc && len);
	if (rc == -EAGAIN) {
		c->stage = CONN_REPLYING;
		ev_io_start(c->kernel->cfg.loop, &c->writable);
		return;
	}
	if (rc) {
		conn_close(c);
		return;
	}
	ev_io_stop(c->kernel->cfg.loop, &c->writable);
	admin_reply_free(&c->reply);
	c->stage = CONN_READING;
}

static void writable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	(void)loop;
	(void)revents;
	conn_reply(w->data);
}

static bool conn_may_change(const struct conn *c)
{
	return c->uid == 0 || c->uid == geteuid();
}

static void conn_admin(struct conn *c, const struct rnic_ctl_request *req, const uint8_t *data)
{
	c->replied = 0;
	c->reply.fds = c->call.fds;
	c->reply.n_fds = c->call.n_fds;
	c->reply.may_change = conn_may_change(c);
	c->ret = admin_run(c->kernel, (const char *)data, req->len, req->arg[0] == 1, &c->reply);
	passed_drop(c);
	admin_reply_end(&c->reply);
	conn_reply(c);
}

static void conn_request(struct conn *c)
{
	struct rnic_ctl_request *req = (struct rnic_ctl_request *)(void *)c->request;
	const uint8_t *data = c->request + sizeof(*req);

	c->call.session = c->session;
	c->call.kernel = c->kernel;
	c->call.req = req;
	c->call.data = data;
	memset(c->call.fd_info, 0, sizeof(c->call.fd_info));
	if (c->request_len < sizeof(*req) || req->len != c->request_len - sizeof(*req)) {
		passed_drop(c);
		conn_answer(c, -EPROTO, NULL, 0);
	} else if (req->op == RNIC_CTL_HELLO || req->op == RNIC_CTL_JOIN) {
		conn_hello(c, req, data);
	} else if (req->op == RNIC_CTL_ADMIN) {
		conn_admin(c, req, data);
	} else if (!c->session) {
		conn_answer(c, -EPROTO, NULL, 0);
	} else {
		c->call.io = call_io_create();
		if (c->call.io) {
			conn_run(c);
		} else {
			passed_drop(c);
			conn_answer(c, -ENOMEM, NULL, 0);
		}
	}
}

static void looked(void *arg, const int *fds, uint32_t n)
{
	struct conn *c = arg;

	c->look = NULL;
	c->stage = CONN_READING;
	memcpy(c->call.fds, fds, n * sizeof(*fds));
	c->call.n_fds = n;
	conn_request(c);
}

/* A process's memory, by a proc of its own: that it is one is not known without asking it. */
static void conn_look(struct conn *c)
{
	uint32_t n = c->call.n_fds;

	c->call.n_fds = 0;
	c->look = passed_look_begin(c->kernel, c->uid, c->call.fds, n, looked, c);
	if (c->look)
		c->stage = CONN_LOOKING;
	else
		conn_answer(c, -EAGAIN, NULL, 0);
}

static bool is_proc_here(const struct conn *c)
{
	for (uint32_t i = 0; i < c->call.n_fds; i++)
		if (!passed_is_proc(c->kernel, c->call.fds[i]))
			return false;
	return true;
}

/* Only some requests want descriptors, and only of some kinds. */
static void conn_received(struct conn *c)
{
	const struct rnic_ctl_request *req = (const struct rnic_ctl_request *)(void *)c->request;
	uint32_t op = c->request_len >= sizeof(*req) ? req->op : 0;

	if (op == RNIC_CTL_HELLO && !c->session && c->call.n_fds == HELLO_FDS) {
		if (!is_proc_here(c)) {
			conn_look(c);
			return;
		}
	} else if (!(op == RNIC_CTL_ATTACH && c->session && c->call.n_fds == 1) &&
		   !(op == RNIC_CTL_ADMIN && conn_may_change(c))) {
		passed_drop(c);
	}
	conn_request(c);
}

/* Linux's SCM_MAX_FD: what there is no room for the kernel closes here and now. */
#define PASSED_MAX 253

static void take_fds(struct conn *c, struct msghdr *msg)
{
	for (struct cmsghdr *cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm)) {
		size_t n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int), taken = 0;
		int fds[PASSED_MAX];

		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS || n > PASSED_MAX)
			continue;
		memcpy(fds, CMSG_DATA(cm), n * sizeof(int));
		while (taken < n && c->call.n_fds < RNIC_CTL_FDS_MAX)
			c->call.fds[c->call.n_fds++] = fds[taken++];
		passed_close_all(c->kernel, c->uid, fds + taken, (uint32_t)(n - taken));
	}
}

static void readable_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct conn *c = w->data;
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * PASSED_MAX)];
	} u;
	struct rnic_ctl_request more; /* c->request still has the call under way */
	struct iovec iov = {.iov_base = c->request, .iov_len = sizeof(c->request)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = u.buf,
			     .msg_controllen = sizeof(u.buf)};
	ssize_t n;

	(void)revents;
	if (c->stage != CONN_READING && c->stage != CONN_NEEDS_FD) {
		/* The process is gone, or has not waited for its answer. */
		conn_close(c);
		return;
	}
	if (c->stage == CONN_NEEDS_FD)
		iov = (struct iovec){.iov_base = &more, .iov_len = sizeof(more)};
	if (passed_is_full(c->kernel, c->uid)) {
		ev_io_stop(loop, w);
		c->held = true;
		return;
	}
	n = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n >= 0) /* an empty one may have some, too */
		take_fds(c, &msg);
	if (n <= 0 || msg.msg_flags & MSG_TRUNC) {
		passed_drop(c);
		conn_close(c);
		return;
	}
	if (c->stage == CONN_READING) {
		c->request_len = (size_t)n;
		conn_received(c);
	} else if (n == sizeof(more) && more.op == RNIC_CTL_FD) {
		conn_fd_came(c);
	} else {
		passed_drop(c);
		conn_close(c);
	}
}

int conn_create(struct kernel *k, int fd, uid_t uid, pid_t pid)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->kernel = k;
	c->fd = fd;
	c->uid = uid;
	c->pid = pid;
	c->next = k->conns;
	if (c->next)
		c->next->prev = c;
	k->conns = c;
	k->n_conns++;
	ev_io_init(&c->readable, readable_fired, fd, EV_READ);
	ev_io_init(&c->writable, writable_fired, fd, EV_WRITE);
	c->readable.data = c->writable.data = c;
	ev_io_start(k->cfg.loop, &c->readable);
	return 0;
}

const struct conn *conn_next(const struct conn *c)
{
	return c->next;
}

uid_t conn_uid(const struct conn *c)
{
	return c->uid;
}

void passed_resume(struct kernel *k)
{
	for (struct conn *c = k->conns; c; c = c->next)
		if (c->held) {
			c->held = false;
			ev_io_start(k->cfg.loop, &c->readable);
		}
}

void conns_close(struct kernel *k)
{
	while (k->conns)
		conn_close(k->conns);
}
