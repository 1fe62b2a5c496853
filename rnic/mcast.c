/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast groups: see mcast.h. */
#include "config.h"

#include "rnic/mcast.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/qp_priv.h"

struct mcast_group {
	struct mcast_group *next; /* of its hash */
	uint8_t gid[16];
	uint32_t n;
	struct mcast_member *members; /* in the order in which they came */
};

struct mcast_member {
	struct mcast_group *group;
	struct rnic_qp *qp;
	struct mcast_member *next;	 /* of the group */
	struct mcast_member *next_of_qp; /* of the QP */
};

bool rnic_gid_is_multicast(const uint8_t gid[16])
{
	static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};

	return gid[0] == 0xff || (memcmp(gid, v4, sizeof(v4)) == 0 && (gid[12] & 0xf0) == 0xe0);
}

static struct mcast_group **group_find(struct rnic_device *dev, const uint8_t gid[16])
{
	uint32_t hash = gid[15] ^ gid[14] * 7u ^ gid[13] * 31u;
	struct mcast_group **p = &dev->mcast[hash % MCAST_PLACES];

	while (*p && memcmp((*p)->gid, gid, 16) != 0)
		p = &(*p)->next;
	return p;
}

static struct mcast_member **member_find(struct rnic_qp *qp, const uint8_t gid[16])
{
	struct mcast_member **m = &qp->mcasts;

	while (*m && memcmp((*m)->group->gid, gid, 16) != 0)
		m = &(*m)->next_of_qp;
	return m;
}

/* The group, made and joined if need be. */
static int group_get(struct rnic_device *dev, const uint8_t gid[16], struct mcast_group **out)
{
	struct mcast_group **place = group_find(dev, gid), *g = *place;
	const struct rnic_ops *ops = dev->cfg.ops;
	int ret;

	*out = g;
	if (g)
		return 0;
	if (dev->n_mcast >= dev->limits.max_mcast_grp) {
		dev_log(dev, "multicast: all %" PRIu32 " groups are in use", dev->n_mcast);
		return -ENOMEM;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	memcpy(g->gid, gid, 16);
	ret = ops->mcast_join ? ops->mcast_join(dev->cfg.host, gid) : 0;
	if (ret < 0) {
		dev_log(dev, "multicast: the group cannot be joined: %s", strerror(-ret));
		free(g);
		return ret;
	}
	dev->n_mcast++;
	*place = *out = g;
	return 0;
}

/* Leave the group if nobody is attached any more. */
static void group_put(struct rnic_device *dev, struct mcast_group *g)
{
	struct mcast_group **place = group_find(dev, g->gid);

	if (g->n)
		return;
	if (dev->cfg.ops->mcast_leave)
		dev->cfg.ops->mcast_leave(dev->cfg.host, g->gid);
	*place = g->next;
	dev->n_mcast--;
	free(g);
}

static int member_add(struct rnic_qp *qp, struct mcast_group *g)
{
	struct mcast_member **last = &g->members, *m;

	if (g->n >= qp->dev->limits.max_mcast_qp_attach) {
		dev_log(qp->dev, "QP %" PRIu32 ": the multicast group has %" PRIu32 " QPs already",
			qp->qpn, g->n);
		return -ENOMEM;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	while (*last)
		last = &(*last)->next;
	*last = m;
	m->group = g;
	m->qp = qp;
	m->next_of_qp = qp->mcasts;
	qp->mcasts = m;
	g->n++;
	return 0;
}

static void member_remove(struct mcast_member **of_qp)
{
	struct mcast_member *m = *of_qp, **p = &m->group->members;
	struct mcast_group *g = m->group;
	struct rnic_device *dev = m->qp->dev;

	*of_qp = m->next_of_qp;
	while (*p != m)
		p = &(*p)->next;
	*p = m->next;
	free(m);
	g->n--;
	group_put(dev, g);
}

int rnic_mcast_attach(struct rnic_qp *qp, const uint8_t gid[16])
{
	struct mcast_group *g;
	int ret;

	if (qp->init.type != RNIC_QPT_UD || !rnic_gid_is_multicast(gid)) {
		dev_log(qp->dev, "QP %" PRIu32 ": only a UD QP can join, and only a multicast GID",
			qp->qpn);
		return -EINVAL;
	}
	if (*member_find(qp, gid))
		return 0;
	ret = group_get(qp->dev, gid, &g);
	if (ret < 0)
		return ret;
	ret = member_add(qp, g);
	if (ret < 0)
		group_put(qp->dev, g);
	return ret;
}

int rnic_mcast_detach(struct rnic_qp *qp, const uint8_t gid[16])
{
	struct mcast_member **m = member_find(qp, gid);

	if (!*m) {
		dev_log(qp->dev, "QP %" PRIu32 ": it is not attached to that group", qp->qpn);
		return -EINVAL;
	}
	member_remove(m);
	return 0;
}

uint32_t rnic_mcast_count(const struct rnic_qp *qp)
{
	uint32_t n = 0;

	for (const struct mcast_member *m = qp->mcasts; m; m = m->next_of_qp)
		n++;
	return n;
}

void mcast_detach_all(struct rnic_qp *qp)
{
	while (qp->mcasts)
		member_remove(&qp->mcasts);
}

bool mcast_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
	      const struct bth_packet *pkt,
	      void (*deliver)(struct rnic_qp *qp, uint64_t now, const struct rnic_rx *rx,
			      const struct bth_packet *pkt))
{
	const struct mcast_group *g = *group_find(dev, rx->dgid);

	if (!g)
		return false;
	for (const struct mcast_member *m = g->members; m; m = m->next)
		deliver(m->qp, now, rx, pkt);
	return true;
}
