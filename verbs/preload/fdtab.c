/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of descriptors. */
#include "config.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs/abi/doorbell.h"
#include "verbs/preload/fdtab.h"

#define CHUNK 256
#define CHUNKS 255 /* indices stay below the marks */

_Atomic uint16_t fdtab_entries[FDTAB_SIZE];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *_Atomic chunks[CHUNKS];
static _Atomic unsigned int high; /* no entry above */

struct file *fdtab_file(uint16_t hint)
{
	struct file *chunk;

	if (hint == FDTAB_NONE || hint >= FDTAB_TREE)
		return NULL;
	chunk = atomic_load_explicit(&chunks[(hint - 1) / CHUNK], memory_order_acquire);
	return chunk ? &chunk[(hint - 1) % CHUNK] : NULL;
}

static void raise_high(unsigned int fd)
{
	unsigned int seen = atomic_load(&high);

	while (seen < fd && !atomic_compare_exchange_weak(&high, &seen, fd))
		;
}

/* Lock held. */
static bool drop(uint16_t hint, struct file *last)
{
	struct file *f = fdtab_file(hint);

	if (!f || f->refs == 0 || --f->refs > 0)
		return false;
	*last = *f;
	f->db = NULL;
	atomic_store(&f->gen, 0);
	return true;
}

static struct file *chunk_get(unsigned int n)
{
	struct file *chunk = atomic_load(&chunks[n]);

	if (chunk)
		return chunk;
	chunk = mmap(NULL, CHUNK * sizeof(*chunk), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&chunks[n], chunk, memory_order_release);
	return chunk;
}

/* Lock held. The file of the inode, or a free one. */
static struct file *find(dev_t dev, ino_t ino, uint16_t *hint)
{
	struct file *free_file = NULL;

	for (unsigned int n = 0; n < CHUNKS; n++) {
		bool fresh = !atomic_load(&chunks[n]);
		struct file *chunk;

		if (fresh && free_file)
			break;
		chunk = chunk_get(n);
		if (!chunk)
			break;
		for (unsigned int i = 0; i < CHUNK; i++) {
			if (chunk[i].refs && chunk[i].dev == dev && chunk[i].ino == ino) {
				*hint = n * CHUNK + i + 1;
				return &chunk[i];
			}
			if (!chunk[i].refs && !free_file) {
				free_file = &chunk[i];
				*hint = n * CHUNK + i + 1;
			}
		}
		if (fresh)
			break;
	}
	if (free_file) {
		memset(free_file, 0, sizeof(*free_file));
		free_file->dev = dev;
		free_file->ino = ino;
	}
	return free_file;
}

struct file *fdtab_add(int fd, dev_t dev, ino_t ino)
{
	struct file last, *f;
	uint16_t hint, old;

	if ((unsigned int)fd >= FDTAB_SIZE)
		return NULL;
	pthread_mutex_lock(&lock);
	f = find(dev, ino, &hint);
	if (f) {
		f->refs++;
		raise_high(fd);
		old = atomic_exchange(&fdtab_entries[fd], hint);
		if (old && drop(old, &last) && last.db)
			munmap(last.db, RNIC_DB_SIZE);
	}
	pthread_mutex_unlock(&lock);
	return f;
}

void fdtab_set(int fd, uint16_t hint)
{
	struct file *f;

	if ((unsigned int)fd >= FDTAB_SIZE)
		return;
	pthread_mutex_lock(&lock);
	f = fdtab_file(hint);
	if (f && f->refs) {
		f->refs++;
		raise_high(fd);
		atomic_store_explicit(&fdtab_entries[fd], hint, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
}

bool fdtab_clear(int fd, struct file *last)
{
	bool gone = false;
	uint16_t old;

	if ((unsigned int)fd >= FDTAB_SIZE || !atomic_load(&fdtab_entries[fd]))
		return false;
	pthread_mutex_lock(&lock);
	old = atomic_exchange(&fdtab_entries[fd], FDTAB_NONE);
	if (old)
		gone = drop(old, last);
	pthread_mutex_unlock(&lock);
	return gone;
}

void fdtab_mark(int fd, uint16_t mark)
{
	if ((unsigned int)fd >= FDTAB_SIZE)
		return;
	raise_high(fd);
	atomic_store_explicit(&fdtab_entries[fd], mark, memory_order_release);
}

int fdtab_next(uint16_t mark, unsigned int from, unsigned int to)
{
	unsigned int end = atomic_load(&high);

	for (unsigned int fd = from; fd <= to && fd <= end; fd++) {
		if (fdtab_hint(fd) == mark)
			return fd;
	}
	return -1;
}

int fdtab_next_any(unsigned int from, unsigned int to)
{
	unsigned int end = atomic_load(&high);

	for (unsigned int fd = from; fd <= to && fd <= end; fd++) {
		if (fdtab_hint(fd))
			return fd;
	}
	return -1;
}

void fdtab_child(void)
{
	pthread_mutex_init(&lock, NULL);
}
