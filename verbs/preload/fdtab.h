/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which descriptor numbers of this process are open devices of ours. Only a hint: numbers can
 * be closed and reused behind our back, so whoever acts on one confirms it with fstat (the
 * inode of the context's memfd). The only exception is a doorbell, whose 32 bytes are no accident.
 */
#ifndef PRELOAD_FDTAB_H
#define PRELOAD_FDTAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rnic_doorbell;

#define FDTAB_SIZE (1u << 20) /* numbers above are never ours */

/* Entries; others are the index of a file, plus one. */
#define FDTAB_NONE 0
#define FDTAB_TREE 0xfffe     /* a folder of the daemon's tree, or one above it */
#define FDTAB_INTERNAL 0xffff /* librnic's own: connections, eventfd */

/* An open device, shared by all its numbers here. */
struct file {
	uint32_t refs; /* numbers; under the table's lock */
	uint32_t kind; /* enum rnic_fd_kind */
	dev_t dev;
	ino_t ino;
	uint64_t rdev;
	uint64_t id;
	_Atomic uint32_t gen;	  /* the session in which id is valid; 0 none */
	struct rnic_doorbell *db; /* our mapping, NULL if there is none */
};

extern _Atomic uint16_t fdtab_entries[FDTAB_SIZE];

static inline uint16_t fdtab_hint(int fd)
{
	if (__builtin_expect((unsigned int)fd >= FDTAB_SIZE, 0))
		return FDTAB_NONE;
	return atomic_load_explicit(&fdtab_entries[fd], memory_order_acquire);
}

/* NULL if the hint names none. */
struct file *fdtab_file(uint16_t hint);

/* The file of this inode, made if there is none, entered for fd. NULL: table full. */
struct file *fdtab_add(int fd, dev_t dev, ino_t ino);
/* fd is another number of what `hint` is. */
void fdtab_set(int fd, uint16_t hint);
/*
 * fd is closed, or was reused. True if it was the last number of a file: *last is what it
 * was; its doorbell mapping is the caller's to unmap.
 */
bool fdtab_clear(int fd, struct file *last);

void fdtab_mark(int fd, uint16_t mark);
/* First number in [from, to] with the mark; -1. */
int fdtab_next(uint16_t mark, unsigned int from, unsigned int to);
/* First number in [from, to] with any entry; -1. */
int fdtab_next_any(unsigned int from, unsigned int to);

/* In a fork child: other threads' locks are gone. */
void fdtab_child(void);

#endif
