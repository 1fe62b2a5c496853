/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two tables of ends, by the request that made them and by the QP that they are connected to. */
#include "config.h"

#include "rnic/cm_index.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cm_priv.h"

#define PLACES 4096

struct cm_index {
	uint64_t key;
	struct cm_link *by_request[PLACES], *by_qp[PLACES];
};

struct cm_index *cm_index_create(uint64_t key)
{
	struct cm_index *ix = calloc(1, sizeof(*ix));

	if (ix)
		ix->key = key;
	return ix;
}

void cm_index_free(struct cm_index *ix)
{
	free(ix);
}

static uint64_t mixed(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static uint32_t place(const struct cm_index *ix, const uint8_t gid[16], uint64_t a, uint64_t b)
{
	uint64_t half[2], h;

	memcpy(half, gid, sizeof(half));
	h = mixed(mixed(ix->key, half[0]), half[1]);
	return mixed(mixed(h, a), b) % PLACES;
}

static void link_add(struct cm_link **first, struct cm_link *l)
{
	l->next = *first;
	l->back = first;
	if (l->next)
		l->next->back = &l->next;
	*first = l;
}

static void link_remove(struct cm_link *l)
{
	if (!l->back)
		return;
	*l->back = l->next;
	if (l->next)
		l->next->back = l->back;
	l->back = NULL;
}

void cm_index_add(struct cm_index *ix, struct rnic_cm *cm)
{
	const uint8_t *gid = cm->av.dgid;

	if (cm->passive)
		link_add(&ix->by_request[place(ix, gid, cm->remote_id, cm->request_tid)],
			 &cm->by_request);
	link_add(&ix->by_qp[place(ix, gid, cm->remote_qpn, cm->remote_guid)], &cm->by_qp);
}

void cm_index_remove(struct rnic_cm *cm)
{
	link_remove(&cm->by_request);
	link_remove(&cm->by_qp);
}

void cm_index_ended(struct rnic_cm *cm)
{
	link_remove(&cm->by_qp);
}

struct rnic_cm *cm_index_request(const struct cm_index *ix, const struct cm_msg *msg,
				 const uint8_t gid[16])
{
	struct cm_link *l = ix->by_request[place(ix, gid, msg->local_id, msg->tid)];

	for (; l; l = l->next) {
		struct rnic_cm *cm =
			(struct rnic_cm *)((char *)l - offsetof(struct rnic_cm, by_request));

		if (cm->remote_id == msg->local_id && cm->request_tid == msg->tid &&
		    memcmp(cm->av.dgid, gid, sizeof(cm->av.dgid)) == 0)
			return cm;
	}
	return NULL;
}

struct rnic_cm *cm_index_stale(const struct cm_index *ix, const struct cm_msg *req,
			       const uint8_t gid[16])
{
	struct cm_link *l = ix->by_qp[place(ix, gid, req->qpn, req->ca_guid)];

	for (; l; l = l->next) {
		struct rnic_cm *cm =
			(struct rnic_cm *)((char *)l - offsetof(struct rnic_cm, by_qp));

		if (cm->remote_qpn == req->qpn && cm->remote_guid == req->ca_guid &&
		    cm->state != RNIC_CM_TIMEWAIT && cm->state != RNIC_CM_IDLE &&
		    memcmp(cm->av.dgid, gid, sizeof(cm->av.dgid)) == 0)
			return cm;
	}
	return NULL;
}

static bool was_stale_by(const struct rnic_cm *cm, const struct cm_msg *req)
{
	for (uint32_t i = 0; i < cm->n_stale && i < CM_STALE_MAX; i++)
		if (cm->stale[i].id == req->local_id && cm->stale[i].tid == req->tid)
			return true;
	return false;
}

bool cm_index_was_stale(const struct cm_index *ix, const struct cm_msg *req, const uint8_t gid[16])
{
	struct cm_link *l = ix->by_qp[place(ix, gid, req->qpn, req->ca_guid)];

	for (; l; l = l->next) {
		const struct rnic_cm *cm =
			(struct rnic_cm *)((char *)l - offsetof(struct rnic_cm, by_qp));

		if (was_stale_by(cm, req) && memcmp(cm->av.dgid, gid, sizeof(cm->av.dgid)) == 0)
			return true;
	}
	return false;
}
