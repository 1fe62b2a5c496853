/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices that come and go while the daemon runs, whoever asks: rnicctl, or NETLINK_RDMA. */
#ifndef KERNEL_LINK_H
#define KERNEL_LINK_H

#include <stdbool.h>

struct kdevice;
struct kernel;

/* What the kernel takes as a name, and sysfs and rnicctl can show: 1 to 63 printable characters
 * without '/', '%' and blanks, not "." or "..". */
bool kernel_link_name_valid(const char *name);

/*
 * RDMA_NLDEV_CMD_NEWLINK of type rxe: a device of that name on all addresses of an interface. 0, or
 * -EINVAL (a name that cannot be), -ENFILE (one that is taken), -ENODEV (no such interface),
 * -EEXIST (the interface has a device), -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM, with a log line.
 */
int kernel_link_add(struct kernel *k, const char *name, const char *netdev);

/*
 * RDMA_NLDEV_CMD_DELLINK: dev is no more when this returns 0. Programs that have it open are told
 * (IBV_EVENT_DEVICE_FATAL, RDMA_CM_EVENT_DEVICE_REMOVAL), then all that they ask of it is EIO. Must
 * not be called from within a callback of that device's core.
 */
int kernel_link_del(struct kernel *k, struct kdevice *dev);

/* By name; NULL if there is none. */
struct kdevice *kernel_link_find(struct kernel *k, const char *name);

#endif
