/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What drives the transport: packets, turns, time, and changes of a QP's state. */
#include "config.h"

#include "rnic/transport.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "rnic/cc_qp.h"
#include "rnic/cm_priv.h"
#include "rnic/completer.h"
#include "rnic/flush.h"
#include "rnic/hold.h"
#include "rnic/mcast.h"
#include "rnic/requester.h"
#include "rnic/responder.h"
#include "rnic/retry.h"
#include "rnic/uc.h"
#include "rnic/ud.h"

#define BATCH_MAX 64
#define PKEY_MASK 0x7fff

/* What one QP may send before others have their turn. */
#define TURN_STEPS 16
#define TURN_BYTES 131072

/* What one call may do before the host has its turn: when a peer is gone, thousands of QPs may have
 * something to send at once. */
#define RUN_QPS 512
#define RUN_BYTES 1000000
#define RUN_TIMERS 512

/* Packets of a batch, decoded; those that are not well formed are left out. */
struct rx_batch {
	struct bth_packet pkt[BATCH_MAX];
	const struct rnic_rx *rx[BATCH_MAX];
	uint32_t n;
	bool marked;	       /* some of them are */
	struct rnic_qp *tails; /* QPs that owe an answer */
};

static struct rnic_qp *qp_of_active(struct qp_list *l)
{
	return (struct rnic_qp *)((char *)l - offsetof(struct rnic_qp, active));
}

static struct rnic_qp *qp_of_waiting(struct qp_list *l)
{
	return (struct rnic_qp *)((char *)l - offsetof(struct rnic_qp, waiting));
}

/* ---- state ---- */

int transport_create(struct rnic_qp *qp)
{
	int ret = requester_create(qp);

	if (ret == 0)
		ret = responder_create(qp);
	if (ret < 0) {
		transport_destroy(qp);
		return ret;
	}
	retry_init(qp);
	responder_reset(qp);
	return 0;
}

void transport_destroy(struct rnic_qp *qp)
{
	responder_destroy(qp);
	requester_destroy(qp);
}

static bool waits(const struct rnic_qp *qp)
{
	return qp->req->pause == PAUSE_MEMORY || qp->resp->wait_mem;
}

void transport_wait_update(struct rnic_qp *qp)
{
	qp_list_del(&qp->waiting);
	if (waits(qp))
		qp_list_add_tail(&qp->dev->waiting, &qp->waiting);
}

/* As Linux folds it, so that both directions of a connection take one path. */
static uint32_t flow_of(const struct rnic_qp *qp)
{
	uint64_t v = (uint64_t)qp->qpn * qp->attr.dest_qpn;

	if (qp->init.type == RNIC_QPT_UD || qp->init.type == RNIC_QPT_GSI)
		return qp->qpn * 0x61c88647u >> 18;
	if (qp->attr.av.flow_label)
		return qp->attr.av.flow_label & 0xfffff;
	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)(v & 0xfffff);
}

static void path_taken(struct rnic_qp *qp)
{
	bool connected = qp->init.type == RNIC_QPT_RC || qp->init.type == RNIC_QPT_UC;

	qp->req->mtu = qp->resp->mtu = rnic_mtu_bytes(connected ? qp->attr.path_mtu : qp->dev->mtu);
	qp->req->flow = qp->resp->flow = flow_of(qp);
	/* Without memory for it the window is unlimited. */
	if (qp->init.type == RNIC_QPT_RC)
		(void)peer_attach(&qp->req->share, qp->attr.av.dgid);
}

static void drain_begin(struct rnic_qp *qp)
{
	qp->req->draining = true;
	qp->attr.sq_draining = 1;
	requester_drained(qp);
}

void transport_state_entered(struct rnic_qp *qp, enum rnic_qp_state from, uint32_t mask,
			     uint64_t now)
{
	switch (qp->attr.state) {
	case RNIC_QPS_RESET:
		requester_reset(qp);
		responder_reset(qp);
		transport_wait_update(qp);
		qp_deactivate(qp);
		return;
	case RNIC_QPS_INIT:
		return;
	case RNIC_QPS_RTR:
		if (from == RNIC_QPS_INIT) {
			path_taken(qp);
			responder_start(qp);
		}
		return;
	case RNIC_QPS_RTS:
		if (from == RNIC_QPS_RTR)
			requester_start(qp);
		if (from == RNIC_QPS_SQE)
			flush_sends_end(qp);
		if (mask & RNIC_QP_AV)
			path_taken(qp);
		qp->req->draining = false;
		qp->attr.sq_draining = 0;
		qp_activate(qp);
		return;
	case RNIC_QPS_SQD:
		if (from == RNIC_QPS_RTS)
			drain_begin(qp);
		if (mask & RNIC_QP_AV)
			path_taken(qp);
		return;
	case RNIC_QPS_ERR:
		flush_begin(qp, now);
		return;
	case RNIC_QPS_SQE:
		flush_sends_begin(qp);
		return;
	case RNIC_QPS_COUNT:
		return;
	}
}

void transport_info_get(const struct rnic_qp *qp, struct rnic_qp_info *info)
{
	const struct requester *req = qp->req;

	info->sq_psn = req->max_psn;
	info->sq_una_psn = req->una_psn;
	info->rq_psn = qp->resp->psn;
	info->msn = qp->resp->msn;
	info->outstanding = req->cur - req->una + (req->cur_off > 0);
	info->retransmitted = req->retransmitted;
}

/* ---- packets ---- */

static void tail_note(struct rx_batch *b, struct rnic_qp *qp)
{
	struct responder *resp = qp->resp;

	if (resp->tail == TAIL_NONE || resp->in_tails)
		return;
	resp->in_tails = true;
	resp->next_tail = b->tails;
	b->tails = qp;
}

static void tails_send(struct rx_batch *b, uint64_t now)
{
	while (b->tails) {
		struct rnic_qp *qp = b->tails;

		b->tails = qp->resp->next_tail;
		qp->resp->in_tails = false;
		if (!hold_begin(qp, now))
			responder_send_tail(qp, now);
	}
}

static bool may_respond(const struct rnic_qp *qp)
{
	switch (qp->attr.state) {
	case RNIC_QPS_RTR:
	case RNIC_QPS_RTS:
	case RNIC_QPS_SQD:
	case RNIC_QPS_SQE:
		return true;
	case RNIC_QPS_RESET:
	case RNIC_QPS_INIT:
	case RNIC_QPS_ERR:
	case RNIC_QPS_COUNT:
		break;
	}
	return false;
}

static bool may_complete(const struct rnic_qp *qp)
{
	return qp->init.type == RNIC_QPT_RC &&
	       (qp->attr.state == RNIC_QPS_RTS || qp->attr.state == RNIC_QPS_SQD);
}

static bool transport_matches(const struct rnic_qp *qp, uint8_t opcode)
{
	switch (qp->init.type) {
	case RNIC_QPT_RC:
		return bth_opcode_transport(opcode) == BTH_RC;
	case RNIC_QPT_UC:
		return bth_opcode_transport(opcode) == BTH_UC;
	case RNIC_QPT_UD:
	case RNIC_QPT_GSI:
		return bth_opcode_transport(opcode) == BTH_UD;
	}
	return false;
}

/* Must this QP not even look at the packet (IBA unverified)? Then the counter of why; or NULL. */
static uint64_t *packet_refusal(struct rnic_device *dev, const struct rnic_qp *qp,
				const struct bth_packet *pkt, const struct rnic_rx *rx)
{
	bool connected = qp->init.type == RNIC_QPT_RC || qp->init.type == RNIC_QPT_UC;

	if (!transport_matches(qp, pkt->opcode))
		return &dev->counters.rx_dropped_malformed;
	/* The default key; this end is a full member, so the other may be a limited one. */
	if ((pkt->pkey & PKEY_MASK) != PKEY_MASK)
		return &dev->counters.rx_dropped_pkey;
	if (connected && memcmp(rx->sgid, qp->attr.av.dgid, sizeof(rx->sgid)) != 0)
		return &dev->counters.rx_dropped_address;
	return NULL;
}

/* Packets [i, i + n) are of one QP and go one way. */
static void group_rx(struct rnic_device *dev, uint64_t now, struct rx_batch *b, uint32_t i,
		     uint32_t n, struct rnic_qp *qp)
{
	bool response = bth_opcode_info(b->pkt[i].opcode)->flags & BTH_F_RESPONSE;

	if (response ? !may_complete(qp) : !may_respond(qp)) {
		dev->counters.rx_dropped_qp_state += n;
		/* Something may have been posted since. */
		if (qp->attr.state == RNIC_QPS_ERR)
			qp_activate(qp);
		return;
	}
	if (response) {
		completer_rx(qp, now, &b->pkt[i], n);
		return;
	}
	switch (qp->init.type) {
	case RNIC_QPT_RC:
		responder_rx(qp, now, &b->pkt[i], n);
		tail_note(b, qp);
		break;
	case RNIC_QPT_UC:
		uc_rx(qp, now, &b->pkt[i], n);
		break;
	case RNIC_QPT_UD:
	case RNIC_QPT_GSI:
		for (uint32_t k = i; k < i + n; k++)
			ud_rx(qp, now, b->rx[k], &b->pkt[k]);
		break;
	}
}

/* From i on: for the same QP, in the same direction, admitted. */
static uint32_t group_len(struct rnic_device *dev, const struct rx_batch *b, uint32_t i,
			  const struct rnic_qp *qp)
{
	uint32_t way = bth_opcode_info(b->pkt[i].opcode)->flags & BTH_F_RESPONSE;
	uint32_t n = 0;

	while (i + n < b->n && b->pkt[i + n].dqpn == b->pkt[i].dqpn &&
	       (bth_opcode_info(b->pkt[i + n].opcode)->flags & BTH_F_RESPONSE) == way &&
	       !packet_refusal(dev, qp, &b->pkt[i + n], b->rx[i + n]))
		n++;
	return n;
}

/* Packets [i, i + n) are of this QP. */
static void marks_tell(const struct rx_batch *b, uint32_t i, uint32_t n, struct rnic_qp *qp,
		       uint64_t now)
{
	for (uint32_t k = i; may_respond(qp) && k < i + n; k++)
		if ((b->rx[k]->traffic_class & ECN_MASK) == ECN_CE)
			cc_marked(qp, now);
}

/*
 * Those, and what this QP gets next the other way. A reply and the acknowledgement that waited for
 * it (hold.h) come in this order, but the program is to see its request done before the reply.
 */
static uint32_t groups_rx(struct rnic_device *dev, uint64_t now, struct rx_batch *b, uint32_t i,
			  uint32_t n, struct rnic_qp *qp)
{
	uint32_t next = i + n, m = 0;

	if (next < b->n && b->pkt[next].dqpn == b->pkt[i].dqpn &&
	    bth_opcode_info(b->pkt[next].opcode)->flags & BTH_F_RESPONSE)
		m = group_len(dev, b, next, qp);
	if (b->marked)
		marks_tell(b, i, n + m, qp, now);
	if (m)
		group_rx(dev, now, b, next, m, qp);
	group_rx(dev, now, b, i, n, qp);
	return n + m;
}

static void mcast_deliver(struct rnic_qp *qp, uint64_t now, const struct rnic_rx *rx,
			  const struct bth_packet *pkt)
{
	uint64_t *why = packet_refusal(qp->dev, qp, pkt, rx);

	if (!why && !may_respond(qp))
		why = &qp->dev->counters.rx_dropped_qp_state;
	if (why)
		++*why;
	else
		ud_rx(qp, now, rx, pkt);
}

static void batch_rx(struct rnic_device *dev, uint64_t now, struct rx_batch *b)
{
	uint32_t i = 0;

	while (i < b->n) {
		struct rnic_qp *qp = qp_lookup(dev, b->pkt[i].dqpn);
		uint32_t n;

		if (b->pkt[i].dqpn == RNIC_QPN_GSI && dev->cm && !qp) {
			cm_rx(dev, now, b->rx[i], &b->pkt[i]);
			i++;
			continue;
		}

		if (!qp) {
			if (b->pkt[i].dqpn != RNIC_QPN_MULTICAST ||
			    !mcast_rx(dev, now, b->rx[i], &b->pkt[i], mcast_deliver))
				dev->counters.rx_dropped_no_qp++;
			i++;
			continue;
		}
		n = group_len(dev, b, i, qp);
		if (n == 0) {
			++*packet_refusal(dev, qp, &b->pkt[i], b->rx[i]);
			i++;
			continue;
		}
		i += groups_rx(dev, now, b, i, n, qp);
	}
}

/* A reserved opcode of RC is an invalid request, which the responder says (IBA unverified);
 * other transports have nobody to tell. */
static bool decoded(const struct rnic_rx *rx, struct bth_packet *pkt)
{
	switch (bth_decode(rx->data, rx->len, pkt)) {
	case BTH_OK:
		return true;
	case BTH_BAD_OPCODE:
		return bth_opcode_transport(pkt->opcode) == BTH_RC;
	case BTH_SHORT:
	case BTH_BAD_VERSION:
	case BTH_BAD_LENGTH:
		break;
	}
	return false;
}

static void batch_decode(struct rnic_device *dev, struct rx_batch *b, const struct rnic_rx *pkts,
			 uint32_t n, uint64_t now)
{
	b->n = 0;
	b->marked = false;
	for (uint32_t i = 0; i < n; i++) {
		dev->counters.rcvd_pkts++;
		dev->counters.rcvd_bytes += pkts[i].len;
		if (!decoded(&pkts[i], &b->pkt[b->n])) {
			dev->counters.rx_dropped_malformed++;
			continue;
		}
		if (bth_opcode_info(b->pkt[b->n].opcode)->flags & BTH_F_CNP) {
			cc_cnp_rx(dev, &pkts[i], &b->pkt[b->n], now);
			continue;
		}
		b->marked |= (pkts[i].traffic_class & ECN_MASK) == ECN_CE;
		b->rx[b->n++] = &pkts[i];
	}
}

void rnic_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *pkts, uint32_t n)
{
	struct rx_batch b;

	b.tails = NULL;
	while (n) {
		uint32_t part = n < BATCH_MAX ? n : BATCH_MAX;

		batch_decode(dev, &b, pkts, part, now);
		batch_rx(dev, now, &b);
		pkts += part;
		n -= part;
	}
	tails_send(&b, now);
	cq_settle(dev, now);
}

/* ---- turns and time ---- */

/*
 * The responder goes first. Where congestion leaves a QP one packet at a time, who goes first takes
 * it: then the two take turns, or READs of the peer would keep the program's requests back for
 * ever.
 */
static bool halves_turn(struct rnic_qp *qp, uint64_t now)
{
	const uint64_t *sent = &qp->dev->counters.sent_bytes;
	bool sends_first = qp->sends_first, more = false;

	for (int half = 0; half < 2; half++) {
		bool sends = (half == 0) == sends_first;
		uint64_t begin = *sent;

		more |= sends ? requester_turn(qp, now) : responder_turn(qp, now);
		if (*sent != begin)
			qp->sends_first = !sends && cc_limited(qp);
	}
	return more;
}

static bool turn_step(struct rnic_qp *qp, uint64_t now)
{
	switch (qp->attr.state) {
	case RNIC_QPS_ERR:
		return flush_turn(qp, now);
	case RNIC_QPS_SQE:
		return flush_sends(qp);
	case RNIC_QPS_RTS:
	case RNIC_QPS_SQD:
		return halves_turn(qp, now);
	case RNIC_QPS_RESET:
	case RNIC_QPS_INIT:
	case RNIC_QPS_RTR:
	case RNIC_QPS_COUNT:
		break;
	}
	return responder_turn(qp, now);
}

/* Several runs, which the host sends together: small messages cost most by their system calls. */
static bool turn(struct rnic_qp *qp, uint64_t now)
{
	const uint64_t *sent = &qp->dev->counters.sent_bytes;
	uint64_t begin = *sent, end = begin + TURN_BYTES;
	bool more = true;

	for (int i = 0; more && i < TURN_STEPS && *sent < end; i++) {
		more = turn_step(qp, now);
		if (*sent != begin)
			hold_replied(qp, now);
	}
	return more;
}

bool rnic_run(struct rnic_device *dev, uint64_t now)
{
	const uint64_t *sent = &dev->counters.sent_bytes;
	uint64_t most = *sent + RUN_BYTES;
	struct qp_list end;

	/* Those that come behind the mark have their turn next time. */
	qp_list_init(&end);
	qp_list_add_tail(&dev->active, &end);
	for (int i = 0; dev->active.next != &end && i < RUN_QPS && *sent < most; i++) {
		struct rnic_qp *qp = qp_of_active(dev->active.next);

		qp_deactivate(qp);
		if (turn(qp, now))
			qp_activate(qp);
	}
	qp_list_del(&end);
	cq_settle(dev, now);
	return dev->active.next != &dev->active;
}

void rnic_timer_fired(struct rnic_device *dev, uint64_t now)
{
	struct rnic_timer *t;

	for (int i = 0; i < RUN_TIMERS && (t = timer_take_due(dev, now)); i++)
		t->fired(dev, t, now);
	timer_tell(dev);
	cq_settle(dev, now);
}

static bool memory_arrived(struct rnic_qp *qp, const struct rnic_mem *mem)
{
	bool arrived = false;

	if (qp->req->pause == PAUSE_MEMORY && qp->req->wait_mem == mem) {
		retry_memory_arrived(qp);
		arrived = true;
	}
	if (qp->resp->wait_mem == mem) {
		qp->resp->wait_mem = NULL;
		arrived = true;
	}
	return arrived;
}

void rnic_mem_resume(struct rnic_device *dev, struct rnic_mem *mem, uint64_t now)
{
	struct qp_list *l = dev->waiting.next;

	while (l != &dev->waiting) {
		struct rnic_qp *qp = qp_of_waiting(l);

		l = l->next;
		if (memory_arrived(qp, mem)) {
			qp_activate(qp);
			if (!waits(qp))
				qp_list_del(&qp->waiting);
		}
	}
	cq_settle(dev, now);
}
