/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What all uverbs commands need: their input and output, and handles. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/uverbs_attr.h"

void ucmd_init(struct ucmd *cmd, struct call *call, struct context *c)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->call = call;
	cmd->context = c;
	cmd->dev = context_device(c);
	cmd->uc = *context_uverbs(c);
}

void ucmd_log(struct ucmd *cmd, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	kernel_log(cmd->call->kernel, "%s: %s", session_name(cmd->call->session), line);
}

bool ucmd_is_zero(const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		if (b[i])
			return false;
	return true;
}

int ucmd_user_zero(struct ucmd *cmd, uint64_t addr, size_t len)
{
	uint8_t buf[1024];

	while (len) {
		size_t n = len < sizeof(buf) ? len : sizeof(buf);
		int rc = call_read(cmd->call, buf, addr, n);

		if (rc)
			return rc;
		if (!ucmd_is_zero(buf, n))
			return -EOPNOTSUPP;
		addr += n;
		len -= n;
	}
	return 0;
}

int ucmd_zero_user(struct ucmd *cmd, uint64_t addr, size_t len)
{
	uint8_t *zeros = len ? calloc(1, len) : NULL;
	int rc;

	if (!len)
		return 0;
	if (!zeros)
		return -ENOMEM;
	rc = call_write(cmd->call, addr, zeros, len);
	free(zeros);
	return rc;
}

int ucmd_request(struct ucmd *cmd, void *dst, size_t size)
{
	size_t n = cmd->core.inlen < size ? cmd->core.inlen : size;
	int rc = n ? call_read(cmd->call, dst, cmd->core.in, n) : 0;

	if (rc)
		return rc;
	memset((uint8_t *)dst + n, 0, size - n);
	return ucmd_user_zero(cmd, cmd->core.in + n, cmd->core.inlen - n);
}

int ucmd_response(struct ucmd *cmd, const void *src, size_t size)
{
	size_t n = cmd->core.outlen < size ? cmd->core.outlen : size;
	int rc = n ? call_write(cmd->call, cmd->core.out, src, n) : 0;

	if (!rc && cmd->core.outlen > n)
		rc = ucmd_zero_user(cmd, cmd->core.out + n, cmd->core.outlen - n);
	if (!rc && cmd->core_out)
		rc = uattr_mark_valid(cmd, cmd->core_out);
	return rc;
}

int ucmd_uhw_response(struct ucmd *cmd, const void *src, size_t size)
{
	size_t n = cmd->uhw.outlen < size ? cmd->uhw.outlen : size;

	return n ? call_write(cmd->call, cmd->uhw.out, src, n) : 0;
}

int ucmd_lookup(struct ucmd *cmd, enum uobject_kind kind, uint32_t handle, struct uobject **u)
{
	static const char *const names[] = {
		[UOBJ_PD] = "PD",   [UOBJ_MR] = "MR", [UOBJ_MW] = "MW", [UOBJ_CQ] = "CQ",
		[UOBJ_SRQ] = "SRQ", [UOBJ_QP] = "QP", [UOBJ_AH] = "AH", [UOBJ_CHANNEL] = "channel",
	};

	*u = uobject_get(cmd->context, kind, handle);
	if (*u)
		return 0;
	ucmd_log(cmd, "there is no %s with handle %u", names[kind], handle);
	for (uint32_t other = UOBJ_PD; other <= UOBJ_CHANNEL; other++)
		if (uobject_get(cmd->context, (enum uobject_kind)other, handle))
			return -EINVAL;
	return -ENOENT;
}

int ucmd_object(struct ucmd *cmd, enum uobject_kind kind, uint32_t handle, struct uobject **u)
{
	return ucmd_lookup(cmd, kind, handle, u) ? -EINVAL : 0;
}
