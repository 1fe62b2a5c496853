/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses of rdma_cm: which device has them, and how to come from one to another. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs/kernel/ucma_priv.h"

#define SOCKADDR_IB_LEN 48
#define HOP_LIMIT 64
#define IB_SID_AT 24
#define IB_PORT_MASK UINT64_C(0xffff)

int cma_addr_check(const union cma_addr *a, size_t len)
{
	switch (a->sa.sa_family) {
	case AF_INET:
		return len >= sizeof(a->in) ? 0 : -EINVAL;
	case AF_INET6:
		return len >= sizeof(a->in6) ? 0 : -EINVAL;
	case AF_IB:
		return len >= SOCKADDR_IB_LEN ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static const uint8_t zeros[16];

/* struct sockaddr_ib: its address lies 8 bytes in. */
static const uint8_t *ib_addr(const union cma_addr *a)
{
	return (const uint8_t *)a + 8;
}

/* The service ID, and behind it the mask of what counts of it. */
static const uint8_t *ib_sid(const union cma_addr *a)
{
	return (const uint8_t *)a + IB_SID_AT;
}

static void ib_sid_set(union cma_addr *a, uint16_t port)
{
	uint64_t sid, all = UINT64_MAX;

	memcpy(&sid, ib_sid(a), sizeof(sid));
	sid = htobe64((be64toh(sid) & ~IB_PORT_MASK) | port);
	memcpy((uint8_t *)a + IB_SID_AT, &sid, sizeof(sid));
	memcpy((uint8_t *)a + IB_SID_AT + sizeof(sid), &all, sizeof(all));
}

bool cma_addr_any(const union cma_addr *a)
{
	switch (a->sa.sa_family) {
	case AF_INET:
		return a->in.sin_addr.s_addr == 0;
	case AF_INET6:
		return !memcmp(&a->in6.sin6_addr, zeros, 16);
	case AF_IB:
		return !memcmp(ib_addr(a), zeros, 16);
	default:
		return true;
	}
}

void cma_addr_gid(const union cma_addr *a, uint8_t gid[16])
{
	if (a->sa.sa_family == AF_INET6) {
		memcpy(gid, &a->in6.sin6_addr, 16);
		return;
	}
	if (a->sa.sa_family == AF_IB) {
		memcpy(gid, ib_addr(a), 16);
		return;
	}
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &a->in.sin_addr, 4);
}

void cma_addr_from_gid(union cma_addr *a, const uint8_t gid[16], uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid)) {
		a->in.sin_family = AF_INET;
		memcpy(&a->in.sin_addr, gid + 12, 4);
	} else {
		a->in6.sin6_family = AF_INET6;
		memcpy(&a->in6.sin6_addr, gid, 16);
	}
	cma_addr_port_set(a, port);
}

uint16_t cma_addr_port(const union cma_addr *a)
{
	uint64_t sid, mask;

	switch (a->sa.sa_family) {
	case AF_INET:
		return ntohs(a->in.sin_port);
	case AF_INET6:
		return ntohs(a->in6.sin6_port);
	case AF_IB: /* the low bytes of the service ID */
		memcpy(&sid, ib_sid(a), sizeof(sid));
		memcpy(&mask, ib_sid(a) + sizeof(sid), sizeof(mask));
		return (uint16_t)(be64toh(sid) & be64toh(mask));
	default:
		return 0;
	}
}

void cma_addr_port_set(union cma_addr *a, uint16_t port)
{
	if (a->sa.sa_family == AF_INET)
		a->in.sin_port = htons(port);
	else if (a->sa.sa_family == AF_INET6)
		a->in6.sin6_port = htons(port);
	else if (a->sa.sa_family == AF_IB)
		ib_sid_set(a, port);
}

uint16_t cma_addr_space(struct cma_id *id)
{
	static const uint16_t spaces[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	uint64_t sid, mask;

	if (id->src.sa.sa_family != AF_IB)
		return id->ps;
	memcpy(&sid, ib_sid(&id->src), sizeof(sid));
	memcpy(&mask, ib_sid(&id->src) + sizeof(sid), sizeof(mask));
	mask = be64toh(mask) & ~IB_PORT_MASK;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		uint64_t space = (uint64_t)spaces[i] << 16;

		if ((id->ps != RDMA_PS_IB && id->ps != spaces[i]) ||
		    (be64toh(sid) & mask) != (space & mask))
			continue;
		sid = htobe64(space | cma_addr_port(&id->src));
		memcpy((uint8_t *)&id->src + IB_SID_AT, &sid, sizeof(sid));
		memset((uint8_t *)&id->src + IB_SID_AT + sizeof(sid), 0xff, 6); /* of its mask */
		return spaces[i];
	}
	return 0;
}

bool cma_addr_equal(const union cma_addr *a, const union cma_addr *b)
{
	uint8_t x[16], y[16];

	cma_addr_gid(a, x);
	cma_addr_gid(b, y);
	return !memcmp(x, y, 16);
}

socklen_t cma_addr_len(const union cma_addr *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->in)
	       : a->sa.sa_family == AF_IB ? SOCKADDR_IB_LEN
					  : sizeof(a->in6);
}

const char *cma_addr_text(const union cma_addr *a, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	else if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	snprintf(buf, size, a->sa.sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 cma_addr_port(a));
	return buf;
}

static bool is_loopback(const uint8_t gid[16])
{
	const struct in6_addr *in6 = (const struct in6_addr *)gid;

	return IN6_IS_ADDR_LOOPBACK(in6) || (IN6_IS_ADDR_V4MAPPED(in6) && gid[12] == 127);
}

bool cma_addr_open(const union cma_addr *a)
{
	uint8_t gid[16];

	if (cma_addr_any(a))
		return true;
	if (a->sa.sa_family == AF_IB)
		return false;
	cma_addr_gid(a, gid);
	return is_loopback(gid);
}

static bool is_localhost(const uint8_t gid[16])
{
	static const uint8_t localhost[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

	return !memcmp(gid, localhost, 16);
}

/* How near to an address of a device an address has to be. */
enum nearness {
	NEAR_SAME,
	NEAR_LOCALHOST, /* or 127.0.0.1, if the device stands for it */
	NEAR_LOOPBACK,	/* or both of 127/8 */
};

static bool gid_is_near(const struct kdevice *d, const uint8_t own[16], const uint8_t gid[16],
			enum nearness near)
{
	if (!memcmp(own, gid, 16))
		return true;
	if (!is_loopback(own) || !is_loopback(gid) || own[10] != gid[10])
		return false;
	return near == NEAR_LOOPBACK ||
	       (near == NEAR_LOCALHOST && d->is_localhost && is_localhost(gid));
}

static int gid_index(const struct kdevice *d, const uint8_t gid[16], uint32_t scope,
		     enum nearness near)
{
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		const uint8_t *own = rnic_gid_get(d->rnic, (uint16_t)i);

		if (!own || (scope && rnic_gid_ifindex(d->rnic, (uint16_t)i) != scope))
			continue;
		if (gid_is_near(d, own, gid, near))
			return (int)i;
	}
	return -1;
}

static int device_find(struct cma_id *id, const union cma_addr *a, enum nearness near)
{
	uint32_t scope = a->sa.sa_family == AF_INET6 ? a->in6.sin6_scope_id : 0;
	uint8_t gid[16];

	cma_addr_gid(a, gid);
	for (struct kdevice *d = id->file->kernel->devices; d; d = d->next) {
		int i = gid_index(d, gid, scope, near);

		if (i < 0)
			continue;
		id->dev = d;
		id->av = (struct rnic_av){
			.sgid_index = (uint16_t)i,
			.grh = true,
			.port_num = 1,
			.hop_limit = HOP_LIMIT,
			.traffic_class = id->tos_set ? id->tos : 0,
		};
		memcpy(id->av.sgid, rnic_gid_get(d->rnic, (uint16_t)i), 16);
		return 0;
	}
	return -ENODEV;
}

/* The device of the nearest address. */
static int device_bind(struct cma_id *id, const union cma_addr *a, enum nearness most)
{
	int rc = -ENODEV;

	for (int near = NEAR_SAME; rc && near <= (int)most; near++)
		rc = device_find(id, a, (enum nearness)near);
	return rc;
}

/*
 * As the kernel: an address of no device is refused; none at all leaves the device open. So does
 * one of the host itself, though here a device may have just that.
 */
int cma_bind(struct cma_id *id, const union cma_addr *a)
{
	int rc;

	if (id->state != CMA_IDLE)
		return -EINVAL;
	if (!cma_addr_any(a)) {
		/* AF_IB addresses are those of InfiniBand's own ports. */
		rc = a->sa.sa_family == AF_IB ? -ENODEV : device_bind(id, a, NEAR_LOCALHOST);
		if (rc && !cma_addr_open(a))
			return rc;
	}
	id->src = *a;
	rc = cma_port_get(id);
	if (rc) {
		id->dev = NULL;
		memset(&id->src, 0, sizeof(id->src));
		return rc;
	}
	id->state = CMA_BOUND;
	return 0;
}

/* The source address that the kernel's routes give. */
static int source_find(struct cma_id *id, union cma_addr *src)
{
	const struct kernel_config *cfg = &id->file->kernel->cfg;
	uint32_t scope = id->dst.sa.sa_family == AF_INET6 ? id->dst.in6.sin6_scope_id : 0;
	uint8_t from[16], to[16];
	int rc;

	cma_addr_gid(&id->dst, to);
	rc = cfg->route ? cfg->route(cfg->ctx, to, scope, from) : -ENETUNREACH;
	if (rc)
		return rc;
	cma_addr_from_gid(src, from, 0);
	if (src->sa.sa_family == AF_INET6)
		src->in6.sin6_scope_id = scope;
	return 0;
}

/* 127.0.0.1 is the device's own address if it stands for that. */
static void destination_set(struct cma_id *id)
{
	cma_addr_gid(&id->dst, id->av.dgid);
	if (id->dev->is_localhost && is_localhost(id->av.dgid) && is_loopback(id->av.sgid))
		memcpy(id->av.dgid, id->av.sgid, 16);
}

static int source_bind(struct cma_id *id)
{
	union cma_addr src;
	uint16_t port = cma_addr_port(&id->src);
	int rc;

	if (id->dev || (!cma_addr_any(&id->src) && !device_bind(id, &id->src, NEAR_LOCALHOST)))
		return 0;
	rc = source_find(id, &src);
	if (!rc)
		rc = device_bind(id, &src, NEAR_LOOPBACK);
	if (rc)
		return rc;
	cma_addr_port_set(&src, port);
	id->src = src;
	return 0;
}

int cma_resolve_addr(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst)
{
	union cma_addr any = {.sa.sa_family = dst->sa.sa_family};
	int rc;

	if (id->state == CMA_IDLE) {
		rc = cma_bind(id, src ? src : &any);
		if (rc)
			return rc;
	}
	if (id->state != CMA_BOUND)
		return -EINVAL;
	if (id->src.sa.sa_family != dst->sa.sa_family)
		return -EINVAL;
	if (dst->sa.sa_family == AF_IB)
		return -ENODEV;
	id->dst = *dst;
	rc = source_bind(id);
	if (!rc) {
		destination_set(id);
		id->state = CMA_ADDR_RESOLVED;
	}
	ucma_event_add(ucma_event_new(id, rc ? CMA_EV_ADDR_ERROR : CMA_EV_ADDR_RESOLVED, rc));
	return 0;
}
