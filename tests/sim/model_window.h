/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A memory window of type 2B that an end lends to its peer, again and again. */
#ifndef TESTS_SIM_MODEL_WINDOW_H
#define TESTS_SIM_MODEL_WINDOW_H

#include "endpoint.h"

struct model_end;
struct model_op;

enum model_window_state {
	WINDOW_FREE,
	WINDOW_BINDING,
	WINDOW_BOUND,
	WINDOW_ENDING, /* an invalidation has been posted, by either end */
};

struct model_window {
	struct rnic_mr *mr; /* all of the end's memory, addresses as in mr_shifted */
	struct rnic_mw *mw;
	enum model_window_state state;
	uint32_t key;	  /* when it is bound */
	uint32_t last_op; /* 1 + the peer's last operation that used it */
	uint32_t n_binds, n_remote_ends, n_local_ends;
};

void model_window_begin(struct model_end *m);
void model_window_end(struct model_end *m);

/* The key by which m reaches its peer's memory in this operation, the index of which is given. */
uint32_t model_window_rkey(struct model_end *m, uint32_t index);
/* What a planned BIND_MW becomes when it is posted: a bind, a LOCAL_INV or, if neither is possible
 * now, a WRITE of nothing. */
void model_window_turn(struct model_end *m, struct model_op *op, struct rnic_send_wr *wr);
/* A SEND becomes one with invalidate, perhaps. */
void model_window_send(struct model_end *m, struct model_op *op, struct rnic_send_wr *wr);
/* Operations of m have completed; a receive of m has, with this key. */
void model_window_completed(struct model_end *m, const struct model_op *op);
void model_window_invalidated(struct model_end *m, uint32_t key);

#endif
