/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port's packets as recorders get them: runs apart, with the headers that each has. */
#include "config.h"

#include <errno.h>

#include "bth/packet.h"
#include "net/port_priv.h"

int net_port_tap(struct net_port *port, struct net_recorder *recorder, uint32_t interface,
		 uint32_t ifindex)
{
	struct tap_list *list = &port->taps;

	if (list->n == TAPS_MAX)
		return -ENOSPC;
	net_port_flush(port, port->now); /* what was queued before is not asked for */
	list->taps[list->n++] =
		(struct tap){.recorder = recorder, .interface = interface, .ifindex = ifindex};
	return 0;
}

void net_port_untap(struct net_port *port, struct net_recorder *recorder)
{
	struct tap_list *list = &port->taps;
	uint32_t kept = 0;

	if (list->n)
		net_port_flush(port, port->now);
	for (uint32_t i = 0; i < list->n; i++)
		if (list->taps[i].recorder != recorder)
			list->taps[kept++] = list->taps[i];
	list->n = kept;
}

static uint8_t option(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) < 0 ? 0 : (uint8_t)value;
}

/* What the kernel takes where nobody asked for another. */
static uint8_t default_ttl(int fd, const uint8_t dst[16])
{
	if (net_addr_is_v4(dst))
		return option(fd, IPPROTO_IP, dst[12] >> 4 == 0xe ? IP_MULTICAST_TTL : IP_TTL);
	return option(fd, IPPROTO_IPV6, dst[0] == 0xff ? IPV6_MULTICAST_HOPS : IPV6_UNICAST_HOPS);
}

/* The place of a packet in its batch. */
static uint32_t packet_index(const struct tx_batch *b, const uint8_t *packet)
{
	uint32_t index = 0;

	for (unsigned i = 0; i < b->niov; i++) {
		const uint8_t *begin = b->iov[i].iov_base;

		if (packet >= begin && packet < begin + b->iov[i].iov_len)
			return index + (uint32_t)((size_t)(packet - begin) / b->seg);
		index += (uint32_t)((b->iov[i].iov_len + b->seg - 1) / b->seg);
	}
	return index;
}

void port_tap_sent(const struct net_port *port, const struct tx_batch *b, const struct msghdr *m,
		   bool run, const char *fate)
{
	struct capframe f = {
		.out = true,
		.sport = b->sock->sport,
		.dport = port->udp_port,
		.tos = b->tos,
		.ttl = b->ttl ? b->ttl : default_ttl(b->sock->fd, b->dst),
	};
	uint32_t index = packet_index(b, m->msg_iov[0].iov_base), id = 0;

	memcpy(f.src, b->src, 16);
	memcpy(f.dst, b->dst, 16);
	if (b->to.sa.sa_family == AF_INET6)
		f.flow_label = ntohl(b->to.in6.sin6_flowinfo) & 0xfffff;
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		const uint8_t *p = m->msg_iov[i].iov_base;
		size_t left = m->msg_iov[i].iov_len;

		for (; left > 0; p += f.len, left -= f.len) {
			struct tap_note note = {.fate = fate ? fate : port->tx_fate};

			f.data = p;
			f.len = (uint32_t)(left < b->seg ? left : b->seg);
			f.ip_id = (uint16_t)(run ? id++ : 0);
			note.again = b->again >> index++ & 1;
			tap_show(&port->taps, &f, &note);
		}
	}
}

void port_tap_unsent(const struct net_port *port, const struct txsock *sock,
		     const struct net_tx *tx, uint8_t *packet, uint32_t len)
{
	struct tap_note note = {.again = port->tx_again, .fate = port->tx_fate};
	bool v4 = net_addr_is_v4(tx->dst);
	struct icrc_flow flow = {.ipv6 = !v4, .sport = sock->sport, .dport = port->udp_port};
	struct capframe f = {
		.out = true,
		.sport = sock->sport,
		.dport = port->udp_port,
		.tos = tx->tos,
		.ttl = tx->ttl ? tx->ttl : default_ttl(sock->fd, tx->dst),
		.flow_label = tx->flow_label & 0xfffff,
		.data = packet,
		.len = len,
	};

	memcpy(f.src, tx->src, 16);
	memcpy(f.dst, tx->dst, 16);
	memcpy(flow.src, tx->src + (v4 ? 12 : 0), v4 ? 4 : 16);
	memcpy(flow.dst, tx->dst + (v4 ? 12 : 0), v4 ? 4 : 16);
	icrc_store(packet + len - BTH_ICRC_LEN,
		   icrc_finish(icrc_begin(&flow, len, 0), packet, len - BTH_ICRC_LEN));
	tap_show(&port->taps, &f, &note);
}

/* The identification that a UDP socket does not show but the ICRC covers; 0 if none explains it. */
static uint16_t ip_id_of(const struct icrc_base *base, const uint8_t *packet, uint32_t len)
{
	uint32_t icrc;
	int32_t id;

	if (base->ipv6 || len < BTH_LEN + BTH_ICRC_LEN)
		return 0;
	icrc = icrc_finish(icrc_base_begin(base, len, 0), packet, len - BTH_ICRC_LEN);
	id = icrc_solve_id(icrc, icrc_load(packet + len - BTH_ICRC_LEN), len);
	return (uint16_t)(id > 0 ? id : 0);
}

void port_tap_received(const struct net_port *port, const struct net_rx *rx,
		       const struct icrc_base *base, const uint8_t *packet, uint32_t len,
		       const char *fate)
{
	struct tap_note note = {.fate = fate};
	struct capframe f = {
		.sport = rx->sport,
		.dport = port->udp_port,
		.tos = rx->tos,
		.ttl = rx->ttl,
		.ip_id = ip_id_of(base, packet, len),
		.flow_label = rx->flow_label,
		.data = packet,
		.len = len,
	};

	memcpy(f.src, rx->src, 16);
	memcpy(f.dst, rx->dst, 16);
	tap_show(&port->taps, &f, &note);
}
