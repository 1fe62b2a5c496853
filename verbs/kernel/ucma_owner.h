/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Whose IDs these are: a process that has event channels of rdma_cm. All share one table of
 * numbers, so nobody may have more of them than leave the others theirs.
 */
#ifndef KERNEL_UCMA_OWNER_H
#define KERNEL_UCMA_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ucma_owner;

#define OWNER_IDS_MAX 65536	     /* of one process, memberships of groups among them */
#define OWNER_UID_IDS_MAX (1u << 18) /* of a user who is neither root nor the daemon's own */

/* The owner of this session among those of *list, or a new one. NULL: no memory. */
struct ucma_owner *ucma_owner_get(struct ucma_owner **list, uint64_t session, uid_t uid);
void ucma_owner_put(struct ucma_owner *owner);
/* One more, or false. */
bool ucma_owner_take(struct ucma_owner *owner);
void ucma_owner_give(struct ucma_owner *owner);
/* An ID goes to a channel of another: its number counts there, even if that one has too many. */
void ucma_owner_move(struct ucma_owner *from, struct ucma_owner *to);

#endif
