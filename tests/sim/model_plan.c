/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans what the two ends of a connection will do, and with it what their memories must become. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "end_model.h"

/* Some unused memory of m; false if there is none left. */
static bool take(struct model_end *m, uint32_t len, struct model_piece *p)
{
	uint32_t offset = m->mem_used + rng_below(m->rng, 8);

	if (offset + len > MODEL_MEM_LEN)
		return false;
	*p = (struct model_piece){.offset = offset, .len = len};
	m->mem_used = offset + len;
	return true;
}

static bool area_take(struct model_end *m, uint32_t len, struct model_area *a)
{
	uint32_t n = rng_chance(m->rng, 6000) ? 1 : rng_between(m->rng, 1, MODEL_PIECES_MAX);
	uint32_t left = len;

	*a = (struct model_area){.len = len};
	if (!len && rng_chance(m->rng, 5000))
		return true; /* no SGE at all */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t part = i + 1 == n ? left : rng_below(m->rng, left + 1);

		if (!take(m, part, &a->piece[a->n]))
			return false;
		a->n++;
		left -= part;
	}
	return true;
}

/* The memory at an offset holds these bytes, in the end. */
static void shadow_set(struct model_end *m, uint32_t offset, const void *data, uint32_t len)
{
	if (len)
		memcpy(m->shadow + offset, data, len);
}

static void area_shadow(struct model_end *m, const struct model_area *a, const uint8_t *data,
			uint32_t len)
{
	for (uint32_t i = 0; i < a->n && len; i++) {
		uint32_t n = a->piece[i].len < len ? a->piece[i].len : len;

		shadow_set(m, a->piece[i].offset, data, n);
		data += n;
		len -= n;
	}
}

/* The memory holds these bytes from the beginning. */
static void area_fill(struct model_end *m, const struct model_area *a, const uint8_t *data)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->piece[i].len)
			memcpy(m->end.mem.bytes + a->piece[i].offset, data, a->piece[i].len);
		shadow_set(m, a->piece[i].offset, data, a->piece[i].len);
		data += a->piece[i].len;
	}
}

static uint8_t *random_bytes(struct rng *r, uint32_t len)
{
	uint8_t *p = malloc(len + 8);

	sim_check(p, "memory");
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t v = rng_next(r);

		memcpy(p + i, &v, 8);
	}
	return p;
}

static uint32_t length_choose(struct model_end *m, enum rnic_wr_op op)
{
	uint32_t mtu = rnic_mtu_bytes(m->end.cfg.mtu);

	switch (rng_below(m->rng, 8)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return rng_between(m->rng, 1, 64);
	case 3:
		return mtu * rng_between(m->rng, 1, 4);
	case 4:
		return mtu * rng_between(m->rng, 1, 3) + 1 - 2 * rng_below(m->rng, 2);
	case 5:
		if (op == RNIC_WR_READ && mtu <= 1024)
			return rng_below(m->rng, 40 * mtu);
		break;
	default:
		break;
	}
	return rng_below(m->rng, 3 * mtu);
}

static bool takes_receive(enum rnic_wr_op op)
{
	return op == RNIC_WR_SEND || op == RNIC_WR_SEND_IMM || op == RNIC_WR_WRITE_IMM;
}

static bool send_plan(struct model_end *m, struct model_op *op)
{
	struct model_end *peer = m->peer;
	bool write = op->op == RNIC_WR_WRITE || op->op == RNIC_WR_WRITE_IMM;
	struct model_piece remote = {0};

	if (!write && op->len > peer->recv_size)
		op->len = peer->recv_size;
	if (!area_take(m, op->len, &op->local) || (write && !take(peer, op->len, &remote)))
		return false;
	op->remote = remote.offset;
	op->data = random_bytes(m->rng, op->len);
	area_fill(m, &op->local, op->data);
	if (write)
		shadow_set(peer, op->remote, op->data, op->len);
	return true;
}

/* A READ of what an earlier WRITE of the same QP has put there: it must see it. */
static const struct model_op *earlier_write(const struct model_end *m)
{
	const struct model_op *op = m->n_ops ? &m->ops[rng_below(m->rng, m->n_ops)] : NULL;

	return op && op->len && (op->op == RNIC_WR_WRITE || op->op == RNIC_WR_WRITE_IMM) ? op
											 : NULL;
}

static bool read_plan(struct model_end *m, struct model_op *op)
{
	const struct model_op *write = earlier_write(m);
	struct model_area remote = {.n = 1};

	if (write)
		op->len = rng_below(m->rng, write->len + 1);
	if (!area_take(m, op->len, &op->local))
		return false;
	if (write) {
		op->remote = write->remote;
		op->data = random_bytes(m->rng, op->len);
		memcpy(op->data, write->data, op->len);
	} else {
		if (!take(m->peer, op->len, &remote.piece[0]))
			return false;
		op->remote = remote.piece[0].offset;
		op->data = random_bytes(m->rng, op->len);
		area_fill(m->peer, &remote, op->data);
	}
	area_shadow(m, &op->local, op->data, op->len);
	return true;
}

static bool atomic_plan(struct model_end *m, struct model_op *op)
{
	struct model_end *peer = m->peer;
	uint64_t *word = &peer->atomic_word;

	op->len = 8;
	if (!area_take(m, 8, &op->local))
		return false;
	op->swap_add = rng_next(m->rng);
	op->compare = rng_chance(m->rng, 5000) ? *word : rng_next(m->rng);
	op->orig = *word;
	if (op->op == RNIC_WR_FETCH_ADD)
		*word += op->swap_add;
	else if (op->compare == *word)
		*word = op->swap_add;
	shadow_set(peer, 0, word, 8);
	area_shadow(m, &op->local, (const uint8_t *)&op->orig, 8);
	return true;
}

/* Its result depends on what others do, so it goes to memory that is not compared. */
static bool common_plan(struct model_end *m, struct model_op *op)
{
	op->common = true;
	op->len = 8;
	op->swap_add = rng_next(m->rng);
	op->local = (struct model_area){.piece = {{MODEL_COMMON_RESULT, 8}}, .n = 1, .len = 8};
	m->peer->common->sum += op->swap_add;
	return true;
}

static bool atomic_write_plan(struct model_end *m, struct model_op *op)
{
	struct model_piece remote;

	op->len = 8;
	if (!take(m->peer, 16, &remote))
		return false;
	op->remote = (remote.offset + 7) & ~7u;
	op->data = random_bytes(m->rng, 8);
	shadow_set(m->peer, op->remote, op->data, 8);
	return true;
}

static enum rnic_wr_op op_choose(struct model_end *m)
{
	switch (rng_below(m->rng, 16)) {
	case 0:
		return RNIC_WR_ATOMIC_WRITE;
	case 1:
	case 2:
		return RNIC_WR_BIND_MW; /* or LOCAL_INV */
	default:
		return (enum rnic_wr_op)rng_below(m->rng, RNIC_WR_FETCH_ADD + 1);
	}
}

static bool op_plan(struct model_end *m, struct model_op *op)
{
	op->op = op_choose(m);
	op->imm = (uint32_t)rng_next(m->rng);
	op->signaled = rng_chance(m->rng, 6000);
	op->len = length_choose(m, op->op);
	switch (op->op) {
	case RNIC_WR_READ:
		return read_plan(m, op);
	case RNIC_WR_FETCH_ADD:
		if (rng_chance(m->rng, 4000))
			return common_plan(m, op);
		return atomic_plan(m, op);
	case RNIC_WR_CMP_SWAP:
		return atomic_plan(m, op);
	case RNIC_WR_ATOMIC_WRITE:
		return atomic_write_plan(m, op);
	case RNIC_WR_BIND_MW:
		op->len = 0;
		return true;
	case RNIC_WR_SEND:
	case RNIC_WR_SEND_IMM:
	case RNIC_WR_WRITE:
	case RNIC_WR_WRITE_IMM:
	case RNIC_WR_LOCAL_INV:
	case RNIC_WR_SEND_INV:
		break;
	}
	return send_plan(m, op);
}

static void receive_plan(struct model_end *m, struct model_op *op)
{
	op->solicited = rng_chance(m->rng, 3000);
	op->taker = m->n_takers;
	if (op->op != RNIC_WR_WRITE_IMM && !m->peer->srq)
		area_shadow(m->peer, &m->peer->recvs[m->n_takers], op->data, op->len);
	m->takers[m->n_takers++] = m->n_ops;
}

static void end_plan(struct model_end *m, uint32_t operations)
{
	struct model_end *peer = m->peer;

	/* When memory runs out there are fewer operations. */
	while (m->n_ops < operations &&
	       area_take(peer, peer->recv_size, &peer->recvs[m->n_takers])) {
		struct model_op *op = &m->ops[m->n_ops];

		if (!op_plan(m, op)) {
			memset(op, 0, sizeof(*op));
			break;
		}
		if (takes_receive(op->op))
			receive_plan(m, op);
		m->n_ops++;
	}
	if (m->n_ops)
		m->ops[m->n_ops - 1].signaled = true;
}

static void end_prepare(struct model_end *m)
{
	m->mem_used = MODEL_AREAS;
	m->recv_size = rng_below(m->rng, 4 * rnic_mtu_bytes(m->end.cfg.mtu));
}

void model_pair(struct model_end *a, struct model_end *b, uint32_t a_ops, uint32_t b_ops)
{
	a->peer = b;
	b->peer = a;
	end_prepare(a);
	end_prepare(b);
	end_plan(a, a_ops);
	end_plan(b, b_ops);
}
