/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sessions: a client process, what it may name, and what it asks.
 *
 * A session names contexts and channels by ids; it may only use an id that came to it with a
 * descriptor, or for which it has shown the descriptor (ATTACH).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs/kernel/afterlife.h"
#include "verbs/kernel/capability.h"
#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/netlink.h"
#include "verbs/kernel/passed.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/umem_priv.h"
#include "verbs/kernel/uverbs.h"

#define GRANTS_MAX 65536
#define POSTED_TURNS 64 /* of each QP */

struct session {
	struct session *next;
	struct kernel *kernel;
	uint64_t id;
	uint8_t token[16];
	uint32_t conns;
	struct umem *umem;
	int eventfd;
	bool awoken; /* the eventfd is to be emptied */
	ev_io kicked;
	char name[40];
	uid_t uid;
	uint32_t pid;		       /* as it says */
	struct capability_holder peer; /* as the kernel says */
	uint64_t *grants;
	uint32_t n_grants, room;
};

static int grant(struct session *s, uint64_t id)
{
	for (uint32_t i = 0; i < s->n_grants; i++)
		if (s->grants[i] == id)
			return 0;
	if (s->n_grants == s->room) {
		uint32_t room = s->room ? s->room * 2 : 16;
		uint64_t *p;

		if (room > GRANTS_MAX)
			return -EMFILE;
		p = realloc(s->grants, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		s->grants = p;
		s->room = room;
	}
	s->grants[s->n_grants++] = id;
	return 0;
}

static bool granted(const struct session *s, uint64_t id)
{
	for (uint32_t i = 0; i < s->n_grants; i++)
		if (s->grants[i] == id)
			return true;
	return false;
}

static void grant_drop(struct session *s, uint64_t id)
{
	for (uint32_t i = 0; i < s->n_grants; i++)
		if (s->grants[i] == id)
			s->grants[i] = s->grants[--s->n_grants];
}

/* This has woken the loop, which looks at the doorbells; emptying it can wait until it sleeps
 * again. */
static void kicked_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct session *s = w->data;

	(void)loop;
	(void)revents;
	s->awoken = true;
	s->kernel->awoken = true;
}

/* The client has this open file too and may have made it blocking: so not by plain read. */
static void eventfd_empty(int fd)
{
	uint64_t count;
	struct iovec iov = {.iov_base = &count, .iov_len = sizeof(count)};

	if (preadv2(fd, &iov, 1, -1, RWF_NOWAIT) < 0)
		return; /* emptied by the client itself */
}

void sessions_rest(struct kernel *k)
{

	if (!k->awoken)
		return;
	k->awoken = false;
	for (struct session *s = k->sessions; s; s = s->next)
		if (s->awoken) {
			s->awoken = false;
			eventfd_empty(s->eventfd);
		}
}

static void umem_ready(void *arg, struct umem *u)
{
	struct kernel *k = arg;

	for (struct kdevice *d = k->devices; d; d = d->next)
		rnic_mem_resume(d->rnic, (struct rnic_mem *)u, umem_clock());
	server_resume(k, u);
}

int session_create(struct kernel *k, int mem_fd, int maps_fd, const struct rnic_ctl_hello *hello,
		   uid_t uid, pid_t pid, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		close(mem_fd);
		close(maps_fd);
		return -ENOMEM;
	}
	rc = umem_create(mem_fd, maps_fd, uid != geteuid(), &s->umem);
	if (rc) {
		kernel_log(k, "a client of uid %u passed no usable /proc/self/mem", uid);
		free(s);
		return rc;
	}
	s->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->eventfd < 0 || getrandom(s->token, sizeof(s->token), 0) != sizeof(s->token)) {
		rc = -errno;
		umem_put(s->umem);
		free(s);
		return rc;
	}
	s->kernel = k;
	s->uid = uid;
	s->pid = (uint32_t)hello->pid;
	capability_holder_get(&s->peer, pid, uid);
	s->id = ++k->next_id;
	snprintf(s->name, sizeof(s->name), "%.*s[%llu]", (int)strnlen(hello->comm, 15), hello->comm,
		 (unsigned long long)hello->pid);
	for (char *p = s->name; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	umem_on_ready(s->umem, umem_ready, k);
	ev_io_init(&s->kicked, kicked_fired, s->eventfd, EV_READ);
	s->kicked.data = s;
	ev_io_start(k->cfg.loop, &s->kicked);
	s->next = k->sessions;
	k->sessions = s;
	k->n_sessions++;
	s->conns = 1;
	*out = s;
	if (k->cfg.sessions_changed)
		k->cfg.sessions_changed(k->cfg.ctx, k->n_sessions);
	return 0;
}

struct session *session_find(struct kernel *k, const uint8_t token[16])
{
	for (struct session *s = k->sessions; s; s = s->next)
		if (!memcmp(s->token, token, 16))
			return s;
	return NULL;
}

bool sessions_know(struct kernel *k, uint64_t id)
{
	for (struct session *s = k->sessions; s; s = s->next)
		if (granted(s, id))
			return true;
	return false;
}

void session_join(struct session *s)
{
	s->conns++;
}

void session_leave(struct session *s)
{
	struct kernel *k = s->kernel;

	if (--s->conns)
		return;
	for (struct session **p = &k->sessions; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	k->n_sessions--;
	ev_io_stop(k->cfg.loop, &s->kicked);
	close(s->eventfd);
	umem_process_left(s->umem);
	afterlife_begin(k, s->umem, s->grants, s->n_grants);
	free(s);
	if (k->cfg.sessions_changed)
		k->cfg.sessions_changed(k->cfg.ctx, k->n_sessions);
}

int session_eventfd(const struct session *s)
{
	return s->eventfd;
}

void session_welcome(const struct session *s, struct rnic_ctl_welcome *w)
{
	memcpy(w->token, s->token, sizeof(w->token));
	w->session = s->id;
}

struct umem *session_umem(struct session *s)
{
	return s->umem;
}

bool session_is_root(const struct session *s)
{
	return s->uid == 0;
}

uint32_t session_pid(const struct session *s)
{
	return s->pid;
}

bool session_has(const struct session *s, unsigned int capability)
{
	return capability_has(&s->peer, capability);
}

const char *session_name(const struct session *s)
{
	return s->name;
}

static int64_t call_open_node(struct call *call, struct kdevice *dev)
{
	struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_CONTEXT};
	const struct session *s = call->session;
	struct owner *opener;
	struct context *c;
	int fd, rc = owner_open(call->kernel, s->id, s->uid, CONTEXT_FILES, &opener);

	if (rc)
		return rc;
	rc = context_open(call->kernel, dev, &c, &fd);
	if (rc) {
		owner_close(opener, CONTEXT_FILES);
		kernel_log(call->kernel, "%s: opening %s: %s", s->name, dev->name, strerror(-rc));
		return rc;
	}
	context_opener_set(c, opener, s->pid);
	info.id = context_id(c);
	info.rdev = context_rdev(c);
	return call_pass_fd(call, fd, &info);
}

static int64_t call_open_cm(struct call *call)
{
	struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_UCMA, .rdev = ucma_rdev()};
	const struct session *s = call->session;
	const struct ucma_opener who = {.session = s->id, .uid = s->uid, .pid = s->pid};
	struct ucma_file *file;
	int fd, rc = ucma_open(call->kernel, &who, &file, &fd);

	if (rc)
		return rc;
	info.id = ucma_id(file);
	return call_pass_fd(call, fd, &info);
}

static int64_t call_open(struct call *call)
{
	struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_FILE};
	char path[RNIC_CTL_PATH_MAX];
	struct tree_node node = {0};
	int fd;

	if (!call->req->len || call->req->len >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, call->data, call->req->len);
	path[call->req->len] = 0;
	fd = tree_open(call->kernel, path, (int)call->req->arg[0], &node);
	if (node.dev)
		return call_open_node(call, node.dev);
	if (node.rdma_cm)
		return call_open_cm(call);
	return fd < 0 ? fd : call_pass_fd(call, fd, &info);
}

static int64_t call_netlink(struct call *call)
{
	const struct session *me = call->session;
	struct rnic_ctl_fd info = {.width = 4, .kind = RNIC_FD_NETLINK};
	struct owner *opener;
	struct nl_sock *s;
	int fd, rc = owner_open(call->kernel, me->id, me->uid, 1, &opener);

	if (rc)
		return rc;
	rc = nl_sock_open(call->kernel, me->uid, !me->uid || me->uid == geteuid(), me->pid, &s,
			  &fd);
	if (rc) {
		owner_close(opener, 1);
		return rc;
	}
	nl_sock_opener_set(s, opener);
	info.id = nl_sock_id(s);
	return call_pass_fd(call, fd, &info);
}

static int64_t call_port(struct call *call)
{
	const uint64_t *arg = call->req->arg;
	struct nl_sock *s =
		granted(call->session, arg[0]) ? nl_sock_find(call->kernel, arg[0]) : NULL;

	if (!s)
		return -EBADF;
	return arg[1] == RNIC_CTL_PORT_ASK ? (int64_t)nl_sock_portid(s)
					   : nl_sock_bind(s, (uint32_t)arg[1]);
}

/* The descriptor that came with the request is in fds[0]; it is closed with the call. */
static int64_t call_attach(struct call *call)
{
	struct ucma_file *file;
	struct channel *ch;
	struct context *c;
	struct nl_sock *s;
	struct stat st;
	uint64_t id;
	int rc, fd;

	if (call->n_fds != 1)
		return -EBADF;
	fd = call->fds[0];
	call->n_fds = 0;
	if (!passed_is_plain(fd) || fstat(fd, &st)) {
		passed_close(call->kernel, call->session->uid, fd);
		return -ENOTTY;
	}
	c = context_find_inode(call->kernel, st.st_dev, st.st_ino);
	ch = c ? NULL : channel_find_inode(st.st_dev, st.st_ino);
	file = !c && !ch ? ucma_find_inode(call->kernel, st.st_dev, st.st_ino) : NULL;
	s = !c && !ch && !file ? nl_sock_find_inode(call->kernel, st.st_dev, st.st_ino) : NULL;
	passed_close(call->kernel, call->session->uid, fd);
	if (!c && !ch && !file && !s)
		return -ENOTTY;
	id = c ? context_id(c) : ch ? channel_id(ch) : file ? ucma_id(file) : nl_sock_id(s);
	call->fd_info[0] = (struct rnic_ctl_fd){
		.width = 4,
		.id = id,
		.kind = c				? RNIC_FD_CONTEXT
			: file				? RNIC_FD_UCMA
			: s				? RNIC_FD_NETLINK
			: channel_record_size(ch) == 16 ? RNIC_FD_ASYNC
							: RNIC_FD_CHANNEL,
		.rdev = c      ? context_rdev(c)
			: file ? ucma_rdev()
			       : 0,
	};
	rc = ch ? 0 : grant(call->session, id);
	return rc ? rc : (int64_t)id;
}

static int64_t call_closed(struct call *call)
{
	grant_drop(call->session, call->req->arg[0]);
	return 0;
}

/*
 * What was posted before a command is sent before it, as by Linux's rxe, whose doorbell is a system
 * call that sends. Bounded, since a client may post as fast as we send; what is then left is sent
 * later, as by an adapter.
 */
static void posted_run(struct context *c)
{
	struct rnic_device *dev;

	if (!context_scan(c))
		return;
	dev = context_device(c)->rnic;
	for (int i = 0; i < POSTED_TURNS && rnic_run(dev, umem_clock()); i++)
		;
}

static int64_t call_command(struct call *call)
{
	const uint64_t *arg = call->req->arg;
	struct ucma_file *file;
	struct context *c;

	if (!granted(call->session, arg[0]))
		return -EBADF;
	c = context_find(call->kernel, arg[0]);
	file = c ? NULL : ucma_find(call->kernel, arg[0]);
	if (file)
		return call->req->op == RNIC_CTL_WRITE ? ucma_write(call, file, arg[1], arg[2])
						       : -ENOTTY;
	if (!c)
		return -EBADF;
	posted_run(c);
	if (call->req->op == RNIC_CTL_WRITE)
		return uverbs_write(call, c, arg[1], arg[2]);
	return uverbs_ioctl(call, c, (uint32_t)arg[1], arg[2]);
}

static int64_t dispatch(struct call *call)
{
	switch ((enum rnic_ctl_op)call->req->op) {
	case RNIC_CTL_OPEN:
		return call_open(call);
	case RNIC_CTL_ATTACH:
		return call_attach(call);
	case RNIC_CTL_WRITE:
	case RNIC_CTL_IOCTL:
		return call_command(call);
	case RNIC_CTL_NETLINK:
		return call_netlink(call);
	case RNIC_CTL_PORT:
		return call_port(call);
	case RNIC_CTL_CLOSED:
		return call_closed(call);
	case RNIC_CTL_HELLO:
	case RNIC_CTL_JOIN:
	case RNIC_CTL_ADMIN:
	case RNIC_CTL_FD:
		break;
	}
	return -EPROTO;
}

/* Event descriptors are told by their inode each time, and nobody says when they are closed. */
static bool is_granted_kind(uint32_t kind)
{
	return kind != RNIC_FD_FILE && kind != RNIC_FD_CHANNEL && kind != RNIC_FD_ASYNC;
}

int64_t session_call(struct call *call)
{
	int64_t ret = dispatch(call);

	for (uint32_t i = 0; ret >= 0 && i < call->n_fds; i++)
		if (is_granted_kind(call->fd_info[i].kind)) {
			int rc = grant(call->session, call->fd_info[i].id);

			if (rc)
				ret = rc;
		}
	return ret;
}
