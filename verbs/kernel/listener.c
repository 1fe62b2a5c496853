/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The control socket: who may connect, and how often.
 *
 * A connection that cannot be had is refused at once: a descriptor is kept in reserve, so that even
 * a process that has no more can take it up and close it. Where that fails too the socket is left
 * alone for a while, instead of being told of again and again.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"

#define CONNS_MAX 8192
#define FILES_MAX (1u << 20)
#define OTHERS_PART 8 /* of all, for each user that is neither root nor the daemon's */
#define PAUSE_S 0.1
#define AT_ONCE 64 /* then others have their turn */

/* What the client has said is taken out first: else it would learn of a reset only. */
static void refuse(int fd)
{
	const struct rnic_ctl_answer no = {.ret = -EMFILE};
	char said;

	if (send(fd, &no, sizeof(no), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(no))
		recv(fd, &said, sizeof(said), MSG_DONTWAIT);
	close(fd);
}

static void refusal_tell(struct kernel *k, const char *why, unsigned int number)
{
	if (!k->refusal_told)
		kernel_log(k, "a connection is refused: %s %u", why, number);
	k->refusal_told = true;
}

static uint32_t conns_of(const struct kernel *k, uid_t uid)
{
	uint32_t n = 0;

	for (const struct conn *c = k->conns; c; c = conn_next(c))
		n += conn_uid(c) == uid;
	return n;
}

static bool has_room(struct kernel *k, uid_t uid)
{
	if (k->n_conns >= k->conns_max) {
		refusal_tell(k, "all clients together have", k->n_conns);
		return false;
	}
	if (uid && uid != geteuid() && conns_of(k, uid) >= k->uid_conns_max) {
		refusal_tell(k, "too many of uid", uid);
		return false;
	}
	return true;
}

static void accepted(struct kernel *k, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || !has_room(k, cred.uid) ||
	    conn_create(k, fd, cred.uid, cred.pid))
		refuse(fd);
}

static void spare_open(struct kernel *k)
{
	k->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* No descriptor is left for the next in the queue, if there is one. 0, or what accept says. */
static int turn_away(struct kernel *k)
{
	int fd, rc;

	if (k->spare_fd < 0)
		return -EMFILE;
	close(k->spare_fd);
	fd = accept4(k->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (fd >= 0)
		refuse(fd);
	spare_open(k);
	if (!rc)
		refusal_tell(k, "no descriptors are left; connections:", k->n_conns);
	return rc;
}

static int accept_next(struct kernel *k)
{
	int fd = accept4(k->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		accepted(k, fd);
	else if (errno == EMFILE)
		return turn_away(k);
	else if (errno != EINTR && errno != ECONNABORTED)
		return -errno;
	return 0;
}

static void pause_over(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)revents;
	if (k->spare_fd < 0)
		spare_open(k);
	ev_io_start(loop, &k->listen_io);
}

static void accept_fired(struct ev_loop *loop, ev_io *w, int revents)
{
	struct kernel *k = w->data;
	int rc = 0;

	(void)revents;
	for (int i = 0; i < AT_ONCE && !rc; i++)
		rc = accept_next(k);
	if (!rc || rc == -EAGAIN)
		return;
	ev_io_stop(loop, w);
	ev_timer_set(&k->listen_pause, PAUSE_S, 0.);
	ev_timer_start(loop, &k->listen_pause);
}

static void limits_set(struct kernel *k)
{
	struct rlimit files;

	k->conns_max = CONNS_MAX;
	/* Clients want descriptors for more than their connections. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 2 < k->conns_max)
		k->conns_max = (uint32_t)(files.rlim_cur / 2);
	k->uid_conns_max = k->conns_max / OTHERS_PART;
	/* What is left, but for the kernel's own and what a greeting costs. */
	k->owners.files_max = FILES_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 2 < k->owners.files_max)
		k->owners.files_max = (uint32_t)(files.rlim_cur / 2);
}

int listener_open(struct kernel *k)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int rc;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, k->cfg.dir) >=
	    (int)sizeof(sa.sun_path)) {
		kernel_log(k, "%s: too long a name for a socket's folder", k->cfg.dir);
		return -ENAMETOOLONG;
	}
	limits_set(k);
	spare_open(k);
	k->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->listen_fd < 0)
		return -errno;
	/* The caller has made sure that no other daemon lives in this folder. */
	unlink(sa.sun_path);
	if (bind(k->listen_fd, (struct sockaddr *)&sa, sizeof(sa)) || chmod(sa.sun_path, 0666) ||
	    listen(k->listen_fd, 1024)) {
		rc = -errno;
		kernel_log(k, "%s: %s", sa.sun_path, strerror(-rc));
		return rc;
	}
	ev_timer_init(&k->listen_pause, pause_over, PAUSE_S, 0.);
	ev_io_init(&k->listen_io, accept_fired, k->listen_fd, EV_READ);
	k->listen_io.data = k->listen_pause.data = k;
	ev_io_start(k->cfg.loop, &k->listen_io);
	return 0;
}

void listener_close(struct kernel *k)
{
	if (k->spare_fd >= 0)
		close(k->spare_fd);
	if (k->listen_fd < 0)
		return;
	ev_timer_stop(k->cfg.loop, &k->listen_pause);
	ev_io_stop(k->cfg.loop, &k->listen_io);
	close(k->listen_fd);
	unlinkat(k->dir_fd, RNIC_CTL_SOCKET, 0);
}
