/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Attributes of the ioctl: the rules of a method, and access to what the program gave. */
#ifndef KERNEL_UVERBS_ATTR_H
#define KERNEL_UVERBS_ATTR_H

#include "verbs/kernel/uverbs_priv.h"

int uattr_read(struct ucmd *cmd, uint32_t id, void *dst, size_t size);
/* A constant in 8 bytes, at most `max`: -EINVAL. */
int uattr_const(struct ucmd *cmd, uint32_t id, uint64_t max, uint64_t *value);
/* No attribute: 0. Other bits than allowed: -EINVAL. */
int uattr_flags(struct ucmd *cmd, uint32_t id, uint64_t allowed, uint32_t *value);
/* Cut to the attribute's length. -ENOENT if it is absent. */
int uattr_write(struct ucmd *cmd, uint32_t id, const void *src, size_t size);
/* And zero what is longer. */
int uattr_write_struct(struct ucmd *cmd, uint32_t id, const void *src, size_t size);
int uattr_mark_valid(struct ucmd *cmd, const struct uattr *a);
/* The handle of the new object into attr.data. */
int uattr_write_handle(struct ucmd *cmd, uint32_t id, uint32_t handle);
uint64_t uattr_data_addr(const struct uattr *a);

enum uattr_type {
	UATTR_NONE,
	UATTR_IN,
	UATTR_OUT,
	UATTR_OBJECT,  /* must exist */
	UATTR_NEW,     /* the handler makes it */
	UATTR_DESTROY, /* must exist; the handler destroys it */
	UATTR_CHANNEL, /* descriptor of a completion channel */
	UATTR_ASYNC,   /* descriptor of async events */
	UATTR_NEW_FD,
};

struct uattr_spec {
	enum uattr_type type;
	bool optional;
	bool zero_trailing; /* a longer struct must be zero behind max */
	uint16_t min, max;  /* bytes of IN and OUT */
	enum uobject_kind kind;
};

struct umethod {
	uint16_t object, method;
	bool udata; /* takes UHW_IN and UHW_OUT */
	int (*run)(struct ucmd *cmd);
	struct uattr_spec attr[UATTRS_MAX];
};

/* Parse the attributes at addr into cmd. */
int uattrs_parse(struct ucmd *cmd, const struct umethod *m, uint64_t addr, uint32_t n);

/* NULL: the ioctl has no such method. */
const struct umethod *umethod_find(uint16_t object, uint16_t method);

#endif
