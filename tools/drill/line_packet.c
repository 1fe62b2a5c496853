/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The peer's half: packets to the device, packets that must come from it, silence. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/print.h"
#include "bth/psn.h"
#include "data.h"
#include "line_cm.h"
#include "names.h"
#include "packet.h"

static uint32_t request_psns(const struct packet_spec *s, uint32_t flags)
{
	if (!(flags & BTH_F_READ) || s->pkt.dmalen == 0)
		return 1;
	return (uint32_t)(((uint64_t)s->pkt.dmalen + s->conn->mtu - 1) / s->conn->mtu);
}

/* What the peer remembers of its own packets. */
static void conn_sent(const struct packet_spec *s, uint32_t flags)
{
	struct conn *c = s->conn;
	uint32_t psn = (uint32_t)packet_psn_relative(c, true, &s->pkt);

	if (flags & BTH_F_RESPONSE)
		c->last_rsp = psn;
	else
		c->next_psn = psn_add(psn, request_psns(s, flags));
}

static int payload_make(struct run *r, const struct packet_spec *s, uint32_t flags, uint8_t *at)
{
	struct conn *c = s->conn;
	char spec[32];
	long n;

	if (flags & BTH_F_FIRST)
		c->sent = 0;
	snprintf(spec, sizeof(spec), "peer:%u", c->sent);
	n = data_fill(s->data ? s->data : spec, at, s->pkt.payload_len, SIDE_PACKET_MAX - 100);
	if (n != (long)s->pkt.payload_len)
		return run_fail(r, "data=%s is not %u bytes", s->data ? s->data : spec,
				s->pkt.payload_len);
	c->sent += s->pkt.payload_len;
	memset(at + n, 0, s->pkt.pad);
	return 0;
}

enum { PAD_SHIFT = 4 }; /* in the second byte of a BTH */

/* The pad is as the script says, be it one that no payload of this length has. */
static size_t headers_make(const struct packet_spec *s, uint8_t *at)
{
	struct bth_packet pkt = s->pkt;
	size_t len;

	pkt.pad = bth_pad(pkt.payload_len);
	len = bth_encode_headers(&pkt, at);
	at[1] ^= (uint8_t)((pkt.pad ^ s->pkt.pad) << PAD_SHIFT);
	return len;
}

static int inject(struct run *r, struct args *a, bool more)
{
	static struct side_packet out;
	struct packet_spec s;
	uint32_t flags;
	size_t len;

	if (args_flag(a, "cm"))
		return line_cm_inject(r, a, more);
	if (packet_spec_read(r, a, true, &s) < 0)
		return -1;
	if (!args_done(a))
		return run_fail(r, "%s", a->error);
	flags = bth_opcode_info(s.pkt.opcode)->flags;
	if (!bth_opcode_info(s.pkt.opcode)->name)
		return run_fail(r, "this transport has no such packet (opcode=N sends any)");
	memset(&out, 0, offsetof(struct side_packet, data));
	len = headers_make(&s, out.data);
	if (payload_make(r, &s, flags, out.data + len) < 0)
		return -1;
	len += s.pkt.payload_len + s.pkt.pad;
	if (s.has_op_byte)
		out.data[0] = s.op_byte;
	out.len = (uint32_t)(len > s.cut ? len - s.cut : 0);
	out.tclass = (uint8_t)s.tclass;
	out.hops = (uint8_t)s.hops;
	out.tclass_known = s.has_tclass;
	out.hops_known = s.has_hops;
	out.bad_icrc = s.bad_icrc;
	out.from_other = s.other;
	snprintf(out.group, sizeof(out.group), "%s", s.group ? s.group : "");
	conn_sent(&s, flags);
	r->side->inject(r->side, &out, more);
	r->injected = true;
	return 0;
}

int packet_inject(struct run *r, struct args *a)
{
	return inject(r, a, false);
}

int packet_burst(struct run *r, struct args *a)
{
	return inject(r, a, true);
}

void packet_tell(const struct run *r, const struct side_packet *p, char *buf, size_t size)
{
	struct bth_packet pkt;
	size_t n;

	if (bth_decode(p->data, p->len, &pkt) != BTH_OK) {
		snprintf(buf, size, "%u bytes that make no packet", p->len);
		return;
	}
	n = (size_t)bth_print(buf, size, &pkt);
	if (n < size)
		n += line_cm_tell(&pkt, buf + n, size - n);
	for (unsigned int i = 0; i < r->n_conns && n < size; i++)
		if (r->conn[i].peer_qpn == pkt.dqpn)
			n += (size_t)snprintf(buf + n, size - n, " (%s, psn=%d)", r->conn[i].name,
					      packet_psn_relative(&r->conn[i], false, &pkt));
	if (p->bad_icrc && n < size)
		snprintf(buf + n, size - n, " (its ICRC is wrong)");
}

static int differs(struct run *r, const struct side_packet *p, const char *fmt, uint64_t want,
		   uint64_t got, const char *name)
{
	char told[400], detail[160];

	packet_tell(r, p, told, sizeof(told));
	snprintf(detail, sizeof(detail), "%s is %" PRIu64 ", not %" PRIu64, name, got, want);
	return run_fail(r, "%s\n  expected: %s\n  got:      %s\n  %s", fmt, r->source, told,
			detail);
}

/* Fields that are as usual unless the line says otherwise. */
static int usual_match(struct run *r, const struct packet_spec *s, const struct side_packet *p,
		       const struct bth_packet *pkt)
{
	static const struct {
		const char *name;
		uint64_t value;
	} usual[] = {{"migreq", 1}, {"pkey", 0xffff}, {"tver", 0}, {"fecn", 0}, {"becn", 0}};

	for (unsigned int i = 0; i < packet_fields_n; i++) {
		const char *name = packet_fields[i].name;
		uint64_t got = packet_field_get(pkt, i);

		if (s->given & 1u << i) {
			uint64_t want = packet_field_get(&s->pkt, i);

			if (want != got)
				return differs(r, p, "packet", want, got, name);
			continue;
		}
		for (size_t k = 0; k < sizeof(usual) / sizeof(usual[0]); k++)
			if (!strcmp(usual[k].name, name) && usual[k].value != got &&
			    !name_listed(r->side->free, name))
				return differs(r, p, "packet", usual[k].value, got, name);
	}
	if (s->pkt.dqpn != pkt->dqpn)
		return differs(r, p, "packet", s->pkt.dqpn, pkt->dqpn, "dqpn");
	if (!(bth_opcode_info(pkt->opcode)->flags & BTH_F_CNP) &&
	    pkt->pad != bth_pad(pkt->payload_len))
		return differs(r, p, "packet", bth_pad(pkt->payload_len), pkt->pad, "pad");
	return 0;
}

static int payload_match(struct run *r, const struct packet_spec *s, const struct side_packet *p,
			 const struct bth_packet *pkt)
{
	static uint8_t want[SIDE_PACKET_MAX];

	if (s->has_len && s->pkt.payload_len != pkt->payload_len)
		return differs(r, p, "packet", s->pkt.payload_len, pkt->payload_len, "len");
	if (!s->data)
		return 0;
	if (data_fill(s->data, want, pkt->payload_len, sizeof(want)) != (long)pkt->payload_len)
		return run_fail(r, "data=%s is not understood", s->data);
	for (uint32_t i = 0; i < pkt->payload_len; i++)
		if (want[i] != pkt->payload[i])
			return differs(r, p, "payload", want[i], pkt->payload[i], "a byte");
	return 0;
}

static int match(struct run *r, const struct packet_spec *s, const struct side_packet *p)
{
	uint32_t flags = bth_opcode_info(s->pkt.opcode)->flags;
	struct bth_packet pkt;
	char told[400];
	uint8_t want = s->pkt.syndrome, got;
	int ret;

	packet_tell(r, p, told, sizeof(told));
	if (p->bad_icrc != s->bad_icrc || bth_decode(p->data, p->len, &pkt) != BTH_OK ||
	    pkt.opcode != s->pkt.opcode)
		return run_fail(r, "packet\n  expected: %s\n  got:      %s", r->source, told);
	got = pkt.syndrome;
	if ((flags & BTH_F_AETH) && (s->any_syndrome_value ? want >> 5 != got >> 5 : want != got))
		return differs(r, p, "packet", want, got, "syndrome");
	if (s->has_psn && s->pkt.psn != pkt.psn)
		return differs(r, p, "packet",
			       (uint64_t)packet_psn_relative(s->conn, false, &s->pkt),
			       (uint64_t)packet_psn_relative(s->conn, false, &pkt), "relative psn");
	ret = usual_match(r, s, p, &pkt);
	if (ret == 0)
		ret = payload_match(r, s, p, &pkt);
	if (ret == 0 && s->has_tclass && p->tclass_known && p->tclass != s->tclass)
		ret = differs(r, p, "packet", s->tclass, p->tclass, "tclass");
	if (ret == 0 && s->has_hops && p->hops_known && p->hops != s->hops)
		ret = differs(r, p, "packet", s->hops, p->hops, "hops");
	if (ret == 0 && s->other != p->to_other)
		ret = differs(r, p, "packet", s->other, p->to_other, "to other");
	if (ret == 0 && (flags & BTH_F_REQUEST))
		s->conn->last_req = (uint32_t)packet_psn_relative(s->conn, false, &pkt);
	return ret;
}

int packet_await(struct run *r, uint64_t within, uint64_t after, struct side_packet *p)
{
	uint64_t passed;

	if (!r->side->next(r->side, r->side->now(r->side) + run_patience(r, within), p))
		return run_fail(r, "no packet\n  expected: %s", r->source);
	r->injected = false;
	passed = p->time > r->line_time ? p->time - r->line_time : 0;
	if (passed < (r->side->real_time ? after / 2 : after))
		return run_fail(r, "too early: %.3f us after the line before\n  expected: %s",
				(double)passed / 1000, r->source);
	return 0;
}

/* > OP fields... [within=TIME] [after=TIME] */
int packet_expect(struct run *r, struct args *a)
{
	static struct side_packet p;
	uint64_t within, after;
	struct packet_spec s;

	if (args_flag(a, "cm"))
		return line_cm_expect(r, a);
	within = args_time(a, "within", 0);
	after = args_time(a, "after", 0);
	if (packet_spec_read(r, a, false, &s) < 0)
		return -1;
	if (!args_done(a))
		return run_fail(r, "%s", a->error);
	if (packet_await(r, within, after, &p) < 0)
		return -1;
	return match(r, &s, &p);
}

/* silence TIME: no packet comes within it */
int verb_silence(struct run *r, struct args *a)
{
	static struct side_packet p;
	const char *word = args_word(a);
	char told[400];
	uint64_t ns;

	if (!word || !time_parse(word, &ns))
		return run_fail(r, "silence TIME");
	run_settle(r);
	if (!r->side->next(r->side, r->side->now(r->side) + ns, &p))
		return 0;
	packet_tell(r, &p, told, sizeof(told));
	return run_fail(r, "expected: silence\n  got:      %s", told);
}

/* skip TIME: whatever comes within it does not matter */
int verb_skip(struct run *r, struct args *a)
{
	static struct side_packet p;
	const char *word = args_word(a);
	uint64_t ns, until;

	if (!word || !time_parse(word, &ns))
		return run_fail(r, "skip TIME");
	until = r->side->now(r->side) + ns;
	while (r->side->next(r->side, until, &p))
		;
	return 0;
}
