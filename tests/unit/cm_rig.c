/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The peer and owner that cm_rig.h describes. */
#include "config.h"

#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "cm_rig.h"
#include "null_host.h"

#define QPN_GSI 1
#define QKEY_GSI 0x80010000u
#define STEPS_MAX 1000
#define HOUR 3600000000000ull

static void tx_send(void *host, const struct rnic_tx *tx)
{
	struct cm_rig *r = host;
	struct bth_packet pkt;
	struct mad mad;

	ck_assert_uint_lt(r->n_sent, CM_RIG_MAX);
	ck_assert_int_eq(bth_decode(tx->data, tx->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	ck_assert_uint_eq(pkt.opcode, BTH_OPCODE(BTH_UD, BTH_SEND_ONLY));
	ck_assert_uint_eq(pkt.dqpn, QPN_GSI);
	ck_assert_uint_eq(pkt.sqpn, QPN_GSI);
	ck_assert_uint_eq(pkt.qkey, QKEY_GSI);
	ck_assert_uint_eq(pkt.pkey, 0xffff);
	ck_assert_uint_eq(pkt.payload_len, MAD_LEN);
	ck_assert(mad_decode(pkt.payload, pkt.payload_len, &mad));
	ck_assert(cm_decode(&mad, &r->sent[r->n_sent]));
	r->sent_at[r->n_sent++] = r->now;
}

static void timer_set(void *host, uint64_t deadline)
{
	((struct cm_rig *)host)->timer = deadline;
}

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = tx_send,
	.timer_set = timer_set,
	.async_event = null_async_event,
	.random = null_random,
	.log = null_log,
};

static uint16_t request_came(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	struct cm_rig *r = host;

	r->request = *msg;
	r->n_requests++;
	if (r->refuse)
		return r->refuse;
	r->asked = cm;
	rnic_cm_user_set(cm, r);
	return 0;
}

static void event_came(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	struct cm_rig *r = host;
	struct cm_rig_told *t = &r->told[r->n_told++];

	ck_assert_uint_lt(r->n_told, CM_RIG_MAX);
	ck_assert_ptr_eq(user, r);
	*t = (struct cm_rig_told){.type = ev->type, .cm = cm};
	if (ev->msg)
		t->msg = *ev->msg;
}

static const struct rnic_cm_host cm_host = {.request = request_came, .event = event_came};

void cm_rig_begin_at(struct cm_rig *r, const uint8_t own[16], const uint8_t peer[16])
{
	struct rnic_device_config cfg = {
		.ops = &ops, .host = r, .active_mtu = RNIC_MTU_1024, .name = "rxe0"};

	memset(r, 0, sizeof(*r));
	r->now = 1;
	r->timer = UINT64_MAX;
	memcpy(r->own, own, 16);
	memcpy(r->peer, peer, 16);
	r->dev = rnic_device_create(&cfg);
	ck_assert_ptr_nonnull(r->dev);
	rnic_gid_set(r->dev, 3, own, 1);
	ck_assert_int_eq(rnic_cm_start(r->dev, &cm_host, r, CM_RIG_GUID), 0);
}

void cm_rig_begin(struct cm_rig *r)
{
	static const uint8_t own[16] = {[10] = 0xff, 0xff, 10, 77, 0, 3};
	static const uint8_t peer[16] = {[10] = 0xff, 0xff, 10, 77, 0, 2};

	cm_rig_begin_at(r, own, peer);
}

uint32_t cm_rig_ends(const struct cm_rig *r)
{
	uint32_t cursor = 0, n = 0;

	while (rnic_cm_next(r->dev, &cursor))
		n++;
	return n;
}

void cm_rig_end(struct cm_rig *r)
{
	cm_rig_until(r, r->now + HOUR);
	ck_assert_uint_eq(cm_rig_ends(r), 0);
	rnic_device_destroy(r->dev);
}

static void hear(struct cm_rig *r, const uint8_t gid[16], const void *mad, uint32_t len,
		 uint32_t qkey)
{
	const struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_UD, BTH_SEND_ONLY),
		.pkey = 0xffff,
		.dqpn = QPN_GSI,
		.qkey = qkey,
		.sqpn = QPN_GSI,
		.payload_len = (uint16_t)len,
		.pad = bth_pad(len),
	};
	uint8_t buf[BTH_HEADERS_MAX + MAD_LEN + 8] = {0};
	struct rnic_rx rx = {.data = buf, .hop_limit = 64, .sport = 0xc000};
	uint32_t headers = (uint32_t)bth_encode_headers(&pkt, buf);

	memcpy(buf + headers, mad, len);
	rx.len = headers + len + pkt.pad;
	memcpy(rx.sgid, gid, 16);
	memcpy(rx.dgid, r->own, 16);
	rnic_rx(r->dev, r->now, &rx, 1);
}

void cm_rig_hear_bytes(struct cm_rig *r, const void *mad, uint32_t len, uint32_t qkey)
{
	hear(r, r->peer, mad, len, qkey);
}

void cm_rig_hear_from(struct cm_rig *r, const uint8_t gid[16], const struct cm_msg *msg)
{
	uint8_t mad[MAD_LEN];

	cm_encode(msg, mad);
	hear(r, gid, mad, MAD_LEN, QKEY_GSI);
}

void cm_rig_hear(struct cm_rig *r, const struct cm_msg *msg)
{
	cm_rig_hear_from(r, r->peer, msg);
}

void cm_rig_until(struct cm_rig *r, uint64_t time)
{
	uint32_t steps = 0;

	while (r->timer <= time) {
		ck_assert_uint_lt(++steps, STEPS_MAX);
		if (r->now < r->timer)
			r->now = r->timer;
		r->timer = UINT64_MAX;
		rnic_timer_fired(r->dev, r->now);
	}
	r->now = time;
}

const struct cm_msg *cm_rig_said(struct cm_rig *r, enum cm_type type)
{
	const struct cm_msg *msg = &r->sent[r->n_said];

	ck_assert_msg(r->n_said < r->n_sent, "nothing was said where %s should be",
		      cm_type_name(type));
	ck_assert_str_eq(cm_type_name(msg->type), cm_type_name(type));
	r->n_said++;
	return msg;
}

void cm_rig_silent(const struct cm_rig *r)
{
	ck_assert_msg(r->n_said == r->n_sent, "%s was said", cm_type_name(r->sent[r->n_said].type));
}

const struct cm_rig_told *cm_rig_told(struct cm_rig *r, enum rnic_cm_event_type type)
{
	const struct cm_rig_told *t = &r->told[r->n_known];

	ck_assert_msg(r->n_known < r->n_told, "no event was told where %d should be", (int)type);
	ck_assert_int_eq(t->type, type);
	r->n_known++;
	return t;
}

void cm_rig_untold(const struct cm_rig *r)
{
	ck_assert_msg(r->n_known == r->n_told, "event %d was told", (int)r->told[r->n_known].type);
}

void cm_rig_forget(struct cm_rig *r)
{
	r->n_sent = r->n_said = r->n_told = r->n_known = 0;
}
