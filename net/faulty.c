/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A port with fault rules. A packet that no rule fires on goes its way as if there were none, in
 * its run; one that is changed stays in its run too, as it is changed where it lies. Copies and
 * late packets lie in an arena of their own, which is free again when all has been sent.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "bth/packet.h"
#include "bth/print.h"
#include "bth/wire.h"
#include "net/fault.h"
#include "net/faulty.h"
#include "net/late.h"
#include "net/port_priv.h"

enum {
	ARENA_SIZE = 1 << 18,
	LATE_BYTES_MAX = 64 << 20, /* each way */
	TOS_CE = 3,
};

struct late_tx {
	struct net_tx tx;
	struct fault_verdict v;
};

struct late_rx {
	struct net_rx rx;
	uint32_t copies;
};

struct faulty {
	struct late_queue tx, rx;
	uint8_t *arena;
	uint32_t arena_used;
	struct net_rx again; /* a packet that came, to be given out that often: */
	uint32_t again_count;
	struct late_item **given; /* given out, to be freed */
	uint32_t n_given, room_given;
};

struct faulty *faulty_create(void)
{
	struct faulty *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->arena = malloc(ARENA_SIZE);
	if (!f->arena) {
		free(f);
		return NULL;
	}
	late_begin(&f->tx, sizeof(struct late_tx), LATE_BYTES_MAX);
	late_begin(&f->rx, sizeof(struct late_rx), LATE_BYTES_MAX);
	return f;
}

void faulty_destroy(struct faulty *f)
{
	if (!f)
		return;
	f->again_count = 0;
	faulty_rx_begin(f);
	late_end(&f->tx);
	late_end(&f->rx);
	free(f->given);
	free(f->arena);
	free(f);
}

static uint32_t dqpn_of(const uint8_t *packet)
{
	return wire_get32(packet + 4) & 0xffffff;
}

static bool log_room(const struct net_port *port)
{
	const struct net_port_config *cfg = &port->cfg;

	return cfg->fault_log && (!cfg->fault_log_room || cfg->fault_log_room(cfg->log_ctx));
}

static void firings_log(const struct net_port *port, const struct fault_packet *p,
			const struct fault_verdict *v)
{
	char what[FAULT_ERROR_MAX], packet[200] = "malformed packet", line[FAULT_ERROR_MAX + 256];
	struct bth_packet pkt;

	if (!log_room(port))
		return;
	if (bth_decode(p->bth, p->len, &pkt) == BTH_OK)
		bth_print(packet, sizeof(packet), &pkt);
	for (uint32_t i = 0; i < v->n_fired; i++) {
		fault_fired_print(v, i, what, sizeof(what));
		snprintf(line, sizeof(line), "fault %s: %s %s", what,
			 p->dir == FAULT_TX ? "egress" : "ingress", packet);
		port->cfg.fault_log(port->cfg.log_ctx, line);
	}
}

/* Does a rule fire? Says so where that is to be said. */
static bool decide(struct net_port *port, const struct fault_packet *p, struct fault_verdict *v)
{
	if (!fault_decide(port->cfg.faults, p, v))
		return false;
	port->counters.fault_hits++;
	port->counters.fault_drops += v->drop;
	firings_log(port, p, v);
	return true;
}

/* For recorders: what rules do to the packet that is being sent. They see packets in their order,
 * so what is queued goes first. */
static void tx_fate_begin(struct net_port *port, const struct fault_verdict *v)
{
	if (!port->taps.n)
		return;
	tx_queue_flush(port);
	fault_verdict_print(v, port->tx_fate, sizeof(port->tx_fate));
}

static void tx_fate_end(struct net_port *port)
{
	if (port->taps.n)
		tx_queue_flush(port);
	port->tx_fate[0] = '\0';
}

static void tx_dropped(struct net_port *port, const struct txsock *sock, const struct net_tx *tx,
		       const struct fault_verdict *v, uint8_t *packet, uint32_t len)
{
	tx_fate_begin(port, v);
	if (port->taps.n)
		port_tap_unsent(port, sock, tx, packet, len);
	port->tx_fate[0] = '\0';
}

static void rx_fated(const struct net_port *port, const struct fault_verdict *v,
		     const uint8_t *packet, uint32_t len)
{
	char fate[FAULT_ERROR_MAX];

	if (!port->taps.n)
		return;
	fault_verdict_print(v, fate, sizeof(fate));
	rx_tap(port, packet, len, fate);
}

static bool waits(const struct fault_verdict *v)
{
	return v->delay || v->overtake;
}

static struct late_item late_like(const struct net_port *port, const struct fault_verdict *v,
				  const uint8_t *packet)
{
	return (struct late_item){
		.due = port->now + v->delay + (v->overtake ? v->overtake_wait : 0),
		.overtake = v->overtake,
		.dqpn = dqpn_of(packet),
	};
}

static void late_lost(struct net_port *port)
{
	port->counters.fault_drops++;
	if (log_room(port))
		port->cfg.fault_log(port->cfg.log_ctx,
				    "fault: no room for one more late packet: it is dropped");
}

/* Room until all that is queued has been sent. */
static uint8_t *arena_room(struct net_port *port, uint32_t len)
{
	struct faulty *f = port->faulty;
	uint8_t *room;

	if (f->arena_used + len > ARENA_SIZE) {
		tx_queue_flush(port);
		f->arena_used = 0;
	}
	room = f->arena + f->arena_used;
	f->arena_used += len;
	return room;
}

static void send_edited(struct net_port *port, struct txsock *sock, const struct net_tx *tx,
			const struct fault_verdict *v, uint8_t *packet, uint32_t len)
{
	fault_edit(v, packet, false);
	tx_queue_packet(port, sock, tx, packet, len);
	fault_edit(v, packet, true);
}

static void send_copies(struct net_port *port, struct txsock *sock, const struct net_tx *tx,
			const struct fault_verdict *v, const uint8_t *packet, uint32_t len,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *copy = arena_room(port, len);

		memcpy(copy, packet, len);
		send_edited(port, sock, tx, v, copy, len);
	}
}

/* The packet is sent as it lies, behind its copies; a late one is not to stay: copies only. */
static void send_verdict(struct net_port *port, struct txsock *sock, const struct net_tx *tx,
			 const struct fault_verdict *v, uint8_t *packet, uint32_t len, bool late)
{
	struct net_tx marked = *tx;

	tx_fate_begin(port, v);
	if (v->ce)
		marked.tos |= TOS_CE;
	send_copies(port, sock, &marked, v, packet, len, v->copies + late);
	if (!late)
		send_edited(port, sock, &marked, v, packet, len);
	tx_fate_end(port);
}

void faulty_tx_release(struct net_port *port)
{
	struct late_item *item;

	while ((item = late_take(&port->faulty->tx, port->now))) {
		const struct late_tx *late = item->head;
		struct port_addr *a = tx_addr(port, &late->tx);

		port->tx_again = late->tx.again > 0;
		if (a)
			send_verdict(port, txsock_get(port, a, late->tx.sport_hash), &late->tx,
				     &late->v, item->data, item->len, true);
		else
			port->counters.tx_errors++;
		free(item);
	}
}

void faulty_tx(struct net_port *port, struct txsock *sock, const struct net_tx *tx, uint8_t *packet,
	       uint32_t len)
{
	const struct fault_packet p = {
		.dir = FAULT_TX,
		.now = port->now,
		.qpn = tx->qpn,
		.bth = packet,
		.len = len - BTH_ICRC_LEN,
		.ect = tx->tos & TOS_CE,
		.ipv6 = !net_addr_is_v4(tx->dst),
	};
	struct late_queue *q = &port->faulty->tx;
	uint32_t dqpn = dqpn_of(packet);
	struct fault_verdict v;

	if (!decide(port, &p, &v)) {
		tx_queue_packet(port, sock, tx, packet, len);
	} else if (v.drop) {
		tx_dropped(port, sock, tx, &v, packet, len);
		return;
	} else if (waits(&v)) {
		struct late_item like = late_like(port, &v, packet);
		struct late_tx head = {.tx = *tx, .v = v};

		head.tx.again = port->tx_again;
		if (!late_put(q, &like, &head, packet, len))
			late_lost(port);
		return;
	} else {
		send_verdict(port, sock, tx, &v, packet, len, false);
	}
	if (q->n_overtaken) {
		late_passed(q, dqpn);
		faulty_tx_release(port);
	}
}

void faulty_tx_flushed(struct faulty *f)
{
	f->arena_used = 0;
}

void faulty_rx_begin(struct faulty *f)
{
	/* The last one may have copies that are still to be given out. */
	uint32_t keep = f->again_count && f->n_given ? 1 : 0;

	for (uint32_t i = 0; i + keep < f->n_given; i++)
		free(f->given[i]);
	if (keep)
		f->given[0] = f->given[f->n_given - 1];
	f->n_given = keep;
}

static void rx_late(struct net_port *port, const struct fault_verdict *v, const struct net_rx *out)
{
	struct late_item like = late_like(port, v, out->data);
	struct late_rx head = {.rx = *out, .copies = v->copies};

	if (!late_put(&port->faulty->rx, &like, &head, out->data, out->len))
		late_lost(port);
}

bool faulty_rx(struct net_port *port, uint8_t *packet, struct net_rx *out)
{
	const struct fault_packet p = {
		.dir = FAULT_RX,
		.now = port->now,
		.bth = packet,
		.len = out->len,
		.ect = out->tos & TOS_CE,
		.ipv6 = !net_addr_is_v4(out->src),
	};
	struct faulty *f = port->faulty;
	uint32_t dqpn = dqpn_of(packet);
	struct fault_verdict v;

	if (decide(port, &p, &v)) {
		rx_fated(port, &v, packet, out->len + BTH_ICRC_LEN);
		if (v.drop)
			return false;
		if (fault_breaks_icrc(&v)) {
			port->counters.icrc_errors++;
			return false;
		}
		if (v.ce)
			out->tos |= TOS_CE;
		fault_edit(&v, packet, false);
		fault_edit(&v, packet, true);
		if (waits(&v)) {
			rx_late(port, &v, out);
			return false;
		}
		f->again = *out;
		f->again_count = v.copies;
	} else {
		rx_tap(port, packet, out->len + BTH_ICRC_LEN, NULL);
	}
	late_passed(&f->rx, dqpn);
	return true;
}

static bool given_grow(struct faulty *f)
{
	uint32_t room = f->room_given ? f->room_given * 2 : 64;
	struct late_item **given;

	if (f->n_given < f->room_given)
		return true;
	given = realloc(f->given, room * sizeof(*given));
	if (!given)
		return false;
	f->given = given;
	f->room_given = room;
	return true;
}

bool faulty_rx_take(struct net_port *port, struct net_rx *out)
{
	struct faulty *f = port->faulty;
	const struct late_rx *late;
	struct late_item *item;

	if (f->again_count) {
		f->again_count--;
		*out = f->again;
		return true;
	}
	if (!given_grow(f))
		return false;
	item = late_take(&f->rx, port->now);
	if (!item)
		return false;
	f->given[f->n_given++] = item;
	late = item->head;
	*out = late->rx;
	out->data = item->data;
	f->again = *out;
	f->again_count = late->copies;
	return true;
}

bool faulty_rx_active(const struct net_port *port)
{
	const struct faulty *f = port->faulty;

	return fault_rules_concern(port->cfg.faults, FAULT_RX) || f->rx.n || f->again_count;
}

static bool rx_is_gone(const void *head, const void *arg)
{
	const struct late_rx *late = head;
	const struct port_addr *a = arg;

	return memcmp(late->rx.dst, a->addr, 16) == 0;
}

void faulty_addr_gone(struct faulty *f, const struct port_addr *a)
{
	late_forget(&f->rx, rx_is_gone, a);
	if (f->again_count && memcmp(f->again.dst, a->addr, 16) == 0)
		f->again_count = 0;
}

uint64_t faulty_tx_due(const struct faulty *f)
{
	return late_due(&f->tx);
}

uint64_t faulty_rx_due(const struct faulty *f)
{
	return f->again_count ? 0 : late_due(&f->rx);
}
