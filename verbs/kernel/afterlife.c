/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Contexts of a process that died while an access to its memory sleeps.
 *
 * Such an access keeps the whole address space from going, the mappings of the rings in it, and so
 * the open file by whose end a context is known to have ended: for as long as a server of a file
 * pleases. If that lasts, the contexts that only this session knew are ended without it.
 */
#include "config.h"

#include <stdlib.h>

#include "verbs/kernel/afterlife.h"
#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/umem.h"

#define PATIENCE_S 1.0

struct afterlife {
	struct afterlife *next;
	struct kernel *kernel;
	struct umem *umem;
	uint64_t *ids;
	uint32_t n_ids;
	ev_timer timer;
};

static void afterlife_end(struct afterlife *a)
{
	for (struct afterlife **p = &a->kernel->afterlives; *p; p = &(*p)->next)
		if (*p == a) {
			*p = a->next;
			break;
		}
	ev_timer_stop(a->kernel->cfg.loop, &a->timer);
	umem_put(a->umem);
	free(a->ids);
	free(a);
}

static void timer_fired(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct afterlife *a = w->data;

	(void)loop;
	(void)revents;
	for (uint32_t i = 0; i < a->n_ids && umem_busy(a->umem); i++) {
		struct context *c = context_find(a->kernel, a->ids[i]);

		if (c && !sessions_know(a->kernel, a->ids[i])) {
			kernel_log(a->kernel, "a context ends whose process is dead, although an "
					      "access to its memory sleeps on");
			context_destroy(c);
		}
	}
	afterlife_end(a);
}

void afterlife_begin(struct kernel *k, struct umem *umem, uint64_t *ids, uint32_t n_ids)
{
	struct afterlife *a = umem_busy(umem) ? calloc(1, sizeof(*a)) : NULL;

	if (!a) {
		umem_put(umem);
		free(ids);
		return;
	}
	a->kernel = k;
	a->umem = umem;
	a->ids = ids;
	a->n_ids = n_ids;
	ev_timer_init(&a->timer, timer_fired, PATIENCE_S, 0.0);
	a->timer.data = a;
	ev_timer_start(k->cfg.loop, &a->timer);
	a->next = k->afterlives;
	k->afterlives = a;
}

void afterlives_end(struct kernel *k)
{
	while (k->afterlives)
		afterlife_end(k->afterlives);
}
