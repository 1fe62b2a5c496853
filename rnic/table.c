/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers to objects. The search for a free number goes round: it goes on where it stopped, and
 * starts again at the first number only at the end of an array that is at most half full (a fuller
 * one grows), so that a freed number comes back after a whole round at the earliest.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/table.h"

#define ROOM_MIN 1024

void table_init(struct rnic_table *t, uint32_t first, uint32_t limit)
{
	memset(t, 0, sizeof(*t));
	t->first = first;
	t->next = first;
	t->limit = limit;
}

void table_free(struct rnic_table *t)
{
	free(t->slot);
	t->slot = NULL;
	t->room = 0;
	t->used = 0;
}

static int grow(struct rnic_table *t)
{
	uint64_t room = t->room ? (uint64_t)t->room * 2 : ROOM_MIN;
	void **slot;

	while (room <= t->first)
		room *= 2;
	if (room > t->limit)
		room = t->limit;
	if (room <= t->room)
		return -ENOMEM;
	slot = realloc(t->slot, room * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	memset(slot + t->room, 0, (room - t->room) * sizeof(*slot));
	t->slot = slot;
	t->room = (uint32_t)room;
	return 0;
}

/* A free slot from number on, or room if there is none. */
static uint32_t free_from(const struct rnic_table *t, uint32_t number)
{
	while (number < t->room && t->slot[number])
		number++;
	return number;
}

int64_t table_add(struct rnic_table *t, void *object)
{
	uint32_t number = free_from(t, t->next);

	if (number >= t->room) {
		bool crowded = t->room == 0 || t->used > (t->room - t->first) / 2;

		if (!crowded || grow(t) < 0)
			number = free_from(t, t->first);
		if (number >= t->room)
			return -ENOMEM;
	}
	t->slot[number] = object;
	t->used++;
	t->next = number + 1;
	return number;
}

void table_remove(struct rnic_table *t, uint32_t number)
{
	if (!table_get(t, number))
		return;
	t->slot[number] = NULL;
	t->used--;
}

void *table_get(const struct rnic_table *t, uint32_t number)
{
	return number < t->room ? t->slot[number] : NULL;
}

void *table_next(const struct rnic_table *t, uint32_t *number)
{
	for (uint32_t n = *number; n < t->room; n++) {
		if (t->slot[n]) {
			*number = n;
			return t->slot[n];
		}
	}
	return NULL;
}
