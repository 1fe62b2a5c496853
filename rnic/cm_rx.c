/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of communication management that come. A message is taken only if both its IDs and the
 * address that it comes from are the connection's; one that has been seen already gets the answer
 * that it got then, so that each may be lost and repeated.
 */
#include "config.h"

#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "rnic/cm_priv.h"

#define MRA_TIMEOUT 21 /* 8.6 s; if the program takes longer, another MRA asks for more */
#define APR_INVALID_INSTANCE 1
#define APR_NOT_SUPPORTED 2
#define APR_INVALID_QPN 6
#define REMOTE_TIMEOUT_EXTRA 18 /* how long a message and its answer are under way */

static bool comes_from(const struct rnic_cm *cm, const struct rnic_rx *rx)
{
	return memcmp(cm->av.dgid, rx->sgid, sizeof(rx->sgid)) == 0;
}

/* The end that the message names, if it may. Before a REP the remote ID is not known; an idle end
 * has no peer, or no more. */
static struct rnic_cm *end_of(struct rnic_device *dev, const struct rnic_rx *rx,
			      const struct cm_msg *msg)
{
	struct rnic_cm *cm = cm_find(dev, msg->remote_id);

	if (!cm || cm->state == RNIC_CM_IDLE || !comes_from(cm, rx))
		return NULL;
	return cm->remote_id == 0 || cm->remote_id == msg->local_id ? cm : NULL;
}

static void await_nothing(struct rnic_cm *cm)
{
	timer_disarm(cm->dev, &cm->timer);
}

static void reject_request(struct rnic_device *dev, const struct rnic_rx *rx,
			   const struct cm_msg *req, uint16_t reason)
{
	struct cm_msg msg = {
		.type = CM_REJ,
		.tid = req->tid,
		.remote_id = req->local_id,
		.reason = reason,
	};

	cm_answer(dev, rx, &msg);
}

static void reject_sidr(struct rnic_device *dev, const struct rnic_rx *rx, const struct cm_msg *req,
			uint16_t status)
{
	struct cm_msg msg = {
		.type = CM_SIDR_REP,
		.tid = req->tid,
		.local_id = req->local_id,
		.service_id = req->service_id,
		.status = (uint8_t)status,
	};

	cm_answer(dev, rx, &msg);
}

static void mra_send(struct rnic_cm *cm, uint8_t which)
{
	struct cm_msg msg = {.which = which, .service_timeout = MRA_TIMEOUT};

	cm->peer_repeat = cm_timeout_ns(MRA_TIMEOUT) + cm_timeout_ns(REMOTE_TIMEOUT_EXTRA);
	cm_transmit(cm, &msg, CM_MRA, false);
}

static void known(struct rnic_device *dev, enum cm_type type)
{
	dev->cm->counts.known[type - CM_TYPE_FIRST]++;
}

/* The peer has not heard the answer, or there is none yet. */
static void request_again(struct rnic_cm *cm)
{
	switch (cm->state) {
	case RNIC_CM_REQ_RCVD:
		mra_send(cm, 0);
		return;
	case RNIC_CM_REP_SENT:
		cm_repeat(cm);
		return;
	case RNIC_CM_TIMEWAIT:
		if (cm->sent_type == CM_REJ || cm->sent_type == CM_SIDR_REP)
			cm_repeat(cm);
		return;
	case RNIC_CM_IDLE:
	case RNIC_CM_REQ_SENT:
	case RNIC_CM_REP_RCVD:
	case RNIC_CM_ESTABLISHED:
	case RNIC_CM_DREQ_SENT:
	case RNIC_CM_DREQ_RCVD:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return;
	}
}

static int sgid_index_of(struct rnic_device *dev, const uint8_t gid[16])
{
	for (int i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		const uint8_t *own = rnic_gid_get(dev, (uint16_t)i);

		if (own && memcmp(own, gid, 16) == 0)
			return i;
	}
	return -1;
}

/* A REQ cannot ask for more at once, or ends that its sender has forgotten would pile up. */
static uint64_t peers_timeout(uint32_t exponent)
{
	return cm_timeout_ns(exponent < MRA_TIMEOUT ? exponent : MRA_TIMEOUT);
}

static struct rnic_cm *end_for_request(struct rnic_device *dev, const struct rnic_rx *rx,
				       const struct cm_msg *msg, enum rnic_cm_state state)
{
	int index = sgid_index_of(dev, rx->dgid);
	struct rnic_cm *cm = index < 0 ? NULL : rnic_cm_create(dev, NULL);

	if (!cm)
		return NULL;
	cm->state = state;
	cm->passive = true;
	cm->remote_id = msg->local_id;
	cm->remote_guid = msg->ca_guid;
	cm->service_id = msg->service_id;
	cm->tid = cm->request_tid = msg->tid;
	cm->remote_qpn = msg->qpn;
	memcpy(cm->av.sgid, rx->dgid, 16);
	memcpy(cm->av.dgid, rx->sgid, 16);
	cm->av.sgid_index = (uint16_t)index;
	cm->av.grh = true;
	cm->av.port_num = 1;
	cm->av.hop_limit = msg->primary.hop_limit > 1 ? msg->primary.hop_limit : 64;
	cm->av.traffic_class = msg->primary.traffic_class;
	cm->av.flow_label = msg->primary.flow_label;
	cm->timeout = cm->peer_repeat = peers_timeout(msg->local_timeout);
	cm->retries = msg->max_cm_retries;
	cm_index_add(dev->cm->index, cm);
	return cm;
}

static void req_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
		   const struct cm_msg *msg)
{
	struct rnic_cm *cm = cm_index_request(dev->cm->index, msg, rx->sgid);
	uint16_t reason;

	if (cm) {
		known(dev, CM_REQ);
		request_again(cm);
		return;
	}
	/* It was under way for long: the QP may have another connection now, which it is not for.
	 */
	if (cm_index_was_stale(dev->cm->index, msg, rx->sgid)) {
		reject_request(dev, rx, msg, CM_REJ_STALE_CONN);
		return;
	}
	/*
	 * A connection of the same QP of the same adapter: the peer has forgotten it, or it could
	 * not ask for another (IBA chapter 12, unverified). One that has ended is in nobody's way.
	 */
	cm = cm_index_stale(dev->cm->index, msg, rx->sgid);
	if (cm) {
		struct cm_msg dreq = {0};

		cm->stale[cm->n_stale++ % CM_STALE_MAX] =
			(struct cm_stale){.id = msg->local_id, .tid = msg->tid};
		reject_request(dev, rx, msg, CM_REJ_STALE_CONN);
		if (rnic_cm_dreq(cm, now, &dreq) == 0)
			cm_tell(cm, RNIC_CM_EV_DREQ, NULL);
		return;
	}
	cm = end_for_request(dev, rx, msg, RNIC_CM_REQ_RCVD);
	if (!cm) {
		reject_request(dev, rx, msg, CM_REJ_INVALID_SERVICE_ID);
		return;
	}
	reason = dev->cm->ops->request(dev->cm->host, cm, msg);
	if (!reason)
		return;
	cm_free(cm);
	if (reason != RNIC_CM_SILENCE)
		reject_request(dev, rx, msg, reason);
}

static void sidr_req_rx(struct rnic_device *dev, const struct rnic_rx *rx, const struct cm_msg *msg)
{
	struct rnic_cm *cm = cm_index_request(dev->cm->index, msg, rx->sgid);
	uint16_t status;

	if (cm) {
		known(dev, CM_SIDR_REQ);
		request_again(cm);
		return;
	}
	cm = end_for_request(dev, rx, msg, RNIC_CM_SIDR_REQ_RCVD);
	if (!cm) {
		reject_sidr(dev, rx, msg, CM_SIDR_UNSUPPORTED);
		return;
	}
	status = dev->cm->ops->request(dev->cm->host, cm, msg);
	if (status) {
		cm_free(cm);
		reject_sidr(dev, rx, msg, status);
	}
}

static void comm_unknown(struct rnic_device *dev, const struct rnic_rx *rx,
			 const struct cm_msg *rep)
{
	struct cm_msg rej = {
		.type = CM_REJ,
		.tid = rep->tid,
		.local_id = rep->remote_id,
		.remote_id = rep->local_id,
		.which = 1,
		.reason = CM_REJ_INVALID_COMM_ID,
	};

	cm_answer(dev, rx, &rej);
}

static void rep_rx(struct rnic_cm *cm, const struct rnic_rx *rx, const struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_REQ_SENT)
		known(cm->dev, CM_REP);
	switch (cm->state) {
	case RNIC_CM_REQ_SENT:
		await_nothing(cm);
		cm->state = RNIC_CM_REP_RCVD;
		cm->remote_id = msg->local_id;
		cm->remote_guid = msg->ca_guid;
		cm->remote_qpn = msg->qpn;
		cm_index_add(cm->dev->cm->index, cm);
		cm_tell(cm, RNIC_CM_EV_REP, msg);
		return;
	case RNIC_CM_REP_RCVD:
		mra_send(cm, 1);
		return;
	case RNIC_CM_ESTABLISHED:
		if (!cm->passive)
			cm_repeat(cm); /* RTU */
		return;
	case RNIC_CM_TIMEWAIT:
		if (!cm->passive && (cm->sent_type == CM_REJ || cm->sent_type == CM_DREQ))
			cm_repeat(cm);
		else if (cm->sent_type == CM_REQ && !cm->remote_id) /* it was stale */
			comm_unknown(cm->dev, rx, msg);
		return;
	case RNIC_CM_IDLE:
	case RNIC_CM_REQ_RCVD:
	case RNIC_CM_REP_SENT:
	case RNIC_CM_DREQ_SENT:
	case RNIC_CM_DREQ_RCVD:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return;
	}
}

static void rtu_rx(struct rnic_cm *cm, const struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_REP_SENT)
		return;
	await_nothing(cm);
	cm->state = RNIC_CM_ESTABLISHED;
	cm_tell(cm, RNIC_CM_EV_ESTABLISHED, msg);
}

static void mra_rx(struct rnic_cm *cm, uint64_t now, const struct cm_msg *msg)
{
	uint64_t wait = cm_timeout_ns(msg->service_timeout) + cm_timeout_ns(REMOTE_TIMEOUT_EXTRA);
	bool req = cm->state == RNIC_CM_REQ_SENT && msg->which == 0;
	bool rep = cm->state == RNIC_CM_REP_SENT && msg->which == 1;

	if (!req && !rep)
		return;
	if (req)
		cm->remote_id = msg->local_id;
	timer_arm(cm->dev, &cm->timer, now + wait);
}

static void rej_rx(struct rnic_cm *cm, uint64_t now, const struct cm_msg *msg)
{
	switch (cm->state) {
	case RNIC_CM_REQ_SENT:
		await_nothing(cm);
		cm->state = RNIC_CM_IDLE;
		/* The QP's packets of a former connection may still be under way. */
		if (msg->reason == CM_REJ_STALE_CONN)
			cm_enter_timewait(cm, now);
		break;
	case RNIC_CM_REQ_RCVD:
	case RNIC_CM_REP_RCVD:
	case RNIC_CM_REP_SENT:
	case RNIC_CM_ESTABLISHED:
		cm_enter_timewait(cm, now);
		break;
	case RNIC_CM_DREQ_SENT: /* the peer knows of no connection */
		cm_enter_timewait(cm, now);
		cm_tell(cm, RNIC_CM_EV_DISCONNECTED, msg);
		return;
	case RNIC_CM_IDLE:
	case RNIC_CM_DREQ_RCVD:
	case RNIC_CM_TIMEWAIT:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return;
	}
	cm_tell(cm, RNIC_CM_EV_REJ, msg);
}

static void drep_answer(struct rnic_device *dev, const struct rnic_rx *rx,
			const struct cm_msg *dreq)
{
	struct cm_msg msg = {
		.type = CM_DREP,
		.tid = dreq->tid,
		.local_id = dreq->remote_id,
		.remote_id = dreq->local_id,
	};

	cm_answer(dev, rx, &msg);
}

static void dreq_rx(struct rnic_cm *cm, uint64_t now, const struct rnic_rx *rx,
		    const struct cm_msg *msg)
{
	switch (cm->state) {
	case RNIC_CM_REP_SENT: /* its RTU was lost */
	case RNIC_CM_ESTABLISHED:
		if (msg->qpn != cm->local_qpn)
			return;
		await_nothing(cm);
		cm->tid = msg->tid;
		cm->state = RNIC_CM_DREQ_RCVD;
		cm_tell(cm, RNIC_CM_EV_DREQ, msg);
		return;
	case RNIC_CM_DREQ_SENT: /* both at once */
		cm->tid = msg->tid;
		drep_answer(cm->dev, rx, msg);
		cm_enter_timewait(cm, now);
		cm_tell(cm, RNIC_CM_EV_DISCONNECTED, msg);
		return;
	case RNIC_CM_DREQ_RCVD: /* the program is slow to answer; the peer need not wait for it */
	case RNIC_CM_TIMEWAIT:
		known(cm->dev, CM_DREQ);
		drep_answer(cm->dev, rx, msg);
		return;
	case RNIC_CM_IDLE:
	case RNIC_CM_REQ_SENT:
	case RNIC_CM_REQ_RCVD:
	case RNIC_CM_REP_RCVD:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return;
	}
}

static void drep_rx(struct rnic_cm *cm, uint64_t now, const struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_DREQ_SENT)
		return;
	cm_enter_timewait(cm, now);
	cm_tell(cm, RNIC_CM_EV_DISCONNECTED, msg);
}

static void sidr_rep_rx(struct rnic_device *dev, const struct rnic_rx *rx, const struct cm_msg *msg)
{
	struct rnic_cm *cm = cm_find(dev, msg->local_id);

	if (!cm || !comes_from(cm, rx) || cm->state != RNIC_CM_SIDR_REQ_SENT)
		return;
	await_nothing(cm);
	cm->state = RNIC_CM_IDLE;
	cm->remote_qpn = msg->qpn;
	cm_tell(cm, RNIC_CM_EV_SIDR_REP, msg);
}

/* Alternate paths are none of RoCE's: a LAP is refused, in its own transaction. */
static void apr_answer(struct rnic_device *dev, const struct rnic_rx *rx, const struct cm_msg *lap,
		       uint8_t status)
{
	struct cm_msg msg = {
		.type = CM_APR,
		.tid = lap->tid,
		.local_id = lap->remote_id,
		.remote_id = lap->local_id,
		.status = status,
	};

	cm_answer(dev, rx, &msg);
}

static void lap_rx(struct rnic_cm *cm, const struct rnic_rx *rx, const struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_ESTABLISHED)
		return;
	apr_answer(cm->dev, rx, msg,
		   msg->qpn == cm->local_qpn ? APR_NOT_SUPPORTED : APR_INVALID_QPN);
}

/* Messages that name an end of this side. */
static void end_rx(struct rnic_cm *cm, uint64_t now, const struct rnic_rx *rx,
		   const struct cm_msg *msg)
{
	switch (msg->type) {
	case CM_MRA:
		mra_rx(cm, now, msg);
		return;
	case CM_REJ:
		rej_rx(cm, now, msg);
		return;
	case CM_REP:
		rep_rx(cm, rx, msg);
		return;
	case CM_RTU:
		rtu_rx(cm, msg);
		return;
	case CM_DREQ:
		dreq_rx(cm, now, rx, msg);
		return;
	case CM_DREP:
		drep_rx(cm, now, msg);
		return;
	case CM_LAP:
		lap_rx(cm, rx, msg);
		return;
	case CM_APR: /* nothing here ever sends a LAP */
	case CM_REQ:
	case CM_SIDR_REQ:
	case CM_SIDR_REP:
		return;
	}
}

/* A REJ of a peer that never learnt this side's ID: its own ID tells. */
static struct rnic_cm *rejected_of(struct rnic_device *dev, const struct rnic_rx *rx,
				   const struct cm_msg *msg)
{
	if (msg->type != CM_REJ || msg->reason != CM_REJ_TIMEOUT || msg->remote_id)
		return NULL;
	return cm_index_request(dev->cm->index, msg, rx->sgid);
}

static void unknown_rx(struct rnic_device *dev, const struct rnic_rx *rx, const struct cm_msg *msg)
{
	if (msg->type == CM_DREQ)
		drep_answer(dev, rx, msg);
	else if (msg->type == CM_REP)
		comm_unknown(dev, rx, msg);
	else if (msg->type == CM_LAP)
		apr_answer(dev, rx, msg, APR_INVALID_INSTANCE);
}

static void msg_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
		   const struct cm_msg *msg)
{
	struct rnic_cm *cm;

	switch (msg->type) {
	case CM_REQ:
		req_rx(dev, now, rx, msg);
		return;
	case CM_SIDR_REQ:
		sidr_req_rx(dev, rx, msg);
		return;
	case CM_SIDR_REP:
		sidr_rep_rx(dev, rx, msg);
		return;
	case CM_MRA:
	case CM_REJ:
	case CM_REP:
	case CM_RTU:
	case CM_DREQ:
	case CM_DREP:
	case CM_LAP:
	case CM_APR:
		break;
	}
	cm = rejected_of(dev, rx, msg);
	if (!cm)
		cm = end_of(dev, rx, msg);
	if (cm)
		end_rx(cm, now, rx, msg);
	else
		unknown_rx(dev, rx, msg);
}

void cm_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
	   const struct bth_packet *pkt)
{
	struct cm_msg msg;
	struct mad mad;

	if (pkt->opcode != BTH_OPCODE(BTH_UD, BTH_SEND_ONLY) || pkt->qkey != RNIC_QKEY_GSI ||
	    !mad_decode(pkt->payload, pkt->payload_len, &mad) || !cm_decode(&mad, &msg)) {
		dev->counters.rx_dropped_malformed++;
		return;
	}
	dev->counters.cm_rcvd++;
	dev->cm->counts.rcvd[msg.type - CM_TYPE_FIRST]++;
	msg_rx(dev, now, rx, &msg);
}
