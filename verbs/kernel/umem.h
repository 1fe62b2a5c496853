/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory of a client process, through the /proc/self/mem that it passed. struct umem is what
 * the core knows as struct rnic_mem. It outlives its session while an MR refers to it.
 */
#ifndef KERNEL_UMEM_H
#define KERNEL_UMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rnic/host.h"

struct umem;

/* Takes both descriptors. -EINVAL with a log line if mem is no /proc/PID/mem opened for reading and
 * writing. */
int umem_create(int mem_fd, int maps_fd, bool slow, struct umem **out);
struct umem *umem_get(struct umem *u);
void umem_put(struct umem *u);

/* 0, -EFAULT, -EINPROGRESS as rnic/host.h says. */
int umem_readv(struct umem *u, uint64_t addr, const struct iovec *dst, int n);
int umem_writev(struct umem *u, uint64_t addr, const struct iovec *src, int n);
int umem_atomic(struct umem *u, uint64_t addr, enum rnic_atomic_op op, uint64_t swap_add,
		uint64_t compare, uint64_t *orig);

/* So many mappings are looked at on the loop's thread for one access, or one run of a command: what
 * takes more is for the helper. A process may have tens of thousands, and a kernel before Linux
 * 6.11 tells of one only after all that lie below it (10,000 of them: 5 ms). */
#define UMEM_LOOKS 512

/*
 * Is [addr, addr+len) mapped, and writable if `write`? By the passed maps file. 0, -EFAULT, or
 * -EINPROGRESS if that takes more than *looks looks: ask again when the memory is ready. *looks is
 * what is left of them. *slow is set if a mapping may sleep (a file on FUSE, NFS, or a file system
 * that is not known): the helper makes all accesses from then on.
 */
int umem_check(struct umem *u, uint64_t addr, uint64_t len, bool write, uint32_t *looks,
	       bool *slow);

/* Before an access outside of any MR: umem_check for the sake of slow mappings alone. The mappings
 * that it has seen last are taken for unchanged. false: to be asked again, as above. */
bool umem_look(struct umem *u, uint64_t addr, uint64_t len, uint32_t *looks);

/* Is an access under way that the helper has begun? */
bool umem_busy(struct umem *u);

/*
 * May a command's results be written here? 0 or -EFAULT. Mappings seen last (mostly the stack) are
 * taken for unchanged: one that has become read-only since gets its own process's results.
 */
int umem_check_output(struct umem *u, uint64_t addr, uint64_t len);

/*
 * The same memory under on-demand paging: each access asks first whether the mappings permit it, as
 * they are then, for none was looked at when the MR was made. A reference; NULL: no memory for it.
 */
struct umem *umem_paged(struct umem *u);
/* What a paged view is one of, no reference; others are their own. */
struct umem *umem_base(struct umem *u);

/* Its process has broken off, or become another program: its pid says nothing any more. */
void umem_process_left(struct umem *u);

/* Use the helper thread for all accesses from now on. */
void umem_set_slow(struct umem *u);

/* Called (on the loop's thread) when accesses that answered -EINPROGRESS may be made again. */
void umem_on_ready(struct umem *u, void (*fn)(void *arg, struct umem *u), void *arg);

#endif
