/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Contexts: their memfd and how long they live.
 *
 * The client gets an open file of the memfd that is not the daemon's own. When some open file of
 * it is closed, inotify wakes us, and the question whether it was the last (inotify merges events
 * and cannot be counted on) is put to the kernel: a write lease is granted only if nobody else has
 * the file open for writing, descriptor or mapping. The file that memfd_create made does not count
 * there (measured), so the lease is asked for through another open of ours.
 *
 * The kernel tells of the close before it has let go of the file (measured: 53 leases of 300,000
 * refused after the last close), so a refused question is put again, ever later, for a while.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "verbs/kernel/context_priv.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/uverbs.h"

#define ASK_AGAIN_S 0.001
#define ASK_SLOWER 4.0	/* times, after each refusal */
#define ASK_LAST_S 20.0 /* a virtual machine may not run for that long in the midst of a close */

static int memfd_make(struct context *c)
{
	struct stat st;
	void *p;

	c->fd = memfd_create("rnic-uverbs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (c->fd < 0)
		return -errno;
	/* SEAL too: else a client could add FUTURE_WRITE and lock the daemon out. */
	if (ftruncate(c->fd, (off_t)RNIC_DB_FILE_SIZE) ||
	    fcntl(c->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    fstat(c->fd, &st))
		return -errno;
	c->st_dev = st.st_dev;
	c->st_ino = st.st_ino;
	p = mmap(NULL, RNIC_DB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	c->doorbell = p;
	return 0;
}

static int memfd_share(struct context *c)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	c->lease_fd = open(path, O_RDWR | O_CLOEXEC);
	if (c->lease_fd < 0)
		return -errno;
	c->watch = inotify_add_watch(c->kernel->inotify_fd, path, IN_CLOSE_WRITE);
	if (c->watch < 0)
		return -errno;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void context_free(struct context *c)
{
	if (c->doorbell)
		munmap(c->doorbell, RNIC_DB_SIZE);
	if (c->watch >= 0)
		inotify_rm_watch(c->kernel->inotify_fd, c->watch);
	if (c->lease_fd >= 0)
		close(c->lease_fd);
	if (c->fd >= 0)
		close(c->fd);
	free(c->uobjects.slot);
	if (c->opener)
		owner_close(c->opener, CONTEXT_FILES);
	free(c);
}

int context_open(struct kernel *k, struct kdevice *dev, struct context **out, int *fd)
{
	struct context *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->kernel = k;
	c->dev = dev;
	c->index = dev->index;
	c->fd = c->lease_fd = c->watch = -1;
	rc = memfd_make(c);
	if (!rc)
		rc = memfd_share(c);
	if (rc < 0) {
		context_free(c);
		return rc;
	}
	*fd = rc;
	c->id = ++k->next_id;
	c->next = k->contexts;
	k->contexts = c;
	k->n_contexts++;
	*out = c;
	return 0;
}

void context_destroy(struct context *c)
{
	struct kernel *k = c->kernel;

	for (struct context **p = &k->contexts; *p; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			k->n_contexts--;
			break;
		}
	c->ending = true;
	uverbs_cleanup(c);
	context_free(c);
}

void context_leave(struct context *c)
{
	atomic_store(&c->doorbell->gone, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

void context_disassociate(struct context *c)
{
	c->ending = true;
	context_leave(c);
	uverbs_disassociate(c);
	c->dev = NULL;
}

struct context *context_find(struct kernel *k, uint64_t id)
{
	for (struct context *c = k->contexts; c; c = c->next)
		if (c->id == id)
			return c;
	return NULL;
}

struct context *context_find_inode(struct kernel *k, dev_t dev, ino_t ino)
{
	for (struct context *c = k->contexts; c; c = c->next)
		if (c->st_dev == dev && c->st_ino == ino)
			return c;
	return NULL;
}

void context_opener_set(struct context *c, struct owner *opener, uint32_t pid)
{
	c->opener = opener;
	c->others = owner_is_other(opener);
	c->opener_pid = pid;
}

uint64_t context_id(const struct context *c)
{
	return c->id;
}

uint64_t context_rdev(const struct context *c)
{
	return makedev(TREE_UVERBS_MAJOR, TREE_UVERBS_MINOR + c->index);
}

struct rnic_doorbell *context_doorbell(struct context *c)
{
	return c->doorbell;
}

struct kdevice *context_device(struct context *c)
{
	return c->dev;
}

void **context_uverbs(struct context *c)
{
	return &c->uverbs;
}

struct uobjects *context_uobjects(struct context *c)
{
	return &c->uobjects;
}

struct context *context_next(struct context *c)
{
	return c->next;
}

static bool nobody_has_it(const struct context *c)
{
	if (fcntl(c->lease_fd, F_SETLEASE, F_WRLCK))
		return false;
	fcntl(c->lease_fd, F_SETLEASE, F_UNLCK);
	return true;
}

/* All whose end was told, and then refused. */
static void closed_check(struct kernel *k)
{
	struct context *next;
	bool refused = false;

	for (struct context *c = k->contexts; c; c = next) {
		next = c->next;
		if (c->closed && nobody_has_it(c))
			context_destroy(c);
		else
			refused |= c->closed;
	}
	if (refused && k->ask_again_s < ASK_LAST_S) {
		ev_timer_stop(k->cfg.loop, &k->ask_again);
		ev_timer_set(&k->ask_again, k->ask_again_s, 0.);
		ev_timer_start(k->cfg.loop, &k->ask_again);
		return;
	}
	for (struct context *c = k->contexts; c; c = c->next)
		c->closed = false;
}

static void ask_again_fired(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct kernel *k = w->data;

	(void)loop;
	(void)revents;
	k->ask_again_s *= ASK_SLOWER;
	closed_check(k);
}

/* watch: of the one that was closed; -1: of any. */
static void closed_mark(struct kernel *k, int watch)
{
	for (struct context *c = k->contexts; c; c = c->next)
		c->closed |= watch < 0 || c->watch == watch;
}

void context_inotify_fired(struct kernel *k)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(k->inotify_fd, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			const struct inotify_event *ev = (const struct inotify_event *)p;

			if (ev->mask & IN_Q_OVERFLOW)
				closed_mark(k, -1);
			else if (ev->mask & IN_CLOSE_WRITE)
				closed_mark(k, ev->wd);
			p += sizeof(*ev) + ev->len;
		}
	k->ask_again_s = ASK_AGAIN_S;
	closed_check(k);
}

void contexts_watch(struct kernel *k)
{
	ev_timer_init(&k->ask_again, ask_again_fired, ASK_AGAIN_S, 0.);
	k->ask_again.data = k;
}

void contexts_end(struct kernel *k)
{
	while (k->contexts)
		context_destroy(k->contexts);
	if (ev_is_active(&k->ask_again))
		ev_timer_stop(k->cfg.loop, &k->ask_again);
}

bool context_scan(struct context *c)
{
	struct rnic_doorbell *db = c->doorbell;
	bool any = false;

	if (!c->dev || !atomic_load_explicit(&db->pending, memory_order_relaxed) ||
	    !atomic_exchange(&db->pending, 0))
		return false;
	for (uint32_t w = 0; w < RNIC_DB_HANDLES / 64 && w * 64 < c->uobjects.room; w++) {
		uint64_t bits = atomic_load_explicit(&db->kick[w], memory_order_relaxed);

		if (!bits)
			continue;
		bits = atomic_exchange_explicit(&db->kick[w], 0, memory_order_acquire);
		for (; bits; bits &= bits - 1) {
			uverbs_kick(c, w * 64 + (uint32_t)__builtin_ctzll(bits));
			any = true;
		}
	}
	return any;
}
