/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Attributes of RDMA_VERBS_IOCTL: an array in user memory, judged by the method's table. Unknown
 * ones are an error only if the program says that they are mandatory.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>

#include "verbs/kernel/uverbs_obj.h"

static_assert(sizeof(struct ib_uverbs_attr) == 16, "attribute");
static_assert(sizeof(struct ib_uverbs_ioctl_hdr) == 24, "ioctl header");

#define INLINE_MAX sizeof(((struct ib_uverbs_attr *)0)->data)

static const struct uattr_spec uhw_in_spec = {UATTR_IN, .optional = true, .max = UINT16_MAX};
static const struct uattr_spec uhw_out_spec = {UATTR_OUT, .optional = true, .max = UINT16_MAX};

uint64_t uattr_data_addr(const struct uattr *a)
{
	return a->addr + offsetof(struct ib_uverbs_attr, data);
}

static int tail_is_zero(struct ucmd *cmd, const struct uattr *a, uint16_t from)
{
	if (a->len > INLINE_MAX)
		return ucmd_user_zero(cmd, a->data + from, (size_t)(a->len - from));
	return ucmd_is_zero((const uint8_t *)&a->data + from, (size_t)(a->len - from))
		       ? 0
		       : -EOPNOTSUPP;
}

static int pointer_check(struct ucmd *cmd, const struct uattr_spec *spec, const struct uattr *a)
{
	if (spec->type == UATTR_IN && a->len > spec->max && spec->zero_trailing) {
		int rc = tail_is_zero(cmd, a, spec->max);

		if (rc)
			return rc;
	}
	if (a->len < spec->min || (!spec->zero_trailing && a->len > spec->max))
		return -EINVAL;
	return 0;
}

static int channel_find_fd(struct ucmd *cmd, struct uattr *a, uint32_t record_size)
{
	int rc;

	if ((int64_t)a->data < 0 || a->data > INT32_MAX || !cmd->uc)
		return -EBADF;
	rc = call_channel(cmd->call, (int32_t)a->data, &a->channel);
	if (!rc && (channel_record_size(a->channel) != record_size ||
		    !context_has_channel(cmd->uc, a->channel)))
		rc = -EBADF;
	return rc;
}

static int attr_check(struct ucmd *cmd, const struct uattr_spec *spec, struct uattr *a,
		      uint16_t reserved)
{
	int rc;

	if (spec->type == UATTR_IN || spec->type == UATTR_OUT) {
		rc = pointer_check(cmd, spec, a);
		return !rc && reserved ? -EINVAL : rc;
	}
	if (reserved || a->len)
		return -EINVAL;
	switch (spec->type) {
	case UATTR_OBJECT:
	case UATTR_DESTROY:
		if (a->data > UINT32_MAX)
			return -EINVAL;
		return ucmd_lookup(cmd, spec->kind, (uint32_t)a->data, &a->object);
	case UATTR_CHANNEL:
		return channel_find_fd(cmd, a, sizeof(struct ib_uverbs_comp_event_desc));
	case UATTR_ASYNC:
		return channel_find_fd(cmd, a, sizeof(struct ib_uverbs_async_event_desc));
	case UATTR_NEW:
	case UATTR_NEW_FD:
		return cmd->uc ? 0 : -EINVAL;
	case UATTR_NONE:
	case UATTR_IN:
	case UATTR_OUT:
		break;
	}
	return 0;
}

/* The method's place for an attribute and its rule, or NULL. */
static struct uattr *place_find(struct ucmd *cmd, const struct umethod *m, uint16_t id,
				const struct uattr_spec **spec)
{
	if (m->udata && (id == UVERBS_ATTR_UHW_IN || id == UVERBS_ATTR_UHW_OUT)) {
		*spec = id == UVERBS_ATTR_UHW_IN ? &uhw_in_spec : &uhw_out_spec;
		return id == UVERBS_ATTR_UHW_IN ? &cmd->uhw_in : &cmd->uhw_out;
	}
	if (id >= UATTRS_MAX || m->attr[id].type == UATTR_NONE)
		return NULL;
	*spec = &m->attr[id];
	return &cmd->attr[id];
}

static int attr_set(struct ucmd *cmd, const struct umethod *m, const struct ib_uverbs_attr *u,
		    uint64_t addr)
{
	const struct uattr_spec *spec;
	struct uattr *a = place_find(cmd, m, u->attr_id, &spec);
	int rc;

	if (!a) {
		if (!(u->flags & UVERBS_ATTR_F_MANDATORY))
			return 0;
		ucmd_log(cmd, "object %u, method %u: attribute 0x%x is not known", m->object,
			 m->method, u->attr_id);
		return -EPROTONOSUPPORT;
	}
	if (a->present)
		return -EINVAL;
	a->len = u->len;
	a->flags = u->flags;
	a->data = u->data;
	a->addr = addr;
	rc = attr_check(cmd, spec, a, u->attr_data.reserved);
	if (rc && rc != -EINPROGRESS)
		ucmd_log(cmd, "object %u, method %u: attribute 0x%x (length %u) is wrong: %s",
			 m->object, m->method, u->attr_id, u->len, strerror(-rc));
	a->present = !rc;
	return rc;
}

static void udata_set(struct ucmd *cmd)
{
	const struct uattr *in = &cmd->uhw_in, *out = &cmd->uhw_out;

	if (in->present) {
		cmd->uhw.in = in->len > INLINE_MAX ? in->data : uattr_data_addr(in);
		cmd->uhw.inlen = in->len;
	}
	if (out->present) {
		cmd->uhw.out = out->data;
		cmd->uhw.outlen = out->len;
	}
}

int uattrs_parse(struct ucmd *cmd, const struct umethod *m, uint64_t addr, uint32_t n)
{
	struct ib_uverbs_attr attrs[256]; /* the header's length is at most a page */
	int rc;

	assert(n <= ARRAY_SIZE(attrs));
	rc = n ? call_read(cmd->call, attrs, addr, n * sizeof(attrs[0])) : 0;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = attr_set(cmd, m, &attrs[i], addr + i * sizeof(attrs[0]));
	if (rc)
		return rc;
	for (uint32_t i = 0; i < UATTRS_MAX; i++)
		if (m->attr[i].type != UATTR_NONE && !m->attr[i].optional &&
		    !cmd->attr[i].present) {
			ucmd_log(cmd, "object %u, method %u: attribute 0x%x is missing", m->object,
				 m->method, i);
			return -EINVAL;
		}
	udata_set(cmd);
	return 0;
}

int uattr_read(struct ucmd *cmd, uint32_t id, void *dst, size_t size)
{
	const struct uattr *a = &cmd->attr[id];
	size_t n = a->len < size ? a->len : size;

	memset(dst, 0, size);
	if (!a->present)
		return -ENOENT;
	if (a->len > INLINE_MAX)
		return call_read(cmd->call, dst, a->data, n);
	memcpy(dst, &a->data, n);
	return 0;
}

int uattr_const(struct ucmd *cmd, uint32_t id, uint64_t max, uint64_t *value)
{
	*value = cmd->attr[id].data;
	return *value > max ? -EINVAL : 0;
}

int uattr_flags(struct ucmd *cmd, uint32_t id, uint64_t allowed, uint32_t *value)
{
	const struct uattr *a = &cmd->attr[id];
	uint64_t flags = a->len == 4 ? (uint32_t)a->data : a->data;

	*value = 0;
	if (!a->present)
		return 0;
	if ((a->len != 4 && a->len != 8) || flags & ~allowed || flags > UINT32_MAX)
		return -EINVAL;
	*value = (uint32_t)flags;
	return 0;
}

int uattr_mark_valid(struct ucmd *cmd, const struct uattr *a)
{
	uint16_t flags = a->flags | UVERBS_ATTR_F_VALID_OUTPUT;

	return call_write(cmd->call, a->addr + offsetof(struct ib_uverbs_attr, flags), &flags,
			  sizeof(flags));
}

int uattr_write(struct ucmd *cmd, uint32_t id, const void *src, size_t size)
{
	const struct uattr *a = &cmd->attr[id];
	size_t n = a->len < size ? a->len : size;
	int rc = 0;

	if (!a->present)
		return -ENOENT;
	if (n)
		rc = call_write(cmd->call, a->data, src, n);
	return rc ? rc : uattr_mark_valid(cmd, a);
}

int uattr_write_struct(struct ucmd *cmd, uint32_t id, const void *src, size_t size)
{
	const struct uattr *a = &cmd->attr[id];

	if (a->present && a->len > size) {
		int rc = ucmd_zero_user(cmd, a->data + size, a->len - size);

		if (rc)
			return rc;
	}
	return uattr_write(cmd, id, src, size);
}

int uattr_write_handle(struct ucmd *cmd, uint32_t id, uint32_t handle)
{
	uint64_t data = handle;

	return call_write(cmd->call, uattr_data_addr(&cmd->attr[id]), &data, sizeof(data));
}
