/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The threads that look at descriptors and close them. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/passed.h"

#define UID_MAX 64 /* that wait, of one user */
#define STACK (256 * 1024)

struct passed_look {
	struct passed_look *next;
	struct passed *passed;
	uid_t uid;
	bool looks; /* else it only closes */
	bool over;  /* the thread is done with it; under the lock */
	int fds[RNIC_CTL_FDS_MAX];
	uint32_t n;
	void (*fn)(void *arg, const int *fds, uint32_t n); /* NULL: nobody waits for it */
	void *arg;
};

struct passed {
	pthread_mutex_t lock;
	struct kernel *kernel; /* under the lock; NULL: it has ended */
	struct ev_loop *loop;
	ev_async over;
	struct passed_look *looks; /* the loop's thread's */
	uint32_t refs;		   /* under the lock: the kernel and all looks */
	int mount;		   /* of the proc here; -1: not known */
};

/* ---- what one is ---- */

/* The number of the mount that it was opened by, or -1. The kernel itself tells it. */
static int mount_of(int fd)
{
	char path[64], text[512], *at;
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (info >= 0)
		close(info);
	if (n <= 0)
		return -1;
	text[n] = 0;
	at = strstr(text, "mnt_id:");
	return at ? atoi(at + strlen("mnt_id:")) : -1;
}

static int proc_mount(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), mount = mount_of(fd);

	if (fd >= 0)
		close(fd);
	return mount;
}

bool passed_is_proc(const struct kernel *k, int fd)
{
	return k->passed->mount >= 0 && mount_of(fd) == k->passed->mount;
}

/*
 * And no FIFO with a name, of which some file system could be asked: names begin with a slash. The
 * pipe itself is not asked, since any call for it takes its lock, which a reader has for as long as
 * its own memory lets it wait.
 */
static bool is_pipe(int fd)
{
	static const char pipe[] = "pipe:[";
	char path[64], link[sizeof(pipe)] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, link, sizeof(pipe) - 1) == sizeof(pipe) - 1 && !strcmp(link, pipe);
}

bool passed_is_plain(int fd)
{
	int domain;
	socklen_t len = sizeof(domain);

	return fcntl(fd, F_GET_SEALS) >= 0 || is_pipe(fd) ||
	       (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX);
}

/* ---- on a thread ---- */

/* With the lock held; it is free afterwards. */
static void passed_put(struct passed *p)
{
	bool last = !--p->refs;

	pthread_mutex_unlock(&p->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void fds_close(struct passed_look *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->fds[i] >= 0)
			close(l->fds[i]);
}

static void *look_main(void *arg)
{
	struct passed_look *l = arg;
	struct passed *p = l->passed;

	for (uint32_t i = 0; i < l->n; i++) {
		struct statfs fs;

		if (l->looks && !fstatfs(l->fds[i], &fs) && fs.f_type == PROC_SUPER_MAGIC)
			continue;
		close(l->fds[i]);
		l->fds[i] = -1;
	}
	pthread_mutex_lock(&p->lock);
	l->over = true;
	if (p->kernel) {
		ev_async_send(p->loop, &p->over);
	} else {
		fds_close(l);
		free(l);
	}
	passed_put(p);
	return NULL;
}

/* As daemons want it: signals are the loop's. */
static int thread_begin(struct passed_look *l)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, look_main, l);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

/* ---- on the loop's ---- */

static void over_fired(struct ev_loop *loop, ev_async *w, int revents)
{
	struct passed *p = w->data;
	struct passed_look *over = NULL;

	(void)loop;
	(void)revents;
	pthread_mutex_lock(&p->lock);
	for (struct passed_look **at = &p->looks; *at;) {
		struct passed_look *l = *at;

		if (!l->over) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		l->next = over;
		over = l;
	}
	pthread_mutex_unlock(&p->lock);
	while (over) {
		struct passed_look *l = over;

		over = l->next;
		if (l->fn)
			l->fn(l->arg, l->fds, l->n);
		else
			fds_close(l);
		free(l);
	}
	passed_resume(p->kernel);
}

int passed_begin(struct kernel *k)
{
	struct passed *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	p->kernel = k;
	p->loop = k->cfg.loop;
	p->refs = 1;
	p->mount = proc_mount();
	ev_async_init(&p->over, over_fired);
	p->over.data = p;
	ev_async_start(p->loop, &p->over);
	k->passed = p;
	return 0;
}

void passed_end(struct kernel *k)
{
	struct passed *p = k->passed;

	if (!p)
		return;
	k->passed = NULL;
	pthread_mutex_lock(&p->lock);
	p->kernel = NULL;
	ev_async_stop(p->loop, &p->over);
	while (p->looks) {
		struct passed_look *l = p->looks;

		p->looks = l->next;
		if (!l->over)
			continue; /* its thread frees it */
		fds_close(l);
		free(l);
	}
	passed_put(p);
}

struct passed_look *passed_look_begin(struct kernel *k, uid_t uid, const int *fds, uint32_t n,
				      void (*fn)(void *arg, const int *fds, uint32_t n), void *arg)
{
	struct passed *p = k->passed;
	struct passed_look *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return NULL; /* better open than waited for */
	*l = (struct passed_look){
		.passed = p, .uid = uid, .looks = fn, .n = n, .fn = fn, .arg = arg};
	memcpy(l->fds, fds, n * sizeof(*fds));
	pthread_mutex_lock(&p->lock);
	p->refs++;
	pthread_mutex_unlock(&p->lock);
	rc = thread_begin(l);
	if (rc) {
		pthread_mutex_lock(&p->lock);
		passed_put(p);
		free(l);
		return NULL;
	}
	l->next = p->looks;
	p->looks = l;
	return l;
}

void passed_look_abandon(struct passed_look *l)
{
	l->fn = NULL;
}

void passed_close(struct kernel *k, uid_t uid, int fd)
{
	if (fd < 0)
		return;
	if (passed_is_proc(k, fd))
		close(fd);
	else
		passed_look_begin(k, uid, &fd, 1, NULL, NULL);
}

void passed_close_all(struct kernel *k, uid_t uid, const int *fds, uint32_t n)
{
	for (uint32_t part; n; fds += part, n -= part) {
		part = n < RNIC_CTL_FDS_MAX ? n : RNIC_CTL_FDS_MAX;
		passed_look_begin(k, uid, fds, part, NULL, NULL);
	}
}

/* A message: with credentials it differs from the end, even if it is empty. */
static bool message_waits(int fd)
{
	const int yes = 1;
	struct msghdr msg = {0};

	return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) ||
	       (!recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT) && msg.msg_flags & MSG_CTRUNC);
}

void passed_socket_close(struct kernel *k, uid_t uid, int fd)
{
	shutdown(fd, SHUT_RDWR);
	if (message_waits(fd))
		passed_look_begin(k, uid, &fd, 1, NULL, NULL);
	else
		close(fd);
}

bool passed_follow(int fd)
{
	struct msghdr msg = {0};

	return recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT) >= 0 && msg.msg_flags & MSG_CTRUNC;
}

bool passed_is_full(const struct kernel *k, uid_t uid)
{
	uint32_t n = 0;

	for (const struct passed_look *l = k->passed->looks; l; l = l->next)
		n += l->uid == uid;
	return n >= UID_MAX;
}
