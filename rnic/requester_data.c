/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runs of SEND and WRITE packets. Headers are written into the packets' slots, and the payload is
 * gathered into them by one read for each SGE.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/credit.h"
#include "rnic/pace.h"
#include "rnic/requester.h"
#include "rnic/shape.h"
#include "rnic/sgl.h"

static const struct {
	uint8_t first, middle, last, only;
} send_ops[] = {
	[RNIC_WR_SEND] = {BTH_SEND_FIRST, BTH_SEND_MIDDLE, BTH_SEND_LAST, BTH_SEND_ONLY},
	[RNIC_WR_SEND_IMM] = {BTH_SEND_FIRST, BTH_SEND_MIDDLE, BTH_SEND_LAST_IMM,
			      BTH_SEND_ONLY_IMM},
	[RNIC_WR_SEND_INV] = {BTH_SEND_FIRST, BTH_SEND_MIDDLE, BTH_SEND_LAST_INV,
			      BTH_SEND_ONLY_INV},
	[RNIC_WR_WRITE] = {BTH_WRITE_FIRST, BTH_WRITE_MIDDLE, BTH_WRITE_LAST, BTH_WRITE_ONLY},
	[RNIC_WR_WRITE_IMM] = {BTH_WRITE_FIRST, BTH_WRITE_MIDDLE, BTH_WRITE_LAST_IMM,
			       BTH_WRITE_ONLY_IMM},
};

/* A run being built: packets [off, off + shape.n) of an entry. */
struct run {
	const struct send_entry *e;
	uint32_t off;
	struct tx_shape shape;
	bool ackreq;
};

static uint8_t opcode_at(const struct rnic_qp *qp, const struct send_entry *e, uint32_t k)
{
	enum bth_transport t = qp->init.type == RNIC_QPT_UC ? BTH_UC : BTH_RC;

	if (e->n_psn == 1)
		return BTH_OPCODE(t, send_ops[e->op].only);
	if (k == 0)
		return BTH_OPCODE(t, send_ops[e->op].first);
	if (k + 1 == e->n_psn)
		return BTH_OPCODE(t, send_ops[e->op].last);
	return BTH_OPCODE(t, send_ops[e->op].middle);
}

static uint32_t payload_at(const struct rnic_qp *qp, const struct send_entry *e, uint32_t k)
{
	uint32_t mtu = qp->req->mtu;

	return k + 1 < e->n_psn ? mtu : e->length - k * mtu;
}

static uint32_t packet_len(const struct rnic_qp *qp, const struct send_entry *e, uint32_t k)
{
	uint32_t payload = payload_at(qp, e, k);

	return bth_opcode_info(opcode_at(qp, e, k))->headers_len + payload + bth_pad(payload) +
	       BTH_ICRC_LEN;
}

/* At most max packets from off on. */
static void run_shape(const struct rnic_qp *qp, struct run *run, uint32_t max)
{
	struct tx_shape *s = &run->shape;

	while (s->n < max && shape_add(s, packet_len(qp, run->e, run->off + s->n)))
		;
}

static void headers_write(struct rnic_qp *qp, const struct run *run, uint32_t i, uint8_t *buf,
			  struct iovec *payload)
{
	const struct send_entry *e = run->e;
	uint32_t k = run->off + i;
	bool last = k + 1 == e->n_psn;
	struct bth_packet pkt = {
		.opcode = opcode_at(qp, e, k),
		.se = last && (e->flags & RNIC_SEND_SOLICITED),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = qp->attr.dest_qpn,
		.ackreq = run->ackreq && i + 1 == run->shape.n,
		.psn = psn_add(qp->req->psn, i),
		.va = e->raddr,
		.rkey = e->rkey,
		.dmalen = e->length,
		.imm = e->imm,
		.inv_rkey = e->imm,
		.payload_len = payload_at(qp, e, k),
	};

	payload->iov_base = bth_encode_frame(&pkt, buf);
	payload->iov_len = pkt.payload_len;
}

static int payload_gather(struct rnic_qp *qp, const struct run *run, const struct iovec *piece,
			  struct rnic_mem **mem)
{
	const struct send_entry *e = run->e;
	uint64_t off = (uint64_t)run->off * qp->req->mtu;
	const uint8_t *src = (const uint8_t *)e->data + off;

	if (!(e->flags & RNIC_SEND_INLINE))
		return sgl_copy(qp->pd, e->data, e->num_sge, off, piece, run->shape.n, SGL_READ,
				mem);
	for (uint32_t i = 0; i < run->shape.n; i++) {
		memcpy(piece[i].iov_base, src, piece[i].iov_len);
		src += piece[i].iov_len;
	}
	return 0;
}

static int run_build(struct rnic_qp *qp, const struct run *run, struct rnic_mem **mem)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	struct iovec piece[RNIC_TX_SEGS_MAX];
	struct rnic_tx tx = {
		.av = &qp->attr.av,
		.traffic_class = cc_traffic_class(qp),
		.qpn = qp->qpn,
		.flow = qp->req->flow,
		.len = run->shape.len,
		.seg = run->shape.seg,
		.head = run->shape.head,
		.tail = run->shape.tail,
		.again = requester_again(qp),
	};
	int ret;

	tx.data = cfg->ops->tx_alloc(cfg->host, run->shape.len);
	for (uint32_t i = 0; i < run->shape.n; i++)
		headers_write(qp, run, i, tx.data + shape_offset(&run->shape, i), &piece[i]);
	ret = payload_gather(qp, run, piece, mem);
	if (ret < 0)
		return ret;
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts += run->shape.n;
	qp->dev->counters.sent_bytes += run->shape.len;
	return 0;
}

/* How many packets this turn may send; 0: it has to wait. */
static uint32_t packets_allowed(struct rnic_qp *qp, const struct send_entry *e, uint64_t now)
{
	struct requester *req = qp->req;
	uint32_t want = e->n_psn - req->cur_off;
	uint32_t flying = (uint32_t)psn_diff(req->psn, req->una_psn);

	if (want > RNIC_TX_SEGS_MAX)
		want = RNIC_TX_SEGS_MAX;
	if (!req->pend_n && cc_limited(qp)) {
		want = cc_grant(qp, want, packet_len(qp, e, req->cur_off), now);
		if (want == 0)
			return 0;
	}
	if (qp->init.type != RNIC_QPT_RC) {
		if (req->pend_n)
			return req->pend_n;
		return pace_grant(qp, &qp->attr.av, want, e->pkt_cost, now);
	}
	if (flying + want > IN_FLIGHT_MAX)
		return 0;
	/* The access of memory that was pending is to be the same one. */
	if (req->pend_n)
		return req->pend_n < want ? req->pend_n : want;
	return peer_grant(&req->share, want, e->pkt_cost);
}

static bool wants_ack(const struct rnic_qp *qp, const struct run *run)
{
	const struct requester *req = qp->req;
	uint32_t left = run->e->n_psn - run->off - run->shape.n;
	uint32_t interval = peer_ack_interval(&req->share, run->e->pkt_cost);

	if (qp->init.type != RNIC_QPT_RC)
		return false;
	if (left == 0)
		return true;
	/* Where the window ends: without an acknowledgement it would not open again. */
	if (!peer_has_room(&req->share, (uint64_t)(run->shape.n + 1) * run->e->pkt_cost))
		return true;
	if (cc_limited(qp) && cc_ack_interval(qp, run->shape.seg) < interval)
		interval = cc_ack_interval(qp, run->shape.seg);
	return req->since_ackreq + run->shape.n >= interval;
}

/* UC: a message is done when it has been handed to the wire. */
static void uc_sent(struct rnic_qp *qp, const struct send_entry *e)
{
	struct requester *req = qp->req;

	if (send_entry(req, req->una) == e && req->cur != req->una)
		requester_complete(qp, RNIC_WC_SUCCESS);
	req->una_psn = req->psn;
}

bool requester_send_data(struct rnic_qp *qp, struct send_entry *e, uint64_t now)
{
	struct requester *req = qp->req;
	struct run run = {.e = e, .off = req->cur_off};
	struct rnic_mem *mem;
	uint32_t allowed = packets_allowed(qp, e, now);
	bool limited;
	int ret;

	allowed = credit_allowed(qp, e, allowed, &limited);
	if (allowed == 0)
		return false;
	run_shape(qp, &run, allowed);
	run.ackreq = limited || wants_ack(qp, &run);
	ret = run_build(qp, &run, &mem);
	req->pend_n = ret == -EINPROGRESS ? run.shape.n : 0;
	if (ret == -EINPROGRESS) {
		requester_wait(qp, mem);
		return false;
	}
	if (ret < 0) {
		e->status = RNIC_WC_LOC_PROT_ERR;
		return true;
	}
	if (req->cur_off + run.shape.n == e->n_psn)
		qp->dev->counters.rdma_sends++;
	requester_sent(qp, e, run.shape.n, run.ackreq, now);
	cc_sent(qp, run.shape.n, run.shape.len, now);
	if (qp->init.type == RNIC_QPT_UC) {
		pace_sent(qp, &qp->attr.av, (uint64_t)run.shape.n * e->pkt_cost);
		uc_sent(qp, e);
	}
	return true;
}
