/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Port spaces of rdma_cm: RDMA_PS_TCP, _UDP, _IPOIB, _IB each have 65,535 ports. As the kernel's,
 * they have nothing to do with the ports of sockets. A port may be shared by different addresses,
 * or by IDs that all set REUSEADDR and do not listen.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "verbs/kernel/ucma_priv.h"

#define EPHEMERAL_FIRST 32768
#define EPHEMERAL_LAST 60999

struct cma_port {
	struct cma_port *next;
	uint16_t ps, number;
	struct cma_id **users;
	uint32_t n_users, room;
};

/* Ports in use by their numbers: a search for a free one looks at many. */
static struct cma_port **place_of(struct ucma *u, uint16_t number)
{
	return &u->ports[number % CMA_PORT_PLACES];
}

static struct cma_port *port_find(struct ucma *u, uint16_t ps, uint16_t number)
{
	struct cma_port *p = *place_of(u, number);

	while (p && (p->ps != ps || p->number != number))
		p = p->next;
	return p;
}

static struct cma_port *port_create(struct ucma *u, uint16_t ps, uint16_t number)
{
	struct cma_port *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ps = ps;
	p->number = number;
	p->next = *place_of(u, number);
	*place_of(u, number) = p;
	return p;
}

static int port_enter(struct cma_port *p, struct cma_id *id)
{
	if (p->n_users == p->room) {
		uint32_t room = p->room ? p->room * 2 : 1;
		struct cma_id **users = realloc(p->users, room * sizeof(struct cma_id *));

		if (!users)
			return -ENOMEM;
		p->users = users;
		p->room = room;
	}
	id->port_place = p->n_users;
	p->users[p->n_users++] = id;
	id->port = p;
	return 0;
}

static void port_free(struct ucma *u, struct cma_port *port)
{
	for (struct cma_port **p = place_of(u, port->number); *p; p = &(*p)->next)
		if (*p == port) {
			*p = port->next;
			break;
		}
	free(port->users);
	free(port);
}

/* IPv4 and IPv6 wildcards do not collide if one of them is for its family only. */
static bool families_apart(const struct cma_id *a, const struct cma_id *b)
{
	if (a->src.sa.sa_family == b->src.sa.sa_family)
		return false;
	return a->afonly || b->afonly || (!cma_addr_any(&a->src) && !cma_addr_any(&b->src));
}

/* 0, or as the kernel says it: a wildcard is not available, an address is in use. */
static int addresses_collide(const struct cma_id *a, const struct cma_id *b)
{
	if (a == b || families_apart(a, b))
		return 0;
	if (cma_addr_any(&a->src) || cma_addr_any(&b->src))
		return -EADDRNOTAVAIL;
	return cma_addr_equal(&a->src, &b->src) ? -EADDRINUSE : 0;
}

static int collide(const struct cma_id *a, const struct cma_id *b)
{
	if (a->reuseaddr && b->reuseaddr && a->state != CMA_LISTEN && b->state != CMA_LISTEN)
		return 0;
	return addresses_collide(a, b);
}

static int port_fixed(struct ucma *u, struct cma_id *id, uint16_t ps, uint16_t number)
{
	struct cma_port *p = port_find(u, ps, number);

	if (number < CMA_PORT_LOW && !id->low_ports) {
		kernel_log(id->file->kernel,
			   "rdma_cm: port %u is for who has CAP_NET_BIND_SERVICE: EACCES", number);
		return -EACCES;
	}
	for (uint32_t i = 0; p && i < p->n_users; i++) {
		int rc = collide(id, p->users[i]);

		if (rc)
			return rc;
	}
	if (!p)
		p = port_create(u, ps, number);
	return p ? port_enter(p, id) : -ENOMEM;
}

static int port_any(struct ucma *u, struct cma_id *id, uint16_t ps)
{
	static uint16_t last = EPHEMERAL_FIRST; /* so that a port is not given again at once */

	for (uint32_t i = 0; i <= EPHEMERAL_LAST - EPHEMERAL_FIRST; i++) {
		struct cma_port *p;

		last = last >= EPHEMERAL_LAST ? EPHEMERAL_FIRST : (uint16_t)(last + 1);
		if (port_find(u, ps, last))
			continue;
		p = port_create(u, ps, last);
		if (!p || port_enter(p, id))
			return -ENOMEM;
		cma_addr_port_set(&id->src, last);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

int cma_port_get(struct cma_id *id)
{
	struct ucma *u = id->file->kernel->ucma;
	uint16_t number = cma_addr_port(&id->src), ps = cma_addr_space(id);

	if (!ps)
		return -EPROTONOSUPPORT;
	return number ? port_fixed(u, id, ps, number) : port_any(u, id, ps);
}

void cma_port_put(struct cma_id *id)
{
	struct cma_port *p = id->port;

	if (!p)
		return;
	p->users[id->port_place] = p->users[--p->n_users];
	p->users[id->port_place]->port_place = id->port_place;
	id->port = NULL;
	if (!p->n_users)
		port_free(id->file->kernel->ucma, p);
}

int cma_port_listen(struct cma_id *id)
{
	const struct cma_port *p = id->port;

	for (uint32_t i = 0; i < p->n_users; i++) {
		int rc = addresses_collide(id, p->users[i]);

		if (rc)
			return rc;
	}
	return 0;
}

bool cma_port_listened(struct ucma *u, uint16_t ps, uint16_t port)
{
	const struct cma_port *p = port_find(u, ps, port);

	for (uint32_t i = 0; p && i < p->n_users; i++)
		if (p->users[i]->state == CMA_LISTEN)
			return true;
	return false;
}

/* The one of exactly this address is preferred to one that leaves the device open. */
struct cma_id *cma_listener(struct ucma *u, uint16_t ps, const union cma_addr *to)
{
	struct cma_port *p = port_find(u, ps, cma_addr_port(to));
	struct cma_id *found = NULL;

	for (uint32_t i = 0; p && i < p->n_users; i++) {
		struct cma_id *id = p->users[i];

		if (id->state != CMA_LISTEN)
			continue;
		if (id->afonly && id->src.sa.sa_family != to->sa.sa_family)
			continue;
		if (cma_addr_equal(&id->src, to))
			return id;
		if (cma_addr_open(&id->src) &&
		    (id->src.sa.sa_family != AF_INET || to->sa.sa_family == AF_INET))
			found = found ? found : id;
	}
	return found;
}
