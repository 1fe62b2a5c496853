/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast unreliable packets leave: see pace.h. */
#include "config.h"

#include "rnic/pace.h"

#include <string.h>

#include "rnic/requester.h"

#define PAUSE_NS 20000ull
#define ROW 4u
#define PATIENCE_NS 100000000ull /* for a receiver that takes nothing */

/* Its place, which is one of four; if others have them, the one that has waited longest loses it.
 */
static struct pace *pace_of(struct rnic_device *dev, const struct rnic_av *av)
{
	struct pace *row, *p;
	uint32_t hash = 0;

	for (uint32_t i = 0; i < sizeof(av->dgid); i++)
		hash = hash * 31 + av->dgid[i];
	row = p = &dev->pace[hash % (PACE_PLACES / ROW) * ROW];
	for (uint32_t i = 0; i < ROW; i++) {
		if (memcmp(row[i].gid, av->dgid, sizeof(row[i].gid)) == 0)
			return &row[i];
		if (row[i].next < p->next)
			p = &row[i];
	}
	*p = (struct pace){0};
	memcpy(p->gid, av->dgid, sizeof(p->gid));
	return p;
}

/* A window each time that one would have gone out at a gigabyte a second. */
static void credit_by_time(struct rnic_device *dev, struct pace *p, uint64_t now)
{
	p->credit = dev->cfg.window_bytes ? dev->cfg.window_bytes : UINT32_MAX;
	p->next = now + p->credit;
}

static void credit_get(struct rnic_device *dev, struct pace *p, const struct rnic_av *av,
		       uint32_t cost, uint64_t now)
{
	uint64_t room;

	if (now < p->next)
		return;
	room = dev->cfg.ops->tx_room(dev->cfg.host, av);
	if (room == RNIC_ROOM_UNKNOWN) {
		credit_by_time(dev, p, now);
		return;
	}
	/* Others may be sending there too. */
	p->credit = room / 2;
	if (p->credit >= cost)
		p->full_since = 0;
	else if (!p->full_since)
		p->full_since = now;
	else if (now - p->full_since > PATIENCE_NS)
		credit_by_time(dev, p, now);
}

uint32_t pace_grant(struct rnic_qp *qp, const struct rnic_av *av, uint32_t want, uint32_t cost,
		    uint64_t now)
{
	struct rnic_device *dev = qp->dev;
	struct pace *p;
	uint64_t n;

	if (!dev->cfg.ops->tx_room)
		return want;
	p = pace_of(dev, av);
	if (p->credit < cost)
		credit_get(dev, p, av, cost, now);
	n = p->credit / cost;
	if (n == 0) {
		qp->req->pause = PAUSE_RNR;
		timer_arm(dev, &qp->rnr_timer, now + PAUSE_NS);
	}
	return n < want ? (uint32_t)n : want;
}

void pace_sent(struct rnic_qp *qp, const struct rnic_av *av, uint64_t cost)
{
	struct pace *p;

	if (!qp->dev->cfg.ops->tx_room)
		return;
	p = pace_of(qp->dev, av);
	p->credit -= cost < p->credit ? cost : p->credit;
}
