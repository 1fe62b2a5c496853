/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Who has how much of what the daemon has not without end: the numbers of rdma_cm's IDs, of which
 * all share one table, and the daemon's own descriptors. An owner is a process; nobody may have
 * more than leaves the others theirs.
 */
#ifndef KERNEL_OWNER_H
#define KERNEL_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel;
struct owner;

#define OWNER_IDS_MAX 65536	     /* of one process, memberships of groups among them */
#define OWNER_UID_IDS_MAX (1u << 18) /* of a user who is neither root nor the daemon's own */

struct owners {
	struct owner *head;
	uint32_t files, files_max; /* descriptors that all owners have, and may have */
};

/* The owner of this session, or a new one: a reference. NULL: no memory. */
struct owner *owner_get(struct owners *list, uint64_t session, uid_t uid);
void owner_put(struct owner *owner); /* or NULL */
uid_t owner_uid(const struct owner *owner);
/* Neither root nor the daemon's own user. */
bool owner_is_other(const struct owner *owner);

/* One more ID, or false. */
bool owner_take(struct owner *owner);
void owner_give(struct owner *owner);
/* An ID goes to a channel of another: its number counts there, even if that one has too many. */
void owner_move(struct owner *from, struct owner *to);

/*
 * The daemon is to hold n more descriptors for this owner. -EMFILE: the process has half of what
 * all may have; -ENFILE: its user has half of it, being neither root nor the daemon's own, or all
 * is given out. One log line until the owner has given some back. What succeeds is a reference.
 */
int owner_open(struct kernel *k, uint64_t session, uid_t uid, uint32_t n, struct owner **out);
/* Of an owner that has something open. */
int owner_open_more(struct kernel *k, struct owner *owner, uint32_t n);
/* With the reference that came with them. */
void owner_close(struct owner *owner, uint32_t n);

#endif
