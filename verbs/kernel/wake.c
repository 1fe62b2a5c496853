/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The page that tells clients whether the daemon sleeps, and whether it lives: written here,
 * read-only for everybody else.
 *
 * Its life is the lock word of a robust mutex that this thread holds for good: when the thread
 * dies, by SIGKILL too, the kernel clears its number there.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs/abi/doorbell.h"
#include "verbs/kernel/kernel_priv.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#define LIFE_AT 64 /* of the mutex in the page */

struct wake_page {
	int fd;
	struct rnic_wake *page;
};

static pthread_mutex_t *life_of(struct rnic_wake *page)
{
	return (pthread_mutex_t *)(void *)((uint8_t *)page + LIFE_AT);
}

/* Where a C library keeps the lock word in its mutex is its own affair: it is looked for. */
static void life_begin(struct rnic_wake *page)
{
	uint32_t words[sizeof(pthread_mutex_t) / 4], self = (uint32_t)syscall(SYS_gettid);
	pthread_mutexattr_t attr;

	if (pthread_mutexattr_init(&attr))
		return;
	if (!pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) &&
	    !pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) &&
	    !pthread_mutex_init(life_of(page), &attr))
		pthread_mutex_lock(life_of(page));
	pthread_mutexattr_destroy(&attr);
	memcpy(words, life_of(page), sizeof(words));
	for (uint32_t i = 0; i < sizeof(words) / 4 && !page->life_at; i++)
		if ((words[i] & RNIC_WAKE_OWNER) == self)
			page->life_at = LIFE_AT + i * 4;
}

static void life_end(struct rnic_wake *page)
{
	if (page->life_at)
		pthread_mutex_unlock(life_of(page));
}

struct wake_page *wake_page_create(void)
{
	struct wake_page *w = calloc(1, sizeof(*w));
	void *p = MAP_FAILED;

	if (!w)
		return NULL;
	w->fd = memfd_create("rnic-wake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (w->fd >= 0 && !ftruncate(w->fd, RNIC_WAKE_SIZE))
		p = mmap(NULL, RNIC_WAKE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	/* Our own mapping was made before the seal and stays writable. */
	if (p == MAP_FAILED ||
	    fcntl(w->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		if (p != MAP_FAILED)
			munmap(p, RNIC_WAKE_SIZE);
		if (w->fd >= 0)
			close(w->fd);
		free(w);
		return NULL;
	}
	w->page = p;
	life_begin(p);
	return w;
}

void wake_page_destroy(struct wake_page *w)
{
	if (!w)
		return;
	/* Whoever still has it mapped must not think that somebody looks at doorbells. */
	life_end(w->page);
	atomic_store(&w->page->sleeping, 1);
	munmap(w->page, RNIC_WAKE_SIZE);
	close(w->fd);
	free(w);
}

int wake_page_fd(const struct wake_page *w)
{
	return w->fd;
}

void wake_page_set(struct wake_page *w, bool sleeping)
{
	atomic_store_explicit(&w->page->sleeping, sleeping, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}
