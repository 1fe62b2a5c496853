/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much may be in flight to one destination: see peer.h. */
#include "config.h"

#include "rnic/peer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/qp_priv.h"

#define WINDOW_MIN 2048 /* bytes: a window of two small packets */
#define ACK_INTERVAL_MAX 64

static bool unlimited(const struct peer *p)
{
	return p->window == UINT64_MAX;
}

static uint64_t window_max(const struct peer_share *s)
{
	return s->qp->dev->cfg.window_bytes;
}

void peer_share_init(struct peer_share *s, struct rnic_qp *qp)
{
	*s = (struct peer_share){.qp = qp};
	qp_list_init(&s->blocked);
}

static struct peer *peer_get(struct rnic_device *dev, const uint8_t gid[16])
{
	struct peer *p;

	for (p = dev->peers; p; p = p->next)
		if (memcmp(p->gid, gid, sizeof(p->gid)) == 0)
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memcpy(p->gid, gid, sizeof(p->gid));
	p->window = dev->cfg.window_bytes ? dev->cfg.window_bytes : UINT64_MAX;
	qp_list_init(&p->blocked);
	p->next = dev->peers;
	dev->peers = p;
	return p;
}

static void peer_put(struct rnic_device *dev, struct peer *p)
{
	struct peer **link = &dev->peers;

	if (--p->users)
		return;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	free(p);
}

int peer_attach(struct peer_share *s, const uint8_t gid[16])
{
	struct peer *p = peer_get(s->qp->dev, gid);

	if (!p)
		return -ENOMEM;
	p->users++;
	peer_detach(s);
	s->peer = p;
	return 0;
}

void peer_detach(struct peer_share *s)
{
	if (!s->peer)
		return;
	peer_forgotten(s);
	qp_list_del(&s->blocked);
	s->woken = false;
	peer_put(s->qp->dev, s->peer);
	s->peer = NULL;
}

static void wait_in_line(struct peer_share *s, uint32_t cost)
{
	s->need = cost;
	if (s->blocked.next == &s->blocked)
		qp_list_add_tail(&s->peer->blocked, &s->blocked);
}

/* While there is room, those that wait get a turn in the order in which they came. */
static void wake(struct peer *p)
{
	struct peer_share *s;
	uint64_t room = p->used < p->window ? p->window - p->used : 0;

	while (p->blocked.next != &p->blocked) {
		s = (struct peer_share *)((char *)p->blocked.next -
					  offsetof(struct peer_share, blocked));
		if (s->need > room)
			break;
		room -= s->need;
		qp_list_del(&s->blocked);
		s->woken = true;
		qp_activate(s->qp);
	}
}

uint32_t peer_grant(struct peer_share *s, uint32_t want, uint32_t cost)
{
	struct peer *p = s->peer;
	uint64_t n;
	bool others = p && p->blocked.next != &p->blocked && !s->woken;

	if (!p || unlimited(p))
		return want;
	n = p->used < p->window ? (p->window - p->used) / cost : 0;
	if (s->used == 0 && (n == 0 || others))
		n = 1;
	else if (others)
		n = 0;
	s->woken = false;
	if (n == 0)
		wait_in_line(s, cost);
	else
		qp_list_del(&s->blocked);
	return n < want ? (uint32_t)n : want;
}

bool peer_has_room(const struct peer_share *s, uint64_t cost)
{
	const struct peer *p = s->peer;

	return !p || unlimited(p) || (p->used < p->window && cost <= p->window - p->used);
}

void peer_sent(struct peer_share *s, uint64_t cost)
{
	if (!s->peer)
		return;
	s->used += cost;
	s->peer->used += cost;
}

static void release(struct peer_share *s, uint64_t cost)
{
	if (cost > s->used)
		cost = s->used;
	s->used -= cost;
	s->peer->used -= cost;
	wake(s->peer);
}

void peer_acked(struct peer_share *s, uint64_t cost)
{
	struct peer *p = s->peer;

	if (!p)
		return;
	if (!unlimited(p)) {
		p->held -= cost < p->held ? cost : p->held;
		p->window += cost / 4;
		if (p->window > window_max(s))
			p->window = window_max(s);
	}
	release(s, cost);
}

void peer_forgotten(struct peer_share *s)
{
	if (s->peer)
		release(s, s->used);
}

void peer_lost(struct peer_share *s)
{
	struct peer *p = s->peer;

	if (!p || unlimited(p) || p->held || s->qp->dev->cc.mode == CC_NONE)
		return;
	p->window /= 2;
	if (p->window < WINDOW_MIN)
		p->window = WINDOW_MIN;
	p->held = p->window;
}

uint32_t peer_ack_interval(const struct peer_share *s, uint32_t cost)
{
	uint64_t n = ACK_INTERVAL_MAX;

	if (s->peer && !unlimited(s->peer))
		n = s->peer->window / cost / 4;
	if (n > ACK_INTERVAL_MAX)
		n = ACK_INTERVAL_MAX;
	return n ? (uint32_t)n : 1;
}

void peers_free(struct rnic_device *dev)
{
	while (dev->peers) {
		struct peer *p = dev->peers;

		dev->peers = p->next;
		free(p);
	}
}
