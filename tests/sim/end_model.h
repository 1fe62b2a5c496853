/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client at one end of a connection: what it posts, and what must become of it. */
#ifndef TESTS_SIM_END_MODEL_H
#define TESTS_SIM_END_MODEL_H

#include "endpoint.h"
#include "model_srq.h"
#include "model_window.h"

#define MODEL_MEM_LEN (768 * 1024)
#define MODEL_OPS_MAX 40
#define MODEL_PIECES_MAX 6
/* Each memory begins with a word for the peer's atomics and one for results that others' atomics
 * decide, which is not compared. */
#define MODEL_COMMON_RESULT 8
#define MODEL_AREAS 64 /* where all else begins */

/* A piece of an end's memory, by offset. */
struct model_piece {
	uint32_t offset, len;
};

struct model_area {
	struct model_piece piece[MODEL_PIECES_MAX];
	uint32_t n, len;
};

struct model_op {
	enum rnic_wr_op op;
	bool signaled, solicited, common;
	uint32_t len, imm;
	struct model_area local; /* source; READ and atomics: destination */
	uint32_t remote;	 /* offset in the peer's memory */
	uint32_t taker;		 /* which receive of the peer it takes */
	uint8_t *data;		 /* what is sent, or what a READ must bring */
	uint64_t compare, swap_add;
	uint64_t orig; /* what an atomic must bring */
};

/* Memory of a node that the atomics of all its peers add to. */
struct model_common {
	struct rnic_mem mem;
	uint64_t sum;
};

struct model_end {
	struct sim_end end;
	struct model_end *peer;
	struct model_common *common;
	struct model_srq *srq; /* or NULL */
	struct model_window window;
	struct rnic_mr *common_mr;
	struct rng *rng;
	uint8_t *shadow;
	uint32_t mem_used;
	uint64_t atomic_word; /* at offset 0: the peer's alone */
	struct model_op ops[MODEL_OPS_MAX];
	uint32_t n_ops, n_posted, n_completed;
	/* Of the ops that take a receive at the peer, in order: their indices. */
	uint32_t takers[MODEL_OPS_MAX], n_takers;
	/* Receives here. */
	struct model_area recvs[MODEL_OPS_MAX];
	uint32_t recv_size, n_recvs, n_received;
	uint32_t recv_laziness; /* chance that it posts no receives in a turn */
	bool may_fail;		/* the connection is doomed */
	bool recv_stopped;	/* it posts no receives any more */
	bool failed;		/* a send has completed with an error; so do all later ones */
	bool recv_failed;
	uint64_t alive_at; /* when its QP was not in ERR, as far as it knows */
};

void model_common_begin(struct model_common *c, struct sim_world *w, uint32_t node);
void model_common_verify(const struct model_common *c);
void model_common_end(struct model_common *c);

void model_end_begin(struct model_end *m, struct sim_world *w, uint32_t node,
		     const struct sim_end_config *cfg, struct model_common *common,
		     struct model_srq *srq, struct rng *rng);
/* Plan the operations of both: model_plan.c. */
void model_pair(struct model_end *a, struct model_end *b, uint32_t a_ops, uint32_t b_ops);
void model_end_end(struct model_end *m);

/* Take and check all completions. */
void model_end_poll(struct model_end *m);
/* Post some of what is left, with eager whatever there is room for; true if something was posted.
 */
bool model_end_post(struct model_end *m, bool eager);
bool model_end_done(const struct model_end *m);
/* Of a doomed one when nothing happens any more: no request hangs. */
void model_end_settled(const struct model_end *m);
/* The whole memory is as it must be. */
void model_end_verify(const struct model_end *m);
void model_end_print(const struct model_end *m);

#endif
