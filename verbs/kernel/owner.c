/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts what each process has: see owner.h. */
#include "config.h"

#include "verbs/kernel/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"

struct owner {
	struct owner *next;
	struct owners *list;
	uint64_t session;
	uid_t uid;
	uint32_t refs; /* what is open */
	uint32_t ids;
	uint32_t files;
	bool told; /* that it may have no more */
};

struct owner *owner_get(struct owners *list, uint64_t session, uid_t uid)
{
	struct owner *o = list->head;

	while (o && o->session != session)
		o = o->next;
	if (!o) {
		o = calloc(1, sizeof(*o));
		if (!o)
			return NULL;
		o->session = session;
		o->uid = uid;
		o->list = list;
		o->next = list->head;
		list->head = o;
	}
	o->refs++;
	return o;
}

void owner_put(struct owner *owner)
{
	struct owner **p;

	if (!owner || --owner->refs)
		return;
	p = &owner->list->head;
	while (*p != owner)
		p = &(*p)->next;
	*p = owner->next;
	free(owner);
}

uid_t owner_uid(const struct owner *owner)
{
	return owner->uid;
}

bool owner_is_other(const struct owner *owner)
{
	return owner->uid && owner->uid != geteuid();
}

static uint32_t ids_of(const struct owner *o, uid_t uid)
{
	uint32_t n = 0;

	for (; o; o = o->next)
		if (o->uid == uid)
			n += o->ids;
	return n;
}

static uint32_t files_of(const struct owner *o, uid_t uid)
{
	uint32_t n = 0;

	for (; o; o = o->next)
		if (o->uid == uid)
			n += o->files;
	return n;
}

bool owner_take(struct owner *owner)
{
	if (owner->ids >= OWNER_IDS_MAX)
		return false;
	if (owner_is_other(owner) && ids_of(owner->list->head, owner->uid) >= OWNER_UID_IDS_MAX)
		return false;
	owner->ids++;
	return true;
}

void owner_give(struct owner *owner)
{
	owner->ids--;
}

void owner_move(struct owner *from, struct owner *to)
{
	from->ids--;
	to->ids++;
}

static int files_check(const struct owner *o, uint32_t n)
{
	const struct owners *list = o->list;

	if (o->files + n > list->files_max / 2)
		return -EMFILE;
	if (owner_is_other(o) && files_of(list->head, o->uid) + n > list->files_max / 2)
		return -ENFILE;
	return list->files + n > list->files_max ? -ENFILE : 0;
}

static void refusal_tell(struct kernel *k, struct owner *o)
{
	if (!o->told)
		kernel_log(k,
			   "a process of uid %u may open no more: it has %u descriptors here, all "
			   "together %u of %u",
			   o->uid, o->files, o->list->files, o->list->files_max);
	o->told = true;
}

int owner_open_more(struct kernel *k, struct owner *owner, uint32_t n)
{
	int rc = files_check(owner, n);

	if (rc) {
		refusal_tell(k, owner);
		return rc;
	}
	owner->files += n;
	owner->list->files += n;
	owner->refs++;
	return 0;
}

int owner_open(struct kernel *k, uint64_t session, uid_t uid, uint32_t n, struct owner **out)
{
	struct owner *o = owner_get(&k->owners, session, uid);
	int rc = o ? owner_open_more(k, o, n) : -ENOMEM;

	*out = rc ? NULL : o;
	owner_put(o);
	return rc;
}

void owner_close(struct owner *owner, uint32_t n)
{
	owner->files -= n;
	owner->list->files -= n;
	owner->told = false;
	owner_put(owner);
}
