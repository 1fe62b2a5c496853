/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A process with two event channels of rdma_cm, by their commands, and a device that hears what it
 * sends to its own address, 10.0.0.1.
 */
#ifndef KERNEL_CM_RIG_H
#define KERNEL_CM_RIG_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include "kernel_suites.h"

#define CM_HERE 0x0a000001u /* the device's address */
#define CM_FILES 2

struct cm_user {
	struct rig rig;
	int client;
	int fd[CM_FILES];
	uint64_t file[CM_FILES];
	uint32_t gone; /* records that the last command took out of the channel */
};

extern struct cm_user cm_user; /* of the test under way */

void cm_user_start(void);
void cm_user_stop(void);
/* close() of an event channel, and until the kernel has noticed. */
void cm_user_close(int file);

/* write(): a header that claims `out` bytes of room, and len bytes; what it returns, less the
 * header for what succeeds. What was sent meanwhile has arrived afterwards. */
int64_t cm_write(int file, uint32_t cmd, const void *body, size_t len, uint16_t out);

/* Commands; 0, or -errno, or RNIC_CTL_WAIT. */
int64_t cm_create(int file, uint16_t ps, uint32_t *id);
int64_t cm_destroy(int file, uint32_t id, uint32_t *events_reported);
int64_t cm_bind(int file, uint32_t id, uint32_t addr, uint16_t port);
int64_t cm_bind6(int file, uint32_t id, const struct in6_addr *addr, uint16_t port);
int64_t cm_option(int file, uint32_t id, uint32_t name, const void *value, uint32_t len);
int64_t cm_listen(int file, uint32_t id, uint32_t backlog);
int64_t cm_resolve(int file, uint32_t id, uint16_t port); /* of CM_HERE */
int64_t cm_resolve_route(int file, uint32_t id);
int64_t cm_connect(int file, uint32_t id);
int64_t cm_accept(int file, uint32_t id, uint64_t uid, bool valid);
int64_t cm_reject(int file, uint32_t id);
int64_t cm_disconnect(int file, uint32_t id);
int64_t cm_event(int file, struct rdma_ucm_event_resp *ev);
int64_t cm_migrate(int to, uint32_t id, int from, uint32_t *events_reported);

/* The next event is this one. */
struct rdma_ucm_event_resp cm_next(int file, uint32_t event);
/* An ID of this port space that listens there. */
uint32_t cm_listener(int file, uint16_t ps, uint16_t port, uint32_t backlog);
/* An ID that has asked there. */
uint32_t cm_asker(int file, uint16_t ps, uint16_t port);

#endif
