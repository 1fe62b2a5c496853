/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rdma_cm device: what `open("/dev/infiniband/rdma_cm")` makes, an event channel of librdmacm.
 * Its descriptor is one end of a socket pair, readable as long as an event waits: each event is a
 * record of one byte in it, which librnic.so takes out when the event has been fetched. It ends
 * when the kernel says that nobody has the other end any more; its connections are then taken down.
 */
#ifndef KERNEL_UCMA_H
#define KERNEL_UCMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct call;
struct kdevice;
struct kernel;
struct ucma_file;

#define UCMA_MAJOR 10u
#define UCMA_MINOR 58u
#define UCMA_ABI 4

int ucma_create(struct kernel *k); /* once for a kernel */
void ucma_destroy(struct kernel *k);

/* The process that opens a channel. */
struct ucma_opener {
	uint64_t session;
	uid_t uid;
	uint32_t pid; /* for display */
};

/* *client_fd is to be passed to the client (the caller closes it). */
int ucma_open(struct kernel *k, const struct ucma_opener *who, struct ucma_file **file,
	      int *client_fd);
struct ucma_file *ucma_find(struct kernel *k, uint64_t id);
/* dev too: a file system of a user's own can give its files any inode numbers. */
struct ucma_file *ucma_find_inode(struct kernel *k, dev_t dev, ino_t ino);
uint64_t ucma_id(const struct ucma_file *file);
uint64_t ucma_rdev(void);

/* write(): the length, or -errno, or RNIC_CTL_WAIT. */
int64_t ucma_write(struct call *call, struct ucma_file *file, uint64_t addr, uint64_t len);

/* An ID of rdma_cm, for display. */
struct ucma_info {
	const char *space;  /* "TCP" */
	const char *state;  /* of the ID: "LISTEN" */
	const char *cm;	    /* of its connection: "ESTABLISHED", or "" */
	const char *device; /* or "" */
	char src[64], dst[64];
	uint32_t qpn, remote_qpn;
};
/* The first with a number above *cursor (begin with 0), which becomes its number; false at the end.
 */
bool ucma_info_next(struct kernel *k, uint32_t *cursor, struct ucma_info *info);

/* The same as netlink shows it: numbers as in the kernel's enums. */
struct ucma_entry {
	uint32_t number, pid, ps, qpn;
	uint8_t state, qp_type;
	bool listens;
	struct kdevice *dev; /* or NULL */
	struct sockaddr_storage src, dst;
};
bool ucma_entry_next(struct kernel *k, uint32_t *cursor, struct ucma_entry *entry);

/* 0 or -errno. */
int ucma_device_add(struct kdevice *dev);
/* Its GIDs have changed: who is bound to an address that has gone is told (ADDR_CHANGE), once. */
void ucma_device_gids(struct kdevice *dev);
/* Tells every connection of it (DEVICE_REMOVAL) and ends them. */
void ucma_device_del(struct kdevice *dev);
/* Has a program still to fetch that a device has gone? */
bool ucma_removal_unread(const struct kernel *k);

#endif
