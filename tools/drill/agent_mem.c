/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Looks into the agent's own regions and nowhere else; loses them. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* An access of the region fails from now on: its pages are gone. */
static int region_break(struct agent *ag, uint64_t addr)
{
	for (struct agent_object *o = ag->objects; o; o = o->next) {
		if (!o->buffer || addr - (uintptr_t)o->buffer >= o->buffer_len)
			continue;
		if (munmap(o->buffer, o->buffer_len))
			return errno;
		o->buffer = NULL;
		return 0;
	}
	return EFAULT;
}

/*
 * The process that the regions belong to ends. A child of it, which has inherited everything
 * but them, goes on in its place: when the pipe that the parent held is at its end, so is the
 * parent's memory.
 */
static int process_leave(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		return errno;
	pid = fork();
	if (pid > 0)
		_exit(0);
	close(ends[1]);
	while (pid == 0 && read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return pid < 0 ? EAGAIN : 0;
}

int agent_memory(struct agent *ag, struct args *a, struct text *reply)
{
	uint64_t addr = args_num(a, "addr", 0);
	const char *word = args_word(a);

	(void)reply;
	if (word && !strcmp(word, "broken"))
		return region_break(ag, addr);
	if (word && !strcmp(word, "gone"))
		return process_leave();
	args_wrong(a, "memory of a live device can be broken or gone");
	return 0;
}
