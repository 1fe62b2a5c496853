/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One end of an RC connection in the simulator, with its own memory, PD, CQs and queues. */
#ifndef TESTS_SIM_ENDPOINT_H
#define TESTS_SIM_ENDPOINT_H

#include "queues.h"
#include "rnic/objects.h"
#include "rnic/qp.h"
#include "world.h"

#define SIM_ALL_ACCESS                                                                             \
	(RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ |            \
	 RNIC_ACCESS_REMOTE_ATOMIC)
#define SIM_MEM_START 0x7f0000001000ull
#define SIM_IOVA_SHIFT 0x1000000ull /* of the second MR's addresses */

struct sim_end_config {
	enum rnic_mtu mtu;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, max_rd_atomic;
	uint32_t access; /* the QP's */
	uint32_t send_room, recv_room, cq_room;
	uint64_t mem_start, mem_len; /* mem_start 0: SIM_MEM_START */
	bool sig_all;
	struct rnic_pd *pd;	/* NULL: its own */
	struct rnic_srq *srq;	/* NULL: its own receive queue */
	enum rnic_qp_type type; /* 0: RC */
	uint32_t qkey;		/* UD */
	bool one_cq;		/* send_cq for receives too */
};

struct sim_end {
	struct sim_world *world;
	uint32_t node;
	struct rnic_pd *pd;
	struct rnic_cq *send_cq, *recv_cq;
	struct sim_cq send_ring, recv_ring;
	struct sim_queues queues;
	struct rnic_qp *qp;
	struct rnic_mem mem;
	/* The same memory twice: iova == start, and iova SIM_IOVA_SHIFT higher. */
	struct rnic_mr *mr, *mr_shifted;
	struct sim_end_config cfg;
	uint32_t sq_psn;
};

/* What a scenario wants if it wants nothing special. */
extern const struct sim_end_config sim_end_default;

void sim_end_begin(struct sim_end *e, struct sim_world *w, uint32_t node,
		   const struct sim_end_config *cfg);
void sim_end_end(struct sim_end *e);
/* Both to RTS. */
void sim_connect(struct sim_end *a, struct sim_end *b);
/* The end's QP to ERR or RESET. */
void sim_end_modify(struct sim_end *e, enum rnic_qp_state state);

/* One SGE, or none for length 0, of the end's memory from an offset on. */
struct rnic_sge sim_sge(const struct sim_end *e, uint64_t offset, uint32_t len);

/* Prints what, file and line, and ends the program: the seed is in the environment of the run. */
#define sim_check(cond, ...)                                                                       \
	do {                                                                                       \
		if (!(cond))                                                                       \
			sim_fail(__FILE__, __LINE__, #cond, __VA_ARGS__);                          \
	} while (0)
_Noreturn void sim_fail(const char *file, int line, const char *cond, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Printed by sim_fail, so that the run can be made again. */
void sim_fail_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
