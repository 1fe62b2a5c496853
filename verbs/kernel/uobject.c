/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Handles of a context: one number space for all kinds of objects, lowest free number first. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/context_priv.h"

static int slots_grow(struct uobjects *t)
{
	uint32_t room = t->room ? t->room * 2 : 64;
	struct uobject **p;

	if (room > UOBJECTS_MAX)
		return -ENOMEM;
	p = realloc(t->slot, room * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + t->room, 0, (room - t->room) * sizeof(*p));
	t->slot = p;
	t->room = room;
	return 0;
}

int uobject_add(struct context *c, enum uobject_kind kind, void *object, uint64_t user_handle,
		struct uobject **out)
{
	struct uobjects *t = context_uobjects(c);
	static uint32_t last_id;
	struct uobject *u;

	while (t->lowest < t->room && t->slot[t->lowest])
		t->lowest++;
	if (t->lowest == t->room && slots_grow(t))
		return -ENOMEM;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->kind = kind;
	u->handle = t->lowest;
	u->id = ++last_id;
	u->object = object;
	u->user_handle = user_handle;
	t->slot[t->lowest++] = u;
	*out = u;
	return 0;
}

struct uobject *uobject_get(struct context *c, enum uobject_kind kind, uint32_t handle)
{
	struct uobjects *t = context_uobjects(c);
	struct uobject *u = handle < t->room ? t->slot[handle] : NULL;

	return u && u->kind == kind ? u : NULL;
}

void uobject_remove(struct context *c, struct uobject *u)
{
	struct uobjects *t = context_uobjects(c);

	if (t->entombed && u->object) {
		u->object = NULL;
		return;
	}
	t->slot[u->handle] = NULL;
	if (u->handle < t->lowest)
		t->lowest = u->handle;
	free(u);
}

void uobjects_entomb(struct context *c)
{
	context_uobjects(c)->entombed = true;
}

int uobject_bury(struct context *c, struct uobject *u, uint32_t *comp, uint32_t *async)
{
	if (comp)
		*comp = u->comp;
	if (async)
		*async = u->async;
	uobject_remove(c, u);
	return 0;
}

struct uobject *uobject_next(struct context *c, enum uobject_kind kind, uint32_t from)
{
	struct uobjects *t = context_uobjects(c);

	for (uint32_t i = from; i < t->room; i++)
		if (t->slot[i] && t->slot[i]->kind == kind)
			return t->slot[i];
	return NULL;
}
