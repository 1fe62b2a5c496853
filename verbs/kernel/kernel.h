/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kernel's side as a whole: devices it shows, the control socket, and all clients. */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/device.h"

struct admin_reply;
struct ev_loop;
struct kernel;

/* A device as applications see it. */
struct kdevice {
	struct kdevice *next;
	struct rnic_device *rnic;
	struct kernel *kernel;
	char name[64];	 /* "rxe0" */
	char netdev[16]; /* interface name, "" for a plain address */
	uint32_t ifindex;
	bool netdev_up;	 /* the interface is up, though perhaps without a carrier */
	uint32_t index;	 /* N of uverbsN, which a later device may get again */
	uint32_t number; /* RDMA_NLDEV_ATTR_DEV_INDEX, by which libibverbs tells a new device from
			  * one that it knows; kernel_device_add counts it on */
	uint8_t guid[8]; /* node GUID, network order */
	uint32_t num_comp_vectors;
	bool is_localhost; /* its address of 127/8 stands for 127.0.0.1 in rdma_cm */
	void *host;	   /* the daemon's */
};

struct kernel_config {
	struct ev_loop *loop;
	const char
		*dir; /* folder of the socket and the tree; exists, ours, not writable for others */
	void (*log)(void *ctx, const char *line);
	void *ctx;
	/* A command of rnicctl: writes its answer with kernel_admin_print. Returns 0 or -errno. */
	int (*admin)(void *ctx, int argc, char **argv, bool json, struct admin_reply *reply);
	/* The source address for packets to `to` (an interface for link-local ones) by the routing
	 * table: 0, or -ENETUNREACH, -EHOSTUNREACH... NULL: nothing can be reached. */
	int (*route)(void *ctx, const uint8_t to[16], uint32_t ifindex, uint8_t from[16]);
	/* See link.h, which checks the name first; NULL: devices are fixed. */
	int (*link_add)(void *ctx, const char *name, const char *netdev);
	int (*link_del)(void *ctx, struct kdevice *dev);
	/* The number of sessions has changed (on-demand daemons end some time after the last). */
	void (*sessions_changed)(void *ctx, uint32_t sessions);
};

void admin_printf(struct admin_reply *reply, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* 0 or -errno with a log line. Binds DIR/control. The process is to ignore SIGPIPE. */
int kernel_create(const struct kernel_config *cfg, struct kernel **out);
void kernel_destroy(struct kernel *k);

/*
 * Show or hide a device: writes its part of the tree. The kdevice stays the caller's. Contexts of a
 * hidden one get IBV_EVENT_DEVICE_FATAL, lose all their objects, and answer EIO from then on.
 */
int kernel_device_add(struct kernel *k, struct kdevice *dev);
void kernel_device_del(struct kernel *k, struct kdevice *dev);
/* The device is about to be hidden: programs post nothing more, so that what they have posted can
 * be flushed. */
void kernel_device_leave(struct kdevice *dev);
void kernel_netdev_renamed(struct kdevice *dev, const char *netdev);
/* Its files move. 0, -EINVAL, -EEXIST, or -errno. */
int kernel_device_rename(struct kernel *k, struct kdevice *dev, const char *name);
/* A port event of the core: to every context of the device. */
void kernel_port_event(struct kdevice *dev, const struct rnic_async *event);

/* Look at every context's doorbells; true if any QP was kicked. */
bool kernel_scan_doorbells(struct kernel *k);
/* Around the loop's sleep: 1: clients must write their eventfd. Returns with a full fence. */
void kernel_set_sleeping(struct kernel *k, bool sleeping);

uint32_t kernel_sessions(const struct kernel *k);
uint32_t kernel_contexts(const struct kernel *k);
void kernel_log(struct kernel *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
