/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads packet lines: an operation's name and fields, the rest by what is usual. */
#include "config.h"

#include "packet.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/psn.h"
#include "data.h"
#include "names.h"

#define DEFAULT_LEN 64

#define FIELD(name, member, most)                                                                  \
	{                                                                                          \
		(name), offsetof(struct bth_packet, member),                                       \
			sizeof(((struct bth_packet *)0)->member), (most)                           \
	}

const struct packet_field packet_fields[] = {
	FIELD("se", se, 1),
	FIELD("migreq", migreq, 1),
	FIELD("pad", pad, 3),
	FIELD("tver", tver, 15),
	FIELD("pkey", pkey, UINT16_MAX),
	FIELD("fecn", fecn, 1),
	FIELD("becn", becn, 1),
	FIELD("dqpn", dqpn, BTH_PSN_MASK),
	FIELD("ackreq", ackreq, 1),
	FIELD("qkey", qkey, UINT32_MAX),
	FIELD("sqpn", sqpn, BTH_PSN_MASK),
	FIELD("va", va, UINT64_MAX),
	FIELD("rkey", rkey, UINT32_MAX),
	FIELD("dmalen", dmalen, UINT32_MAX),
	FIELD("swap", swap_add, UINT64_MAX),
	FIELD("add", swap_add, UINT64_MAX),
	FIELD("compare", compare, UINT64_MAX),
	FIELD("syndrome", syndrome, UINT8_MAX),
	FIELD("msn", msn, BTH_PSN_MASK),
	FIELD("orig", orig, UINT64_MAX),
	FIELD("imm", imm, UINT32_MAX),
	FIELD("inv", inv_rkey, UINT32_MAX),
	FIELD("flush_type", flush_type, UINT32_MAX),
};
const unsigned int packet_fields_n = sizeof(packet_fields) / sizeof(packet_fields[0]);

static const struct {
	const char *name;
	uint8_t op;
	int syndrome; /* -1: none */
} ops[] = {
	{"send_first", BTH_SEND_FIRST, -1},
	{"send_middle", BTH_SEND_MIDDLE, -1},
	{"send_last", BTH_SEND_LAST, -1},
	{"send_last_imm", BTH_SEND_LAST_IMM, -1},
	{"send_last_inv", BTH_SEND_LAST_INV, -1},
	{"send_only", BTH_SEND_ONLY, -1},
	{"send_only_imm", BTH_SEND_ONLY_IMM, -1},
	{"send_only_inv", BTH_SEND_ONLY_INV, -1},
	{"write_first", BTH_WRITE_FIRST, -1},
	{"write_middle", BTH_WRITE_MIDDLE, -1},
	{"write_last", BTH_WRITE_LAST, -1},
	{"write_last_imm", BTH_WRITE_LAST_IMM, -1},
	{"write_only", BTH_WRITE_ONLY, -1},
	{"write_only_imm", BTH_WRITE_ONLY_IMM, -1},
	{"read_request", BTH_READ_REQUEST, -1},
	{"read_response_first", BTH_READ_RESPONSE_FIRST, 0x1f},
	{"read_response_middle", BTH_READ_RESPONSE_MIDDLE, -1},
	{"read_response_last", BTH_READ_RESPONSE_LAST, 0x1f},
	{"read_response_only", BTH_READ_RESPONSE_ONLY, 0x1f},
	{"cmp_swap", BTH_CMP_SWAP, -1},
	{"fetch_add", BTH_FETCH_ADD, -1},
	{"atomic_ack", BTH_ATOMIC_ACKNOWLEDGE, 0x1f},
	{"flush", BTH_FLUSH, -1},
	{"atomic_write", BTH_ATOMIC_WRITE, -1},
	{"ack", BTH_ACKNOWLEDGE, 0x1f},
	{"rnr", BTH_ACKNOWLEDGE, 0x20},
	{"nak_seq", BTH_ACKNOWLEDGE, 0x60},
	{"nak_inv", BTH_ACKNOWLEDGE, 0x61},
	{"nak_access", BTH_ACKNOWLEDGE, 0x62},
	{"nak_op", BTH_ACKNOWLEDGE, 0x63},
	{"cnp", BTH_OPCODE_CNP & 0x1f, -1},
};

static const struct {
	const char *prefix;
	uint8_t transport;
} transports[] = {{"rc.", BTH_RC}, {"uc.", BTH_UC}, {"ud.", BTH_UD}, {"xrc.", BTH_XRC}};

uint64_t packet_field_get(const struct bth_packet *pkt, unsigned int i)
{
	uint64_t v = 0;

	memcpy(&v, (const uint8_t *)pkt + packet_fields[i].offset, packet_fields[i].size);
	return v;
}

static void field_put(struct bth_packet *pkt, unsigned int i, uint64_t v)
{
	memcpy((uint8_t *)pkt + packet_fields[i].offset, &v, packet_fields[i].size);
}

static bool named(const struct packet_spec *s, const char *name)
{
	for (unsigned int i = 0; i < packet_fields_n; i++)
		if (!strcmp(packet_fields[i].name, name))
			return s->given & 1u << i;
	return false;
}

static int op_read(struct run *r, const char *name, struct packet_spec *s)
{
	enum bth_transport t = s->conn->type == 3 ? BTH_UC : s->conn->type == 2 ? BTH_RC : BTH_UD;

	for (size_t i = 0; name && i < sizeof(transports) / sizeof(transports[0]); i++) {
		size_t n = strlen(transports[i].prefix);

		if (strncmp(name, transports[i].prefix, n) != 0)
			continue;
		t = transports[i].transport;
		name += n;
		break;
	}
	for (size_t i = 0; name && i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, name) != 0)
			continue;
		s->pkt.opcode = strcmp(name, "cnp") ? BTH_OPCODE(t, ops[i].op) : BTH_OPCODE_CNP;
		s->any_syndrome_value = !strcmp(name, "rnr") || ops[i].syndrome == 0x1f;
		if (ops[i].syndrome >= 0)
			s->pkt.syndrome = (uint8_t)ops[i].syndrome;
		return 0;
	}
	return run_fail(r, "there is no packet \"%s\"", name ? name : "");
}

static void fields_read(struct args *a, struct packet_spec *s)
{
	for (unsigned int i = 0; i < packet_fields_n; i++) {
		const char *name = packet_fields[i].name, *text = args_str(a, name, NULL);
		uint64_t v = 0;

		if (!text)
			continue;
		if (name_known(name) ? !name_value(name, text, &v) : !num_parse(text, &v))
			args_wrong(a, "%s=%s is no number", name, text);
		else if (v > packet_fields[i].most)
			args_wrong(a, "%s=%s does not fit", name, text);
		field_put(&s->pkt, i, v > packet_fields[i].most ? 0 : v);
		s->given |= 1u << i;
		if (!strcmp(name, "syndrome"))
			s->any_syndrome_value = false;
	}
	if (args_has(a, "timer")) {
		s->pkt.syndrome = aeth_syndrome(AETH_RNR_NAK, (uint8_t)args_num(a, "timer", 0));
		s->any_syndrome_value = false;
	}
	if (args_has(a, "credits")) {
		s->pkt.syndrome = aeth_syndrome(AETH_ACK, (uint8_t)args_num(a, "credits", 0));
		s->any_syndrome_value = false;
	}
}

static uint32_t psn_base(const struct conn *c, bool in, uint32_t flags)
{
	bool request = flags & BTH_F_REQUEST;

	return request == in ? c->rq_psn : c->sq_psn;
}

int32_t packet_psn_relative(const struct conn *c, bool in, const struct bth_packet *pkt)
{
	return psn_diff(pkt->psn, psn_base(c, in, bth_opcode_info(pkt->opcode)->flags));
}

static uint32_t default_len(const struct packet_spec *s, uint32_t flags)
{
	if (!(flags & BTH_F_PAYLOAD))
		return 0;
	if (bth_opcode_op(s->pkt.opcode) == BTH_ATOMIC_WRITE)
		return 8;
	return (flags & BTH_F_LAST) ? DEFAULT_LEN : s->conn->mtu;
}

static void psn_read(struct args *a, bool in, struct packet_spec *s, uint32_t flags)
{
	struct conn *c = s->conn;
	uint64_t psn = c->next_psn;
	bool goes_on = flags & (BTH_F_MIDDLE | BTH_F_LAST) && !(flags & BTH_F_FIRST);

	if (flags & BTH_F_RESPONSE)
		psn = (flags & BTH_F_READ) && goes_on ? c->last_rsp + 1 : c->last_req;
	s->has_psn = args_has(a, "psn");
	psn = args_num(a, "psn", psn);
	s->pkt.psn = psn_add(psn_base(c, in, flags), (uint32_t)psn & BTH_PSN_MASK);
}

static void usual(struct run *r, struct packet_spec *s, uint32_t flags)
{
	struct bth_packet *p = &s->pkt;
	uint64_t v;

	if (!named(s, "migreq"))
		p->migreq = true;
	if (!named(s, "pkey"))
		p->pkey = 0xffff;
	if (!named(s, "qkey"))
		p->qkey = s->conn->qkey;
	if (!named(s, "sqpn"))
		p->sqpn = s->conn->peer_qpn;
	if (!named(s, "va") && symbol_get(r, "va", &v))
		p->va = v;
	if (!named(s, "rkey") && symbol_get(r, "rkey", &v))
		p->rkey = (uint32_t)v;
	if (!named(s, "dmalen"))
		p->dmalen = p->payload_len;
	if (!named(s, "ackreq"))
		p->ackreq = (flags & BTH_F_REQUEST) && (flags & BTH_F_LAST) &&
			    bth_opcode_transport(p->opcode) == BTH_RC;
	if (!named(s, "pad"))
		p->pad = bth_pad(p->payload_len);
}

static int lengths_read(struct run *r, struct args *a, bool in, struct packet_spec *s,
			uint32_t flags)
{
	uint64_t len = args_num(a, "len", default_len(s, flags));
	uint8_t scratch[SIDE_PACKET_MAX];
	long n;

	s->has_len = args_has(a, "len");
	s->data = args_str(a, "data", NULL);
	if (!(flags & BTH_F_PAYLOAD) && s->has_len && (flags & BTH_F_RETH)) {
		/* A READ request's length. */
		s->pkt.dmalen = (uint32_t)len;
		for (unsigned int i = 0; i < packet_fields_n; i++)
			if (!strcmp(packet_fields[i].name, "dmalen"))
				s->given |= 1u << i;
		s->has_len = false;
		len = 0;
	}
	if (s->data && !s->has_len) {
		n = data_fill(s->data, scratch, 0, sizeof(scratch));
		if (n > 0) {
			len = (uint64_t)n;
			s->has_len = true;
		}
	}
	if (len > SIDE_PACKET_MAX - BTH_HEADERS_MAX - 4)
		return run_fail(r, "len=%" PRIu64 " is too long for a packet", len);
	if (in || s->has_len)
		s->pkt.payload_len = (uint32_t)len;
	return 0;
}

int packet_spec_read(struct run *r, struct args *a, bool in, struct packet_spec *s)
{
	const char *name = args_word(a), *qp = args_str(a, "qp", NULL), *from;
	uint32_t flags;

	memset(s, 0, sizeof(*s));
	s->conn = conn_find(r, qp);
	if (!s->conn || op_read(r, name, s) < 0)
		return -1;
	flags = bth_opcode_info(s->pkt.opcode)->flags;
	s->pkt.dqpn = in ? s->conn->qpn : s->conn->peer_qpn;
	fields_read(a, s);
	if (lengths_read(r, a, in, s, flags) < 0)
		return -1;
	psn_read(a, in, s, flags);
	if (in)
		usual(r, s, flags);
	s->has_op_byte = args_has(a, "opcode");
	s->op_byte = (uint8_t)args_num(a, "opcode", 0);
	s->has_tclass = args_has(a, "tclass");
	s->tclass = args_num(a, "tclass", 0);
	s->has_hops = args_has(a, "hops");
	s->hops = args_num(a, "hops", 0);
	s->cut = args_num(a, "cut", 0);
	s->group = args_str(a, "group", NULL);
	from = args_str(a, in ? "from" : "to", "peer");
	s->other = !strcmp(from, "other");
	s->bad_icrc = strcmp(args_str(a, "icrc", "good"), "bad") == 0;
	return 0;
}
