/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts the IDs of each process: see ucma_owner.h. */
#include "config.h"

#include "verbs/kernel/ucma_owner.h"

#include <stdlib.h>
#include <unistd.h>

struct ucma_owner {
	struct ucma_owner *next, **list;
	uint64_t session;
	uid_t uid;
	uint32_t refs; /* channels */
	uint32_t ids;
};

struct ucma_owner *ucma_owner_get(struct ucma_owner **list, uint64_t session, uid_t uid)
{
	struct ucma_owner *o = *list;

	while (o && o->session != session)
		o = o->next;
	if (!o) {
		o = calloc(1, sizeof(*o));
		if (!o)
			return NULL;
		o->session = session;
		o->uid = uid;
		o->list = list;
		o->next = *list;
		*list = o;
	}
	o->refs++;
	return o;
}

void ucma_owner_put(struct ucma_owner *owner)
{
	struct ucma_owner **p = owner->list;

	if (--owner->refs)
		return;
	while (*p != owner)
		p = &(*p)->next;
	*p = owner->next;
	free(owner);
}

static uint32_t ids_of(const struct ucma_owner *list, uid_t uid)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		if (list->uid == uid)
			n += list->ids;
	return n;
}

bool ucma_owner_take(struct ucma_owner *owner)
{
	if (owner->ids >= OWNER_IDS_MAX)
		return false;
	if (owner->uid && owner->uid != geteuid() &&
	    ids_of(*owner->list, owner->uid) >= OWNER_UID_IDS_MAX)
		return false;
	owner->ids++;
	return true;
}

void ucma_owner_give(struct ucma_owner *owner)
{
	owner->ids--;
}

void ucma_owner_move(struct ucma_owner *from, struct ucma_owner *to)
{
	from->ids--;
	to->ids++;
}
