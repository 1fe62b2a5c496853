/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open device: what `open("/dev/infiniband/uverbs0")` made. It owns the memfd with doorbells
 * and rings, the handle table, and the event descriptors, and lives until the last reference to
 * the memfd is gone (inotify's IN_CLOSE), whoever holds it.
 */
#ifndef KERNEL_CONTEXT_H
#define KERNEL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/device.h"
#include "verbs/abi/doorbell.h"

struct channel;
struct context;
struct kernel;
struct kdevice;
struct rnic_cq;
struct rnic_qp;

/* A range of the memfd for one ring, mapped in the daemon. */
struct ring_mem {
	uint64_t offset; /* in the memfd: what mminfo.offset says */
	uint64_t size;	 /* page-aligned */
	void *addr;
};

/* Zeroed. -ENOMEM when the context's limit is reached. */
int context_ring_alloc(struct context *c, uint64_t size, struct ring_mem *ring);
/* Unmaps and punches the hole. */
void context_ring_free(struct context *c, struct ring_mem *ring);
struct rnic_doorbell *context_doorbell(struct context *c);
struct kdevice *context_device(struct context *c); /* NULL: it has gone */
/* Where uverbs keeps its own part; NULL until GET_CONTEXT, freed by uverbs_cleanup. */
void **context_uverbs(struct context *c);

/* ---- uverbs objects: handles are per context; one table for all kinds, as the kernel's ---- */

enum uobject_kind {
	UOBJ_PD = 1,
	UOBJ_MR,
	UOBJ_MW,
	UOBJ_CQ,
	UOBJ_SRQ,
	UOBJ_QP,
	UOBJ_AH,
	UOBJ_CHANNEL,
};

struct uobject {
	enum uobject_kind kind;
	uint32_t handle;
	uint32_t id; /* unlike the handle, unique in the daemon's life */
	uint64_t user_handle;
	void *object;	      /* of rnic/, or the personality's; NULL: it went with its device */
	uint32_t comp, async; /* of one that went: events that the program has read of it */
};

/* Handles of QPs and CQs are kept below RNIC_DB_HANDLES while there are free ones. */
int uobject_add(struct context *c, enum uobject_kind kind, void *object, uint64_t user_handle,
		struct uobject **out);
/* NULL if there is none of that kind and handle. */
struct uobject *uobject_get(struct context *c, enum uobject_kind kind, uint32_t handle);
void uobject_remove(struct context *c, struct uobject *u);
/* Objects that are removed from now on leave their handles, for the program to destroy: their
 * device has gone. */
void uobjects_entomb(struct context *c);
/* Of an object that went with its device the handle goes too; its numbers of events. 0. */
int uobject_bury(struct context *c, struct uobject *u, uint32_t *comp, uint32_t *async);
/* First object of the kind with handle >= from, or NULL: to destroy all at the end. */
struct uobject *uobject_next(struct context *c, enum uobject_kind kind, uint32_t from);

/* ---- events ---- */

/* A completion channel or the async event descriptor: records of equal size. *client_fd is the end
 * to be passed to the client; the caller owns it. */
int channel_create(struct context *c, uint32_t record_size, struct channel **ch, int *client_fd);
struct channel *channel_get(struct channel *ch);
void channel_put(struct channel *ch);
uint64_t channel_id(const struct channel *ch); /* rnic_ctl_fd.id */
uint32_t channel_record_size(const struct channel *ch);
/* No process has the client's end any more, as far as known. */
bool channel_client_gone(const struct channel *ch);
/* Never lost: kept in a queue while the socket is full. owner: any pointer, to find it again. */
int channel_post(struct channel *ch, const void *record, const void *owner);
/* After what is posted now comes the end of the file. */
void channel_finish(struct channel *ch);
/* Take the owner's records that have not been read out; returns how many were read in its life. */
uint32_t channel_forget(struct channel *ch, const void *owner);

#endif
