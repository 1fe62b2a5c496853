/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Deadlines: a binary heap. The host is told only when the earliest deadline becomes earlier than
 * what it was told last. A deadline that moves later, as a retry timer does with each
 * acknowledgement, costs no call: the host comes once too early and is told the next time then.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "rnic/device_priv.h"

static void put(struct rnic_timers *h, uint32_t i, struct rnic_timer *t)
{
	h->heap[i] = t;
	t->pos = i + 1;
}

static void sift_up(struct rnic_timers *h, uint32_t i)
{
	struct rnic_timer *t = h->heap[i];

	while (i > 0 && h->heap[(i - 1) / 2]->deadline > t->deadline) {
		put(h, i, h->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(h, i, t);
}

static void sift_down(struct rnic_timers *h, uint32_t i)
{
	struct rnic_timer *t = h->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < h->n && h->heap[child + 1]->deadline < h->heap[child]->deadline)
			child++;
		if (child >= h->n || h->heap[child]->deadline >= t->deadline)
			break;
		put(h, i, h->heap[child]);
		i = child;
	}
	put(h, i, t);
}

static void tell(struct rnic_device *dev, uint64_t deadline)
{
	dev->timer_told = deadline;
	dev->cfg.ops->timer_set(dev->cfg.host, deadline);
}

void timer_arm(struct rnic_device *dev, struct rnic_timer *t, uint64_t deadline)
{
	struct rnic_timers *h = &dev->timers;

	if (t->pos == 0) {
		put(h, h->n, t);
		h->n++;
	}
	t->deadline = deadline;
	sift_up(h, t->pos - 1);
	sift_down(h, t->pos - 1);
	if (deadline < dev->timer_told)
		tell(dev, deadline);
}

void timer_disarm(struct rnic_device *dev, struct rnic_timer *t)
{
	struct rnic_timers *h = &dev->timers;
	uint32_t i = t->pos - 1;
	struct rnic_timer *last;

	if (t->pos == 0)
		return;
	t->pos = 0;
	last = h->heap[--h->n];
	if (last == t)
		return;
	put(h, i, last);
	sift_up(h, i);
	sift_down(h, last->pos - 1);
}

struct rnic_timer *timer_take_due(struct rnic_device *dev, uint64_t now)
{
	struct rnic_timers *h = &dev->timers;
	struct rnic_timer *t = h->n ? h->heap[0] : NULL;

	if (t && t->deadline <= now) {
		timer_disarm(dev, t);
		return t;
	}
	return NULL;
}

void timer_tell(struct rnic_device *dev)
{
	struct rnic_timers *h = &dev->timers;

	tell(dev, h->n ? h->heap[0]->deadline : UINT64_MAX);
}

int timers_reserve(struct rnic_device *dev, uint32_t n)
{
	struct rnic_timers *h = &dev->timers;
	uint32_t room = h->room ? h->room : 64;
	struct rnic_timer **heap;

	while (room < h->reserved + n)
		room *= 2;
	if (room > h->room) {
		heap = realloc(h->heap, room * sizeof(struct rnic_timer *));
		if (!heap)
			return -ENOMEM;
		h->heap = heap;
		h->room = room;
	}
	h->reserved += n;
	return 0;
}

void timers_release(struct rnic_device *dev, uint32_t n)
{
	dev->timers.reserved -= n;
}
