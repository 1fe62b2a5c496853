/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The owner binds the window; while it is bound the peer uses its key for some of its requests;
 * then either the peer's fenced SEND invalidates it, or the owner does when no request of the peer
 * with its key is outstanding. No request may ever fail for it.
 */
#include "config.h"

#include <inttypes.h>

#include "end_model.h"

void model_window_begin(struct model_end *m)
{
	struct model_window *w = &m->window;
	struct rnic_mr_attr attr = {.mem = &m->end.mem,
				    .start = m->end.mem.start,
				    .length = m->end.mem.len,
				    .iova = m->end.mem.start + SIM_IOVA_SHIFT,
				    .access = SIM_ALL_ACCESS | RNIC_ACCESS_MW_BIND};

	sim_check(rnic_mr_create(m->end.pd, &attr, &w->mr) == 0, "MR");
	sim_check(rnic_mw_create(m->end.pd, RNIC_MW_TYPE_2, &w->mw) == 0, "MW");
}

void model_window_end(struct model_end *m)
{
	sim_check(rnic_mw_destroy(m->window.mw) == 0, "MW");
	sim_check(rnic_mr_destroy(m->window.mr) == 0, "MR");
}

uint32_t model_window_rkey(struct model_end *m, uint32_t index)
{
	struct model_window *w = &m->peer->window;

	if (w->state != WINDOW_BOUND || rng_chance(m->rng, 5000))
		return rnic_mr_key(m->peer->end.mr_shifted);
	w->last_op = index + 1;
	return w->key;
}

void model_window_turn(struct model_end *m, struct model_op *op, struct rnic_send_wr *wr)
{
	struct model_window *w = &m->window;
	uint32_t key = rnic_mw_key(w->mw);

	wr->num_sge = 0;
	if (w->state == WINDOW_FREE) {
		op->op = RNIC_WR_BIND_MW;
		w->state = WINDOW_BINDING;
		wr->bind = (struct rnic_bind){.addr = m->end.mem.start + SIM_IOVA_SHIFT,
					      .length = m->end.mem.len,
					      .mr_lkey = rnic_mr_key(w->mr),
					      .mw_rkey = key,
					      .rkey = (key & ~0xffu) | ((key + 1) & 0xff),
					      .access = SIM_ALL_ACCESS};
	} else if (w->state == WINDOW_BOUND && w->last_op <= m->peer->n_completed) {
		op->op = RNIC_WR_LOCAL_INV;
		w->state = WINDOW_ENDING;
		wr->inv_key = w->key;
	} else {
		op->op = RNIC_WR_WRITE;
		wr->rkey = rnic_mr_key(m->peer->end.mr_shifted);
	}
	wr->op = op->op;
}

void model_window_send(struct model_end *m, struct model_op *op, struct rnic_send_wr *wr)
{
	struct model_window *w = &m->peer->window;

	if (w->state != WINDOW_BOUND || rng_chance(m->rng, 5000))
		return;
	w->state = WINDOW_ENDING;
	op->op = wr->op = RNIC_WR_SEND_INV;
	op->imm = wr->imm = w->key;
	wr->flags |= RNIC_SEND_FENCE; /* READs and atomics by the key must be done */
}

void model_window_completed(struct model_end *m, const struct model_op *op)
{
	struct model_window *w = &m->window;

	if (op->op == RNIC_WR_BIND_MW) {
		sim_check(w->state == WINDOW_BINDING, "%d", (int)w->state);
		w->state = WINDOW_BOUND;
		w->key = rnic_mw_key(w->mw);
		w->n_binds++;
	} else if (op->op == RNIC_WR_LOCAL_INV) {
		sim_check(w->state == WINDOW_ENDING, "%d", (int)w->state);
		w->state = WINDOW_FREE;
		w->n_local_ends++;
	}
}

void model_window_invalidated(struct model_end *m, uint32_t key)
{
	struct model_window *w = &m->window;

	sim_check(w->state == WINDOW_ENDING && key == w->key, "key 0x%" PRIx32, key);
	w->state = WINDOW_FREE;
	w->n_remote_ends++;
}
