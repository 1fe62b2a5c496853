/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sending queued batches with as few system calls as possible, and what to do when one fails. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "net/port_priv.h"

enum { MSGS_MAX = 64, WAIT_MS = 1 };

struct send_list {
	struct net_port *port;
	int fd;
	bool waited; /* for room in the socket's buffer */
	unsigned n;
	struct mmsghdr msgs[MSGS_MAX];
	struct tx_batch *batch[MSGS_MAX];
	struct iovec iov[MSGS_MAX]; /* of single packets */
};

static bool msg_is_run(const struct msghdr *m, const struct tx_batch *b)
{
	return b->gso && b->nseg > 1 && m->msg_controllen == b->control_gso_len;
}

static void count_sent(struct send_list *l, unsigned from, unsigned n)
{
	struct net_counters *c = &l->port->counters;

	for (unsigned i = from; i < from + n; i++) {
		const struct tx_batch *b = l->batch[i];
		bool run = msg_is_run(&l->msgs[i].msg_hdr, b);

		c->tx_datagrams += run ? b->nseg : 1;
		c->tx_runs += run;
		if (l->port->taps.n)
			port_tap_sent(l->port, b, &l->msgs[i].msg_hdr, run, NULL);
		if (b->own) {
			/* What is received merged passes the loopback interface whole. */
			b->own->expected += run && !b->own->gro ? b->nseg : 1;
			l->port->to_self = true;
		}
	}
}

static bool gso_refused(int err)
{
	return err == EIO || err == EINVAL || err == EMSGSIZE;
}

static void send_singly(struct send_list *outer, struct tx_batch *b);

/* A label needs a lease where the namespace has exclusive ones: better none than no packet. */
static bool drop_flow_label(struct net_port *port, struct tx_batch *b, int err)
{
	if (err != EINVAL || b->to.sa.sa_family != AF_INET6 || !b->to.in6.sin6_flowinfo)
		return false;
	b->to.in6.sin6_flowinfo = 0;
	port->flow_labels_refused = true;
	return true;
}

static void msg_lost(struct send_list *l, unsigned i, const char *fate)
{
	const struct tx_batch *b = l->batch[i];
	const struct msghdr *m = &l->msgs[i].msg_hdr;

	if (l->port->taps.n)
		port_tap_sent(l->port, b, m, msg_is_run(m, b), fate);
}

/* Message i cannot be sent. Is it to be tried again? */
static bool msg_failed(struct send_list *l, unsigned i, int err)
{
	struct net_counters *c = &l->port->counters;
	struct tx_batch *b = l->batch[i];
	bool run = msg_is_run(&l->msgs[i].msg_hdr, b);
	struct pollfd p = {.fd = l->fd, .events = POLLOUT};

	if (err == EINTR)
		return true;
	if (err == EAGAIN && !l->waited) {
		l->waited = true;
		return poll(&p, 1, WAIT_MS) > 0;
	}
	if (run && gso_refused(err)) {
		net_routes_refused(&l->port->routes, b->dst, l->port->now);
		tx_batch_make_single(b);
		send_singly(l, b);
	} else if (drop_flow_label(l->port, b, err)) {
		return true;
	} else if (err == EAGAIN || err == ENOBUFS) {
		c->tx_again += run ? b->nseg : 1;
		msg_lost(l, i, "not sent: no room in the socket");
	} else {
		c->tx_errors += run ? b->nseg : 1;
		msg_lost(l, i, "not sent: an error");
	}
	return false;
}

static void list_send(struct send_list *l)
{
	unsigned at = 0;

	while (at < l->n) {
		int r = 1;

		if (l->n - at > 1)
			r = sendmmsg(l->fd, l->msgs + at, l->n - at, MSG_NOSIGNAL);
		else if (sendmsg(l->fd, &l->msgs[at].msg_hdr, MSG_NOSIGNAL) < 0)
			r = -1;

		l->port->counters.tx_calls++;
		if (r > 0) {
			count_sent(l, at, (unsigned)r);
			at += (unsigned)r;
		} else if (!msg_failed(l, at, errno)) {
			at++;
		}
	}
	l->n = 0;
}

static void list_add(struct send_list *l, struct tx_batch *b, struct iovec *iov, size_t niov,
		     uint32_t control_len)
{
	struct msghdr *m = &l->msgs[l->n].msg_hdr;

	m->msg_name = &b->to;
	m->msg_namelen = b->to_len;
	m->msg_iov = iov;
	m->msg_iovlen = niov;
	m->msg_control = control_len ? b->control : NULL;
	m->msg_controllen = control_len;
	m->msg_flags = 0;
	l->batch[l->n++] = b;
	if (l->n == MSGS_MAX)
		list_send(l);
}

static void list_add_packets(struct send_list *l, struct tx_batch *b)
{
	for (unsigned i = 0; i < b->niov; i++) {
		uint8_t *p = b->iov[i].iov_base;
		size_t left = b->iov[i].iov_len;

		while (left > 0) {
			struct iovec *iov = &l->iov[l->n];

			iov->iov_base = p;
			iov->iov_len = left < b->seg ? left : b->seg;
			p += iov->iov_len;
			left -= iov->iov_len;
			list_add(l, b, iov, 1, b->control_len);
		}
	}
}

static void send_singly(struct send_list *outer, struct tx_batch *b)
{
	struct send_list l;

	l.port = outer->port;
	l.fd = outer->fd;
	l.waited = outer->waited;
	l.n = 0;
	assert(!b->gso);
	list_add_packets(&l, b);
	list_send(&l);
	outer->waited = l.waited;
}

void send_batches(struct net_port *port, struct txsock *sock, struct tx_batch *first)
{
	struct tx_batch *end = port->batches + port->nbatches;
	struct send_list l;

	l.port = port;
	l.fd = sock->fd;
	l.waited = false;
	l.n = 0;
	for (struct tx_batch *b = first; b < end; b++) {
		if (b->sock != sock)
			continue;
		b->sent = true;
		/* A capture, or an earlier refusal, may have come after it was queued. */
		if (b->gso && b->nseg > 1 &&
		    (!port_gso_allowed(port) ||
		     net_routes_is_single(&port->routes, b->dst, port->now)))
			tx_batch_make_single(b);
		if (b->gso)
			list_add(&l, b, b->iov, b->niov,
				 b->nseg > 1 ? b->control_gso_len : b->control_len);
		else
			list_add_packets(&l, b);
	}
	list_send(&l);
}
