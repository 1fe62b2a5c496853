/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Access to the memory of a client process.
 *
 * The descriptor of /proc/self/mem that the client passed is the right to it: it needs no ptrace
 * permission, and after an exec it reads and writes nothing, so that neither a recycled pid nor a
 * set-uid program is ever touched. It goes through read-only mappings, hence umem_check.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "verbs/kernel/umem_priv.h"

/* An access on the loop's thread that took longer makes its client slow. Not less: on a busy
 * machine the kernel takes the core away for tens of milliseconds in the midst of an access. */
#define SLOW_NS (500 * 1000 * 1000ull)

/* path: of PATH_MAX bytes. */
static bool is_proc_file(int fd, const char *name, char *path)
{
	char link[64];
	struct statfs fs;
	const char *base;
	ssize_t n;

	if (fstatfs(fd, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	base = strrchr(path, '/');
	return base && !strcmp(base + 1, name);
}

int umem_create(int mem_fd, int maps_fd, bool slow, struct umem **out)
{
	struct umem *u;
	int flags = fcntl(mem_fd, F_GETFL);
	char mem[PATH_MAX], maps[PATH_MAX];

	if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || !is_proc_file(mem_fd, "mem", mem) ||
	    !is_proc_file(maps_fd, "maps", maps)) {
		close(mem_fd);
		close(maps_fd);
		return -EINVAL;
	}
	u = calloc(1, sizeof(*u));
	if (!u) {
		close(mem_fd);
		close(maps_fd);
		return -ENOMEM;
	}
	u->mem_fd = mem_fd;
	u->maps_fd = maps_fd;
	u->slow = slow;
	/* Another user's process is not to be reached by a pid of which it may make another one. */
	u->pid = slow ? 0 : umem_pid_of(mem_fd, mem);
	u->refs = 1;
	*out = u;
	return 0;
}

struct umem *umem_get(struct umem *u)
{
	u->refs++;
	return u;
}

void umem_put(struct umem *u)
{
	if (!u || --u->refs)
		return;
	umem_slow_end(u);
	if (u->base) {
		u->base->paged = NULL;
		umem_put(u->base);
	} else {
		close(u->mem_fd);
		close(u->maps_fd);
	}
	free(u);
}

struct umem *umem_paged(struct umem *u)
{
	struct umem *p = u->paged ? umem_get(u->paged) : calloc(1, sizeof(*p));

	if (!p || u->paged)
		return p;
	p->mem_fd = u->mem_fd;
	p->maps_fd = u->maps_fd;
	p->refs = 1;
	p->base = umem_get(u);
	p->slow = u->slow;
	p->pid = u->pid;
	p->ready = u->ready;
	p->ready_arg = u->ready_arg;
	u->paged = p;
	return p;
}

struct umem *umem_base(struct umem *u)
{
	return u->base ? u->base : u;
}

void umem_process_left(struct umem *u)
{
	u->pid = 0;
	if (u->paged)
		u->paged->pid = 0;
}

void umem_set_slow(struct umem *u)
{
	u->slow = true;
}

void umem_on_ready(struct umem *u, void (*fn)(void *arg, struct umem *u), void *arg)
{
	u->ready = fn;
	u->ready_arg = arg;
}

uint64_t umem_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t iov_bytes(const struct iovec *iov, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return sum;
}

/* A short answer in the middle means that the rest is not mapped: on and on until none comes. */
static int rw_rest(int fd, bool write, uint64_t addr, uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n =
			write ? pwrite(fd, p, len, (off_t)addr) : pread(fd, p, len, (off_t)addr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		p += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int umem_do_rw(int mem_fd, bool write, uint64_t addr, const struct iovec *iov, int n)
{
	uint64_t want = iov_bytes(iov, n);
	ssize_t got;

	if (!want)
		return 0;
	if (addr > INT64_MAX || want > INT64_MAX - addr)
		return -EFAULT;
	got = write ? pwritev(mem_fd, iov, n, (off_t)addr) : preadv(mem_fd, iov, n, (off_t)addr);
	if (got == (ssize_t)want)
		return 0;
	if (got == 0)
		return -ESRCH; /* exit or exec took the memory away, whole */
	if (got < 0 && errno != EINTR)
		return -EFAULT;
	if (got < 0)
		got = 0;
	for (int i = 0; i < n; i++) {
		size_t skip = (size_t)got < iov[i].iov_len ? (size_t)got : iov[i].iov_len;

		got -= (ssize_t)skip;
		if (skip < iov[i].iov_len &&
		    rw_rest(mem_fd, write, addr + skip, (uint8_t *)iov[i].iov_base + skip,
			    iov[i].iov_len - skip))
			return -EFAULT;
		addr += iov[i].iov_len;
	}
	return 0;
}

int umem_do_atomic(int mem_fd, struct umem_access *a)
{
	struct iovec iov = {.iov_base = &a->orig, .iov_len = 8};
	uint64_t value;
	int rc;

	rc = umem_do_rw(mem_fd, false, a->addr, &iov, 1);
	if (rc)
		return rc;
	value = a->swap_add;
	if (a->atomic == RNIC_ATOMIC_FETCH_ADD)
		value += a->orig;
	else if (a->orig != a->compare)
		return 0;
	iov.iov_base = &value;
	return umem_do_rw(mem_fd, true, a->addr, &iov, 1);
}

static int inline_rw(struct umem *u, bool write, uint64_t addr, const struct iovec *iov, int n)
{
	uint64_t begin = umem_clock();
	int rc = umem_bulk_rw(u, write, addr, iov, n, iov_bytes(iov, n));

	if (umem_clock() - begin > SLOW_NS)
		umem_set_slow(u);
	return rc;
}

/* The mem descriptor itself would go through mappings that permit nothing, or no writing. Where too
 * many are in the way the helper asks them. */
static int paged_check(struct umem *u, struct umem_access *a)
{
	int rc;

	if (!u->base || !a->len)
		return 0;
	rc = u->far ? -EAGAIN : umem_do_check(u->maps_fd, a, UMEM_LOOKS);
	a->ask_first = rc == -EAGAIN;
	if (a->slow)
		umem_set_slow(u);
	if (rc == -EFAULT && !umem_lives(u->mem_fd))
		return -ESRCH;
	return a->ask_first ? 0 : rc;
}

static int helped_access(struct umem *u, struct umem_access *a, const struct iovec *iov, int n)
{
	int rc = umem_slow_access(u, a, iov, n);

	if (a->ask_first && rc != -EINPROGRESS) {
		u->far = a->looks > UMEM_LOOKS;
		if (a->slow)
			umem_set_slow(u);
	}
	return rc;
}

static int access_rw(struct umem *u, enum umem_op op, uint64_t addr, const struct iovec *iov, int n)
{
	bool write = op == UMEM_WRITE;
	struct umem_access a = {.op = op, .addr = addr, .len = iov_bytes(iov, n), .write = write};
	int rc = paged_check(u, &a);

	if (rc)
		return rc;
	return u->slow || a.ask_first ? helped_access(u, &a, iov, n)
				      : inline_rw(u, write, addr, iov, n);
}

int umem_readv(struct umem *u, uint64_t addr, const struct iovec *dst, int n)
{
	return access_rw(u, UMEM_READ, addr, dst, n);
}

int umem_writev(struct umem *u, uint64_t addr, const struct iovec *src, int n)
{
	return access_rw(u, UMEM_WRITE, addr, src, n);
}

int umem_atomic(struct umem *u, uint64_t addr, enum rnic_atomic_op op, uint64_t swap_add,
		uint64_t compare, uint64_t *orig)
{
	struct umem_access a = {.op = UMEM_ATOMIC,
				.addr = addr,
				.len = 8,
				.write = true,
				.atomic = op,
				.swap_add = swap_add,
				.compare = compare};
	int rc = paged_check(u, &a);

	if (!rc)
		rc = u->slow || a.ask_first ? helped_access(u, &a, NULL, 0)
					    : umem_do_atomic(u->mem_fd, &a);
	*orig = a.orig;
	return rc;
}
