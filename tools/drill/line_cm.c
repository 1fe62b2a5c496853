/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * "< cm TYPE" and "> cm TYPE": messages between QP 1 and QP 1. What a line does not name is as a
 * peer would say it: its own IDs, the device's as it has told them, the transaction's number.
 */
#include "config.h"

#include "line_cm.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "data.h"
#include "names.h"

#define QPN_GSI 1
#define QKEY_GSI 0x80010000u
#define PEER_GUID 0xd1110000000000d1ull
#define PEER_QPN 0x1000
#define TID_HIGH 0xd1ull
#define LID_PERMISSIVE 0xffff
#define REASON_TIMEOUT 4

#define FIELD(name, member)                                                                        \
	{                                                                                          \
		(name), offsetof(struct cm_msg, member), sizeof(((struct cm_msg *)0)->member)      \
	}

static const struct cm_field {
	const char *name;
	size_t offset, size;
} fields[] = {
	FIELD("tid", tid),
	FIELD("options", attr_mod),
	FIELD("local_id", local_id),
	FIELD("remote_id", remote_id),
	FIELD("service_id", service_id),
	FIELD("guid", ca_guid),
	FIELD("qkey", qkey),
	FIELD("qpn", qpn),
	FIELD("psn", starting_psn),
	FIELD("resources", responder_resources),
	FIELD("depth", initiator_depth),
	FIELD("pkey", pkey),
	FIELD("remote_timeout", remote_timeout),
	FIELD("local_timeout", local_timeout),
	FIELD("transport", transport),
	FIELD("flow_control", flow_control),
	FIELD("retry_count", retry_count),
	FIELD("rnr_retry_count", rnr_retry_count),
	FIELD("path_mtu", path_mtu),
	FIELD("max_cm_retries", max_cm_retries),
	FIELD("srq", srq),
	FIELD("ack_timeout", primary.ack_timeout),
	FIELD("tclass", primary.traffic_class),
	FIELD("hops", primary.hop_limit),
	FIELD("flow", primary.flow_label),
	FIELD("which", which),
	FIELD("service_timeout", service_timeout),
	FIELD("reason", reason),
	FIELD("ack_delay", target_ack_delay),
	FIELD("failover", failover_accepted),
	FIELD("status", status),
	FIELD("ari_len", ari_length),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* ---- what a message says, in words ---- */

size_t line_cm_tell(const struct bth_packet *pkt, char *buf, size_t size)
{
	struct cm_msg m;
	struct mad mad;
	int n;

	if (pkt->dqpn != QPN_GSI || !mad_decode(pkt->payload, pkt->payload_len, &mad) ||
	    !cm_decode(&mad, &m))
		return 0;
	n = snprintf(buf, size, " (cm %s local_id=%#x remote_id=%#x tid=%#" PRIx64 " qpn=%#x",
		     cm_type_name(m.type), m.local_id, m.remote_id, m.tid, m.qpn);
	if ((size_t)n < size && m.type == CM_REJ)
		n += snprintf(buf + n, size - (size_t)n, " which=%u reason=%u", m.which, m.reason);
	if ((size_t)n < size && (m.type == CM_SIDR_REP || m.type == CM_APR))
		n += snprintf(buf + n, size - (size_t)n, " status=%u", m.status);
	if ((size_t)n < size)
		n += snprintf(buf + n, size - (size_t)n, ")");
	return (size_t)n < size ? (size_t)n : size;
}

/* ---- the exchange that a line is of ---- */

static struct talk *talk_of(struct run *r, struct args *a)
{
	const char *name = args_str(a, "conn", "");
	struct talk *t = r->talk;

	for (; t < r->talk + r->n_talks; t++)
		if (!strcmp(t->name, name))
			return t;
	if (r->n_talks == RUN_TALKS || strlen(name) >= RUN_NAME) {
		run_fail(r, "more than %d exchanges, or a name too long", RUN_TALKS);
		return NULL;
	}
	r->n_talks++;
	r->cm_used = true;
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->own_id = 0xd1000000u + ++r->side->cm_next;
	t->own_qpn = (PEER_QPN + r->side->cm_next) & 0xffffff;
	return t;
}

static struct cm_msg *last(struct cm_msg *of, enum cm_type type)
{
	return &of[type - CM_TYPE_FIRST];
}

/* The message that a type answers, or is. */
static enum cm_type request_of(enum cm_type type)
{
	switch (type) {
	case CM_DREQ:
	case CM_DREP:
		return CM_DREQ;
	case CM_SIDR_REQ:
	case CM_SIDR_REP:
		return CM_SIDR_REQ;
	case CM_LAP:
	case CM_APR:
		return CM_LAP;
	case CM_REQ:
	case CM_MRA:
	case CM_REJ:
	case CM_REP:
	case CM_RTU:
		return CM_REQ;
	}
	return CM_REQ;
}

/* Of an answer: the asker's; the other's, if only that one has asked. */
static uint64_t tid_of(struct talk *t, enum cm_type type, bool in)
{
	enum cm_type request = request_of(type);
	const struct cm_msg *first = last(in ? t->seen : t->sent, request);
	const struct cm_msg *second = last(in ? t->sent : t->seen, request);

	return first->type ? first->tid : second->tid;
}

static bool type_read(const char *word, enum cm_type *type)
{
	for (unsigned int i = CM_TYPE_FIRST; word && i <= CM_TYPE_LAST; i++) {
		if (strcmp(cm_type_name(i), word) != 0)
			continue;
		*type = (enum cm_type)i;
		return true;
	}
	return false;
}

/* ---- a line's fields ---- */

static bool has_header(enum cm_type type)
{
	return type == CM_REQ || type == CM_SIDR_REQ;
}

static uint64_t field_get(const struct cm_msg *m, const struct cm_field *f)
{
	const uint8_t *at = (const uint8_t *)m + f->offset;
	uint64_t v = 0;

	memcpy(&v, at, f->size);
	return v;
}

/* Returns which are named, bit by bit. */
static uint64_t fields_read(struct args *a, struct cm_msg *m)
{
	uint64_t given = 0, v;

	for (size_t i = 0; i < FIELDS; i++) {
		const struct cm_field *f = &fields[i];
		const char *text = args_str(a, f->name, NULL);

		if (!text)
			continue;
		if (name_known(f->name) ? !name_value(f->name, text, &v) : !num_parse(text, &v))
			args_wrong(a, "%s=%s is no number", f->name, text);
		else if (f->size < sizeof(v) && v >> 8 * f->size)
			args_wrong(a, "%s=%s does not fit", f->name, text);
		else
			memcpy((uint8_t *)m + f->offset, &v, f->size);
		given |= 1ull << i;
	}
	if (args_has(a, "vendor"))
		cm_vendor_set(m, (uint32_t)args_num(a, "vendor", 0));
	return given;
}

static bool service_named(struct args *a)
{
	return args_has(a, "port") || args_has(a, "space");
}

static uint64_t service_read(struct args *a, enum cm_type type)
{
	const char *space = args_str(a, "space", type == CM_SIDR_REQ ? "udp" : "tcp");
	uint64_t ps;

	if (!name_value("space", space, &ps))
		args_wrong(a, "there is no port space %s", space);
	return ps << 16 | (args_num(a, "port", CM_PORT) & 0xffff);
}

static void gid_of(const char *text, uint8_t gid[16])
{
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	if (inet_pton(AF_INET, text, gid + 12) != 1)
		inet_pton(AF_INET6, text, gid);
}

void cm_header_put(uint8_t *h, const char *from, const char *to, uint16_t port)
{
	bool v6 = strchr(from, ':') != NULL;

	memset(h, 0, CM_HEADER_LEN);
	h[1] = v6 ? 0x60 : 0x40;
	h[2] = (uint8_t)(port >> 8);
	h[3] = (uint8_t)port;
	inet_pton(v6 ? AF_INET6 : AF_INET, from, h + (v6 ? 4 : 16));
	inet_pton(v6 ? AF_INET6 : AF_INET, to, h + (v6 ? 20 : 32));
}

/* Bytes of private= in buf, or -1: none are named. */
static long private_read(struct args *a, uint8_t *buf, uint32_t room)
{
	const char *data = args_str(a, "private", NULL);
	long n;

	if (!data)
		return -1;
	n = data_fill(data, buf, 0, room);
	if (n < 0)
		args_wrong(a, "private=%s is not understood, or too long", data);
	return n < 0 ? 0 : n;
}

static void path_default(const struct run *r, struct cm_path *p)
{
	*p = (struct cm_path){.local_lid = LID_PERMISSIVE,
			      .remote_lid = LID_PERMISSIVE,
			      .hop_limit = 64,
			      .ack_timeout = 19};
	gid_of(r->side->peer, p->local_gid);
	gid_of(r->side->gid, p->remote_gid);
}

static void request_default(struct run *r, struct talk *t, struct cm_msg *m)
{
	m->tid = TID_HIGH << 32 | ++r->side->cm_next;
	switch (m->type) {
	case CM_REQ:
		m->ca_guid = PEER_GUID;
		m->qpn = t->own_qpn;
		m->starting_psn = 1000;
		m->responder_resources = m->initiator_depth = 4;
		m->remote_timeout = m->local_timeout = 20;
		m->retry_count = m->rnr_retry_count = 7;
		m->path_mtu = 3;
		m->max_cm_retries = 15;
		path_default(r, &m->primary);
		break;
	case CM_DREQ:
		m->qpn = t->qpn;
		break;
	case CM_LAP:
		m->qpn = t->qpn;
		m->remote_timeout = 20;
		path_default(r, &m->alternate);
		break;
	case CM_SIDR_REQ:
	case CM_MRA:
	case CM_REJ:
	case CM_REP:
	case CM_RTU:
	case CM_DREP:
	case CM_SIDR_REP:
	case CM_APR:
		break;
	}
}

static void answer_default(struct talk *t, struct cm_msg *m)
{
	m->tid = tid_of(t, m->type, true);
	m->which = last(t->seen, CM_REP)->type ? 1 : 0;
	switch (m->type) {
	case CM_REP:
		m->ca_guid = PEER_GUID;
		m->qpn = t->own_qpn;
		m->starting_psn = 1000;
		m->responder_resources = m->initiator_depth = 4;
		m->target_ack_delay = 15;
		m->rnr_retry_count = 7;
		break;
	case CM_MRA:
		m->service_timeout = 20;
		break;
	case CM_REJ:
		m->reason = 28;
		break;
	case CM_SIDR_REP:
		m->local_id = t->id;
		m->qpn = t->own_qpn;
		m->qkey = 0x11111111;
		m->service_id = last(t->seen, CM_SIDR_REQ)->service_id;
		break;
	case CM_REQ:
	case CM_RTU:
	case CM_DREQ:
	case CM_DREP:
	case CM_SIDR_REQ:
	case CM_LAP:
	case CM_APR:
		break;
	}
}

static void defaults(struct run *r, struct talk *t, struct args *a, struct cm_msg *m)
{
	if (has_header(m->type))
		t->id = 0; /* the device will have another end for it */
	m->local_id = t->own_id;
	m->remote_id = t->id;
	m->pkey = 0xffff;
	if (request_of(m->type) == m->type)
		request_default(r, t, m);
	else
		answer_default(t, m);
	if (!has_header(m->type))
		return;
	m->service_id = service_read(a, m->type);
	cm_header_put(m->private_data, r->side->peer, r->side->gid,
		      (uint16_t)(0x8000 + (t->own_id & 0x3fff)));
}

/* ---- to the device ---- */

/* A REJ for timeout is found by the adapter's name, where it has no ID of the device's. */
static void adapter_name(struct cm_msg *m)
{
	m->ari_length = 8;
	for (int i = 0; i < 8; i++)
		m->ari[i] = (uint8_t)(PEER_GUID >> (56 - 8 * i));
}

static int msg_read(struct run *r, struct args *a, struct cm_msg *m, struct talk **talk)
{
	uint32_t at, room;
	enum cm_type type;
	const char *header;

	if (!type_read(args_word(a), &type))
		return run_fail(r, "there is no such message");
	*talk = talk_of(r, a);
	if (!*talk)
		return -1;
	*m = (struct cm_msg){.type = type};
	if (args_flag(a, "again"))
		*m = *last((*talk)->sent, type);
	else
		defaults(r, *talk, a, m);
	if (!m->type)
		return run_fail(r, "no %s has been sent", cm_type_name(type));
	fields_read(a, m);
	if (type == CM_REJ && m->reason == REASON_TIMEOUT)
		adapter_name(m);
	at = has_header(type) ? CM_HEADER_LEN : 0;
	room = cm_private_len(type) - at;
	private_read(a, m->private_data + at, room);
	header = args_str(a, "header", "good");
	if (has_header(type) && strcmp(header, "good") != 0)
		m->private_data[0] = 0xff; /* another version of it */
	return 0;
}

void line_cm_packet(const struct cm_msg *m, uint32_t psn, struct side_packet *out)
{
	const struct bth_packet pkt = {
		.opcode = BTH_OPCODE(BTH_UD, BTH_SEND_ONLY),
		.migreq = true,
		.pkey = 0xffff,
		.dqpn = QPN_GSI,
		.psn = psn & 0xffffff,
		.qkey = QKEY_GSI,
		.sqpn = QPN_GSI,
		.payload_len = MAD_LEN,
	};

	memset(out, 0, offsetof(struct side_packet, data));
	out->len = (uint32_t)bth_encode_headers(&pkt, out->data);
	cm_encode(m, out->data + out->len);
	out->len += MAD_LEN;
}

/* < cm TYPE [again] [conn=NAME] fields... [private=DATA] [from=other] [icrc=bad] */
int line_cm_inject(struct run *r, struct args *a, bool more)
{
	static struct side_packet out;
	struct cm_msg m;
	struct talk *t = NULL;

	if (msg_read(r, a, &m, &t) < 0)
		return -1;
	line_cm_packet(&m, ++r->side->cm_next, &out);
	out.from_other = strcmp(args_str(a, "from", "peer"), "other") == 0;
	out.bad_icrc = strcmp(args_str(a, "icrc", "good"), "bad") == 0;
	if (!args_done(a))
		return run_fail(r, "%s", a->error);
	*last(t->sent, m.type) = m;
	r->side->inject(r->side, &out, more);
	r->injected = true;
	return 0;
}

/* ---- from the device ---- */

static int differs(struct run *r, const struct side_packet *p, const char *name, uint64_t want,
		   uint64_t got)
{
	char told[500];

	packet_tell(r, p, told, sizeof(told));
	return run_fail(
		r, "message\n  expected: %s\n  got:      %s\n  %s is %#" PRIx64 ", not %#" PRIx64,
		r->source, told, name, got, want);
}

static bool is_given(uint64_t given, const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return given >> i & 1;
	return false;
}

/* What a line need not say. */
static int usual_match(struct run *r, struct talk *t, const struct side_packet *p,
		       const struct cm_msg *got, uint64_t given)
{
	bool request = request_of(got->type) == got->type;
	uint64_t tid = tid_of(t, got->type, false);
	uint32_t theirs = got->type == CM_SIDR_REP ? got->local_id : got->remote_id;

	if (!request && !is_given(given, "tid") && got->tid != tid)
		return differs(r, p, "tid", tid, got->tid);
	if (!has_header(got->type) && !is_given(given, "remote_id") && theirs != t->own_id)
		return differs(r, p, "the peer's ID", t->own_id, theirs);
	if (got->type != CM_SIDR_REP && !is_given(given, "local_id") && t->id &&
	    t->id != got->local_id)
		return differs(r, p, "local_id", t->id, got->local_id);
	return 0;
}

static int private_match(struct run *r, struct args *a, const struct side_packet *p,
			 const struct cm_msg *got)
{
	uint32_t at = has_header(got->type) ? CM_HEADER_LEN : 0;
	uint8_t want[CM_PRIVATE_MAX] = {0};
	uint32_t room = cm_private_len(got->type) - at;

	if (private_read(a, want, room) < 0)
		return 0;
	for (uint32_t i = 0; i < room; i++)
		if (want[i] != got->private_data[at + i])
			return differs(r, p, "a byte of private data", want[i],
				       got->private_data[at + i]);
	return 0;
}

static int fields_match(struct run *r, struct args *a, const struct side_packet *p,
			const struct cm_msg *got, uint64_t *given)
{
	bool vendor = args_has(a, "vendor");
	struct cm_msg want = {0};

	*given = fields_read(a, &want);
	if (service_named(a) && service_read(a, got->type) != got->service_id)
		return differs(r, p, "service_id", service_read(a, got->type), got->service_id);
	for (size_t i = 0; i < FIELDS; i++)
		if (*given >> i & 1 && field_get(&want, &fields[i]) != field_get(got, &fields[i]))
			return differs(r, p, fields[i].name, field_get(&want, &fields[i]),
				       field_get(got, &fields[i]));
	if (vendor && cm_vendor_get(&want) != cm_vendor_get(got))
		return differs(r, p, "vendor", cm_vendor_get(&want), cm_vendor_get(got));
	return private_match(r, a, p, got);
}

static void learn(struct talk *t, const struct cm_msg *got)
{
	if (got->local_id && got->type != CM_SIDR_REP)
		t->id = got->local_id;
	if (got->type == CM_REQ || got->type == CM_REP)
		t->qpn = got->qpn;
	*last(t->seen, got->type) = *got;
}

static bool decode(const struct side_packet *p, enum cm_type type, struct cm_msg *got)
{
	struct bth_packet pkt;
	struct mad mad;

	return !p->bad_icrc && bth_decode(p->data, p->len, &pkt) == BTH_OK &&
	       pkt.opcode == BTH_OPCODE(BTH_UD, BTH_SEND_ONLY) && pkt.dqpn == QPN_GSI &&
	       pkt.sqpn == QPN_GSI && pkt.qkey == QKEY_GSI && pkt.pkey == 0xffff &&
	       pkt.payload_len == MAD_LEN && mad_decode(pkt.payload, pkt.payload_len, &mad) &&
	       cm_decode(&mad, got) && got->type == type;
}

/* > cm TYPE [again] [conn=NAME] fields... [private=DATA] [to=other] [within=] [after=] */
int line_cm_expect(struct run *r, struct args *a)
{
	static struct side_packet p;
	uint64_t within = args_time(a, "within", 0), after = args_time(a, "after", 0), given;
	bool other = !strcmp(args_str(a, "to", "peer"), "other"), again = args_flag(a, "again");
	struct cm_msg got;
	enum cm_type type;
	char told[500];
	struct talk *t;

	if (!type_read(args_word(a), &type))
		return run_fail(r, "there is no such message");
	t = talk_of(r, a);
	if (!t || packet_await(r, within, after, &p) < 0)
		return -1;
	if (!decode(&p, type, &got) || other != p.to_other) {
		packet_tell(r, &p, told, sizeof(told));
		return run_fail(r, "message\n  expected: %s\n  got:      %s", r->source, told);
	}
	if (fields_match(r, a, &p, &got, &given) < 0 || usual_match(r, t, &p, &got, given) < 0)
		return -1;
	if (again && memcmp(&got, last(t->seen, type), sizeof(got)) != 0)
		return differs(r, &p, "again", 1, 0);
	learn(t, &got);
	return 0;
}
