/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The receiving side of UC: in order or not at all, and nothing is answered. */
#include "config.h"

#include "rnic/uc.h"

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/fault.h"
#include "rnic/recv.h"
#include "rnic/responder.h"

/* A message that misses a packet is dropped; its receive takes the next one. */
static void message_drop(struct rnic_qp *qp)
{
	qp->resp->msg = MSG_NONE;
	recv_rewind(qp);
}

/* A receive that is at fault fails, and takes the QP with it (IBA unverified). */
static void receive_fail(struct rnic_qp *qp, enum rnic_wc_status status, uint64_t now)
{
	recv_complete_error(qp, status);
	qp_error(qp, now, -1);
}

/* What cannot be stored is dropped, silently (IBA unverified). */
static void refuse(struct rnic_qp *qp, enum resp_verdict verdict, uint64_t now)
{
	switch (verdict) {
	case RESP_OK:
		return;
	case RESP_RECV_LENGTH:
		/* The receive stays; one of an SRQ, which cannot be put back, fails (classes D and
		 * E of the IBA, unverified; as rxe). */
		if (qp->init.srq)
			recv_complete_error(qp, RNIC_WC_LOC_LEN_ERR);
		message_drop(qp);
		return;
	case RESP_INVALID:
	case RESP_ACCESS:
	case RESP_OPERATIONAL:
	case RESP_RNR:
	case RESP_BUSY:
	case RESP_GONE:
		message_drop(qp);
		return;
	case RESP_RECV_ACCESS:
		receive_fail(qp, RNIC_WC_LOC_PROT_ERR, now);
		return;
	case RESP_RECV_BAD:
		receive_fail(qp, RNIC_WC_LOC_QP_OP_ERR, now);
		return;
	}
}

void uc_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n)
{
	struct responder *resp = qp->resp;
	uint32_t i = 0;

	responder_established(qp);
	while (i < n && qp->attr.state != RNIC_QPS_ERR) {
		uint32_t flags = bth_opcode_info(pkt[i].opcode)->flags;
		uint32_t taken = n - i;
		enum resp_verdict verdict;

		if (pkt[i].psn != resp->psn || (flags & BTH_F_FIRST)) {
			message_drop(qp);
			resp->psn = pkt[i].psn;
		}
		verdict = responder_data(qp, &pkt[i], &taken);
		resp->tail = TAIL_NONE;
		if (verdict != RESP_OK) {
			if (verdict == RESP_RECV_ACCESS || verdict == RESP_RECV_BAD)
				fault_refused(qp, &pkt[i], verdict);
			refuse(qp, verdict, now);
			resp->psn = psn_add(pkt[i].psn, 1);
		}
		i += taken;
	}
}
