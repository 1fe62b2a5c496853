/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marks, CNPs and pacing of QPs: see cc.h. */
#include "config.h"

#include "rnic/cc.h"

#include <stddef.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "rnic/cc_qp.h"
#include "rnic/requester.h"

#define US 1000ull
#define PKEY_DEFAULT 0xffff
/* A limited QP hears of its packets at least that often, so that no timeout takes it for lost. */
#define ACK_INTERVAL_NS 100000ull

void rnic_cc_set(struct rnic_device *dev, const struct cc_params *params)
{
	dev->cc = *params;
}

const struct cc_params *rnic_cc_get(const struct rnic_device *dev)
{
	return &dev->cc;
}

static void pace_timer_fired(struct rnic_device *dev, struct rnic_timer *t, uint64_t now)
{
	(void)dev;
	(void)now;
	qp_activate((struct rnic_qp *)((char *)t - offsetof(struct rnic_qp, pace_timer)));
}

void cc_init(struct rnic_qp *qp)
{
	qp->pace_timer.fired = pace_timer_fired;
}

void cc_reset(struct rnic_qp *qp)
{
	timer_disarm(qp->dev, &qp->pace_timer);
	cc_rp_reset(&qp->cc);
	qp->cnp_next = 0;
}

uint64_t rnic_qp_cc_rate(const struct rnic_qp *qp, uint64_t now, uint32_t *alpha)
{
	struct cc_rp rp = qp->cc;

	*alpha = 0;
	if (!cc_limited(qp))
		return 0;
	cc_rp_update(&rp, &qp->dev->cc, now);
	if (!rp.limited)
		return 0;
	*alpha = (uint32_t)((uint64_t)rp.alpha * 1000000 / CC_ALPHA_ONE);
	return rp.rate;
}

/* ---- notification point ---- */

static bool connected(const struct rnic_qp *qp)
{
	return qp->init.type == RNIC_QPT_RC || qp->init.type == RNIC_QPT_UC;
}

/* Annex A17 (unverified): to the sender's QP, BECN set, PSN 0, 16 reserved bytes. */
static void cnp_send(struct rnic_qp *qp)
{
	const struct rnic_device_config *cfg = &qp->dev->cfg;
	struct bth_packet pkt = {
		.opcode = BTH_OPCODE_CNP,
		.pkey = PKEY_DEFAULT,
		.becn = true,
		.dqpn = qp->attr.dest_qpn,
	};
	uint32_t len = bth_opcode_info(pkt.opcode)->headers_len + BTH_ICRC_LEN;
	struct rnic_tx tx = {
		.av = &qp->attr.av,
		.traffic_class = (uint8_t)(qp->dev->cc.np_cnp_dscp << 2),
		.qpn = qp->qpn,
		.flow = qp->req->flow,
		.len = len,
		.seg = len,
	};

	tx.data = cfg->ops->tx_alloc(cfg->host, len);
	bth_encode_headers(&pkt, tx.data);
	cfg->ops->tx_send(cfg->host, &tx);
	qp->dev->counters.sent_pkts++;
	qp->dev->counters.sent_bytes += len;
	qp->dev->counters.np_cnp_sent++;
}

void cc_marked(struct rnic_qp *qp, uint64_t now)
{
	qp->dev->counters.np_ecn_marked_roce_packets++;
	if (qp->dev->cc.mode == CC_NONE || !connected(qp) || now < qp->cnp_next)
		return;
	qp->cnp_next = now + qp->dev->cc.np_min_time_between_cnps * US;
	cnp_send(qp);
}

/* ---- reaction point ---- */

static bool can_send(const struct rnic_qp *qp)
{
	return qp->attr.state == RNIC_QPS_RTR || qp->attr.state == RNIC_QPS_RTS ||
	       qp->attr.state == RNIC_QPS_SQD;
}

void cc_cnp_rx(struct rnic_device *dev, const struct rnic_rx *rx, const struct bth_packet *pkt,
	       uint64_t now)
{
	struct rnic_qp *qp = qp_lookup(dev, pkt->dqpn);

	/* Nobody but the peer may slow a QP down. */
	if (dev->cc.mode != CC_DCQCN || !qp || !connected(qp) || !can_send(qp) ||
	    memcmp(rx->sgid, qp->attr.av.dgid, sizeof(rx->sgid)) != 0) {
		dev->counters.rp_cnp_ignored++;
		return;
	}
	dev->counters.rp_cnp_handled++;
	cc_rp_cnp(&qp->cc, &dev->cc, now);
}

uint32_t cc_grant(struct rnic_qp *qp, uint32_t want, uint32_t len, uint64_t now)
{
	uint32_t n;

	if (!cc_limited(qp))
		return want;
	n = cc_rp_grant(&qp->cc, &qp->dev->cc, want, len + CC_PACKET_OVERHEAD, now);
	if (n == 0)
		timer_arm(qp->dev, &qp->pace_timer, qp->cc.next);
	return n;
}

void cc_sent(struct rnic_qp *qp, uint32_t n, uint32_t len, uint64_t now)
{
	if (cc_limited(qp))
		cc_rp_sent(&qp->cc, &qp->dev->cc, len + (uint64_t)n * CC_PACKET_OVERHEAD, now);
}

uint32_t cc_ack_interval(const struct rnic_qp *qp, uint32_t len)
{
	uint64_t n = qp->cc.rate * ACK_INTERVAL_NS / 8000000000ull / len;

	return n > 1 ? (uint32_t)n : 1;
}
