/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * SENDs and WRITEs that come in order. Packets of one message are looked at ahead, their payloads
 * are stored by one access of memory, and only then does the state of the responder move, so that
 * memory that does not answer needs no way back.
 */
#include "config.h"

#include <errno.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/mw.h"
#include "rnic/recv.h"
#include "rnic/responder.h"
#include "rnic/sgl.h"

/* The packets of one message, or of a part of it, that are dealt with together. */
struct data_run {
	enum resp_message msg;
	uint64_t va; /* WRITE: as in the responder, from a FIRST's RETH if there is one */
	uint32_t rkey, left, dmalen;
	uint32_t n, len; /* packets and bytes accepted */
	bool ended;	 /* the last of them ends the message */
	bool ackreq;
	struct iovec piece[SGL_PIECES_MAX];
};

static uint32_t opcode_flags(const struct bth_packet *pkt)
{
	return bth_opcode_info(pkt->opcode)->flags;
}

/* IBA unverified: is this opcode possible after what came before? */
static bool sequence_ok(enum resp_message before, uint32_t flags)
{
	if (before == MSG_NONE)
		return flags & BTH_F_FIRST;
	return !(flags & BTH_F_FIRST) &&
	       (before == MSG_SEND ? flags & BTH_F_SEND : flags & BTH_F_WRITE);
}

/* C9-92: FIRST and MIDDLE are full, LAST is not empty, ONLY is anything. */
static bool payload_ok(uint32_t flags, uint32_t len, uint32_t mtu)
{
	if (!(flags & BTH_F_LAST))
		return len == mtu;
	return len <= mtu && (len || (flags & BTH_F_FIRST));
}

static enum resp_verdict reth_check(const struct rnic_qp *qp, const struct bth_packet *pkt)
{
	struct rnic_mem *mem;
	uint64_t vaddr;

	if (!(qp->attr.access_flags & RNIC_ACCESS_REMOTE_WRITE) || pkt->dmalen > DMALEN_MAX)
		return RESP_INVALID;
	if (rkey_check(qp, pkt->rkey, pkt->va, pkt->dmalen, RNIC_ACCESS_REMOTE_WRITE, &mem,
		       &vaddr) != MR_OK)
		return RESP_ACCESS;
	return RESP_OK;
}

/* What a packet needs besides: a receive, and room in it; or bytes that its WRITE still has. */
static enum resp_verdict room_check(struct rnic_qp *qp, const struct data_run *run,
				    const struct bth_packet *pkt, uint32_t flags)
{
	if (run->msg == MSG_WRITE) {
		uint32_t left = run->left - run->len;

		if (pkt->payload_len > left ||
		    ((flags & BTH_F_LAST) ? pkt->payload_len != left : pkt->payload_len == left))
			return RESP_INVALID;
		if (!(flags & BTH_F_IMM))
			return RESP_OK;
	}
	switch (recv_hold(qp)) {
	case RECV_NONE:
		return RESP_RNR;
	case RECV_BAD:
		return RESP_RECV_BAD;
	case RECV_HELD:
		break;
	}
	if (run->msg == MSG_SEND && ((uint64_t)run->len + pkt->payload_len > recv_room(qp) ||
				     recv_filled(qp) + run->len + pkt->payload_len > DMALEN_MAX))
		return RESP_RECV_LENGTH;
	return RESP_OK;
}

static enum resp_verdict packet_check(struct rnic_qp *qp, struct data_run *run,
				      const struct bth_packet *pkt)
{
	uint32_t flags = opcode_flags(pkt);
	enum resp_verdict verdict;

	if (!sequence_ok(run->msg, flags) || !payload_ok(flags, pkt->payload_len, qp->resp->mtu))
		return RESP_INVALID;
	/* IBA unverified: what cannot be invalidated is a remote access error. */
	if ((flags & BTH_F_IETH) && !mw_may_invalidate(qp, pkt->inv_rkey))
		return RESP_ACCESS;
	if (flags & BTH_F_FIRST) {
		run->msg = flags & BTH_F_SEND ? MSG_SEND : MSG_WRITE;
		if (flags & BTH_F_RETH) {
			verdict = reth_check(qp, pkt);
			if (verdict != RESP_OK)
				return verdict;
			run->va = pkt->va;
			run->rkey = pkt->rkey;
			run->left = run->dmalen = pkt->dmalen;
		}
	}
	return room_check(qp, run, pkt, flags);
}

/* Accept packets as long as they continue the message; the verdict is the first one's. */
static enum resp_verdict run_collect(struct rnic_qp *qp, struct data_run *run,
				     const struct bth_packet *pkt, uint32_t n)
{
	const struct responder *resp = qp->resp;
	enum resp_verdict verdict;

	run->msg = resp->msg;
	run->va = resp->va;
	run->rkey = resp->rkey;
	run->left = resp->left;
	run->dmalen = resp->dmalen;
	run->n = run->len = 0;
	run->ended = run->ackreq = false;
	while (run->n < n && run->n < SGL_PIECES_MAX && !run->ended) {
		const struct bth_packet *p = &pkt[run->n];

		if (p->psn != psn_add(resp->psn, run->n))
			break;
		verdict = packet_check(qp, run, p);
		if (verdict != RESP_OK && run->n == 0)
			return verdict;
		if (verdict != RESP_OK)
			break;
		run->piece[run->n].iov_base = (void *)(uintptr_t)p->payload;
		run->piece[run->n++].iov_len = p->payload_len;
		run->len += p->payload_len;
		run->ackreq |= p->ackreq;
		run->ended = opcode_flags(p) & BTH_F_LAST;
	}
	return RESP_OK;
}

static enum resp_verdict run_store(struct rnic_qp *qp, const struct data_run *run)
{
	bool write = run->msg == MSG_WRITE;
	struct rnic_mem *mem;
	int ret;

	if (run->len == 0)
		return RESP_OK;
	if (write)
		ret = sgl_remote(qp, run->rkey, run->va, run->piece, run->n, SGL_WRITE, &mem);
	else
		ret = recv_put(qp, run->piece, run->n, &mem);
	if (ret == 0)
		return RESP_OK;
	if (ret == -EINPROGRESS)
		return RESP_BUSY;
	if (ret == -ESRCH)
		return RESP_GONE;
	if (!write)
		return RESP_RECV_ACCESS;
	return ret == -EACCES ? RESP_ACCESS : RESP_OPERATIONAL;
}

static void message_ended(struct rnic_qp *qp, const struct data_run *run,
			  const struct bth_packet *last)
{
	struct responder *resp = qp->resp;
	uint32_t flags = opcode_flags(last);
	struct rnic_cqe cqe = {
		.opcode = RNIC_WC_RECV,
		.src_qpn = qp->attr.dest_qpn,
		.solicited = last->se,
	};

	resp->msg = MSG_NONE;
	resp->msn = psn_add(resp->msn, 1);
	if (run->msg == MSG_WRITE && !(flags & BTH_F_IMM))
		return;
	if (flags & BTH_F_IMM) {
		cqe.flags = RNIC_WC_WITH_IMM;
		cqe.imm = last->imm;
	}
	if (flags & BTH_F_IETH) {
		mw_invalidate(qp, last->inv_rkey);
		cqe.flags = RNIC_WC_WITH_INV;
		cqe.imm = last->inv_rkey;
	}
	cqe.byte_len = (uint32_t)recv_filled(qp);
	if (run->msg == MSG_WRITE) {
		cqe.opcode = RNIC_WC_RECV_WRITE_IMM;
		cqe.byte_len = run->dmalen;
	}
	recv_complete(qp, &cqe);
}

static void run_commit(struct rnic_qp *qp, const struct data_run *run,
		       const struct bth_packet *last)
{
	struct responder *resp = qp->resp;

	resp->psn = psn_add(resp->psn, run->n);
	resp->ack_psn = psn_add(resp->psn, BTH_PSN_MASK);
	resp->msg = run->msg;
	if (run->msg == MSG_WRITE) {
		resp->va = run->va + run->len;
		resp->rkey = run->rkey;
		resp->left = run->left - run->len;
		resp->dmalen = run->dmalen;
	} else {
		recv_advance(qp, run->len);
	}
	if (run->ended)
		message_ended(qp, run, last);
	if (run->ackreq)
		resp->tail = TAIL_ACK;
	resp->tail_may_wait = run->ended;
}

enum resp_verdict responder_data(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t *n)
{
	struct data_run run;
	enum resp_verdict verdict = run_collect(qp, &run, pkt, *n);

	*n = 1;
	if (verdict == RESP_OK)
		verdict = run_store(qp, &run);
	if (verdict != RESP_OK)
		return verdict;
	run_commit(qp, &run, &pkt[run.n - 1]);
	*n = run.n;
	return RESP_OK;
}
