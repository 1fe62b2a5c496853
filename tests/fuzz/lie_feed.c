/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The choices that lie_feed.h describes. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lie_feed.h"
#include "tests/rules/rig.h"

#define STRANGE 224 /* bytes from here on choose what does not exist */

struct lie_feed lie;
uint64_t liar_done;

/* In place of what ends a program: a finding. */
void rig_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	abort();
}

uint32_t liar_rnd(uint32_t below)
{
	if (below <= 1)
		return 0;
	return (below <= 256	 ? feed_u8(&lie.feed)
		: below <= 65536 ? feed_u16(&lie.feed)
				 : feed_u32(&lie.feed)) %
	       below;
}

uint64_t liar_rnd64(void)
{
	return feed_u64(&lie.feed);
}

bool liar_now(uint32_t of)
{
	return liar_rnd(of) == of - 1;
}

void *liar_memory(void)
{
	return lie.arena + (liar_rnd((uint32_t)lie.size - LIAR_ROOM) & ~7u);
}

uint64_t liar_address(void)
{
	uint8_t choice = feed_u8(&lie.feed);

	if (choice >= STRANGE)
		return choice % 4 ? (uintptr_t)lie.arena + lie.size - choice % 64
				  : feed_u64(&lie.feed);
	return (uintptr_t)lie.arena + choice * (lie.size / 256 & ~7u);
}

uint64_t liar_value(void)
{
	uint8_t choice = feed_u8(&lie.feed);

	if (choice < 64)
		return choice;
	if (choice < 128)
		return 1ull << (choice - 64);
	if (choice < 192)
		return UINT64_MAX - (choice - 128);
	return choice < STRANGE ? liar_address() : feed_u64(&lie.feed);
}

static uint32_t handle_of(uint8_t kind)
{
	uint8_t choice = feed_u8(&lie.feed);
	uint32_t handle;

	if (choice < STRANGE && lie.handle(kind, choice, &handle))
		return handle;
	return choice % 2 ? (uint32_t)liar_value() : choice / 2 % 32;
}

uint32_t liar_handle(void)
{
	return handle_of(0);
}

uint32_t liar_object(enum liar_kind kind)
{
	return handle_of((uint8_t)kind);
}

int32_t liar_fd(void)
{
	uint8_t choice = feed_u8(&lie.feed);
	int32_t fd;

	if (choice < STRANGE && lie.fd(choice, &fd))
		return choice % 4 == 3 ? -1 : fd;
	return (int32_t)liar_value();
}
