/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Open devices: calls that go to the daemon, and the descriptors that come back. */
#ifndef PRELOAD_DEVICE_H
#define PRELOAD_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "verbs/abi/doorbell.h"
#include "verbs/preload/fdtab.h"

/*
 * open() of a path of the daemon's (absolute, as the program sees it). A descriptor, -errno,
 * -EXDEV: open the tree's file; -ENOTCONN: there is no daemon any more.
 */
int device_open(const char *path, int flags);

/* Is this number an open device of ours (confirmed)? Clears a hint that is wrong. */
struct file *device_get(int fd);
/* The same for a number that no hint says anything about: is it a context's memfd? */
struct file *device_adopt(int fd);

/* As write() and ioctl(): >= 0 or -errno. */
int64_t device_write(int fd, struct file *f, const void *buf, size_t len);
int64_t device_ioctl(int fd, struct file *f, unsigned long request, void *arg);

/* socket() of NETLINK_RDMA: a descriptor or -errno; type has SOCK_CLOEXEC and SOCK_NONBLOCK. */
int device_netlink(int type);
/* A socket of that kind by that number, or NULL. */
struct file *device_netlink_get(int fd);
/* Its port, which it gets if it has none: RNIC_CTL_PORT. */
int64_t device_port(int fd, struct file *f, uint64_t wanted);

/* Hooks of close and of reuse of a number. */
void device_closed(int fd);
/* `to` has become another number of `from`. */
void device_dupped(int from, int to);

/* Worth a question whether it is a device of which nothing is known yet. */
static inline bool device_like(const struct stat *st)
{
	return st->st_size == (off_t)RNIC_DB_FILE_SIZE && S_ISREG(st->st_mode);
}

/* What the program sees of a device's descriptor: a character device. */
bool device_stat(int fd, struct stat *st);

#endif
