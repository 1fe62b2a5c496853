/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Interfaces and addresses. A notification only says that something has changed: the state is
 * then read anew as a whole, so that notifications lost in an overrun do no harm, and compared,
 * so that those which concern nothing of ours are not passed on.
 */
#include "config.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <netlink/cache.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <stdlib.h>
#include <string.h>

#include "net/ifaddr.h"
#include "net/sockaddr.h"

enum { READS_MAX = 256, EVENT_BUFFER = 1 << 20 };

struct listed_addr {
	struct net_addr a;
	uint32_t place; /* in the kernel's list */
};

struct state {
	struct net_if *ifs;
	struct listed_addr *addrs;
	uint32_t nifs, naddrs;
};

struct net_monitor {
	struct net_monitor_events events;
	struct nl_sock *notify;
	struct nl_sock *ask;
	struct state state;
};

static void state_free(struct state *s)
{
	free(s->ifs);
	free(s->addrs);
}

static bool state_equal(const struct state *x, const struct state *y)
{
	return x->nifs == y->nifs && x->naddrs == y->naddrs &&
	       memcmp(x->ifs, y->ifs, x->nifs * sizeof(*x->ifs)) == 0 &&
	       memcmp(x->addrs, y->addrs, x->naddrs * sizeof(*x->addrs)) == 0;
}

static int compare_u32(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

static int compare_ifs(const void *x, const void *y)
{
	const struct net_if *p = x, *q = y;

	return compare_u32(p->ifindex, q->ifindex);
}

static int compare_addrs(const void *x, const void *y)
{
	const struct listed_addr *p = x, *q = y;
	int c = compare_u32(p->a.ifindex, q->a.ifindex);

	if (c == 0)
		c = net_addr_is_v4(q->a.addr) - net_addr_is_v4(p->a.addr);
	return c ? c : compare_u32(p->place, q->place);
}

static void link_read(struct nl_object *object, void *arg)
{
	struct rtnl_link *link = (struct rtnl_link *)object;
	const char *name = rtnl_link_get_name(link);
	unsigned flags = rtnl_link_get_flags(link);
	struct nl_addr *mac = rtnl_link_get_addr(link);
	struct state *s = arg;
	struct net_if *i = &s->ifs[s->nifs++];

	memset(i, 0, sizeof(*i));
	i->ifindex = (uint32_t)rtnl_link_get_ifindex(link);
	if (name)
		strncpy(i->name, name, sizeof(i->name) - 1);
	i->loopback = flags & IFF_LOOPBACK;
	i->enabled = flags & IFF_UP;
	i->up = i->enabled && (i->loopback || rtnl_link_get_carrier(link));
	i->mtu = rtnl_link_get_mtu(link);
	if (mac && nl_addr_get_len(mac) == sizeof(i->mac))
		memcpy(i->mac, nl_addr_get_binary_addr(mac), sizeof(i->mac));
}

static bool addr_copy(struct nl_addr *from, uint8_t to[16])
{
	if (from && nl_addr_get_family(from) == AF_INET && nl_addr_get_len(from) == 4) {
		memcpy(to, net_v4_prefix, sizeof(net_v4_prefix));
		memcpy(to + sizeof(net_v4_prefix), nl_addr_get_binary_addr(from), 4);
		return true;
	}
	if (from && nl_addr_get_family(from) == AF_INET6 && nl_addr_get_len(from) == 16) {
		memcpy(to, nl_addr_get_binary_addr(from), 16);
		return true;
	}
	return false;
}

static void addr_read(struct nl_object *object, void *arg)
{
	struct rtnl_addr *addr = (struct rtnl_addr *)object;
	unsigned flags = rtnl_addr_get_flags(addr);
	struct state *s = arg;
	struct listed_addr *l = &s->addrs[s->naddrs];

	memset(l, 0, sizeof(*l));
	if (!addr_copy(rtnl_addr_get_local(addr), l->a.addr))
		return;
	l->a.ifindex = (uint32_t)rtnl_addr_get_ifindex(addr);
	l->a.tentative =
		(flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) && !(flags & IFA_F_OPTIMISTIC);
	l->place = s->naddrs++;
}

static int state_read(struct nl_sock *ask, struct state *s)
{
	struct nl_cache *links = NULL, *addrs = NULL;
	int err = -EIO;

	memset(s, 0, sizeof(*s));
	if (rtnl_link_alloc_cache(ask, AF_UNSPEC, &links) < 0 ||
	    rtnl_addr_alloc_cache(ask, &addrs) < 0)
		goto out;
	err = -ENOMEM;
	s->ifs = calloc((size_t)nl_cache_nitems(links) + 1, sizeof(*s->ifs));
	s->addrs = calloc((size_t)nl_cache_nitems(addrs) + 1, sizeof(*s->addrs));
	if (!s->ifs || !s->addrs) {
		state_free(s);
		goto out;
	}
	nl_cache_foreach(links, link_read, s);
	nl_cache_foreach(addrs, addr_read, s);
	qsort(s->ifs, s->nifs, sizeof(*s->ifs), compare_ifs);
	qsort(s->addrs, s->naddrs, sizeof(*s->addrs), compare_addrs);
	for (uint32_t i = 0; i < s->naddrs; i++)
		s->addrs[i].place = 0; /* the order says it; other interfaces must not matter */
	err = 0;
out:
	nl_cache_free(links);
	nl_cache_free(addrs);
	return err;
}

static int notify_open(struct nl_sock *notify)
{
	nl_socket_disable_seq_check(notify);
	if (nl_connect(notify, NETLINK_ROUTE) < 0 || nl_socket_set_nonblocking(notify) < 0)
		return -EIO;
	nl_socket_set_buffer_size(notify, EVENT_BUFFER, 0);
	if (nl_socket_add_memberships(notify, RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR,
				      RTNLGRP_IPV6_IFADDR, RTNLGRP_NONE) < 0)
		return -EIO;
	return 0;
}

struct net_monitor *net_monitor_create(const struct net_monitor_events *events)
{
	struct net_monitor *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return NULL;
	m->events = *events;
	m->notify = nl_socket_alloc();
	m->ask = nl_socket_alloc();
	if (m->notify && m->ask) {
		err = notify_open(m->notify);
		if (!err && nl_connect(m->ask, NETLINK_ROUTE) < 0)
			err = -EIO;
		if (!err)
			err = state_read(m->ask, &m->state);
	}
	if (err) {
		net_monitor_destroy(m);
		errno = -err;
		return NULL;
	}
	return m;
}

void net_monitor_destroy(struct net_monitor *m)
{
	if (!m)
		return;
	nl_socket_free(m->notify);
	nl_socket_free(m->ask);
	state_free(&m->state);
	free(m);
}

int net_monitor_fd(const struct net_monitor *m)
{
	return nl_socket_get_fd(m->notify);
}

void net_monitor_read(struct net_monitor *m)
{
	struct state now;

	/* Errors mean an overrun, after which there may be more to read. */
	for (int i = 0; i < READS_MAX; i++)
		if (nl_recvmsgs_default(m->notify) == -NLE_AGAIN)
			break;
	if (state_read(m->ask, &now) < 0)
		return; /* the next notification will do */
	if (state_equal(&m->state, &now)) {
		state_free(&now);
		return;
	}
	state_free(&m->state);
	m->state = now;
	if (m->events.changed)
		m->events.changed(m->events.ctx);
}

bool net_monitor_if(const struct net_monitor *m, uint32_t index, struct net_if *out)
{
	if (index >= m->state.nifs)
		return false;
	*out = m->state.ifs[index];
	return true;
}

bool net_monitor_if_named(const struct net_monitor *m, const char *name, struct net_if *out)
{
	for (uint32_t i = 0; i < m->state.nifs; i++)
		if (strcmp(m->state.ifs[i].name, name) == 0)
			return net_monitor_if(m, i, out);
	return false;
}

bool net_monitor_if_indexed(const struct net_monitor *m, uint32_t ifindex, struct net_if *out)
{
	for (uint32_t i = 0; i < m->state.nifs; i++)
		if (m->state.ifs[i].ifindex == ifindex)
			return net_monitor_if(m, i, out);
	return false;
}

bool net_monitor_addr(const struct net_monitor *m, uint32_t ifindex, uint32_t index,
		      struct net_addr *out)
{
	for (uint32_t i = 0; i < m->state.naddrs; i++) {
		if (m->state.addrs[i].a.ifindex != ifindex || index-- > 0)
			continue;
		*out = m->state.addrs[i].a;
		return true;
	}
	return false;
}
