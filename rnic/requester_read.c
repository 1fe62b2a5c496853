/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * READ, atomic and ATOMIC_WRITE requests. A READ whose responses would overrun the socket that
 * takes them is asked for in parts, each a request of its own on the wire with the PSNs that its
 * responses have.
 */
#include "config.h"

#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/requester.h"

#define READ_PART_MAX 16384 /* packets */

static void request_send(struct rnic_qp *qp, struct bth_packet *pkt, const void *payload)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	uint32_t len = bth_opcode_info(pkt->opcode)->headers_len + pkt->payload_len + BTH_ICRC_LEN;
	struct rnic_tx tx = {
		.av = &qp->attr.av,
		.traffic_class = cc_traffic_class(qp),
		.qpn = qp->qpn,
		.flow = qp->req->flow,
		.len = len,
		.seg = len,
		.again = requester_again(qp),
	};
	size_t headers;

	tx.data = cfg->ops->tx_alloc(cfg->host, len);
	headers = bth_encode_headers(pkt, tx.data);
	memcpy(tx.data + headers, payload, pkt->payload_len);
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts++;
	qp->dev->counters.sent_bytes += len;
}

static void read_part(const struct requester *req, const struct send_entry *e, uint32_t n,
		      struct bth_packet *pkt)
{
	uint32_t done = req->cur_off * req->mtu;
	uint32_t left = e->length - done;

	pkt->opcode = BTH_OPCODE(BTH_RC, BTH_READ_REQUEST);
	pkt->va = e->raddr + done;
	pkt->dmalen = n < e->n_psn - req->cur_off ? n * req->mtu : left;
}

static void atomic_part(const struct send_entry *e, struct bth_packet *pkt)
{
	bool cmp = e->op == RNIC_WR_CMP_SWAP;

	pkt->opcode = BTH_OPCODE(BTH_RC, cmp ? BTH_CMP_SWAP : BTH_FETCH_ADD);
	pkt->va = e->raddr;
	pkt->swap_add = e->swap_add;
	pkt->compare = cmp ? e->compare : 0;
}

static void atomic_write_part(const struct send_entry *e, struct bth_packet *pkt)
{
	pkt->opcode = BTH_OPCODE(BTH_RC, BTH_ATOMIC_WRITE);
	pkt->va = e->raddr;
	pkt->dmalen = pkt->payload_len = e->length;
}

static uint32_t *rd_end_at(const struct requester *req, uint32_t i)
{
	return &req->rd_end[(req->rd_head + i) % req->rd_room];
}

/*
 * At most so many packets may be asked for at req->psn. A duplicate is the request that it repeats
 * or its tail: were two asked for again as one, a responder that knows the first only could make
 * nothing of it; and Linux's rxe takes the address of a duplicate for the request's beginning, so
 * that after a later part it answers no earlier one.
 */
static uint32_t part_limit(const struct requester *req, uint32_t want)
{
	uint32_t left;

	if (req->rd_n == req->rd_known)
		return want;
	left = (uint32_t)psn_diff(*rd_end_at(req, req->rd_n), req->psn);
	return left < want ? left : want;
}

/* The part that ends here is in the air; it may be the beginning of a known one. */
static void rd_begun(struct requester *req, uint32_t end_psn)
{
	uint32_t i = req->rd_n++;

	if (i < req->rd_known && *rd_end_at(req, i) == end_psn)
		return;
	for (uint32_t k = req->rd_known++; k > i; k--)
		*rd_end_at(req, k) = *rd_end_at(req, k - 1);
	*rd_end_at(req, i) = end_psn;
}

bool requester_send_read(struct rnic_qp *qp, struct send_entry *e, uint64_t now)
{
	struct requester *req = qp->req;
	struct bth_packet pkt = {
		.se = e->flags & RNIC_SEND_SOLICITED,
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = qp->attr.dest_qpn,
		.ackreq = true,
		.psn = req->psn,
		.rkey = e->rkey,
	};
	uint32_t want = part_limit(req, e->n_psn - req->cur_off);
	uint32_t n;

	if (req->rd_n >= qp->attr.max_rd_atomic)
		return false;
	if (want > READ_PART_MAX)
		want = READ_PART_MAX;
	if ((uint32_t)psn_diff(req->psn, req->una_psn) + want > IN_FLIGHT_MAX)
		return false;
	n = peer_grant(&req->share, want, e->pkt_cost);
	if (n == 0)
		return false;
	/* What is asked for again is not cut once more, nor anything that could not be noted. */
	if (req->rd_n < req->rd_known || req->rd_known == req->rd_room)
		n = want;
	if (e->op == RNIC_WR_READ)
		read_part(req, e, n, &pkt);
	else if (e->op == RNIC_WR_ATOMIC_WRITE)
		atomic_write_part(e, &pkt);
	else
		atomic_part(e, &pkt);
	request_send(qp, &pkt, e->data);
	if (req->cur_off + n == e->n_psn)
		qp->dev->counters.rdma_sends++;
	rd_begun(req, psn_add(req->psn, n));
	requester_sent(qp, e, n, true, now);
	return true;
}
