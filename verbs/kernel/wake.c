/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The page that tells clients whether the daemon sleeps: written here, read-only for everybody
 * else. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/abi/doorbell.h"
#include "verbs/kernel/kernel_priv.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

struct wake_page {
	int fd;
	struct rnic_wake *page;
};

struct wake_page *wake_page_create(void)
{
	struct wake_page *w = calloc(1, sizeof(*w));
	void *p = MAP_FAILED;

	if (!w)
		return NULL;
	w->fd = memfd_create("rnic-wake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (w->fd >= 0 && !ftruncate(w->fd, 4096))
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	/* Our own mapping was made before the seal and stays writable. */
	if (p == MAP_FAILED ||
	    fcntl(w->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
		if (p != MAP_FAILED)
			munmap(p, 4096);
		if (w->fd >= 0)
			close(w->fd);
		free(w);
		return NULL;
	}
	w->page = p;
	return w;
}

void wake_page_destroy(struct wake_page *w)
{
	if (!w)
		return;
	/* Whoever still has it mapped must not think that somebody looks at doorbells. */
	atomic_store(&w->page->sleeping, 1);
	munmap(w->page, 4096);
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
