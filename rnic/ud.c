/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* UD: a message is a packet, and carries its sender's address. */
#include "config.h"

#include "rnic/ud.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/fault.h"
#include "rnic/pace.h"
#include "rnic/recv.h"
#include "rnic/requester.h"
#include "rnic/responder.h"
#include "rnic/sgl.h"

#define GRH_LEN 40
#define QKEY_CONTROLLED (1u << 31) /* IBA 3.5.3: then the QP's own is sent */
#define UDP_HEADER_LEN 8
#define HEADERS_COST 60 /* bytes of IP, UDP and transport headers, roughly */

static uint32_t own_qkey(const struct rnic_qp *qp)
{
	return qp->init.type == RNIC_QPT_GSI ? RNIC_QKEY_GSI : qp->attr.qkey;
}

static enum rnic_wc_status wr_check(const struct rnic_qp *qp, const struct rnic_send_wr *wr)
{
	bool is_inline = wr->flags & RNIC_SEND_INLINE;

	if ((wr->op != RNIC_WR_SEND && wr->op != RNIC_WR_SEND_IMM) || wr->av_bad)
		return RNIC_WC_LOC_QP_OP_ERR;
	if (is_inline ? wr->inline_len > qp->init.max_inline
		      : wr->num_sge > qp->init.max_send_sge || wr->num_sge > RNIC_MAX_SGE)
		return RNIC_WC_LOC_QP_OP_ERR;
	if (!is_inline && !sgl_check(qp->pd, wr->sge, wr->num_sge, SGL_READ))
		return RNIC_WC_LOC_PROT_ERR;
	return RNIC_WC_SUCCESS;
}

static int packet_send(struct rnic_qp *qp, const struct rnic_send_wr *wr, uint32_t length,
		       struct rnic_mem **mem)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_UD,
				     wr->op == RNIC_WR_SEND ? BTH_SEND_ONLY : BTH_SEND_ONLY_IMM),
		.se = wr->flags & RNIC_SEND_SOLICITED,
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = wr->remote_qpn & BTH_PSN_MASK,
		.psn = qp->req->psn,
		.qkey = wr->remote_qkey & QKEY_CONTROLLED ? own_qkey(qp) : wr->remote_qkey,
		.sqpn = qp->qpn,
		.imm = wr->imm,
		.payload_len = length,
	};
	struct rnic_tx tx = {
		.av = &wr->av,
		.traffic_class = wr->av.traffic_class,
		.qpn = qp->qpn,
		.flow = qp->req->flow,
	};
	struct iovec piece = {.iov_len = length};
	int ret = 0;

	tx.len = tx.seg =
		bth_opcode_info(pkt.opcode)->headers_len + length + bth_pad(length) + BTH_ICRC_LEN;
	tx.data = cfg->ops->tx_alloc(cfg->host, tx.len);
	piece.iov_base = bth_encode_frame(&pkt, tx.data);
	if (wr->flags & RNIC_SEND_INLINE)
		memcpy(piece.iov_base, wr->inline_data, length);
	else
		ret = sgl_copy(qp->pd, wr->sge, wr->num_sge, 0, &piece, 1, SGL_READ, mem);
	if (ret < 0)
		return ret;
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts++;
	qp->dev->counters.sent_bytes += tx.len;
	qp->dev->counters.rdma_sends++;
	qp->req->psn = psn_add(qp->req->psn, 1);
	return 0;
}

static uint64_t wr_length(const struct rnic_send_wr *wr)
{
	if (wr->flags & RNIC_SEND_INLINE)
		return wr->inline_len;
	return sgl_length(wr->sge, wr->num_sge <= RNIC_MAX_SGE ? wr->num_sge : 0);
}

/* Take the next request; false: there is none. */
static bool wr_take(struct rnic_qp *qp)
{
	struct requester *req = qp->req;
	int ret;

	if (qp->attr.state != RNIC_QPS_RTS)
		return false;
	ret = qp->init.ops->send_next(qp->init.user, req->ud_wr);
	if (ret == 0)
		return false;
	req->ud_held = true;
	req->ud_length = ret < 0 ? 0 : wr_length(req->ud_wr);
	req->ud_status = ret < 0 ? RNIC_WC_LOC_QP_OP_ERR : wr_check(qp, req->ud_wr);
	return true;
}

/* The request that is held leaves, unless it has to wait: -EINPROGRESS. */
static int wr_send(struct rnic_qp *qp, uint64_t now)
{
	const struct rnic_send_wr *wr = qp->req->ud_wr;
	uint32_t length = (uint32_t)qp->req->ud_length;
	uint32_t cost = peer_packet_cost(length + HEADERS_COST);
	struct rnic_mem *mem;
	int ret;

	if (!pace_grant(qp, &wr->av, 1, cost, now))
		return -EINPROGRESS;
	ret = packet_send(qp, wr, length, &mem);
	if (ret == -EINPROGRESS)
		requester_wait(qp, mem);
	if (ret == 0)
		pace_sent(qp, &wr->av, cost);
	return ret;
}

/* C10-93.1.1: a message that is longer than the port's MTU is not sent, and that is no error. */
static bool is_sendable(const struct rnic_qp *qp)
{
	uint32_t mtu = rnic_mtu_bytes(qp->dev->mtu);

	if (qp->req->ud_length <= mtu)
		return true;
	dev_log(qp->dev,
		"QP %" PRIu32 ": a message of %" PRIu64
		" bytes is not sent: the port's MTU is %" PRIu32 " and UD sends single packets",
		qp->qpn, qp->req->ud_length, mtu);
	return false;
}

bool ud_send(struct rnic_qp *qp, uint64_t now)
{
	struct requester *req = qp->req;
	const struct rnic_send_wr *wr = req->ud_wr;
	enum rnic_wc_status status;
	int ret = 0;

	if (!req->ud_held && !wr_take(qp))
		return false;
	status = req->ud_status;
	if (status == RNIC_WC_SUCCESS && !av_has_source(qp->dev, &wr->av))
		status = RNIC_WC_LOC_QP_OP_ERR;
	if (status == RNIC_WC_SUCCESS && is_sendable(qp))
		ret = wr_send(qp, now);
	if (ret == -EINPROGRESS)
		return false;
	if (ret < 0)
		status = RNIC_WC_LOC_PROT_ERR;
	req->ud_held = false;
	if (status != RNIC_WC_SUCCESS)
		fault_sent(qp,
			   &(struct send_entry){.op = wr->op,
						.length = (uint32_t)req->ud_length,
						.status = status},
			   status);
	send_wr_complete(qp, wr->slot, wr->op, wr->flags, (uint32_t)req->ud_length, status);
	if (status != RNIC_WC_SUCCESS) {
		qp->dev->counters.send_err++;
		qp_send_error(qp, now);
		return false;
	}
	if (req->draining)
		requester_drained(qp);
	return true;
}

static bool gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Of an IPv4 header whose own checksum is still zero. */
static uint16_t ip_checksum(const uint8_t ip[20])
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

/* The 40 bytes before the payload: the IPv6 header, or 20 bytes of nothing and the IPv4 header. */
static void grh_fill(uint8_t grh[GRH_LEN], const struct rnic_rx *rx)
{
	uint32_t len = rx->len + BTH_ICRC_LEN + UDP_HEADER_LEN;
	uint8_t *ip = grh + 20;

	memset(grh, 0, GRH_LEN);
	if (!gid_is_ipv4(rx->sgid)) {
		grh[0] = (uint8_t)(6 << 4 | rx->traffic_class >> 4);
		grh[1] = (uint8_t)(rx->traffic_class << 4 | (rx->flow_label >> 16 & 0xf));
		put16(grh + 2, rx->flow_label & 0xffff);
		put16(grh + 4, len);
		grh[6] = 17;
		grh[7] = rx->hop_limit;
		memcpy(grh + 8, rx->sgid, 16);
		memcpy(grh + 24, rx->dgid, 16);
		return;
	}
	ip[0] = 0x45;
	ip[1] = rx->traffic_class;
	put16(ip + 2, len + 20);
	put16(ip + 6, 0x4000);
	ip[8] = rx->hop_limit;
	ip[9] = 17;
	memcpy(ip + 12, rx->sgid + 12, 4);
	memcpy(ip + 16, rx->dgid + 12, 4);
	put16(ip + 10, ip_checksum(ip));
}

/*
 * The message does not fit: without an SRQ it is dropped and the receive stays, with one the
 * receive, which cannot be put back, fails (classes D and E of the IBA, unverified; as rxe).
 */
static void too_long(struct rnic_qp *qp)
{
	if (qp->init.srq)
		recv_complete_error(qp, RNIC_WC_LOC_LEN_ERR);
}

static void store(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt,
		  const struct iovec piece[2], struct rnic_cqe *cqe)
{
	struct rnic_mem *mem;
	int ret = recv_put(qp, piece, 2, &mem);

	/* Memory that does not answer now: the packet is lost, the receive is not. */
	if (ret == -EINPROGRESS || ret == -ESRCH)
		return;
	if (ret < 0) {
		fault_refused(qp, pkt, RESP_RECV_ACCESS);
		recv_complete_error(qp, RNIC_WC_LOC_PROT_ERR);
		qp_error(qp, now, -1);
		return;
	}
	recv_complete(qp, cqe);
}

void ud_rx(struct rnic_qp *qp, uint64_t now, const struct rnic_rx *rx, const struct bth_packet *pkt)
{
	uint8_t grh[GRH_LEN];
	struct iovec piece[2] = {
		{.iov_base = grh, .iov_len = GRH_LEN},
		{.iov_base = (void *)(uintptr_t)pkt->payload, .iov_len = pkt->payload_len},
	};
	struct rnic_cqe cqe = {
		.opcode = RNIC_WC_RECV,
		.flags = RNIC_WC_GRH,
		.byte_len = GRH_LEN + pkt->payload_len,
		.src_qpn = pkt->sqpn,
		.ip_version = gid_is_ipv4(rx->sgid) ? 4 : 6,
		.solicited = pkt->se,
	};

	if (pkt->qkey != own_qkey(qp)) {
		qp->dev->counters.rx_dropped_qkey++;
		return;
	}
	switch (recv_hold(qp)) {
	case RECV_NONE:
		return;
	case RECV_BAD:
		fault_refused(qp, pkt, RESP_RECV_BAD);
		recv_complete_error(qp, RNIC_WC_LOC_QP_OP_ERR);
		qp_error(qp, now, -1);
		return;
	case RECV_HELD:
		break;
	}
	if (cqe.byte_len > recv_room(qp)) {
		too_long(qp);
		return;
	}
	if (bth_opcode_info(pkt->opcode)->flags & BTH_F_IMM) {
		cqe.flags |= RNIC_WC_WITH_IMM;
		cqe.imm = pkt->imm;
	}
	grh_fill(grh, rx);
	store(qp, now, pkt, piece, &cqe);
}
