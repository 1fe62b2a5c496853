/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ends by what a message of their peer tells of them. A peer decides how many ends there are and
 * how often they are looked for, so neither search may take longer the more there are.
 */
#ifndef RNIC_CM_INDEX_H
#define RNIC_CM_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct rnic_cm;
struct cm_index;
struct cm_msg;

/* key: not known to peers, so that they cannot choose what falls together. NULL: no memory. */
struct cm_index *cm_index_create(uint64_t key);
void cm_index_free(struct cm_index *ix);

/* Enter an end whose remote_id, remote_qpn, remote_guid and av are the peer's; they stay as they
 * are until it is taken out. */
void cm_index_add(struct cm_index *ix, struct rnic_cm *cm);
/* May be called for one that is not in it. */
void cm_index_remove(struct rnic_cm *cm);
/* Its QP has no connection any more, nor was any REQ stale by it: no other is found among many. */
void cm_index_ended(struct rnic_cm *cm);

/* The end that the REQ or SIDR_REQ which this one repeats, or takes back, has made. */
struct rnic_cm *cm_index_request(const struct cm_index *ix, const struct cm_msg *msg,
				 const uint8_t gid[16]);
/* A living connection with the QP of the adapter that the REQ names. */
struct rnic_cm *cm_index_stale(const struct cm_index *ix, const struct cm_msg *req,
			       const uint8_t gid[16]);

/* Has this very REQ been called stale, and is what it was stale by still remembered? */
bool cm_index_was_stale(const struct cm_index *ix, const struct cm_msg *req, const uint8_t gid[16]);

#endif
