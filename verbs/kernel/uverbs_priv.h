/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One uverbs command, however it came. Its input and output are user memory: `core` is the
 * command's own (struct ib_uverbs_...), `uhw` the provider's; a method of the ioctl has attributes
 * besides. Commands return 0 or -errno, -EINPROGRESS from a read or a channel look-up before they
 * have changed anything.
 */
#ifndef KERNEL_UVERBS_PRIV_H
#define KERNEL_UVERBS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel.h"
#include "verbs/kernel/session.h"

#ifndef container_of
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#define END_OF(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

struct udata {
	uint64_t in, out; /* user addresses */
	size_t inlen, outlen;
};

/* An attribute that the program gave. */
struct uattr {
	bool present;
	uint16_t len, flags;
	uint64_t data;
	uint64_t addr; /* of the struct ib_uverbs_attr */
	struct uobject *object;
	struct channel *channel;
};

#define UATTRS_MAX 16

struct ucmd {
	struct call *call;
	struct context *context;
	struct kdevice *dev;
	struct uverbs_context *uc; /* NULL before GET_CONTEXT */
	struct udata core, uhw;
	struct uattr attr[UATTRS_MAX], uhw_in, uhw_out; /* ioctl */
	struct uattr *core_out;				/* INVOKE_WRITE */
};

/* uverbs' part of a context. */
struct uverbs_context {
	struct channel *async;	   /* the first; NULL until it is allocated */
	struct channel **channels; /* all that were made; a reference each */
	uint32_t n_channels, room;
};

/* ---- uverbs_cmd.c ---- */
/* Input: shorter than size is filled with zeros; a longer one must be zero there: -EOPNOTSUPP. */
int ucmd_request(struct ucmd *cmd, void *dst, size_t size);
/* Output: cut to what the program has room for; more room is zeroed. */
int ucmd_response(struct ucmd *cmd, const void *src, size_t size);
/* The provider's output; the caller has checked uhw.outlen. */
int ucmd_uhw_response(struct ucmd *cmd, const void *src, size_t size);
void ucmd_log(struct ucmd *cmd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As input of a write command: -EINVAL if there is no such object. */
int ucmd_object(struct ucmd *cmd, enum uobject_kind kind, uint32_t handle, struct uobject **u);
/* As what is to be destroyed, or an attribute: -ENOENT, or -EINVAL for another kind's handle. */
int ucmd_lookup(struct ucmd *cmd, enum uobject_kind kind, uint32_t handle, struct uobject **u);
bool ucmd_is_zero(const void *p, size_t len);
/* Is user memory zero there? 0, -EOPNOTSUPP, -EFAULT, -EINPROGRESS. */
int ucmd_user_zero(struct ucmd *cmd, uint64_t addr, size_t len);
int ucmd_zero_user(struct ucmd *cmd, uint64_t addr, size_t len);

/* ---- uverbs_write.c ---- */
int write_invoke(struct ucmd *cmd); /* INVOKE_WRITE */
/* Fills cmd's context, device and uc. */
void ucmd_init(struct ucmd *cmd, struct call *call, struct context *c);

#endif
