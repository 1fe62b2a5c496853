/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tells the CM messages of former scripts from this one's: see live_cm.h. */
#include "config.h"

#include "live_cm.h"

#include "bth/cm.h"
#include "bth/packet.h"
#include "line_cm.h"

#define QPN_GSI 1
#define BARRIER 0xd1ba5500u

static bool decode(const struct side_packet *p, struct cm_msg *m)
{
	struct bth_packet pkt;
	struct mad mad;

	return bth_decode(p->data, p->len, &pkt) == BTH_OK && pkt.dqpn == QPN_GSI &&
	       mad_decode(pkt.payload, pkt.payload_len, &mad) && cm_decode(&mad, m);
}

bool live_cm_is(const struct side_packet *pkt)
{
	struct cm_msg m;

	return decode(pkt, &m);
}

static bool is_old(const struct live_cm *l, uint64_t tid)
{
	uint32_t first = l->n > LIVE_CM_TIDS ? l->n - LIVE_CM_TIDS : 0;

	for (uint32_t i = first; i < l->old; i++)
		if (l->tid[i % LIVE_CM_TIDS] == tid)
			return true;
	return false;
}

enum live_cm_verdict live_cm_judge(struct live_cm *l, const struct side_packet *pkt,
				   struct side_packet *answer)
{
	struct cm_msg m;

	if (!decode(pkt, &m))
		return LIVE_CM_NEW;
	if (m.type == CM_DREP && m.tid >> 32 == BARRIER) {
		if (m.tid == l->awaited)
			l->awaited = 0;
		return LIVE_CM_OLD;
	}
	if (!l->between && !is_old(l, m.tid)) {
		l->tid[l->n++ % LIVE_CM_TIDS] = m.tid;
		return LIVE_CM_NEW;
	}
	if (l->between)
		l->tid[l->n++ % LIVE_CM_TIDS] = m.tid;
	if (m.type == CM_DREQ) {
		struct cm_msg drep = {.type = CM_DREP,
				      .tid = m.tid,
				      .local_id = m.remote_id,
				      .remote_id = m.local_id};

		line_cm_packet(&drep, 0, answer);
		return LIVE_CM_ANSWER;
	}
	return LIVE_CM_OLD;
}

void live_cm_barrier(struct live_cm *l, struct side_packet *out)
{
	struct cm_msg dreq = {
		.type = CM_DREQ, .local_id = BARRIER, .remote_id = BARRIER, .qpn = QPN_GSI};

	l->barrier = (l->barrier + 1) & UINT32_MAX;
	l->awaited = dreq.tid = (uint64_t)BARRIER << 32 | l->barrier;
	line_cm_packet(&dreq, 0, out);
}

void live_cm_next_script(struct live_cm *l)
{
	l->old = l->n;
	l->between = false;
}
