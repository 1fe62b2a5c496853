/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Posting of planned operations, and the check of what comes of them. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "end_model.h"

void model_common_begin(struct model_common *c, struct sim_world *w, uint32_t node)
{
	sim_mem_begin(&c->mem, w, node, 0x10000, 8);
	c->sum = 0;
}

void model_common_verify(const struct model_common *c)
{
	sim_check(memcmp(c->mem.bytes, &c->sum, 8) == 0, "the sum of all FETCH_ADD of node %u",
		  c->mem.node);
}

void model_common_end(struct model_common *c)
{
	sim_mem_end(&c->mem);
}

void model_end_begin(struct model_end *m, struct sim_world *w, uint32_t node,
		     const struct sim_end_config *cfg, struct model_common *common,
		     struct model_srq *srq, struct rng *rng)
{
	struct sim_end_config with_srq = *cfg;
	struct rnic_mr_attr attr = {.mem = &common->mem,
				    .start = common->mem.start,
				    .length = 8,
				    .iova = common->mem.start,
				    .access = SIM_ALL_ACCESS};

	memset(m, 0, sizeof(*m));
	m->common = common;
	m->rng = rng;
	m->srq = srq;
	with_srq.srq = srq ? srq->srq : NULL;
	sim_end_begin(&m->end, w, node, &with_srq);
	model_window_begin(m);
	sim_check(rnic_mr_create(m->end.pd, &attr, &m->common_mr) == 0, "MR");
	m->shadow = calloc(1, cfg->mem_len);
	sim_check(m->shadow, "memory");
}

void model_end_end(struct model_end *m)
{
	rnic_mr_destroy(m->common_mr);
	model_window_end(m);
	sim_end_end(&m->end);
	for (uint32_t i = 0; i < m->n_ops; i++)
		free(m->ops[i].data);
	free(m->shadow);
}

/* ---- posting ---- */

static uint32_t sges_fill(struct model_end *m, const struct model_area *a, struct rnic_sge *sge)
{
	for (uint32_t i = 0; i < a->n; i++) {
		bool shifted = rng_chance(m->rng, 5000);

		sge[i] = sim_sge(&m->end, a->piece[i].offset, a->piece[i].len);
		if (shifted) {
			sge[i].addr += SIM_IOVA_SHIFT;
			sge[i].lkey = rnic_mr_key(m->end.mr_shifted);
		}
	}
	return a->n;
}

static void remote_fill(struct model_end *m, const struct model_op *op, struct rnic_send_wr *wr)
{
	if (op->common) {
		wr->raddr = m->peer->common->mem.start;
		wr->rkey = rnic_mr_key(m->peer->common_mr);
	} else {
		wr->raddr = m->peer->end.mem.start + op->remote + SIM_IOVA_SHIFT;
		wr->rkey = model_window_rkey(m, m->n_posted);
	}
}

static bool may_be_inline(const struct model_op *op)
{
	return op->len <= RNIC_MAX_INLINE && op->op != RNIC_WR_READ && op->op != RNIC_WR_CMP_SWAP &&
	       op->op != RNIC_WR_FETCH_ADD;
}

static bool send_post(struct model_end *m)
{
	struct model_op *op = &m->ops[m->n_posted];
	struct rnic_send_wr *wr = m->n_posted < m->n_ops ? sim_queue_send(&m->end.queues) : NULL;

	if (!wr)
		return false;
	wr->op = op->op;
	wr->flags = (op->signaled ? RNIC_SEND_SIGNALED : 0u) |
		    (op->solicited ? RNIC_SEND_SOLICITED : 0u) |
		    (rng_chance(m->rng, 1000) ? RNIC_SEND_FENCE : 0u);
	wr->imm = op->imm;
	if (op->op == RNIC_WR_BIND_MW) {
		model_window_turn(m, op, wr);
		m->n_posted++;
		sim_queue_send_post(&m->end.queues);
		return true;
	}
	if (op->op == RNIC_WR_SEND)
		model_window_send(m, op, wr);
	else if (op->op != RNIC_WR_SEND_IMM)
		remote_fill(m, op, wr);
	wr->compare = op->compare;
	wr->swap_add = op->swap_add;
	if (op->op == RNIC_WR_ATOMIC_WRITE || (may_be_inline(op) && rng_chance(m->rng, 4000))) {
		wr->flags |= RNIC_SEND_INLINE;
		wr->inline_len = op->len;
		if (op->len)
			memcpy(wr->inline_data, op->data, op->len);
	} else {
		wr->num_sge = sges_fill(m, &op->local, wr->sge);
	}
	m->n_posted++;
	sim_queue_send_post(&m->end.queues);
	return true;
}

static bool recv_post(struct model_end *m)
{
	struct rnic_recv_wr *wr = !m->srq && m->n_recvs < m->peer->n_takers && !m->recv_stopped
					  ? sim_queue_recv(&m->end.queues)
					  : NULL;

	if (!wr)
		return false;
	wr->num_sge = sges_fill(m, &m->recvs[m->n_recvs], wr->sge);
	m->n_recvs++;
	sim_queue_recv_post(&m->end.queues);
	return true;
}

bool model_end_post(struct model_end *m, bool eager)
{
	uint32_t recvs = rng_between(m->rng, 1, 5), sends = rng_between(m->rng, 1, 8);
	bool posted = false, sent = false;

	if (!eager && rng_chance(m->rng, m->recv_laziness))
		recvs = 0;
	/* A QP in ERR looks for receives for some ten seconds, see rnic/flush.c. */
	if (rnic_qp_state(m->end.qp) != RNIC_QPS_ERR)
		m->alive_at = m->end.world->now;
	else if (m->end.world->now - m->alive_at > SIM_S)
		recvs = 0;
	while (recvs && recvs-- && recv_post(m))
		posted = true;
	while (sends-- && send_post(m))
		sent = true;
	if (sent)
		sim_check(rnic_qp_kick(m->end.qp) == 0, "kick");
	return posted || sent;
}

bool model_end_done(const struct model_end *m)
{
	return m->n_completed == m->n_ops && m->n_received == m->peer->n_takers;
}

void model_end_settled(const struct model_end *m)
{
	bool error = rnic_qp_state(m->end.qp) == RNIC_QPS_ERR;

	sim_check(m->n_completed == m->n_posted || !error,
		  "request %" PRIu32 " of QP %" PRIu32 " hangs", m->n_completed,
		  rnic_qp_num(m->end.qp));
	sim_check(m->end.queues.send_retired == m->n_posted, "%" PRIu64 " of %" PRIu32 " retired",
		  m->end.queues.send_retired, m->n_posted);
	sim_check(!error || m->n_received == m->n_recvs, "receive %" PRIu32 " is not flushed",
		  m->n_received);
	sim_check(error || !(m->failed || m->recv_failed), "a QP that failed lives");
}

/* ---- checking ---- */

static bool area_holds(const struct model_end *m, const struct model_area *a, const uint8_t *data,
		       uint32_t len)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < a->n && done < len; i++) {
		uint32_t n = a->piece[i].len < len - done ? a->piece[i].len : len - done;

		if (n && memcmp(m->end.mem.bytes + a->piece[i].offset, data + done, n) != 0)
			return false;
		done += n;
	}
	return done == len;
}

/* What the operation must have done by the time that it is announced has been done. */
static void effect_check(const struct model_end *m, uint32_t i)
{
	const struct model_op *op = &m->ops[i];
	bool done = true;

	switch (op->op) {
	case RNIC_WR_WRITE:
	case RNIC_WR_WRITE_IMM:
	case RNIC_WR_ATOMIC_WRITE:
		done = !op->len ||
		       memcmp(m->peer->end.mem.bytes + op->remote, op->data, op->len) == 0;
		break;
	case RNIC_WR_READ:
		done = area_holds(m, &op->local, op->data, op->len);
		break;
	case RNIC_WR_CMP_SWAP:
	case RNIC_WR_FETCH_ADD:
		done = op->common || area_holds(m, &op->local, (const uint8_t *)&op->orig, 8);
		break;
	case RNIC_WR_SEND:
	case RNIC_WR_SEND_IMM:
	case RNIC_WR_SEND_INV:
		/* In an SRQ's area, which only the receive's completion tells. */
		done = m->peer->srq ||
		       area_holds(m->peer, &m->peer->recvs[op->taker], op->data, op->len);
		break;
	case RNIC_WR_LOCAL_INV:
	case RNIC_WR_BIND_MW:
		break;
	}
	sim_check(done,
		  "operation %" PRIu32 " (op %d, %" PRIu32 " bytes) of QP %" PRIu32
		  " of node %" PRIu32 " at %.3f us",
		  i, (int)op->op, op->len, rnic_qp_num(m->end.qp), m->end.node,
		  (double)m->end.world->now / 1000);
}

static enum rnic_wc_opcode opcode_of(enum rnic_wr_op op)
{
	switch (op) {
	case RNIC_WR_WRITE:
	case RNIC_WR_WRITE_IMM:
		return RNIC_WC_WRITE;
	case RNIC_WR_READ:
		return RNIC_WC_READ;
	case RNIC_WR_CMP_SWAP:
		return RNIC_WC_CMP_SWAP;
	case RNIC_WR_FETCH_ADD:
		return RNIC_WC_FETCH_ADD;
	case RNIC_WR_LOCAL_INV:
		return RNIC_WC_LOCAL_INV;
	case RNIC_WR_BIND_MW:
		return RNIC_WC_BIND_MW;
	case RNIC_WR_ATOMIC_WRITE:
		return RNIC_WC_ATOMIC_WRITE;
	case RNIC_WR_SEND:
	case RNIC_WR_SEND_IMM:
	case RNIC_WR_SEND_INV:
		break;
	}
	return RNIC_WC_SEND;
}

/* Errors come once, then everything is flushed, in order, asked for or not. */
static void failure_check(struct model_end *m, const struct rnic_cqe *cqe)
{
	uint32_t i = (uint32_t)cqe->slot;
	bool first = !m->failed;
	bool known = cqe->status == RNIC_WC_WR_FLUSH_ERR ||
		     (first && (cqe->status == RNIC_WC_RETRY_EXC_ERR ||
				cqe->status == RNIC_WC_RNR_RETRY_EXC_ERR));

	sim_check(m->may_fail && known && rnic_qp_state(m->end.qp) == RNIC_QPS_ERR,
		  "request %" PRIu32 " of QP %" PRIu32 " of node %" PRIu32 ": status %d at %.3f us",
		  i, rnic_qp_num(m->end.qp), m->end.node, (int)cqe->status,
		  (double)m->end.world->now / 1000);
	sim_check(i < m->n_posted && (first ? i >= m->n_completed : i == m->n_completed),
		  "request %" PRIu32 " fails where %" PRIu32 " is next", i, m->n_completed);
	for (; m->n_completed < i; m->n_completed++) {
		sim_check(!m->ops[m->n_completed].signaled && !m->end.cfg.sig_all,
			  "request %" PRIu32 " has no completion", m->n_completed);
		effect_check(m, m->n_completed);
	}
	m->n_completed++;
	m->failed = true;
}

static void send_check(struct model_end *m, const struct rnic_cqe *cqe)
{
	uint32_t i = m->n_completed;
	const struct model_op *op;

	if (cqe->status != RNIC_WC_SUCCESS || m->failed) {
		failure_check(m, cqe);
		return;
	}
	while (i < m->n_posted && !m->ops[i].signaled && !m->end.cfg.sig_all)
		i++;
	op = &m->ops[i];
	sim_check(i < m->n_posted && cqe->slot == i,
		  "completion of request %" PRIu64 " (status %d) where %" PRIu32
		  " is next, QP %" PRIu32 " of node %" PRIu32,
		  cqe->slot, (int)cqe->status, i, rnic_qp_num(m->end.qp), m->end.node);
	sim_check(cqe->qp == m->end.qp && !cqe->recv, "request %" PRIu32, i);
	sim_check(cqe->opcode == opcode_of(op->op), "opcode %d", (int)cqe->opcode);
	if (op->op == RNIC_WR_READ)
		sim_check(cqe->byte_len == op->len, "%" PRIu32, cqe->byte_len);
	for (; m->n_completed <= i; m->n_completed++) {
		effect_check(m, m->n_completed);
		model_window_completed(m, &m->ops[m->n_completed]);
	}
	sim_check(m->end.queues.send_retired >= m->n_completed, "%" PRIu64 " retired",
		  m->end.queues.send_retired);
}

static void recv_check(struct model_end *m, const struct rnic_cqe *cqe)
{
	uint32_t taker = m->peer->takers[m->n_received];
	const struct model_op *op = &m->peer->ops[taker];
	bool write = op->op == RNIC_WR_WRITE_IMM;
	bool imm = write || op->op == RNIC_WR_SEND_IMM;
	uint32_t with = imm ? RNIC_WC_WITH_IMM : op->op == RNIC_WR_SEND_INV ? RNIC_WC_WITH_INV : 0;

	sim_check(m->srq || (m->n_received < m->n_recvs && cqe->slot == m->n_received),
		  "receive %" PRIu64 " completes where %" PRIu32 " is next", cqe->slot,
		  m->n_received);
	if (m->may_fail && cqe->status == RNIC_WC_WR_FLUSH_ERR) {
		m->recv_failed = true;
		m->n_received++;
		return;
	}
	sim_check(cqe->status == RNIC_WC_SUCCESS && !m->recv_failed && cqe->recv &&
			  cqe->qp == m->end.qp,
		  "receive %" PRIu32 " of QP %" PRIu32 " of node %" PRIu32 ": status %d",
		  m->n_received, rnic_qp_num(m->end.qp), m->end.node, (int)cqe->status);
	sim_check(cqe->opcode == (write ? RNIC_WC_RECV_WRITE_IMM : RNIC_WC_RECV), "%d",
		  (int)cqe->opcode);
	sim_check(cqe->byte_len == op->len, "%" PRIu32 " bytes, not %" PRIu32, cqe->byte_len,
		  op->len);
	sim_check(cqe->flags == with, "flags 0x%" PRIx32, cqe->flags);
	sim_check(!with || cqe->imm == op->imm, "immediate 0x%" PRIx32, cqe->imm);
	sim_check(cqe->solicited == op->solicited, "solicited");
	if (m->srq)
		model_srq_check(m->srq, cqe->slot, op->data, write ? 0 : op->len);
	else
		effect_check(m->peer, taker);
	if (op->op == RNIC_WR_SEND_INV)
		model_window_invalidated(m, op->imm);
	m->n_received++;
}

void model_end_poll(struct model_end *m)
{
	const struct rnic_cqe *cqe;

	while ((cqe = sim_cq_poll(&m->end.send_ring)))
		send_check(m, cqe);
	while ((cqe = sim_cq_poll(&m->end.recv_ring)))
		recv_check(m, cqe);
}

void model_end_verify(const struct model_end *m)
{
	const uint8_t *bytes = m->end.mem.bytes;
	uint64_t len = m->mem_used + 8192 < m->end.mem.len ? m->mem_used + 8192 : m->end.mem.len;

	for (uint64_t i = 0; i < len; i++) {
		if (i % 4096 == 0 && len - i > 4096 && memcmp(bytes + i, m->shadow + i, 4096) == 0)
			i += 4095;
		else if (i / 8 != MODEL_COMMON_RESULT / 8)
			sim_check(bytes[i] == m->shadow[i],
				  "byte %" PRIu64 " of the memory of QP %" PRIu32
				  " of node %" PRIu32 " is 0x%02x, not 0x%02x",
				  i, rnic_qp_num(m->end.qp), m->end.node, bytes[i], m->shadow[i]);
	}
}

void model_end_print(const struct model_end *m)
{
	struct rnic_qp_info info;

	rnic_qp_info_get(m->end.qp, &info);
	fprintf(stderr,
		"node %" PRIu32 " QP %" PRIu32 ": %" PRIu32 " of %" PRIu32 " posted, %" PRIu32
		" complete; %" PRIu32 " of %" PRIu32 " received; una %" PRIx32 " next %" PRIx32
		" expected %" PRIx32 ", state %s\n",
		m->end.node, info.qpn, m->n_posted, m->n_ops, m->n_completed, m->n_received,
		m->peer->n_takers, info.sq_una_psn, info.sq_psn, info.rq_psn,
		rnic_qp_state_name(info.state));
}
