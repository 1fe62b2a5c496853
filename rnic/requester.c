/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sending side of a QP: its ring, its turns, the end of its requests. See requester.h. */
#include "config.h"

#include "rnic/requester.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/fault.h"
#include "rnic/retry.h"
#include "rnic/transport.h"
#include "rnic/ud.h"

#define RING_MAX 256 /* outstanding requests; the client's own queue may be longer */

static uint32_t ring_size(uint32_t want)
{
	uint32_t size = 1;

	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

static uint32_t ring_stride(const struct rnic_qp_init *init)
{
	size_t data = init->max_send_sge * sizeof(struct rnic_sge);

	if (init->max_inline > data)
		data = init->max_inline;
	if (sizeof(struct rnic_bind) > data)
		data = sizeof(struct rnic_bind);
	return (uint32_t)((sizeof(struct send_entry) + data + 15) & ~(size_t)15);
}

int requester_create(struct rnic_qp *qp)
{
	struct requester *req = calloc(1, sizeof(*req));
	uint32_t size = ring_size(qp->init.max_send_wr);

	if (!req)
		return -ENOMEM;
	qp->req = req;
	req->mask = size - 1;
	req->room = qp->init.max_send_wr < size ? qp->init.max_send_wr : size;
	if (req->room == 0)
		req->room = 1;
	req->stride = ring_stride(&qp->init);
	req->rd_room = 2 * qp->dev->limits.max_qp_rd_atom + 1;
	peer_share_init(&req->share, qp);
	req->ring = calloc(size, req->stride);
	req->rd_end = calloc(req->rd_room, sizeof(*req->rd_end));
	if (qp->init.type == RNIC_QPT_UD || qp->init.type == RNIC_QPT_GSI) {
		req->ud_wr = malloc(sizeof(*req->ud_wr));
		if (!req->ud_wr)
			return -ENOMEM;
	}
	return req->ring && req->rd_end ? 0 : -ENOMEM;
}

void requester_destroy(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	if (!req)
		return;
	peer_detach(&req->share);
	free(req->ud_wr);
	free(req->rd_end);
	free(req->ring);
	free(req);
	qp->req = NULL;
}

void requester_reset(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	timer_disarm(qp->dev, &qp->retry_timer);
	timer_disarm(qp->dev, &qp->rnr_timer);
	cc_reset(qp);
	peer_detach(&req->share);
	req->una = req->cur = req->tail = 0;
	req->cur_off = 0;
	req->rd_head = req->rd_n = req->rd_known = 0;
	req->since_ackreq = 0;
	req->pause = PAUSE_NONE;
	req->wait_mem = NULL;
	req->pend_n = 0;
	req->deadline = 0;
	req->gap_seen = req->draining = req->ud_held = false;
	req->flush_ms = 0;
}

void requester_start(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	req->una_psn = req->psn = req->max_psn = qp->attr.sq_psn & BTH_PSN_MASK;
	req->credits = AETH_CREDITS_NONE;
	retry_progress(qp);
	retry_jitter(qp);
}

void requester_wait(struct rnic_qp *qp, struct rnic_mem *mem)
{
	qp->req->pause = PAUSE_MEMORY;
	qp->req->wait_mem = mem;
	transport_wait_update(qp);
}

void requester_go_back(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	req->cur = req->una;
	req->cur_off = req->una != req->tail ? send_entry(req, req->una)->acked : 0;
	req->psn = req->una_psn;
	req->rd_n = 0;
	req->since_ackreq = 0;
	req->pend_n = 0;
	peer_forgotten(&req->share);
	qp_activate(qp);
}

uint32_t requester_again(const struct rnic_qp *qp)
{
	int32_t again = psn_diff(qp->req->max_psn, qp->req->psn);

	return again > 0 ? (uint32_t)again : 0;
}

void requester_sent(struct rnic_qp *qp, struct send_entry *e, uint32_t n, bool ackreq, uint64_t now)
{
	struct requester *req = qp->req;
	uint32_t again = requester_again(qp), resent = again < n ? again : n;

	req->retransmitted += resent;
	qp->dev->counters.retransmitted_pkts += resent;
	req->psn = psn_add(req->psn, n);
	if (again < n)
		req->max_psn = req->psn;
	req->cur_off += n;
	if (req->cur_off == e->n_psn) {
		req->cur++;
		req->cur_off = 0;
	}
	req->since_ackreq = ackreq ? 0 : req->since_ackreq + n;
	if (qp->init.type != RNIC_QPT_RC)
		return;
	peer_sent(&req->share, (uint64_t)n * e->pkt_cost);
	if (ackreq)
		retry_ack_expected(qp, now);
}

/* What comes next has not been begun: no packet of it has ever left. */
static bool next_is_untouched(const struct requester *req)
{
	return req->cur_off == 0 && req->psn == req->max_psn;
}

/* The request at cur, pulled if need be, is there and is sendable. */
static bool entry_ready(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	if (qp->attr.state == RNIC_QPS_SQD && next_is_untouched(req))
		return false;
	if (req->cur == req->tail && !requester_pull(qp))
		return false;
	if (send_entry(req, req->cur)->status == RNIC_WC_SUCCESS)
		return true;
	if (req->cur == req->una)
		requester_fail(qp, send_entry(req, req->cur)->status, now);
	return false;
}

/* No answer to what is under way can come either, so the oldest request fails. */
static void source_gone(struct rnic_qp *qp, uint64_t now)
{
	dev_log(qp->dev, "QP %" PRIu32 ": its source address is not in the GID table any more",
		qp->qpn);
	requester_fail(qp, RNIC_WC_LOC_QP_OP_ERR, now);
}

bool requester_turn(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;
	struct send_entry *e;

	if (req->pause != PAUSE_NONE)
		return false;
	if (req->ud_wr)
		return ud_send(qp, now);
	if (!entry_ready(qp, now))
		return false;
	e = send_entry(req, req->cur);
	/* IBA unverified: a fenced request waits for all READs and atomics before it. */
	if (req->cur_off == 0 && !e->done && (e->flags & RNIC_SEND_FENCE) && req->rd_n)
		return false;
	if (wr_op_is_local(e->op))
		return requester_do_local(qp, e);
	if (!av_has_source(qp->dev, &qp->attr.av)) {
		source_gone(qp, now);
		return false;
	}
	if (wr_op_awaits_data(e->op))
		return requester_send_read(qp, e, now);
	return requester_send_data(qp, e, now);
}

static enum rnic_wc_opcode wc_opcode(enum rnic_wr_op op)
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
	case RNIC_WR_ATOMIC_WRITE:
		return RNIC_WC_ATOMIC_WRITE;
	case RNIC_WR_LOCAL_INV:
		return RNIC_WC_LOCAL_INV;
	case RNIC_WR_BIND_MW:
		return RNIC_WC_BIND_MW;
	case RNIC_WR_SEND:
	case RNIC_WR_SEND_IMM:
	case RNIC_WR_SEND_INV:
		break;
	}
	return RNIC_WC_SEND;
}

void send_wr_complete(struct rnic_qp *qp, uint64_t slot, enum rnic_wr_op op, uint32_t flags,
		      uint32_t length, enum rnic_wc_status status)
{
	struct rnic_cqe cqe = {
		.qp = qp,
		.slot = slot,
		.status = status,
		.opcode = wc_opcode(op),
		.byte_len = length,
		.solicited = status != RNIC_WC_SUCCESS,
	};

	qp->init.ops->send_retire(qp->init.user, slot);
	if (status != RNIC_WC_SUCCESS || qp->init.sq_sig_all || (flags & RNIC_SEND_SIGNALED))
		cq_complete(qp->init.send_cq, &cqe);
}

void requester_complete(struct rnic_qp *qp, enum rnic_wc_status status)
{
	struct requester *req = qp->req;
	const struct send_entry *e = send_entry(req, req->una);

	req->una++;
	send_wr_complete(qp, e->slot, e->op, e->flags, e->length, status);
	if (req->draining)
		requester_drained(qp);
}

void requester_fail(struct rnic_qp *qp, enum rnic_wc_status status, uint64_t now)
{
	qp->dev->counters.send_err++;
	fault_sent(qp, send_entry(qp->req, qp->req->una), status);
	requester_complete(qp, status);
	qp_send_error(qp, now);
}

void requester_drained(struct rnic_qp *qp)
{
	struct requester *req = qp->req;
	struct rnic_async event = {.type = RNIC_EVENT_SQ_DRAINED, .qp = qp};

	if (qp->attr.state != RNIC_QPS_SQD || req->una != req->cur || !next_is_untouched(req))
		return;
	if (req->ud_held)
		return;
	req->draining = false;
	qp->attr.sq_draining = 0;
	if (qp->attr.en_sqd_async_notify)
		qp->dev->cfg.ops->async_event(qp->dev->cfg.host, &event);
}
