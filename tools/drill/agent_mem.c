/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Looks into the agent's own regions and nowhere else. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "data.h"

#define PEEK_MAX 65536

static uint8_t *bytes_at(const struct agent *ag, uint64_t addr, uint64_t len)
{
	for (const struct agent_object *o = ag->objects; o; o = o->next) {
		uint64_t off = addr - (uintptr_t)o->buffer;

		if (o->buffer && off <= o->buffer_len && len <= o->buffer_len - off)
			return (uint8_t *)o->buffer + off;
	}
	return NULL;
}

int agent_peek(struct agent *ag, struct args *a, struct text *reply)
{
	uint64_t addr = args_num(a, "addr", 0), len = args_num(a, "len", 0);
	const uint8_t *p = bytes_at(ag, addr, len);

	if (!p || len > PEEK_MAX)
		return EFAULT;
	text_add(reply, "data=");
	text_hex(reply, p, len);
	return 0;
}

int agent_poke(struct agent *ag, struct args *a, struct text *reply)
{
	uint64_t addr = args_num(a, "addr", 0), len = args_num(a, "len", 0);
	uint8_t *p = bytes_at(ag, addr, len);
	struct text spec;

	(void)reply;
	if (!p || len > PEEK_MAX)
		return EFAULT;
	text_begin(&spec);
	text_add(&spec, "hex:%s", args_str(a, "data", ""));
	if (data_fill(spec.buf, p, len, len) < 0)
		args_wrong(a, "these are not %" PRIu64 " bytes", len);
	text_end(&spec);
	return 0;
}
