/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies requests out of the client's queue and checks them (IBA vol. 1, chapter 11). */
#include "config.h"

#include <string.h>

#include "rnic/requester.h"
#include "rnic/sgl.h"

#define ATOMIC_LEN 8
#define HEADERS_COST 60 /* bytes of IP, UDP and transport headers, roughly */

static bool op_allowed(const struct rnic_qp *qp, enum rnic_wr_op op)
{
	switch (op) {
	case RNIC_WR_SEND:
	case RNIC_WR_SEND_IMM:
	case RNIC_WR_WRITE:
	case RNIC_WR_WRITE_IMM:
		return true;
	case RNIC_WR_SEND_INV:
		return qp->init.type == RNIC_QPT_RC;
	case RNIC_WR_READ:
	case RNIC_WR_CMP_SWAP:
	case RNIC_WR_FETCH_ADD:
	case RNIC_WR_ATOMIC_WRITE:
		return qp->init.type == RNIC_QPT_RC && qp->attr.max_rd_atomic;
	case RNIC_WR_LOCAL_INV:
	case RNIC_WR_BIND_MW:
		return true;
	}
	return false;
}

static enum rnic_wc_status wr_check(const struct rnic_qp *qp, const struct rnic_send_wr *wr,
				    uint64_t length)
{
	bool awaits_data = wr_op_awaits_data(wr->op);
	bool is_inline = wr->flags & RNIC_SEND_INLINE;

	if (!op_allowed(qp, wr->op))
		return RNIC_WC_LOC_QP_OP_ERR;
	if (wr->op == RNIC_WR_ATOMIC_WRITE)
		return is_inline && length == ATOMIC_LEN && wr->raddr % ATOMIC_LEN == 0
			       ? RNIC_WC_SUCCESS
			       : RNIC_WC_LOC_QP_OP_ERR;
	if (is_inline && awaits_data)
		return RNIC_WC_LOC_QP_OP_ERR;
	if (wr_op_is_local(wr->op))
		return wr->num_sge || is_inline ? RNIC_WC_LOC_QP_OP_ERR : RNIC_WC_SUCCESS;
	if (is_inline)
		return wr->inline_len <= qp->init.max_inline ? RNIC_WC_SUCCESS
							     : RNIC_WC_LOC_QP_OP_ERR;
	if (wr->num_sge > qp->init.max_send_sge || wr->num_sge > RNIC_MAX_SGE)
		return RNIC_WC_LOC_QP_OP_ERR;
	if (length > qp->dev->limits.max_msg_size)
		return RNIC_WC_LOC_LEN_ERR;
	if (awaits_data && wr->op != RNIC_WR_READ) {
		if (length != ATOMIC_LEN)
			return RNIC_WC_LOC_LEN_ERR;
		if (wr->raddr % ATOMIC_LEN)
			return RNIC_WC_LOC_QP_OP_ERR;
	}
	if (!sgl_check(qp->pd, wr->sge, wr->num_sge, awaits_data ? SGL_WRITE : SGL_READ))
		return RNIC_WC_LOC_PROT_ERR;
	return RNIC_WC_SUCCESS;
}

static uint64_t wr_length(const struct rnic_send_wr *wr)
{
	if (wr->flags & RNIC_SEND_INLINE)
		return wr->inline_len;
	return sgl_length(wr->sge, wr->num_sge <= RNIC_MAX_SGE ? wr->num_sge : 0);
}

static void entry_size(struct send_entry *e, uint32_t mtu)
{
	uint32_t payload = e->length < mtu ? e->length : mtu;

	if (wr_op_is_local(e->op))
		return;
	e->n_psn = e->length ? (uint32_t)(((uint64_t)e->length + mtu - 1) / mtu) : 1;
	if (e->op == RNIC_WR_CMP_SWAP || e->op == RNIC_WR_FETCH_ADD)
		payload = 0;
	e->pkt_cost = peer_packet_cost(payload + HEADERS_COST);
}

static void entry_fill(struct rnic_qp *qp, struct send_entry *e, const struct rnic_send_wr *wr,
		       bool malformed)
{
	uint64_t length = malformed ? 0 : wr_length(wr);

	e->slot = wr->slot;
	e->op = wr->op;
	e->acked = 0;
	e->n_psn = 0;
	e->done = e->credited = false;
	e->num_sge = 0;
	e->inline_len = 0;
	e->flags = malformed ? RNIC_SEND_SIGNALED : wr->flags;
	e->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
	e->status = malformed ? RNIC_WC_LOC_QP_OP_ERR : wr_check(qp, wr, length);
	if (e->status != RNIC_WC_SUCCESS)
		return;
	e->raddr = wr->raddr;
	e->rkey = wr->op == RNIC_WR_LOCAL_INV ? wr->inv_key : wr->rkey;
	e->imm = wr->imm;
	e->compare = wr->compare;
	e->swap_add = wr->swap_add;
	if (wr->op == RNIC_WR_BIND_MW) {
		memcpy(e->data, &wr->bind, sizeof(wr->bind));
	} else if (wr->flags & RNIC_SEND_INLINE) {
		e->inline_len = wr->inline_len;
		memcpy(e->data, wr->inline_data, wr->inline_len);
	} else {
		e->num_sge = wr->num_sge;
		memcpy(e->data, wr->sge, wr->num_sge * sizeof(wr->sge[0]));
	}
	entry_size(e, qp->req->mtu);
}

bool requester_pull(struct rnic_qp *qp)
{
	struct requester *req = qp->req;
	struct rnic_send_wr wr;
	int ret;

	if (req->tail - req->una >= req->room)
		return false;
	ret = qp->init.ops->send_next(qp->init.user, &wr);
	if (ret == 0)
		return false;
	entry_fill(qp, send_entry(req, req->tail), &wr, ret < 0);
	req->tail++;
	return true;
}
