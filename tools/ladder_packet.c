/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The packets of a capture. One that was captured at both of its ends, going out and coming in, is
 * one packet with two times; one that went out to an end at which packets are captured, and is not
 * seen to come in, was lost between them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/cm.h"
#include "bth/icrc.h"
#include "bth/opcode.h"
#include "tools/capread.h"
#include "tools/ladder.h"
#include "tools/roceframe.h"

enum { LOOK_BACK = 4096, ECN_MASK = 3, ECN_CE = 3, QPN_GSI = 1 };

bool ladder_says(const struct ladder_packet *p, const char *words)
{
	return p->comment && strstr(p->comment, words);
}

static char *comment_copy(const char *text, uint32_t len)
{
	char *copy = malloc((size_t)len + 1);

	if (!copy)
		return NULL;
	for (uint32_t i = 0; i < len; i++)
		copy[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	copy[len] = '\0';
	return copy;
}

static void cm_read(struct ladder_packet *p, const uint8_t *payload, uint32_t len)
{
	struct mad mad;
	struct cm_msg msg;

	if (p->bth.dqpn != QPN_GSI || bth_opcode_transport(p->bth.opcode) != BTH_UD ||
	    len < MAD_LEN || !mad_decode(payload, len, &mad) || !cm_decode(&mad, &msg))
		return;
	p->marks |= LADDER_CM;
	p->cm_type = (uint8_t)msg.type;
	p->cm_local = msg.local_id;
	p->cm_remote = msg.remote_id;
	p->cm_qpn = msg.qpn;
}

static void marks_set(struct ladder_packet *p)
{
	uint32_t flags = bth_opcode_info(p->bth.opcode)->flags;

	if (p->bth.opcode == BTH_OPCODE_CNP)
		p->marks |= LADDER_CNP;
	if (flags & BTH_F_AETH && aeth_kind(p->bth.syndrome) == AETH_NAK)
		p->marks |= LADDER_NAK;
	if (flags & BTH_F_AETH && aeth_kind(p->bth.syndrome) == AETH_RNR_NAK)
		p->marks |= LADDER_RNR;
	if ((p->tos & ECN_MASK) == ECN_CE || ladder_says(p, "marked CE"))
		p->marks |= LADDER_CE;
	if (ladder_says(p, "retransmission"))
		p->marks |= LADDER_AGAIN;
	if (ladder_says(p, "dropped") || ladder_says(p, "not sent"))
		p->marks |= LADDER_DROPPED;
	if (ladder_says(p, "bad ICRC"))
		p->marks |= LADDER_MALFORMED;
	if (ladder_says(p, "by rule"))
		p->marks |= LADDER_COMMENTED;
}

static bool packet_read(struct ladder_packet *p, const struct capread_packet *c,
			const struct roceframe *f)
{
	size_t len = f->len;

	*p = (struct ladder_packet){.time = c->time,
				    .sport = f->sport,
				    .tos = f->tos,
				    .flow = UINT32_MAX,
				    .missing = c->missing};
	memcpy(p->src, f->src, 16);
	memcpy(p->dst, f->dst, 16);
	p->out = c->direction == CAPREAD_OUT || (!c->direction && f->known && f->out);
	p->in = c->direction == CAPREAD_IN || (!c->direction && f->known && !f->out);
	if (c->comment)
		p->comment = comment_copy(c->comment, c->comment_len);
	/* A packet that was cut short still has its headers. */
	if (f->cut)
		len = (len & ~(size_t)3) + BTH_ICRC_LEN;
	else if (len >= BTH_ICRC_LEN)
		p->icrc = icrc_load(f->data + len - BTH_ICRC_LEN);
	if (len < BTH_LEN + BTH_ICRC_LEN ||
	    bth_decode(f->data, len - BTH_ICRC_LEN, &p->bth) != BTH_OK) {
		p->marks |= LADDER_MALFORMED;
		if (len < BTH_LEN + BTH_ICRC_LEN)
			return false;
		p->bth.dqpn = (uint32_t)f->data[5] << 16 | (uint32_t)f->data[6] << 8 | f->data[7];
		p->bth.psn = (uint32_t)f->data[9] << 16 | (uint32_t)f->data[10] << 8 | f->data[11];
		p->bth.opcode = f->data[0];
		p->bth.payload_len = 0;
	}
	marks_set(p);
	if (!(p->marks & LADDER_MALFORMED))
		cm_read(p, p->bth.payload, p->bth.payload_len);
	p->bth.payload = NULL;
	return true;
}

static bool is_same(const struct ladder_packet *a, const struct ladder_packet *b)
{
	return a->icrc == b->icrc && a->bth.psn == b->bth.psn && a->bth.opcode == b->bth.opcode &&
	       a->bth.dqpn == b->bth.dqpn && a->sport == b->sport && !memcmp(a->src, b->src, 16) &&
	       !memcmp(a->dst, b->dst, 16);
}

static bool is_sender(const struct ladder *l, const uint8_t addr[16])
{
	for (uint32_t i = 0; i < l->n_senders; i++)
		if (!memcmp(l->senders[i], addr, 16))
			return true;
	return false;
}

static void sender_add(struct ladder *l, const uint8_t addr[16])
{
	if (l->n_senders < LADDER_SENDERS_MAX && !is_sender(l, addr))
		memcpy(l->senders[l->n_senders++], addr, 16);
}

/* The packet that is seen to come in was seen going out: both are one. */
static bool merge(struct ladder *l, struct ladder_packet *in)
{
	if (!in->in || !is_sender(l, in->src))
		return false;
	for (uint32_t i = l->n; i > 0 && i + LOOK_BACK > l->n; i--) {
		struct ladder_packet *out = &l->packets[i - 1];

		if (!out->out || out->arrived || !is_same(out, in))
			continue;
		if (out->marks & LADDER_DROPPED)
			continue;
		out->arrived = in->time;
		out->marks |= in->marks;
		out->missing += in->missing;
		if (!out->comment) {
			out->comment = in->comment;
			in->comment = NULL;
		} else if (in->comment && strstr(in->comment, "dropped")) {
			free(out->comment);
			out->comment = in->comment;
			in->comment = NULL;
		}
		free(in->comment);
		return true;
	}
	return false;
}

static bool packet_add(struct ladder *l, struct ladder_packet *p)
{
	if (p->out)
		sender_add(l, p->src);
	l->sides[0] |= p->out;
	l->sides[1] |= p->in;
	if (merge(l, p))
		return true;
	if (l->n == l->room) {
		uint32_t room = l->room ? l->room * 2 : 1024;
		struct ladder_packet *all = realloc(l->packets, room * sizeof(*all));

		if (!all)
			return false;
		l->packets = all;
		l->room = room;
	}
	l->packets[l->n++] = *p;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct ladder_packet *p = a, *q = b;

	return p->time < q->time ? -1 : p->time > q->time;
}

/* glibc's qsort is stable as long as there is memory. */
static void sort(struct ladder *l)
{
	for (uint32_t i = 1; i < l->n; i++)
		if (l->packets[i].time < l->packets[i - 1].time) {
			qsort(l->packets, l->n, sizeof(*l->packets), by_time);
			return;
		}
}

int ladder_load(struct ladder *l, const char *path, char *err, size_t err_size)
{
	struct capread *c = capread_open(path, err, err_size);
	struct capread_packet p;
	int rc = -1;

	while (c && (rc = capread_next(c, &p, err, err_size)) == 1) {
		struct ladder_packet packet;
		struct roceframe f;

		if (!roceframe_link_known(p.linktype)) {
			snprintf(err, err_size, "%s: link type %u is not known", path, p.linktype);
			rc = -1;
			break;
		}
		if (!roceframe_parse(p.linktype, p.data, p.len, &f)) {
			l->others++;
			continue;
		}
		if (!packet_read(&packet, &p, &f)) {
			free(packet.comment);
			l->others++;
		} else if (!packet_add(l, &packet)) {
			free(packet.comment);
			snprintf(err, err_size, "no memory for all packets");
			rc = -1;
			break;
		}
	}
	capread_close(c);
	sort(l);
	return rc;
}

void ladder_free(struct ladder *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->packets[i].comment);
	for (uint32_t i = 0; i < l->n_flows; i++) {
		free(l->flows[i].packets);
		free(l->flows[i].changes);
	}
	free(l->packets);
	free(l->flows);
	*l = (struct ladder){0};
}
