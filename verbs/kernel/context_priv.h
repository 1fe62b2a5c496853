/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of a context, for context.c, ring_mem.c and uobject.c. */
#ifndef KERNEL_CONTEXT_PRIV_H
#define KERNEL_CONTEXT_PRIV_H

#include <stdbool.h>
#include <sys/types.h>

#include "verbs/kernel/context.h"

#define UOBJECTS_MAX (1u << 20)
#define CONTEXT_RING_LIMIT (1ull << 30) /* bytes of rings that one context may have */

struct uobjects {
	struct uobject **slot;
	uint32_t room;
	uint32_t lowest; /* no number below is free */
	bool entombed;	 /* see uobjects_entomb */
};

struct ring_range { /* allocated ranges of the memfd, in order */
	struct ring_range *next;
	uint64_t offset, size;
};

struct context {
	struct context *next;
	struct kernel *kernel;
	struct kdevice *dev; /* NULL: it has gone, and its objects with it */
	uint32_t index;	     /* N of uverbsN */
	uint64_t id;
	struct owner *opener; /* NULL: nobody's */
	bool others;	      /* his, who is another user */
	uint32_t opener_pid;  /* for display */
	int fd;		      /* as memfd_create gave it */
	int lease_fd;	      /* see context.c */
	dev_t st_dev;
	ino_t st_ino;
	int watch;   /* inotify */
	bool closed; /* by somebody; that it was the last is not known */
	struct rnic_doorbell *doorbell;
	struct uobjects uobjects;
	void *uverbs;
	struct ring_range *ranges;
	uint64_t ring_bytes;
	uint64_t ring_used; /* no range that was freed but not punched ends above */
	bool ending;	    /* its rings stay as they are, for a client that still reads them */
};

struct uobjects *context_uobjects(struct context *c);

#endif
