/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a requester does with the answers.
 *
 * An answer for PSN p acknowledges all before p, but for READs and atomics whose data has not come:
 * those are lost and asked for again from the first missing PSN. PSNs that are not in flight
 * are ghosts of the past and are ignored.
 */
#include "config.h"

#include "rnic/completer.h"

#include <errno.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/credit.h"
#include "rnic/requester.h"
#include "rnic/retry.h"
#include "rnic/sgl.h"

/* n more packets of the oldest entry are done with. */
static void entry_progress(struct rnic_qp *qp, struct send_entry *e, uint32_t n)
{
	struct requester *req = qp->req;

	e->acked += n;
	req->una_psn = psn_add(req->una_psn, n);
	peer_acked(&req->share, (uint64_t)n * e->pkt_cost);
	if (e->acked == e->n_psn)
		requester_complete(qp, RNIC_WC_SUCCESS);
}

static void rd_retire(struct requester *req)
{
	while (req->rd_known && psn_diff(req->una_psn, req->rd_end[req->rd_head]) >= 0) {
		req->rd_head = (req->rd_head + 1) % req->rd_room;
		req->rd_known--;
		if (req->rd_n)
			req->rd_n--;
	}
}

/* una_psn has moved. */
static void progress_made(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;

	rd_retire(req);
	retry_progress(qp);
	requester_settle(qp);
	/* Late answers to the first transmission, while it is being repeated. */
	if (psn_diff(req->psn, req->una_psn) < 0 || (int32_t)(req->cur - req->una) < 0) {
		req->cur = req->una;
		req->cur_off = req->una != req->tail ? send_entry(req, req->una)->acked : 0;
		req->psn = req->una_psn;
		req->pend_n = 0;
	}
	retry_restart(qp, now);
	qp_activate(qp);
}

/* All before psn is acknowledged. False if a response before psn is missing: una_psn is there. */
static bool acked_before(struct rnic_qp *qp, uint32_t psn, uint64_t now)
{
	struct requester *req = qp->req;
	uint32_t left = (uint32_t)psn_diff(psn, req->una_psn);
	bool moved = false;

	while (left) {
		struct send_entry *e = send_entry(req, req->una);
		uint32_t n = e->n_psn - e->acked;

		if (e->done) {
			requester_settle(qp);
			continue;
		}
		if (wr_op_awaits_data(e->op))
			break;
		if (n > left)
			n = left;
		entry_progress(qp, e, n);
		left -= n;
		moved = true;
	}
	if (moved)
		progress_made(qp, now);
	return left == 0;
}

static bool psn_in_flight(const struct requester *req, uint32_t psn)
{
	return req->una != req->tail && psn_diff(psn, req->una_psn) >= 0 &&
	       psn_diff(psn, req->max_psn) < 0;
}

static void nak_received(struct rnic_qp *qp, const struct bth_packet *pkt, uint64_t now)
{
	switch ((enum aeth_nak)aeth_value(pkt->syndrome)) {
	case AETH_NAK_PSN_SEQUENCE:
		retry_sequence_nak(qp, now);
		return;
	case AETH_NAK_INVALID_REQUEST:
		requester_fail(qp, RNIC_WC_REM_INV_REQ_ERR, now);
		return;
	case AETH_NAK_REMOTE_ACCESS:
		requester_fail(qp, RNIC_WC_REM_ACCESS_ERR, now);
		return;
	case AETH_NAK_REMOTE_OPERATIONAL:
		requester_fail(qp, RNIC_WC_REM_OP_ERR, now);
		return;
	case AETH_NAK_INVALID_RD_REQUEST: /* of RD only */
		break;
	}
	requester_fail(qp, RNIC_WC_BAD_RESP_ERR, now);
}

static bool is_fatal(uint8_t syndrome)
{
	return aeth_kind(syndrome) == AETH_NAK && aeth_value(syndrome) != AETH_NAK_PSN_SEQUENCE;
}

static void acknowledge_received(struct rnic_qp *qp, const struct bth_packet *pkt, uint64_t now)
{
	enum aeth_kind kind = aeth_kind(pkt->syndrome);
	uint32_t done = kind == AETH_ACK ? psn_add(pkt->psn, 1) : pkt->psn;

	if (!psn_in_flight(qp->req, pkt->psn) || kind == AETH_RESERVED)
		return;
	credit_received(qp, pkt->syndrome);
	if (!acked_before(qp, done, now)) {
		retry_gap(qp, now);
		return;
	}
	/* Sent before it went back for the same reason, or doubled on the way. */
	if (kind != AETH_ACK && qp->req->psn == qp->req->una_psn && !is_fatal(pkt->syndrome))
		return;
	if (kind == AETH_RNR_NAK)
		retry_rnr_nak(qp, aeth_value(pkt->syndrome), now);
	else if (kind == AETH_NAK)
		nak_received(qp, pkt, now);
}

/*
 * The request that una_psn, to which all has been acknowledged, belongs to. NULL: it is not of this
 * kind, so that the response is a bad one.
 */
static struct send_entry *awaiting_entry(struct rnic_qp *qp, bool read, uint64_t now)
{
	struct send_entry *e = send_entry(qp->req, qp->req->una);

	if (wr_op_awaits_data(e->op) &&
	    (e->op == RNIC_WR_READ || e->op == RNIC_WR_ATOMIC_WRITE) == read)
		return e;
	requester_fail(qp, RNIC_WC_BAD_RESP_ERR, now);
	return NULL;
}

static uint32_t read_payload(const struct requester *req, const struct send_entry *e, uint32_t k)
{
	if (e->op == RNIC_WR_ATOMIC_WRITE)
		return 0;
	return k + 1 < e->n_psn ? req->mtu : e->length - k * req->mtu;
}

/* How many of the packets are what is expected next, one after the other. */
static uint32_t read_run(const struct requester *req, const struct send_entry *e,
			 const struct bth_packet *pkt, uint32_t n, struct iovec *piece)
{
	uint32_t left = e->n_psn - e->acked;
	uint32_t m;

	for (m = 0; m < n && m < left && m < SGL_PIECES_MAX; m++) {
		uint32_t flags = bth_opcode_info(pkt[m].opcode)->flags;

		if (!(flags & BTH_F_READ) || pkt[m].psn != psn_add(req->una_psn, m) ||
		    pkt[m].payload_len != read_payload(req, e, e->acked + m))
			break;
		/* Where its parts end is the requester's affair, but the last ends with it. */
		if (m + 1 == left && !(flags & BTH_F_LAST))
			break;
		piece[m].iov_base = (void *)(uintptr_t)pkt[m].payload;
		piece[m].iov_len = pkt[m].payload_len;
	}
	return m;
}

/* Data for the oldest entry has come. False: it could not be stored. */
static bool data_store(struct rnic_qp *qp, const struct send_entry *e, const struct iovec *piece,
		       uint32_t n, uint64_t now)
{
	uint64_t off = (uint64_t)e->acked * qp->req->mtu;
	struct rnic_mem *mem;
	int ret = sgl_copy(qp->pd, e->data, e->num_sge, off, piece, n, SGL_WRITE, &mem);

	if (ret == 0)
		return true;
	if (ret == -EINPROGRESS) {
		/* Dropped; when the memory answers, it is asked for again. The peer is well. */
		requester_go_back(qp);
		retry_suspend(qp);
		requester_wait(qp, mem);
	} else {
		requester_fail(qp, RNIC_WC_LOC_PROT_ERR, now);
	}
	return false;
}

static uint32_t read_received(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t n,
			      uint64_t now)
{
	struct requester *req = qp->req;
	struct iovec piece[SGL_PIECES_MAX];
	struct send_entry *e;
	uint32_t m;

	if (!psn_in_flight(req, pkt->psn))
		return 1;
	if (!acked_before(qp, pkt->psn, now)) {
		retry_gap(qp, now);
		return 1;
	}
	if (bth_opcode_info(pkt->opcode)->flags & BTH_F_AETH)
		credit_received(qp, pkt->syndrome);
	e = awaiting_entry(qp, true, now);
	if (!e)
		return n;
	m = read_run(req, e, pkt, n, piece);
	if (m == 0) {
		requester_fail(qp, RNIC_WC_BAD_RESP_ERR, now);
		return n;
	}
	if (!data_store(qp, e, piece, m, now))
		return n;
	entry_progress(qp, e, m);
	progress_made(qp, now);
	return m;
}

static void atomic_received(struct rnic_qp *qp, const struct bth_packet *pkt, uint64_t now)
{
	struct requester *req = qp->req;
	uint64_t orig = pkt->orig;
	struct iovec piece = {.iov_base = &orig, .iov_len = sizeof(orig)};
	struct send_entry *e;

	if (!psn_in_flight(req, pkt->psn))
		return;
	if (!acked_before(qp, pkt->psn, now)) {
		retry_gap(qp, now);
		return;
	}
	credit_received(qp, pkt->syndrome);
	e = awaiting_entry(qp, false, now);
	if (!e || !data_store(qp, e, &piece, 1, now))
		return;
	entry_progress(qp, e, 1);
	progress_made(qp, now);
}

void completer_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n)
{
	uint32_t i = 0;

	/* In PAUSE_MEMORY too: what waits may be memory that only a request to be sent needs. */
	while (i < n && qp->attr.state != RNIC_QPS_ERR) {
		uint32_t flags = bth_opcode_info(pkt[i].opcode)->flags;

		if (flags & BTH_F_READ) {
			i += read_received(qp, pkt + i, n - i, now);
			continue;
		}
		if (flags & BTH_F_ATOMIC)
			atomic_received(qp, &pkt[i], now);
		else
			acknowledge_received(qp, &pkt[i], now);
		i++;
	}
}
