/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of struct umem, shared by umem.c and the helper thread of umem_slow.c. */
#ifndef KERNEL_UMEM_PRIV_H
#define KERNEL_UMEM_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "verbs/kernel/umem.h"

struct ev_loop;
struct umem_helper;

#define UMEM_PLAIN_MAX 8

struct umem_range {
	uint64_t start, end;
	bool writable;
};

struct umem {
	int mem_fd, maps_fd;
	uint32_t refs;
	struct umem *base;  /* of a paged view: the umem whose descriptors these are */
	struct umem *paged; /* its paged view while there is one, without a reference */
	bool slow;
	bool far;  /* more mappings than UMEM_LOOKS were in the way of the last access asked for */
	pid_t pid; /* whose memory it is, for process_vm_readv; 0: not to be used */
	struct umem_helper *helper;		 /* made at the first slow access */
	struct umem_range plain[UMEM_PLAIN_MAX]; /* mappings seen to be no slow ones */
	uint32_t n_plain;
	void (*ready)(void *arg, struct umem *u);
	void *ready_arg;
};

enum umem_op { UMEM_READ, UMEM_WRITE, UMEM_ATOMIC, UMEM_CHECK };

struct umem_access {
	enum umem_op op;
	uint64_t addr, len;
	bool write;	/* CHECK, and ask_first: whether the mappings permit that */
	bool ask_first; /* the mappings, whether they permit it */
	enum rnic_atomic_op atomic;
	uint64_t swap_add, compare;
	/* What came of it: the value before, and what the mappings are. */
	uint64_t orig;
	uint32_t looks; /* mappings looked at */
	bool slow;
	struct umem_range last;
};

uint64_t umem_clock(void); /* monotonic, ns */

/* Not after exec or exit: then it reads 0 bytes. */
bool umem_lives(int mem_fd);

/* Do it now, on this thread; it may sleep. 0 or -EFAULT. */
int umem_do_rw(int mem_fd, bool write, uint64_t addr, const struct iovec *iov, int n);
int umem_do_atomic(int mem_fd, struct umem_access *a);
/* umem_check by so many looks: 0, -EFAULT, or -EAGAIN: there are more mappings in the way. */
int umem_do_check(int maps_fd, struct umem_access *a, uint32_t looks);
/* Before any thread calls umem_do_check. */
void umem_memory_devs_find(void);

/* The same on the loop's thread, by the cheapest way; len: of all pieces. */
int umem_bulk_rw(struct umem *u, bool write, uint64_t addr, const struct iovec *iov, int n,
		 uint64_t len);
/* The process of an open /proc/PID/mem whose name this is, or 0 if our own pids do not tell. */
pid_t umem_pid_of(int mem_fd, const char *path);

/* Through the helper: 0, -EFAULT, or -EINPROGRESS until it is done. */
int umem_slow_access(struct umem *u, struct umem_access *a, const struct iovec *iov, int n);
/* The umem goes; a helper that sleeps in an access is abandoned to end by itself. */
void umem_slow_end(struct umem *u);

#endif
