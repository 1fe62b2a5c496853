/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a client's mappings permit, read from the /proc/self/maps that it passed.
 *
 * A mapping is "slow" if touching it may wait for a server: a file on a file system without a
 * block device (FUSE, NFS, ...). Those of memory are told by their device number, which no mount
 * of a user can have: the kernel's own shmem mount, and the tmpfs mounts known when first asked.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "verbs/kernel/umem_priv.h"

#define MEMORY_DEVS_MAX 8
#define LINE_MAX_LEN 4608 /* a path of PATH_MAX and the columns before it */

static dev_t memory_devs[MEMORY_DEVS_MAX];
static unsigned int n_memory_devs;

static void memory_dev_add(const struct stat *st)
{
	if (n_memory_devs < MEMORY_DEVS_MAX)
		memory_devs[n_memory_devs++] = st->st_dev;
}

void umem_memory_devs_find(void)
{
	static const char *const mounts[] = {"/dev/shm", "/tmp", "/run", "/dev/hugepages"};
	static const unsigned int kinds[] = {0, MFD_HUGETLB};
	struct statfs fs;
	struct stat st;

	if (n_memory_devs)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		int fd = memfd_create("rnic-probe", MFD_CLOEXEC | kinds[i]);

		if (fd < 0)
			continue;
		if (!fstat(fd, &st))
			memory_dev_add(&st);
		close(fd);
	}
	for (unsigned int i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (!statfs(mounts[i], &fs) && !stat(mounts[i], &st) &&
		    (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC))
			memory_dev_add(&st);
}

static bool dev_is_slow(unsigned int maj, unsigned int min, uint64_t inode)
{
	if (!inode || maj)
		return false;
	umem_memory_devs_find();
	for (unsigned int i = 0; i < n_memory_devs; i++)
		if (memory_devs[i] == makedev(maj, min))
			return false;
	return true;
}

/* PROCMAP_QUERY of Linux 6.11, for older headers: the mapping at an address. */
struct map_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)
#define MAP_READABLE 1u
#define MAP_WRITABLE 2u

static_assert(sizeof(struct map_query) == 104, "PROCMAP_QUERY");

struct walk {
	uint64_t at, end; /* what is still to be covered */
	bool write;
	uint32_t left; /* so many mappings may still be looked at */
	bool slow;
	struct umem_range last; /* the mapping that was looked at last */
};

enum step { STEP_ON, STEP_DONE, STEP_FAULT, STEP_TOO_FAR };

static enum step walk_mapping(struct walk *w, const struct umem_range *m, bool read, bool slow)
{
	if (!w->left)
		return STEP_TOO_FAR;
	w->left--;
	if (m->end <= w->at)
		return STEP_ON;
	if (m->start > w->at || !read || (w->write && !m->writable))
		return STEP_FAULT;
	w->slow |= slow;
	w->last = *m;
	w->at = m->end;
	return w->at >= w->end ? STEP_DONE : STEP_ON;
}

static enum step walk_line(struct walk *w, const char *line)
{
	uint64_t start, end, offset, inode;
	unsigned int maj, min;
	char perms[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end,
		   perms, &offset, &maj, &min, &inode) != 7)
		return STEP_FAULT;
	return walk_mapping(w, &(struct umem_range){start, end, perms[1] == 'w'}, perms[0] == 'r',
			    dev_is_slow(maj, min, inode));
}

static enum step walk_buffer(struct walk *w, char *buf, size_t *len)
{
	enum step step = STEP_ON;
	char *line = buf, *nl;

	while (step == STEP_ON && (nl = memchr(line, '\n', *len - (size_t)(line - buf)))) {
		*nl = 0;
		step = walk_line(w, line);
		line = nl + 1;
	}
	*len -= (size_t)(line - buf);
	memmove(buf, line, *len);
	return step;
}

/* Mapping by mapping: a process may have tens of thousands, and the stack is the last of them.
 * false: this kernel cannot. */
static bool query_all(int fd, struct walk *w, enum step *step)
{
	*step = STEP_ON;
	while (*step == STEP_ON) {
		struct map_query q = {.size = sizeof(q), .query_addr = w->at};
		struct umem_range m;

		if (ioctl(fd, MAP_QUERY, &q)) {
			*step = STEP_FAULT;
			return errno != ENOTTY && errno != EINVAL;
		}
		m = (struct umem_range){q.vma_start, q.vma_end, q.vma_flags & MAP_WRITABLE};
		*step = walk_mapping(w, &m, q.vma_flags & MAP_READABLE,
				     dev_is_slow(q.dev_major, q.dev_minor, q.inode));
	}
	return true;
}

static enum step read_all(int fd, struct walk *w)
{
	char buf[4 * LINE_MAX_LEN];
	enum step step = STEP_ON;
	size_t have = 0;
	off_t pos = 0;

	while (step == STEP_ON) {
		ssize_t n = pread(fd, buf + have, sizeof(buf) - have, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return STEP_FAULT;
		pos += n;
		have += (size_t)n;
		step = walk_buffer(w, buf, &have);
		if (have == sizeof(buf))
			return STEP_FAULT;
	}
	return step;
}

int umem_do_check(int maps_fd, struct umem_access *a, uint32_t looks)
{
	struct walk w = {.at = a->addr, .end = a->addr + a->len, .write = a->write, .left = looks};
	enum step step;

	if (w.end < a->addr)
		return -EFAULT;
	if (!query_all(maps_fd, &w, &step))
		step = read_all(maps_fd, &w);
	a->looks = looks - w.left;
	a->slow = w.slow;
	a->last = w.last;
	return step == STEP_DONE ? 0 : step == STEP_TOO_FAR ? -EAGAIN : -EFAULT;
}

int umem_check(struct umem *u, uint64_t addr, uint64_t len, bool write, uint32_t *looks, bool *slow)
{
	struct umem_access a = {.op = UMEM_CHECK, .addr = addr, .len = len, .write = write};
	int rc;

	*slow = false;
	if (!len)
		return 0;
	rc = umem_do_check(u->maps_fd, &a, *looks);
	*looks -= a.looks;
	if (rc == -EAGAIN)
		rc = umem_slow_access(u, &a, NULL, 0);
	if (rc == -EINPROGRESS)
		return rc;
	*slow = a.slow;
	if (a.slow)
		umem_set_slow(u);
	else if (!rc && a.last.start <= addr)
		u->plain[u->n_plain++ % UMEM_PLAIN_MAX] = a.last;
	return rc;
}

static bool is_plain(const struct umem *u, uint64_t addr, uint64_t len, bool write)
{
	for (uint32_t i = 0; i < UMEM_PLAIN_MAX; i++)
		if (u->plain[i].start <= addr && addr < u->plain[i].end &&
		    len <= u->plain[i].end - addr && (u->plain[i].writable || !write))
			return true;
	return false;
}

bool umem_look(struct umem *u, uint64_t addr, uint64_t len, uint32_t *looks)
{
	bool slow;

	return u->slow || is_plain(u, addr, len, false) ||
	       umem_check(u, addr, len, false, looks, &slow) != -EINPROGRESS;
}

int umem_check_output(struct umem *u, uint64_t addr, uint64_t len)
{
	uint32_t looks = UINT32_MAX;
	bool slow;

	return is_plain(u, addr, len, true) ? 0 : umem_check(u, addr, len, true, &looks, &slow);
}
