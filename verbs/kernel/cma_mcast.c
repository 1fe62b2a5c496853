/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Multicast groups of rdma_cm. RoCE has no subnet manager to ask: a group's GID is its IP address.
 * The membership itself is the QP's, by ibv_attach_mcast, which librdmacm calls.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/ucma_priv.h"

#define MULTICAST_QPN 0xffffffu

struct cma_mcast {
	struct cma_mcast *next; /* of its ID */
	struct cma_id *id;
	uint32_t number;
	uint64_t uid;
	uint8_t gid[16];
	uint32_t events_reported;
};

static bool is_multicast(const uint8_t gid[16])
{
	const struct in6_addr *in6 = (const struct in6_addr *)gid;

	return IN6_IS_ADDR_MULTICAST(in6) ||
	       (IN6_IS_ADDR_V4MAPPED(in6) && (gid[12] & 0xf0) == 0xe0);
}

static struct ucma_event *join_event(struct cma_mcast *m)
{
	struct ucma_event *ev = ucma_event_new(m->id, CMA_EV_MULTICAST_JOIN, 0);
	struct rdma_ucm_ud_param *u;

	if (!ev)
		return NULL;
	ev->mcast = m;
	ev->resp.uid = m->uid;
	ev->resp.id = m->number;
	u = &ev->resp.param.ud;
	cma_ah_attr(m->id, &u->ah_attr);
	memcpy(u->ah_attr.grh.dgid, m->gid, sizeof(u->ah_attr.grh.dgid));
	u->qp_num = MULTICAST_QPN;
	u->qkey = m->id->qkey ? m->id->qkey : CMA_UDP_QKEY;
	return ev;
}

int cma_join(struct cma_id *id, const union cma_addr *group, uint64_t uid, uint16_t flags,
	     uint32_t *number)
{
	struct cma_mcast *m;
	int64_t n;

	if (flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return -EINVAL;
	if (id->state != CMA_BOUND && id->state != CMA_ADDR_RESOLVED &&
	    id->state != CMA_ROUTE_RESOLVED)
		return -EINVAL;
	if (!id->dev)
		return -ENODEV;
	if (!owner_take(id->file->owner))
		return -ENOMEM;
	m = calloc(1, sizeof(*m));
	if (!m) {
		owner_give(id->file->owner);
		return -ENOMEM;
	}
	cma_addr_gid(group, m->gid);
	n = is_multicast(m->gid) ? table_add(&id->file->kernel->ucma->mcasts, m) : -EINVAL;
	if (n < 0) {
		owner_give(id->file->owner);
		free(m);
		return (int)n;
	}
	m->number = *number = (uint32_t)n;
	m->id = id;
	m->uid = uid;
	m->next = id->mcasts;
	id->mcasts = m;
	return 0;
}

uint32_t cma_memberships(const struct cma_id *id)
{
	uint32_t n = 0;

	for (const struct cma_mcast *m = id->mcasts; m; m = m->next)
		n++;
	return n;
}

static int mcast_find(struct ucma_file *file, uint32_t number, struct cma_mcast **m)
{
	*m = table_get(&file->kernel->ucma->mcasts, number);
	if (!*m)
		return -ENOENT;
	return (*m)->id->file == file ? 0 : -EINVAL;
}

void cma_joined(struct ucma_file *file, uint32_t number)
{
	struct cma_mcast *m;

	if (mcast_find(file, number, &m) == 0)
		ucma_event_add(join_event(m));
}

int cma_mcast_events(struct ucma_file *file, uint32_t number, uint32_t *reported)
{
	struct cma_mcast *m;
	int rc = mcast_find(file, number, &m);

	if (!rc)
		*reported = m->events_reported;
	return rc;
}

static void mcast_free(struct cma_mcast *m)
{
	struct cma_mcast **p = &m->id->mcasts;

	while (*p != m)
		p = &(*p)->next;
	*p = m->next;
	table_remove(&m->id->file->kernel->ucma->mcasts, m->number);
	owner_give(m->id->file->owner);
	free(m);
}

void cma_mcast_reported(struct cma_mcast *m)
{
	m->events_reported++;
}

uint32_t cma_leave(struct ucma_file *file, uint32_t number)
{
	struct cma_mcast *m;
	uint32_t gone;

	if (mcast_find(file, number, &m))
		return 0;
	gone = ucma_events_forget(file, NULL, m);
	mcast_free(m);
	return gone;
}

void cma_leave_all(struct cma_id *id)
{
	while (id->mcasts)
		mcast_free(id->mcasts);
}
