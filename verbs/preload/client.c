/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The session and its pool of connections. A slot of the pool is free (-1), idle (the
 * descriptor) or taken (marked busy): taking is one compare-and-swap. The page `alive` is zero in
 * every fork child, however it was made (MADV_WIPEONFORK), and shared with vfork children.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs/abi/doorbell.h"
#include "verbs/preload/client.h"
#include "verbs/preload/connection.h"
#include "verbs/preload/fdtab.h"
#include "verbs/preload/real.h"

#define SLOTS 64
#define PAGE RNIC_WAKE_SIZE

/* A slot holds 0 (free), BUSY, or fd + 1; the fd of a taken one is in `taken`. */
#define BUSY (-1)
static struct {
	_Atomic int state;
	_Atomic int taken; /* fd + 1, for fork children to close */
} slots[SLOTS];

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t generation; /* of the session; 0: none */
static uint32_t last_generation;
static _Atomic uint32_t *alive; /* see above */
static _Atomic pid_t self;
static uint8_t token[16];
static char dir[RNIC_CTL_PATH_MAX];
static char real_dir[RNIC_CTL_PATH_MAX];
static struct rnic_wake *_Atomic wake;
static _Atomic int wake_fd = -1;

void client_say(bool always, const char *fmt, ...)
{
	static _Atomic int said;
	char line[512] = "librnic: ";
	va_list ap;
	int n;

	if (!getenv("RNIC_DEBUG") && (!always || atomic_exchange(&said, 1)))
		return;
	va_start(ap, fmt);
	n = vsnprintf(line + 9, sizeof(line) - 10, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	strcat(line, "\n");
	syscall(SYS_write, STDERR_FILENO, line, strlen(line));
}

const char *client_dir(void)
{
	return dir;
}

const char *client_real_dir(void)
{
	return real_dir;
}

uint32_t client_generation(void)
{
	if (!alive || !atomic_load_explicit(alive, memory_order_relaxed))
		return 0;
	return atomic_load_explicit(&generation, memory_order_acquire);
}

bool client_is_vfork_child(void)
{
	return alive && *alive && syscall(SYS_getpid) != atomic_load(&self);
}

static void close_internal(int fd)
{
	if (fdtab_hint(fd) == FDTAB_INTERNAL)
		fdtab_mark(fd, FDTAB_NONE);
	syscall(SYS_close, fd);
}

/* The session is over: all but contexts, which find a new one by ATTACH. */
static void drop_session(bool child)
{
	struct rnic_wake *page = atomic_exchange(&wake, NULL);
	int fd;

	atomic_store(&generation, 0);
	for (int i = 0; i < SLOTS; i++) {
		int state = atomic_exchange(&slots[i].state, child ? 0 : BUSY);

		fd = atomic_load(&slots[i].taken);
		if (state == BUSY && !child)
			continue; /* its user closes it */
		if (fd)
			close_internal(fd - 1);
		atomic_store(&slots[i].taken, 0);
		atomic_store(&slots[i].state, 0);
	}
	fd = atomic_exchange(&wake_fd, -1);
	if (fd >= 0)
		close_internal(fd);
	if (page && child)
		munmap(page, PAGE); /* else another thread may be looking at it: left */
}

static void fork_child(void)
{
	pthread_mutex_init(&start_lock, NULL);
	fdtab_child();
	if (!alive)
		return;
	drop_session(true);
}

static int mem_open(const char *name, int flags, int *fd)
{
	*fd = syscall(SYS_openat, AT_FDCWD, name, flags | O_CLOEXEC, 0);
	if (*fd >= 0)
		return 0;
	client_say(true,
		   "%s cannot be opened (%s): this process hides its memory (not dumpable), "
		   "so it cannot use RDMA here",
		   name, strerror(errno));
	return -EACCES;
}

static void hello_fill(struct rnic_ctl_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->version = RNIC_CTL_VERSION;
	h->pid = syscall(SYS_getpid);
	syscall(SYS_prctl, PR_GET_NAME, h->comm, 0, 0, 0);
}

static int greet(int fd, enum rnic_ctl_op op, const struct rnic_ctl_hello *h, const int *fds,
		 unsigned int n_fds, struct rnic_ctl_welcome *w, int got[RNIC_CTL_FDS_MAX])
{
	struct rnic_ctl_request req = {.op = op, .len = sizeof(*h)};
	struct rnic_ctl_answer answer = {0};
	int ret = connection_send(fd, &req, h, fds, n_fds);

	/* A refusal may come before we have spoken, or behind the word that nobody listens. */
	if (!ret || ret == -EPIPE)
		ret = connection_receive(fd, &answer, w, sizeof(*w), got);
	if (ret == -ECONNRESET)
		ret = connection_receive(fd, &answer, w, sizeof(*w), got);
	if (!ret && answer.ret < 0)
		ret = answer.ret;
	return ret;
}

static int welcome_take(const struct rnic_ctl_welcome *w, int got[RNIC_CTL_FDS_MAX])
{
	void *page;

	if (got[0] < 0 || got[1] < 0)
		return -EPROTO;
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, got[0], 0);
	if (page == MAP_FAILED)
		return -errno;
	memcpy(token, w->token, sizeof(token));
	atomic_store(&wake, page);
	atomic_store(&wake_fd, connection_move_high(got[1]));
	got[1] = -1;
	return 0;
}

static int hello(int fd)
{
	struct rnic_ctl_hello h;
	struct rnic_ctl_welcome w = {{0}, 0};
	int fds[2] = {-1, -1}, got[RNIC_CTL_FDS_MAX] = {-1, -1, -1, -1};
	int ret = mem_open("/proc/self/mem", O_RDWR, &fds[0]);

	if (!ret)
		ret = mem_open("/proc/self/maps", O_RDONLY, &fds[1]);
	if (!ret) {
		hello_fill(&h);
		ret = greet(fd, RNIC_CTL_HELLO, &h, fds, 2, &w, got);
	}
	if (!ret)
		ret = welcome_take(&w, got);
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			syscall(SYS_close, fds[i]);
	}
	for (int i = 0; i < RNIC_CTL_FDS_MAX; i++) {
		if (got[i] >= 0)
			syscall(SYS_close, got[i]);
	}
	return ret;
}

static void find_dir(void)
{
	const char *env = getenv("RNIC_DIR");

	if (!env || env[0] != '/' || strlen(env) > sizeof(dir) / 4)
		env = "/run/rnic";
	strcpy(dir, env);
	if (!real()->realpath || !real()->realpath(dir, real_dir))
		strcpy(real_dir, dir);
}

/* Makes out later whether this is the process that it was. */
__attribute__((constructor)) static void identify(void)
{
	void *page;

	if (!alive) {
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return;
		madvise(page, PAGE, MADV_WIPEONFORK);
		alive = page;
	}
	if (!*alive) {
		atomic_store(&self, syscall(SYS_getpid));
		atomic_store(alive, 1);
	}
}

/* 0 or -errno; -ENOTCONN in a vfork child, whose descriptors the parent would not have. */
static int identify_again(void)
{
	static bool registered;

	if (alive && !*alive)
		drop_session(true); /* a child that no handler has seen */
	identify();
	if (!alive)
		return -ENOMEM;
	if (atomic_load(&self) != syscall(SYS_getpid))
		return -ENOTCONN;
	if (!registered)
		pthread_atfork(NULL, NULL, fork_child);
	registered = true;
	return 0;
}

/* Lock held; no session is there. */
static int start(void)
{
	int fd, ret = identify_again();

	if (ret)
		return ret;
	find_dir();
	ret = connection_open(dir, &fd);
	if (ret) {
		client_say(false, "no daemon at %s: %s", dir, strerror(-ret));
		return ret;
	}
	ret = hello(fd);
	if (ret) {
		client_say(true, "the daemon at %s refuses: %s", dir, strerror(-ret));
		close_internal(fd);
		return ret;
	}
	atomic_store(&slots[0].taken, fd + 1);
	atomic_store(&slots[0].state, fd + 1);
	atomic_store(&generation, ++last_generation);
	return 0;
}

bool client_ready(void)
{
	int saved = errno;
	bool ok = client_generation() != 0;

	if (!ok) {
		pthread_mutex_lock(&start_lock);
		ok = client_generation() != 0 || start() == 0;
		pthread_mutex_unlock(&start_lock);
	}
	errno = saved;
	return ok;
}

/* The session of that generation has lost its daemon. */
static void lost(uint32_t gen)
{
	pthread_mutex_lock(&start_lock);
	if (client_generation() == gen) {
		client_say(true, "the daemon at %s has ended; what was opened there answers EIO",
			   dir);
		drop_session(false);
	}
	pthread_mutex_unlock(&start_lock);
}

/* An idle connection, or a new one. *slot: where it goes back; -1: nowhere. */
static int connection_take(int *slot)
{
	struct rnic_ctl_hello h;
	struct rnic_ctl_welcome w;
	int fd, ret, got[RNIC_CTL_FDS_MAX];

	for (int i = 0; i < SLOTS; i++) {
		int state = atomic_load_explicit(&slots[i].state, memory_order_relaxed);

		if (state > 0 && atomic_compare_exchange_strong(&slots[i].state, &state, BUSY)) {
			*slot = i;
			return state - 1;
		}
	}
	ret = connection_open(dir, &fd);
	if (ret)
		return ret == -ECONNREFUSED || ret == -ENOENT ? -ENOTCONN : ret;
	hello_fill(&h);
	memcpy(h.token, token, sizeof(token));
	ret = greet(fd, RNIC_CTL_JOIN, &h, NULL, 0, &w, got);
	if (ret) {
		close_internal(fd);
		return ret == -EMFILE ? ret : -ENOTCONN; /* else the session is over */
	}
	*slot = -1;
	for (int i = client_is_vfork_child() ? SLOTS : 0; i < SLOTS; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&slots[i].state, &none, BUSY)) {
			atomic_store(&slots[i].taken, fd + 1);
			*slot = i;
			break;
		}
	}
	return fd;
}

/* ok: no message is under way. */
static void connection_give(int fd, int slot, uint32_t gen, bool ok)
{
	if (slot >= 0)
		fd = atomic_load(&slots[slot].taken) - 1; /* it may have moved */
	if (slot < 0 || !ok || client_generation() != gen) {
		if (fd >= 0)
			close_internal(fd);
		if (slot < 0)
			return;
		atomic_store(&slots[slot].taken, 0);
		atomic_store(&slots[slot].state, 0);
		return;
	}
	atomic_store_explicit(&slots[slot].state, fd + 1, memory_order_release);
}

/* The daemon wants to see descriptor `number`. */
static int show_fd(int fd, uint64_t number)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_FD, .arg = {number}};
	int passed = number <= INT32_MAX ? (int)number : -1;
	int ret;

	if (passed < 0 || fdtab_hint(passed) == FDTAB_INTERNAL)
		return connection_send(fd, &req, NULL, NULL, 0);
	ret = connection_send(fd, &req, NULL, &passed, 1);
	return ret == -EBADF ? connection_send(fd, &req, NULL, NULL, 0) : ret;
}

static int exchange(int fd, const struct rnic_ctl_request *req, const void *data, int pass_fd,
		    struct rnic_ctl_answer *answer, int fds[RNIC_CTL_FDS_MAX])
{
	int ret = connection_send(fd, req, data, &pass_fd, pass_fd >= 0);

	if (ret)
		return ret;
	do {
		ret = connection_receive(fd, answer, NULL, 0, fds);
		if (ret || answer->ret != RNIC_CTL_NEED_FD)
			return ret;
		ret = show_fd(fd, answer->fd[0].where);
	} while (!ret);
	return ret;
}

int64_t client_call(enum rnic_ctl_op op, const uint64_t arg[4], const void *data, size_t len,
		    int pass_fd, struct rnic_ctl_answer *answer, int fds[RNIC_CTL_FDS_MAX])
{
	struct rnic_ctl_request req = {.op = op, .len = len};
	int saved = errno, slot = -1, fd;
	uint32_t gen;
	int64_t ret;

	memcpy(req.arg, arg, sizeof(req.arg));
	if (!client_ready())
		return -ENOTCONN;
	gen = client_generation();
	fd = connection_take(&slot);
	if (fd < 0) {
		ret = fd;
	} else {
		ret = exchange(fd, &req, data, pass_fd, answer, fds);
		connection_give(fd, slot, gen, ret == 0 || ret == -EMFILE);
		if (!ret)
			ret = answer->ret;
		else if (ret != -EMFILE)
			ret = -ENOTCONN;
	}
	if (ret == -ENOTCONN)
		lost(gen);
	errno = saved;
	return ret;
}

bool client_daemon_died(void)
{
	struct rnic_wake *page = atomic_load_explicit(&wake, memory_order_relaxed);

	return page && wake_is_dead(page);
}

void client_wake(void)
{
	struct rnic_wake *page = atomic_load_explicit(&wake, memory_order_relaxed);
	uint64_t one = 1;
	int saved;

	if (!page || !atomic_load_explicit(&page->sleeping, memory_order_relaxed))
		return;
	saved = errno;
	syscall(SYS_write, atomic_load_explicit(&wake_fd, memory_order_relaxed), &one, sizeof(one));
	errno = saved;
}

void client_evade(int fd)
{
	int saved = errno;
	int moved = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1);

	if (moved < 0)
		return;
	fdtab_mark(moved, FDTAB_INTERNAL);
	if (atomic_load(&wake_fd) == fd)
		atomic_store(&wake_fd, moved);
	for (int i = 0; i < SLOTS; i++) {
		int state = fd + 1;

		if (atomic_load(&slots[i].taken) != fd + 1)
			continue;
		atomic_store(&slots[i].taken, moved + 1);
		atomic_compare_exchange_strong(&slots[i].state, &state, moved + 1);
	}
	fdtab_mark(fd, FDTAB_NONE);
	errno = saved;
}
