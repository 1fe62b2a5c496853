/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Says in the log what was wrong with a request. */
#include "config.h"

#include "rnic/fault.h"

#include <inttypes.h>
#include <stdio.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "rnic/requester.h"

static const char *op_name(enum rnic_wr_op op)
{
	static const char *const names[] = {
		[RNIC_WR_WRITE] = "WRITE",	   [RNIC_WR_WRITE_IMM] = "WRITE with immediate",
		[RNIC_WR_SEND] = "SEND",	   [RNIC_WR_SEND_IMM] = "SEND with immediate",
		[RNIC_WR_READ] = "READ",	   [RNIC_WR_CMP_SWAP] = "CMP_SWAP",
		[RNIC_WR_FETCH_ADD] = "FETCH_ADD", [RNIC_WR_LOCAL_INV] = "LOCAL_INV",
		[RNIC_WR_BIND_MW] = "BIND_MW",	   [RNIC_WR_SEND_INV] = "SEND with invalidate",
	};

	if ((size_t)op < sizeof(names) / sizeof(names[0]) && names[op])
		return names[op];
	return "request";
}

static const char *status_reason(enum rnic_wc_status status)
{
	static const char *const names[] = {
		[RNIC_WC_LOC_LEN_ERR] = "it is longer than a message may be",
		[RNIC_WC_LOC_QP_OP_ERR] =
			"the QP cannot do this: operation, SGEs, inline length, address",
		[RNIC_WC_LOC_PROT_ERR] = "its local memory cannot be used: lkey, range, access",
		[RNIC_WC_MW_BIND_ERR] = "the window cannot be bound so",
		[RNIC_WC_BAD_RESP_ERR] = "the peer's response makes no sense",
		[RNIC_WC_REM_INV_REQ_ERR] = "the peer calls it an invalid request",
		[RNIC_WC_REM_ACCESS_ERR] = "the peer does not permit it: rkey, range, access",
		[RNIC_WC_REM_OP_ERR] = "the peer could not do it",
		[RNIC_WC_RETRY_EXC_ERR] = "the peer does not answer",
		[RNIC_WC_RNR_RETRY_EXC_ERR] = "the peer has no receive for it",
	};

	if ((size_t)status < sizeof(names) / sizeof(names[0]) && names[status])
		return names[status];
	return "an error";
}

static bool op_is_remote(enum rnic_wr_op op)
{
	return wr_op_awaits_data(op) || op == RNIC_WR_WRITE || op == RNIC_WR_WRITE_IMM;
}

void fault_sent(const struct rnic_qp *qp, const struct send_entry *e, enum rnic_wc_status status)
{
	char where[64] = "";

	/* A request that was not accepted has no more than its op. */
	if (e->status == RNIC_WC_SUCCESS && op_is_remote(e->op))
		snprintf(where, sizeof(where), " at 0x%" PRIx64 " (rkey 0x%" PRIx32 ")", e->raddr,
			 e->rkey);
	dev_log(qp->dev, "QP %" PRIu32 ": %s of %" PRIu32 " bytes%s failed, status %d: %s", qp->qpn,
		op_name(e->op), e->length, where, (int)status, status_reason(status));
}

static bool permitted(const struct rnic_qp *qp, uint32_t flags)
{
	uint32_t access = qp->attr.access_flags;

	if (flags & BTH_F_ATOMIC)
		return access & RNIC_ACCESS_REMOTE_ATOMIC;
	if (flags & BTH_F_READ)
		return access & RNIC_ACCESS_REMOTE_READ;
	return !(flags & BTH_F_WRITE) || (access & RNIC_ACCESS_REMOTE_WRITE);
}

static const char *invalid_reason(const struct rnic_qp *qp, const struct bth_packet *pkt)
{
	const struct bth_opcode_info *info = bth_opcode_info(pkt->opcode);
	bool begun = qp->resp->msg != MSG_NONE;

	if (!info->name)
		return "there is no such opcode";
	if (!permitted(qp, info->flags))
		return "the QP's access flags do not permit it";
	if (begun != !(info->flags & BTH_F_FIRST))
		return begun ? "a message has not ended yet" : "it does not begin a message";
	return "its length, address or place is wrong, or it is one READ or atomic too many";
}

static void refused(const struct rnic_qp *qp, const struct bth_packet *pkt, const char *reason)
{
	const char *name = bth_opcode_info(pkt->opcode)->name;

	dev_log(qp->dev, "QP %" PRIu32 ": %s (opcode 0x%02x) of PSN 0x%06" PRIx32 " refused: %s",
		qp->qpn, name ? name : "packet", pkt->opcode, pkt->psn, reason);
}

static void memory_refused(const struct rnic_qp *qp, const struct bth_packet *pkt, const char *what)
{
	const struct responder *resp = qp->resp;
	bool named = bth_opcode_info(pkt->opcode)->flags & (BTH_F_RETH | BTH_F_ATOMIC_ETH);
	char text[120];

	/* What continues a WRITE has no address of its own. */
	snprintf(text, sizeof(text), "%s 0x%" PRIx64 " (rkey 0x%" PRIx32 ", %" PRIu32 " bytes)",
		 what, named ? pkt->va : resp->va, named ? pkt->rkey : resp->rkey,
		 named ? pkt->dmalen : resp->left);
	refused(qp, pkt, text);
}

void fault_refused(const struct rnic_qp *qp, const struct bth_packet *pkt,
		   enum resp_verdict verdict)
{
	switch (verdict) {
	case RESP_OK:
	case RESP_RNR:
	case RESP_BUSY:
	case RESP_GONE:
		return;
	case RESP_INVALID:
		refused(qp, pkt, invalid_reason(qp, pkt));
		return;
	case RESP_ACCESS:
		memory_refused(qp, pkt, "no access to");
		return;
	case RESP_OPERATIONAL:
		memory_refused(qp, pkt, "memory faults at");
		return;
	case RESP_RECV_LENGTH:
		refused(qp, pkt, "the receive is too short");
		return;
	case RESP_RECV_ACCESS:
		refused(qp, pkt, "the receive's memory cannot be written: lkey, range, access");
		return;
	case RESP_RECV_BAD:
		refused(qp, pkt, "the receive makes no sense");
		return;
	}
}
