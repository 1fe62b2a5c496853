/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Receiving. One recvmmsg fills a ring of large buffers from one socket; merged datagrams are
 * split by the size that the kernel tells, every packet's ICRC is checked, and what is right is
 * handed out where it lies. The ring is filled again when all of it has been handed out.
 */
#include "config.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bth/packet.h"
#include "net/faulty.h"
#include "net/port_priv.h"
#include "net/sock.h"

enum {
	RING = 32,
	BUF_SIZE = 65536,
	/* Not a multiple of 4096, so that the beginnings do not share cache sets. */
	BUF_STRIDE = BUF_SIZE + 4096 + 320,
	RING_LARGE = 4, /* datagrams a call while they are large: cache before calls */
	LARGE = 16384,
	CONTROL_SIZE = 128,
	TURNS = 4,  /* fillings from one address before others are looked at */
	ROUNDS = 4, /* fillings of nothing but wrong packets before we say "nothing" */
};

struct rx_ring {
	const struct port_addr *addr; /* where the present filling came from */
	unsigned filled, next;	      /* datagrams */
	uint32_t hot, luck; /* the address to be tried first, and how often it was filled from */
	bool large;
	bool told; /* that nothing is there, as far as was known */

	/* The datagram being split. */
	uint8_t *data;
	uint32_t left, seg, index;
	bool merged;
	struct icrc_base base;
	struct net_rx proto; /* what all its packets have in common */

	uint8_t *bufs;
	struct mmsghdr msgs[RING];
	struct iovec iov[RING];
	union net_sockaddr from[RING];
	_Alignas(size_t) uint8_t control[RING][CONTROL_SIZE];
};

struct rx_ring *rx_ring_create(void)
{
	struct rx_ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->bufs = mmap(NULL, (size_t)RING * BUF_STRIDE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->bufs == MAP_FAILED) {
		free(r);
		return NULL;
	}
	for (unsigned i = 0; i < RING; i++) {
		r->iov[i].iov_base = r->bufs + (size_t)i * BUF_STRIDE;
		r->iov[i].iov_len = BUF_SIZE;
		r->msgs[i].msg_hdr = (struct msghdr){
			.msg_name = &r->from[i],
			.msg_iov = &r->iov[i],
			.msg_iovlen = 1,
			.msg_control = r->control[i],
		};
	}
	return r;
}

void rx_ring_destroy(struct rx_ring *r)
{
	if (!r)
		return;
	munmap(r->bufs, (size_t)RING * BUF_STRIDE);
	free(r);
}

void rx_ring_forget(struct rx_ring *r, const struct port_addr *a)
{
	if (r->addr != a)
		return;
	r->filled = r->next = 0;
	r->left = 0;
	r->addr = NULL;
}

/* The socket is empty: turning GRO off now leaves no merged datagram whose size we are not told. */
static void socket_emptied(const struct net_port *port, struct port_addr *a)
{
	bool want = port_gso_allowed(port);

	if (a->gro != want && net_sock_set_gro(a->fd, want) == 0)
		a->gro = want;
}

/* Datagrams to ask for: those that we have sent to ourselves, unless there may be others, or the
 * socket has to be seen empty. */
static unsigned fill_size(const struct net_port *port, const struct port_addr *a)
{
	unsigned max = port->rx->large ? RING_LARGE : RING;

	if (a->maybe || a->expected > max || a->gro != port_gso_allowed(port))
		return max;
	return a->expected;
}

static int ring_receive(struct net_port *port, struct port_addr *a, unsigned max)
{
	struct rx_ring *r = port->rx;
	ssize_t len;

	for (unsigned i = 0; i < max; i++) {
		r->msgs[i].msg_hdr.msg_namelen = sizeof(r->from[i]);
		r->msgs[i].msg_hdr.msg_controllen = CONTROL_SIZE;
	}
	port->counters.rx_calls++;
	if (max > 1)
		return recvmmsg(a->fd, r->msgs, max, MSG_DONTWAIT, NULL);
	len = recvmsg(a->fd, &r->msgs[0].msg_hdr, MSG_DONTWAIT);
	r->msgs[0].msg_len = len < 0 ? 0 : (unsigned)len;
	return len < 0 ? -1 : 1;
}

static bool ring_fill_from(struct net_port *port, struct port_addr *a)
{
	struct rx_ring *r = port->rx;
	unsigned max = fill_size(port, a);
	size_t bytes = 0;
	int n = ring_receive(port, a, max);

	if (n < (int)max) {
		a->maybe = false;
		a->expected = 0;
		socket_emptied(port, a);
	}
	if (n <= 0)
		return false; /* an error is of one datagram that has gone, or none is there */
	for (int i = 0; i < n; i++)
		bytes += r->msgs[i].msg_len;
	a->expected -= a->expected < (unsigned)n ? a->expected : (unsigned)n;
	r->told = false;
	r->large = bytes / (unsigned)n >= LARGE;
	r->addr = a;
	r->filled = (unsigned)n;
	r->next = 0;
	return true;
}

/* Each address in its turn, if it may have something. */
static bool ring_fill_any(struct net_port *port)
{
	struct rx_ring *r = port->rx;
	uint32_t first = r->luck < TURNS ? r->hot : r->hot + 1;

	for (uint32_t i = 0; i < port->naddrs; i++) {
		uint32_t at = (first + i) % port->naddrs;
		struct port_addr *a = port->addrs[at];

		if ((!a->maybe && !a->expected) || !ring_fill_from(port, a))
			continue;
		r->luck = at == r->hot && r->luck < TURNS ? r->luck + 1 : 1;
		r->hot = at;
		return true;
	}
	return false;
}

static bool ring_fill(struct net_port *port)
{
	struct rx_ring *r = port->rx;

	if (ring_fill_any(port))
		return true;
	/* Spare the caller's last look its system calls; who asks again means it. */
	if (!r->told) {
		r->told = true;
		return false;
	}
	for (uint32_t i = 0; i < port->naddrs; i++)
		port->addrs[i]->maybe = true;
	return ring_fill_any(port);
}

void net_port_readable(struct net_port *port, int fd)
{
	for (uint32_t i = 0; i < port->naddrs; i++)
		if (port->addrs[i]->fd == fd)
			port->addrs[i]->maybe = true;
}

static int control_int(const struct cmsghdr *c)
{
	int value = 0;
	size_t len = c->cmsg_len - CMSG_LEN(0);

	if (len == 1)
		return *CMSG_DATA(c);
	memcpy(&value, CMSG_DATA(c), len < sizeof(value) ? len : sizeof(value));
	return value;
}

/* What the kernel says beside the datagram; returns the size of the merged packets or 0. */
static uint32_t read_control(struct msghdr *m, struct net_rx *proto)
{
	uint32_t seg = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		int value = control_int(c);

		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
			seg = value > 0 ? (uint32_t)value : 0;
		else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
			 (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS))
			proto->tos = (uint8_t)value;
		else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) ||
			 (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT))
			proto->ttl = (uint8_t)value;
		else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_FLOWINFO)
			proto->flow_label = ntohl((uint32_t)value) & 0xfffff;
	}
	return seg;
}

static void set_base(struct rx_ring *r, uint16_t dport)
{
	bool v4 = r->addr->v4;
	struct icrc_flow flow = {.ipv6 = !v4, .sport = r->proto.sport, .dport = dport};

	memcpy(flow.src, r->proto.src + (v4 ? 12 : 0), v4 ? 4 : 16);
	memcpy(flow.dst, r->proto.dst + (v4 ? 12 : 0), v4 ? 4 : 16);
	r->base = icrc_flow_base(&flow);
}

static void datagram_begin(struct net_port *port)
{
	struct rx_ring *r = port->rx;
	unsigned i = r->next++;
	struct mmsghdr *m = &r->msgs[i];

	r->data = r->iov[i].iov_base;
	r->left = m->msg_len;
	r->index = 0;
	r->proto = (struct net_rx){.sport = net_sockaddr_port(&r->from[i])};
	net_sockaddr_addr(&r->from[i], r->proto.src);
	memcpy(r->proto.dst, r->addr->addr, 16);
	r->seg = read_control(&m->msg_hdr, &r->proto);
	r->merged = r->seg > 0 && r->seg < r->left;
	if (!r->merged)
		r->seg = r->left;
	if (r->left == 0 || (m->msg_hdr.msg_flags & MSG_TRUNC)) {
		port->counters.rx_datagrams++;
		port->counters.icrc_errors++;
		r->left = 0;
		return;
	}
	if (r->merged) {
		port->counters.rx_merged++;
		port->gro_seen = true;
	}
	set_base(r, port->udp_port);
}

/* len: with the ICRC. */
static bool packet_is_right(struct net_port *port, const uint8_t *p, uint32_t len)
{
	struct rx_ring *r = port->rx;
	uint16_t id = r->addr->v4 ? (uint16_t)r->index : 0;
	uint32_t received, computed;

	if (len < BTH_LEN + BTH_ICRC_LEN)
		return false;
	received = icrc_load(p + len - BTH_ICRC_LEN);
	computed = icrc_finish(icrc_base_begin(&r->base, len, id), p, len - BTH_ICRC_LEN);
	if (!r->addr->v4)
		return computed == received;
	if (id > 0) {
		/* Its place in the run is likely; else it is as if it had come alone. */
		if (computed == received)
			return true;
		computed = icrc_with_id(computed, id, len);
	}
	switch (peer_check(port->peers, r->proto.src, r->proto.dst, port->now, computed, received,
			   len)) {
	case IPID_PREDICTED:
		return true;
	case IPID_SOLVED:
		port->counters.icrc_solved++;
		return true;
	case IPID_WRONG:
		return false;
	}
	return false;
}

void rx_tap(const struct net_port *port, const uint8_t *packet, uint32_t len, const char *fate)
{
	const struct rx_ring *r = port->rx;

	if (port->taps.n)
		port_tap_received(port, &r->proto, &r->base, packet, len, fate);
}

/* Take the next packet of the datagram; false: it is to be dropped. */
static bool packet_next(struct net_port *port, bool faulty, struct net_rx *out)
{
	struct rx_ring *r = port->rx;
	uint8_t *p = r->data;
	uint32_t len = r->left < r->seg ? r->left : r->seg;
	bool right = packet_is_right(port, p, len);

	r->data += len;
	r->left -= len;
	r->index++;
	port->counters.rx_datagrams++;
	if (!right) {
		port->counters.icrc_errors++;
		rx_tap(port, p, len, "bad ICRC, dropped");
		return false;
	}
	*out = r->proto;
	out->data = p;
	out->len = len - BTH_ICRC_LEN;
	if (faulty)
		return faulty_rx(port, p, out);
	rx_tap(port, p, len, NULL);
	return true;
}

static uint32_t ring_take(struct net_port *port, struct net_rx *pkts, uint32_t max)
{
	bool faulty = port->faulty && faulty_rx_active(port);
	struct rx_ring *r = port->rx;
	uint32_t n = 0;

	while (n < max) {
		if (faulty && faulty_rx_take(port, &pkts[n])) {
			n++;
			continue;
		}
		if (r->left == 0) {
			if (r->next == r->filled)
				break;
			datagram_begin(port);
			continue;
		}
		if (packet_next(port, faulty, &pkts[n]))
			n++;
	}
	return n;
}

uint32_t net_port_rx(struct net_port *port, uint64_t now, struct net_rx *pkts, uint32_t max)
{
	uint32_t n = 0;

	if (now > port->now)
		port->now = now;
	if (port->gro_seen || port->captured)
		port_capture_look(port);
	if (port->faulty)
		faulty_rx_begin(port->faulty);
	for (unsigned i = 0; n == 0 && max > 0 && i < ROUNDS; i++) {
		n = ring_take(port, pkts, max);
		if (n == 0 && !ring_fill(port))
			break;
	}
	return n;
}
