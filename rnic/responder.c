/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The receiving side of a QP: PSN order, duplicates, ACKs and NAKs. See responder.h. */
#include "config.h"

#include "rnic/responder.h"

#include <errno.h>
#include <stdlib.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/credit.h"
#include "rnic/fault.h"
#include "rnic/recv.h"

#define RNR_CODE_BUSY 12 /* 0.64 ms */

int responder_create(struct rnic_qp *qp)
{
	struct responder *resp = calloc(1, sizeof(*resp));

	if (!resp)
		return -ENOMEM;
	qp->resp = resp;
	/* As many as the requester may have, and as many duplicates of earlier ones. */
	resp->job_room = qp->init.type == RNIC_QPT_RC ? 2 * qp->dev->limits.max_qp_rd_atom : 0;
	if (resp->job_room) {
		resp->job = calloc(resp->job_room, sizeof(*resp->job));
		resp->atomic = calloc(resp->job_room, sizeof(*resp->atomic));
		if (!resp->job || !resp->atomic)
			return -ENOMEM;
	}
	return recv_create(qp);
}

void responder_destroy(struct rnic_qp *qp)
{
	struct responder *resp = qp->resp;

	if (!resp)
		return;
	recv_destroy(qp);
	free(resp->job);
	free(resp->atomic);
	free(resp);
	qp->resp = NULL;
}

void responder_reset(struct rnic_qp *qp)
{
	struct responder *resp = qp->resp;

	resp->msg = MSG_NONE;
	resp->tail = TAIL_NONE;
	resp->hold = (struct ack_hold){0};
	resp->nak_sent = false;
	resp->established = false;
	resp->last_wqe = false;
	resp->n_jobs = 0;
	resp->wait_mem = NULL;
	resp->pend_n = 0;
	resp->msn = 0;
	for (uint32_t i = 0; i < resp->job_room; i++)
		resp->atomic[i].valid = false;
	recv_drop(qp);
}

void responder_start(struct rnic_qp *qp)
{
	qp->resp->psn = qp->attr.rq_psn & BTH_PSN_MASK;
	qp->resp->ack_psn = psn_add(qp->resp->psn, BTH_PSN_MASK);
}

void responder_packet(struct rnic_qp *qp, const struct bth_packet *pkt)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	uint32_t len = bth_opcode_info(pkt->opcode)->headers_len + BTH_ICRC_LEN;
	struct rnic_tx tx = {
		.av = &qp->attr.av,
		.traffic_class = cc_traffic_class(qp),
		.qpn = qp->qpn,
		.flow = qp->resp->flow,
		.len = len,
		.seg = len,
	};

	tx.data = cfg->ops->tx_alloc(cfg->host, len);
	bth_encode_headers(pkt, tx.data);
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts++;
	qp->dev->counters.sent_bytes += len;
}

/*
 * A NAK is for the expected PSN. An ACK is for the last SEND or WRITE, not for a READ behind it,
 * whose response may be lost: the requester would have to take that for an implied NAK (IBA
 * 9.7.5.1.2, unverified).
 */
void responder_send_tail(struct rnic_qp *qp, uint64_t now)
{
	struct responder *resp = qp->resp;
	enum resp_tail tail = resp->tail;
	struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_RC, BTH_ACKNOWLEDGE),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = qp->attr.dest_qpn,
		.psn = tail == TAIL_ACK ? resp->ack_psn : resp->tail_psn,
		.syndrome = tail == TAIL_ACK ? aeth_syndrome(AETH_ACK, credit_code(qp))
					     : resp->tail_syndrome,
		.msn = resp->msn,
	};

	qp_list_del(&qp->held);
	if (tail == TAIL_NONE || resp->n_jobs)
		return;
	resp->tail = TAIL_NONE;
	responder_packet(qp, &pkt);
	if (tail == TAIL_FATAL)
		qp_error(qp, now, resp->tail_event);
}

static void tail_nak(struct responder *resp, enum resp_tail tail, enum aeth_kind kind,
		     uint8_t value)
{
	resp->tail = tail;
	resp->tail_syndrome = aeth_syndrome(kind, value);
	resp->tail_psn = resp->psn;
	resp->nak_sent = true;
}

static void tail_fatal(struct responder *resp, enum aeth_nak code, int event)
{
	tail_nak(resp, TAIL_FATAL, AETH_NAK, code);
	resp->tail_event = event;
}

/* A receive in use tells of the fault by its completion; else an event does (class C of IBA 9.9,
 * unverified). */
static int request_fault(struct rnic_qp *qp, enum rnic_event_type event)
{
	if (qp->resp->msg != MSG_SEND)
		return event;
	recv_complete_error(qp, RNIC_WC_REM_INV_REQ_ERR);
	return -1;
}

/* IBA unverified */
void responder_refuse(struct rnic_qp *qp, enum resp_verdict verdict)
{
	struct responder *resp = qp->resp;

	switch (verdict) {
	case RESP_OK:
		return;
	case RESP_INVALID:
		tail_fatal(resp, AETH_NAK_INVALID_REQUEST,
			   request_fault(qp, RNIC_EVENT_QP_REQ_ERR));
		return;
	case RESP_ACCESS:
		tail_fatal(resp, AETH_NAK_REMOTE_ACCESS,
			   request_fault(qp, RNIC_EVENT_QP_ACCESS_ERR));
		return;
	case RESP_OPERATIONAL:
		tail_fatal(resp, AETH_NAK_REMOTE_OPERATIONAL, RNIC_EVENT_QP_FATAL);
		return;
	case RESP_RNR:
		qp->dev->counters.send_rnr_err++;
		tail_nak(resp, TAIL_NAK, AETH_RNR_NAK, qp->attr.min_rnr_timer);
		return;
	case RESP_BUSY:
		qp->dev->counters.send_rnr_err++;
		tail_nak(resp, TAIL_NAK, AETH_RNR_NAK, RNR_CODE_BUSY);
		return;
	case RESP_GONE:
		/* A NAK would tell the peer of a fault where a process has only died: it sees
		 * its retries exceeded, as with an adapter whose QP was torn down. */
		resp->nak_sent = true;
		return;
	case RESP_RECV_LENGTH:
		recv_complete_error(qp, RNIC_WC_LOC_LEN_ERR);
		tail_fatal(resp, AETH_NAK_INVALID_REQUEST, -1);
		return;
	case RESP_RECV_ACCESS:
		recv_complete_error(qp, RNIC_WC_LOC_PROT_ERR);
		tail_fatal(resp, AETH_NAK_REMOTE_OPERATIONAL, -1);
		return;
	case RESP_RECV_BAD:
		recv_complete_error(qp, RNIC_WC_LOC_QP_OP_ERR);
		tail_fatal(resp, AETH_NAK_REMOTE_OPERATIONAL, -1);
		return;
	}
}

void responder_refuse_read(struct rnic_qp *qp, uint32_t psn, enum resp_verdict verdict)
{
	struct responder *resp = qp->resp;
	const struct resp_job *job = &resp->job[resp->job_head];
	struct bth_packet pkt = {.opcode = BTH_OPCODE(BTH_RC, BTH_READ_REQUEST),
				 .psn = psn,
				 .va = job->va,
				 .rkey = job->rkey,
				 .dmalen = job->len};

	fault_refused(qp, &pkt, verdict);
	resp->n_jobs = 0;
	if (verdict != RESP_GONE)
		resp->msg = MSG_NONE; /* a message that has begun since is not at fault */
	responder_refuse(qp, verdict);
	resp->tail_psn = psn;
}

static void out_of_order(struct rnic_qp *qp)
{
	struct responder *resp = qp->resp;

	qp->dev->counters.out_of_seq_request++;
	if (!resp->nak_sent)
		tail_nak(resp, TAIL_NAK, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
}

/* IBA unverified */
static void duplicate(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t flags)
{
	struct responder *resp = qp->resp;

	qp->dev->counters.duplicate_request++;
	if (bth_opcode_op(pkt->opcode) == BTH_ATOMIC_WRITE)
		responder_atomic_write_again(qp, pkt);
	else if (flags & BTH_F_READ)
		responder_read_again(qp, pkt);
	else if (flags & BTH_F_ATOMIC)
		responder_atomic_again(qp, pkt);
	else if (resp->tail == TAIL_NONE)
		resp->tail = TAIL_ACK;
	resp->tail_may_wait = false;
}

void responder_established(struct rnic_qp *qp)
{
	struct rnic_async event = {.type = RNIC_EVENT_COMM_EST, .qp = qp};

	if (qp->resp->established)
		return;
	qp->resp->established = true;
	if (qp->attr.state == RNIC_QPS_RTR)
		qp->dev->cfg.ops->async_event(qp->dev->cfg.host, &event);
}

/* The request with the expected PSN, and those behind it that go with it. */
static uint32_t in_order(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t n,
			 uint32_t flags)
{
	struct responder *resp = qp->resp;
	enum resp_verdict verdict = RESP_INVALID;

	resp->nak_sent = false;
	if (resp->tail == TAIL_NAK)
		resp->tail = TAIL_NONE;
	responder_established(qp);
	if (flags & (BTH_F_SEND | BTH_F_WRITE)) {
		verdict = responder_data(qp, pkt, &n);
	} else {
		n = 1;
		if (flags & BTH_F_READ)
			verdict = responder_read(qp, pkt);
		else if (flags & BTH_F_ATOMIC)
			verdict = responder_atomic(qp, pkt);
		else if (bth_opcode_op(pkt->opcode) == BTH_ATOMIC_WRITE)
			verdict = responder_atomic_write(qp, pkt);
		/* FLUSH: no program can register memory for it, so it is an invalid request. */
	}
	fault_refused(qp, pkt, verdict);
	responder_refuse(qp, verdict);
	return n;
}

void responder_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n)
{
	struct responder *resp = qp->resp;
	uint32_t i = 0;

	(void)now;
	while (i < n && resp->tail != TAIL_FATAL) {
		uint32_t flags = bth_opcode_info(pkt[i].opcode)->flags;
		int32_t ahead = psn_diff(pkt[i].psn, resp->psn);

		if (ahead == 0) {
			i += in_order(qp, pkt + i, n - i, flags);
			continue;
		}
		if (ahead > 0)
			out_of_order(qp);
		else
			duplicate(qp, &pkt[i], flags);
		i++;
	}
}

bool responder_turn(struct rnic_qp *qp, uint64_t now)
{
	struct responder *resp = qp->resp;

	if (resp->n_jobs == 0 || resp->wait_mem)
		return false;
	if (!responder_job_work(qp, now))
		return false;
	responder_send_tail(qp, now);
	return resp->n_jobs && !resp->wait_mem;
}
