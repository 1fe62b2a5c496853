/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of communication management on their way out, and what happens when no answer comes. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cm_priv.h"

#define TIMEOUT_EXPONENT_MAX 24 /* 69 s, whatever an MRA asks for */
/* Twice the time that a packet may live in the network (Linux gives RoCE 2^18 * 4.096 us). */
#define TIMEWAIT_NS (2 * cm_timeout_ns(18))

uint64_t cm_timeout_ns(uint32_t exponent)
{
	return 4096ull << (exponent < TIMEOUT_EXPONENT_MAX ? exponent : TIMEOUT_EXPONENT_MAX);
}

static void mad_send(struct rnic_device *dev, const struct rnic_av *av, const uint8_t *mad,
		     unsigned type)
{
	const struct rnic_device_config *cfg = &dev->cfg;
	const struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_UD, BTH_SEND_ONLY),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = RNIC_QPN_GSI,
		.ackreq = true, /* as Linux; it means nothing to a datagram */
		.psn = dev->cm->psn,
		.qkey = RNIC_QKEY_GSI,
		.sqpn = RNIC_QPN_GSI,
		.payload_len = MAD_LEN,
	};
	uint32_t headers = bth_opcode_info(pkt.opcode)->headers_len;
	struct rnic_tx tx = {
		.av = av,
		.traffic_class = av->traffic_class,
		.qpn = RNIC_QPN_GSI,
		.flow = RNIC_QPN_GSI,
	};

	tx.len = tx.seg = headers + MAD_LEN + BTH_ICRC_LEN;
	tx.data = cfg->ops->tx_alloc(cfg->host, tx.len);
	bth_encode_headers(&pkt, tx.data);
	memcpy(tx.data + headers, mad, MAD_LEN);
	cfg->ops->tx_send(cfg->host, &tx);
	dev->cm->psn = psn_add(dev->cm->psn, 1);
	dev->counters.sent_pkts++;
	dev->counters.sent_bytes += tx.len;
	dev->counters.cm_sent++;
	dev->cm->counts.sent[type - CM_TYPE_FIRST]++;
}

void cm_transmit(struct rnic_cm *cm, struct cm_msg *msg, enum cm_type type, bool keep)
{
	uint8_t once[MAD_LEN], *mad = keep ? cm->sent : once;

	msg->type = type;
	msg->tid = cm->tid;
	msg->local_id = cm_id(cm);
	msg->remote_id = cm->remote_id;
	if (type == CM_SIDR_REP)
		msg->local_id = cm->remote_id;
	if (keep)
		cm->sent_type = (int)type;
	cm_encode(msg, mad);
	mad_send(cm->dev, &cm->av, mad, type);
}

void cm_repeat(struct rnic_cm *cm)
{
	mad_send(cm->dev, &cm->av, cm->sent, (unsigned)cm->sent_type);
	cm->dev->counters.cm_repeated++;
}

static void av_back(const struct rnic_rx *rx, struct rnic_av *av)
{
	*av = (struct rnic_av){.grh = true, .hop_limit = 64, .port_num = 1};
	memcpy(av->sgid, rx->dgid, sizeof(av->sgid));
	memcpy(av->dgid, rx->sgid, sizeof(av->dgid));
}

void cm_answer(struct rnic_device *dev, const struct rnic_rx *rx, struct cm_msg *msg)
{
	uint8_t mad[MAD_LEN];
	struct rnic_av av;

	av_back(rx, &av);
	cm_encode(msg, mad);
	mad_send(dev, &av, mad, msg->type);
}

void cm_expect(struct rnic_cm *cm, uint64_t now)
{
	cm->tries = cm->retries;
	timer_arm(cm->dev, &cm->timer, now + cm->timeout);
}

void cm_enter_timewait(struct rnic_cm *cm, uint64_t now)
{
	/* What answers a request must be there when the request is repeated. */
	cm->state = RNIC_CM_TIMEWAIT;
	timer_arm(cm->dev, &cm->timer, now + TIMEWAIT_NS + cm->peer_repeat);
	if (!cm->n_stale)
		cm_index_ended(cm);
	if (!cm->owned)
		cm_hurry(cm, now);
}

void cm_hurry(struct rnic_cm *cm, uint64_t now)
{
	if (cm->dev->cm->forgotten <= CM_FORGOTTEN_MAX)
		return;
	cm->tries = 0;
	timer_arm(cm->dev, &cm->timer, now);
}

void cm_tell(struct rnic_cm *cm, enum rnic_cm_event_type type, const struct cm_msg *msg)
{
	struct rnic_cm_event ev = {.type = type, .msg = msg};

	if (cm->owned)
		cm->dev->cm->ops->event(cm->dev->cm->host, cm, cm->user, &ev);
}

/* The last try has had no answer. */
static void given_up(struct rnic_cm *cm, uint64_t now)
{
	struct cm_msg msg = {.reason = CM_REJ_TIMEOUT};

	switch (cm->state) {
	case RNIC_CM_REQ_SENT:
	case RNIC_CM_REP_SENT:
		cm_name_adapter(cm, &msg);
		(void)rnic_cm_rej(cm, now, &msg);
		cm_tell(cm, RNIC_CM_EV_UNREACHABLE, NULL);
		return;
	case RNIC_CM_SIDR_REQ_SENT:
		cm->state = RNIC_CM_IDLE;
		cm_tell(cm, RNIC_CM_EV_UNREACHABLE, NULL);
		return;
	case RNIC_CM_DREQ_SENT:
		cm_enter_timewait(cm, now);
		cm_tell(cm, RNIC_CM_EV_DISCONNECTED, NULL);
		return;
	case RNIC_CM_IDLE:
	case RNIC_CM_REQ_RCVD:
	case RNIC_CM_REP_RCVD:
	case RNIC_CM_ESTABLISHED:
	case RNIC_CM_DREQ_RCVD:
	case RNIC_CM_TIMEWAIT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return; /* these wait for no answer */
	}
}

static void timewait_over(struct rnic_cm *cm)
{
	if (!cm->owned) {
		cm_free(cm);
		return;
	}
	cm->state = RNIC_CM_IDLE;
	cm_index_remove(cm);
	cm->remote_id = 0;
	cm->passive = false;
	cm_tell(cm, RNIC_CM_EV_TIMEWAIT_EXIT, NULL);
}

void cm_timer_fired(struct rnic_device *dev, struct rnic_timer *t, uint64_t now)
{
	struct rnic_cm *cm = (struct rnic_cm *)((char *)t - offsetof(struct rnic_cm, timer));

	(void)dev;
	if (cm->state == RNIC_CM_TIMEWAIT) {
		timewait_over(cm);
		return;
	}
	if (cm->tries == 0) {
		given_up(cm, now);
		return;
	}
	cm->tries--;
	cm->dev->cm->counts.repeated[cm->sent_type - CM_TYPE_FIRST]++;
	cm_repeat(cm);
	timer_arm(cm->dev, &cm->timer, now + cm->timeout);
}
