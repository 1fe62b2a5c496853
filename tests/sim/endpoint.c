/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ends of RC connections, and how a failed check ends the program. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bth/psn.h"
#include "endpoint.h"

const struct sim_end_config sim_end_default = {
	.mtu = RNIC_MTU_1024,
	.timeout = 12,
	.retry_cnt = 7,
	.rnr_retry = 7,
	.min_rnr_timer = 12,
	.max_rd_atomic = 4,
	.access = SIM_ALL_ACCESS,
	.send_room = 16,
	.recv_room = 16,
	.cq_room = 64,
	.mem_len = 65536,
};

static char context[200];

void sim_fail_context(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
}

void sim_fail(const char *file, int line, const char *cond, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s:%d: %s does not hold: ", file, line, cond);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n%s\n", context);
	exit(1);
}

static void mr_begin(struct sim_end *e, uint64_t shift, struct rnic_mr **mr)
{
	struct rnic_mr_attr attr = {.mem = &e->mem,
				    .start = e->mem.start,
				    .length = e->mem.len,
				    .iova = e->mem.start + shift,
				    .access = SIM_ALL_ACCESS};

	sim_check(rnic_mr_create(e->pd, &attr, mr) == 0, "MR");
}

void sim_end_begin(struct sim_end *e, struct sim_world *w, uint32_t node,
		   const struct sim_end_config *cfg)
{
	struct rnic_device *dev = w->node[node].dev;
	struct rnic_qp_init init = {.type = cfg->type ? cfg->type : RNIC_QPT_RC,
				    .max_send_wr = cfg->send_room,
				    .max_recv_wr = cfg->recv_room,
				    .max_send_sge = RNIC_MAX_SGE,
				    .max_recv_sge = RNIC_MAX_SGE,
				    .max_inline = RNIC_MAX_INLINE,
				    .sq_sig_all = cfg->sig_all,
				    .ops = &sim_personality};

	*e = (struct sim_end){.world = w, .node = node, .cfg = *cfg};
	e->sq_psn = (uint32_t)rng_next(&w->rng) & BTH_PSN_MASK;
	if (rng_chance(&w->rng, 2500)) /* where numbers wrap */
		e->sq_psn |= 0xfffff0;
	sim_mem_begin(&e->mem, w, node, cfg->mem_start ? cfg->mem_start : SIM_MEM_START,
		      cfg->mem_len);
	sim_queues_begin(&e->queues, cfg->send_room, cfg->recv_room);
	sim_cq_begin(&e->send_ring, cfg->cq_room);
	sim_cq_begin(&e->recv_ring, cfg->cq_room);
	e->pd = cfg->pd;
	if (!e->pd)
		sim_check(rnic_pd_create(dev, &e->pd) == 0, "PD");
	sim_check(rnic_cq_create(dev, cfg->cq_room, &sim_personality, &e->send_ring, &e->send_cq) ==
			  0,
		  "CQ");
	sim_check(rnic_cq_create(dev, cfg->cq_room, &sim_personality, &e->recv_ring, &e->recv_cq) ==
			  0,
		  "CQ");
	mr_begin(e, 0, &e->mr);
	mr_begin(e, SIM_IOVA_SHIFT, &e->mr_shifted);
	init.send_cq = e->send_cq;
	init.recv_cq = cfg->one_cq ? e->send_cq : e->recv_cq;
	init.user = &e->queues;
	init.rq_user = &e->queues;
	init.srq = cfg->srq;
	sim_check(rnic_qp_create(e->pd, &init, &e->qp) == 0, "QP");
}

void sim_end_end(struct sim_end *e)
{
	sim_check(rnic_qp_destroy(e->qp) == 0, "QP");
	sim_check(rnic_mr_destroy(e->mr) == 0, "MR");
	sim_check(rnic_mr_destroy(e->mr_shifted) == 0, "MR");
	sim_check(rnic_cq_destroy(e->send_cq) == 0, "CQ");
	sim_check(rnic_cq_destroy(e->recv_cq) == 0, "CQ");
	if (!e->cfg.pd)
		sim_check(rnic_pd_destroy(e->pd) == 0, "PD");
	sim_cq_end(&e->send_ring);
	sim_cq_end(&e->recv_ring);
	sim_queues_end(&e->queues);
	sim_mem_end(&e->mem);
}

/* What each step to RTS takes. */
static uint32_t step_mask(enum rnic_qp_type type, enum rnic_qp_state state)
{
	static const uint32_t rc[] = {
		[RNIC_QPS_INIT] = RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS,
		[RNIC_QPS_RTR] = RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN |
				 RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER,
		[RNIC_QPS_RTS] = RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY |
				 RNIC_QP_SQ_PSN | RNIC_QP_MAX_QP_RD_ATOMIC,
	};
	static const uint32_t uc[] = {
		[RNIC_QPS_INIT] = RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS,
		[RNIC_QPS_RTR] = RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN,
		[RNIC_QPS_RTS] = RNIC_QP_SQ_PSN,
	};
	static const uint32_t ud[] = {
		[RNIC_QPS_INIT] = RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_QKEY,
		[RNIC_QPS_RTR] = 0,
		[RNIC_QPS_RTS] = RNIC_QP_SQ_PSN,
	};

	return RNIC_QP_STATE | (type == RNIC_QPT_UD   ? ud[state]
				: type == RNIC_QPT_UC ? uc[state]
						      : rc[state]);
}

static void to_rts(struct sim_end *e, const struct sim_end *peer)
{
	struct rnic_qp_attr attr = {.path_mtu = e->cfg.mtu,
				    .rq_psn = peer->sq_psn,
				    .sq_psn = e->sq_psn,
				    .dest_qpn = rnic_qp_num(peer->qp),
				    .access_flags = e->cfg.access,
				    .max_rd_atomic = e->cfg.max_rd_atomic,
				    .max_dest_rd_atomic = peer->cfg.max_rd_atomic,
				    .min_rnr_timer = e->cfg.min_rnr_timer,
				    .port_num = 1,
				    .qkey = e->cfg.qkey,
				    .timeout = e->cfg.timeout,
				    .retry_cnt = e->cfg.retry_cnt,
				    .rnr_retry = e->cfg.rnr_retry,
				    .av = sim_av(e->world, e->node, peer->node)};

	for (attr.state = RNIC_QPS_INIT; attr.state <= RNIC_QPS_RTS; attr.state++)
		sim_check(rnic_qp_modify(e->qp, &attr, step_mask(e->cfg.type, attr.state),
					 e->world->now) == 0,
			  "%s", e->world->node[e->node].last_log);
}

void sim_connect(struct sim_end *a, struct sim_end *b)
{
	for (uint32_t i = 0; i < a->world->n_nodes; i++)
		a->world->node[i].n_reads = 0;
	to_rts(a, b);
	to_rts(b, a);
}

void sim_end_modify(struct sim_end *e, enum rnic_qp_state state)
{
	struct rnic_qp_attr attr = {.state = state};

	sim_check(rnic_qp_modify(e->qp, &attr, RNIC_QP_STATE, e->world->now) == 0, "%s",
		  e->world->node[e->node].last_log);
}

struct rnic_sge sim_sge(const struct sim_end *e, uint64_t offset, uint32_t len)
{
	return (struct rnic_sge){
		.addr = e->mem.start + offset, .len = len, .lkey = rnic_mr_key(e->mr)};
}
