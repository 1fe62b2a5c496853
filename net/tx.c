/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Queueing. Packets are gathered into batches, each of which is one GSO send or, where runs are
 * not to be sent, many datagrams of one call. A packet's ICRC is computed when it is appended,
 * while it is in the cache; so the batch must know by then what ID the packet will have: its
 * index, if the kernel is to cut the batch, else 0.
 */
#include "config.h"

#include <assert.h>
#include <netinet/udp.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "net/fault.h"
#include "net/faulty.h"
#include "net/port_priv.h"

uint8_t *net_port_tx_alloc(struct net_port *port, uint32_t len)
{
	assert(len <= NET_TX_MAX);
	if (port->arena_used + len > NET_ARENA_SIZE)
		net_port_flush(port, port->now);
	return port->arena + port->arena_used;
}

struct port_addr *tx_addr(struct net_port *port, const struct net_tx *tx)
{
	struct port_addr *a = port->tx_addr;

	for (uint32_t i = 0; i <= port->naddrs; i++) {
		if (a && memcmp(a->addr, tx->src, 16) == 0 &&
		    (!net_addr_is_link_local(tx->src) || a->ifindex == tx->ifindex))
			return port->tx_addr = a;
		a = i < port->naddrs ? port->addrs[i] : NULL;
	}
	return NULL;
}

static uint32_t put_control(struct tx_batch *b, uint32_t at, int level, int type, const void *data,
			    size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)(b->control + at);

	assert(at + CMSG_SPACE(len) <= NET_CONTROL_MAX);
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	return at + (uint32_t)CMSG_SPACE(len);
}

/* UDP_SEGMENT comes last, so that it can be left off. */
static void batch_set_control(struct tx_batch *b)
{
	bool v4 = b->to.sa.sa_family == AF_INET;
	int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	int tos = b->tos, ttl = b->ttl;
	uint16_t seg = (uint16_t)b->seg;
	uint32_t at = 0;

	if (tos)
		at = put_control(b, at, level, v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof(tos));
	if (ttl)
		at = put_control(b, at, level, v4 ? IP_TTL : IPV6_HOPLIMIT, &ttl, sizeof(ttl));
	b->control_len = at;
	b->control_gso_len = put_control(b, at, IPPROTO_UDP, UDP_SEGMENT, &seg, sizeof(seg));
}

static void batch_set_base(struct tx_batch *b, const struct net_tx *tx, uint16_t dport)
{
	bool v4 = b->to.sa.sa_family == AF_INET;
	struct icrc_flow flow = {.ipv6 = !v4, .sport = b->sock->sport, .dport = dport};

	memcpy(flow.src, tx->src + (v4 ? 12 : 0), v4 ? 4 : 16);
	memcpy(flow.dst, tx->dst + (v4 ? 12 : 0), v4 ? 4 : 16);
	b->base = icrc_flow_base(&flow);
}

void tx_queue_flush(struct net_port *port)
{
	bool runs = false;

	for (uint32_t i = 0; i < port->nbatches; i++)
		runs |= port->batches[i].nseg > 1;
	if (runs)
		port_capture_look(port);
	for (uint32_t i = 0; i < port->nbatches; i++) {
		struct tx_batch *b = &port->batches[i];

		b->sock->last = NULL;
		if (!b->sent)
			send_batches(port, b->sock, b);
	}
	port->nbatches = 0;
}

static struct tx_batch *batch_create(struct net_port *port, struct txsock *sock,
				     const struct net_tx *tx, uint32_t seg, struct port_addr *own)
{
	struct tx_batch *b;

	if (port->nbatches == NET_BATCH_MAX)
		tx_queue_flush(port);
	b = &port->batches[port->nbatches++];
	b->sock = sock;
	b->own = own;
	b->gso = port_gso_allowed(port) && !net_routes_is_single(&port->routes, tx->dst, port->now);
	b->open = true;
	b->sent = false;
	b->tos = tx->tos;
	b->ttl = tx->ttl;
	b->ifindex = tx->ifindex;
	b->flow_label = tx->flow_label;
	memcpy(b->src, tx->src, 16);
	memcpy(b->dst, tx->dst, 16);
	b->to_len = net_sockaddr_set(&b->to, tx->dst, tx->ifindex, port->udp_port);
	if (b->to.sa.sa_family == AF_INET6 && !port->flow_labels_refused)
		b->to.in6.sin6_flowinfo = htonl(tx->flow_label & 0xfffff);
	b->seg = seg;
	b->len = b->nseg = 0;
	b->again = 0;
	b->niov = 0;
	batch_set_control(b);
	batch_set_base(b, tx, port->udp_port);
	sock->last = b;
	return b;
}

static bool batch_fits(const struct tx_batch *b, const struct net_tx *tx, uint32_t len)
{
	return b->open && len <= b->seg && b->nseg < NET_SEGS_MAX && b->len + len <= NET_RUN_MAX &&
	       b->tos == tx->tos && b->ttl == tx->ttl && b->flow_label == tx->flow_label &&
	       b->ifindex == tx->ifindex && memcmp(b->dst, tx->dst, 16) == 0;
}

static void batch_append(struct tx_batch *b, uint8_t *packet, uint32_t len, bool again)
{
	struct iovec *last = b->niov > 0 ? &b->iov[b->niov - 1] : NULL;
	uint32_t state = icrc_base_begin(&b->base, len, b->gso ? (uint16_t)b->nseg : 0);

	icrc_store(packet + len - BTH_ICRC_LEN, icrc_finish(state, packet, len - BTH_ICRC_LEN));
	if (last && (uint8_t *)last->iov_base + last->iov_len == packet)
		last->iov_len += len;
	else
		b->iov[b->niov++] = (struct iovec){.iov_base = packet, .iov_len = len};
	b->again |= (uint64_t)again << b->nseg;
	b->len += len;
	b->nseg++;
	if (len < b->seg)
		b->open = false;
}

static struct port_addr *own_addr(const struct net_port *port, const uint8_t addr[16])
{
	for (uint32_t i = 0; i < port->naddrs; i++)
		if (memcmp(port->addrs[i]->addr, addr, 16) == 0)
			return port->addrs[i];
	return NULL;
}

/*
 * Requests and answers without data do not begin a run, and end one only on this host, where an
 * acknowledgement behind a reply then costs next to nothing: a capture at the far end of a veth
 * pair, which is not noticed here, shows them one by one.
 */
void tx_queue_packet(struct net_port *port, struct txsock *sock, const struct net_tx *tx,
		     uint8_t *packet, uint32_t len)
{
	bool bare = !(bth_opcode_info(packet[0])->flags & BTH_F_PAYLOAD);
	struct port_addr *own = own_addr(port, tx->dst);
	struct tx_batch *b = sock->last;
	bool joins = !bare || own || net_addr_is_loopback(tx->dst);

	if (!b || !joins || !batch_fits(b, tx, len))
		b = batch_create(port, sock, tx, len, own);
	batch_append(b, packet, len, port->tx_again);
	if (bare)
		b->open = false;
}

/* Bytes of the packet that begins there. */
static uint32_t packet_len(const struct net_tx *tx, uint32_t at)
{
	uint32_t left = tx->len - at;

	if (at == 0 && tx->head)
		return tx->seg + tx->head;
	return left <= tx->seg + tx->tail ? left : tx->seg;
}

void net_port_tx(struct net_port *port, const struct net_tx *tx)
{
	bool faulty = port->faulty && fault_rules_concern(port->cfg.faults, FAULT_TX);
	struct port_addr *a = tx_addr(port, tx);
	struct txsock *sock;
	uint32_t n, i = 0;

	assert(tx->data == port->arena + port->arena_used);
	assert(tx->seg >= BTH_LEN + BTH_ICRC_LEN && tx->seg <= tx->len);
	port->arena_used += tx->len;
	/* From an address that has gone, or between two families: no way. */
	if (!a || a->v4 != net_addr_is_v4(tx->dst)) {
		port->counters.tx_errors += (tx->len + tx->seg - 1) / tx->seg;
		return;
	}
	sock = txsock_get(port, a, tx->sport_hash);
	for (uint32_t at = 0; at < tx->len; at += n) {
		n = packet_len(tx, at);
		port->tx_again = i++ < tx->again;
		if (faulty)
			faulty_tx(port, sock, tx, tx->data + at, n);
		else
			tx_queue_packet(port, sock, tx, tx->data + at, n);
	}
}

void tx_batch_make_single(struct tx_batch *b)
{
	uint32_t index = 0;

	b->gso = false;
	if (b->to.sa.sa_family != AF_INET)
		return;
	for (unsigned i = 0; i < b->niov; i++) {
		uint8_t *p = b->iov[i].iov_base;
		uint8_t *end = p + b->iov[i].iov_len;

		while (p < end) {
			size_t len = (size_t)(end - p) < b->seg ? (size_t)(end - p) : b->seg;
			uint8_t *icrc = p + len - BTH_ICRC_LEN;

			/* What an ID adds it also takes away. */
			icrc_store(icrc, icrc_with_id(icrc_load(icrc), (uint16_t)index++, len));
			p += len;
		}
	}
}

bool net_port_flush(struct net_port *port, uint64_t now)
{
	bool to_self;

	if (now > port->now)
		port->now = now;
	if (port->faulty)
		faulty_tx_release(port);
	if (port->nbatches)
		tx_queue_flush(port);
	port->arena_used = 0;
	if (port->faulty)
		faulty_tx_flushed(port->faulty);
	to_self = port->to_self;
	port->to_self = false;
	return to_self;
}
