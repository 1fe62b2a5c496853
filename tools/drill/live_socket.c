/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RoCEv2 by hand: UDP datagrams with DF, whose IP identification is 0 then, and their ICRC. Those
 * that come may have been cut out of a run, or come from another system: any identification will
 * do.
 */
#include "config.h"

#include "live_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bth/icrc.h"
#include "bth/packet.h"

#define TRIES 100
#define NS 1000000000ull

struct live_socket {
	int fd;
	struct in_addr address;
	struct in_addr only; /* whose packets are taken; 0: everybody's */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

uint64_t live_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static int socket_bind(struct in_addr address, bool group)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(BTH_UDP_PORT), .sin_addr = address};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int df = IP_PMTUDISC_DO, one = 1;

	if (fd < 0)
		return -1;
	if ((group && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &df, sizeof(df)) < 0 ||
	    (!group &&
	     setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &address, sizeof(address)) < 0) ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one)) < 0 ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &one, sizeof(one)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) < 0) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static bool is_loopback(struct in_addr a)
{
	return ntohl(a.s_addr) >> 24 == 127;
}

/* The address from which packets to the device leave. */
static bool route_source(struct in_addr device, struct in_addr *source)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = device};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(to);
	bool ok;

	ok = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	     getsockname(fd, (struct sockaddr *)&to, &len) == 0;
	*source = to.sin_addr;
	if (fd >= 0)
		close(fd);
	return ok;
}

static int socket_find(const char *address, struct in_addr device, struct in_addr *at)
{
	uint32_t random;
	int fd = -1;

	if (address)
		return inet_pton(AF_INET, address, at) == 1 ? socket_bind(*at, false) : -1;
	if (!is_loopback(device))
		return route_source(device, at) ? socket_bind(*at, false) : -1;
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		at->s_addr = htonl(127u << 24 | (random & 0x00fefefe) | 0x00010101);
		if (at->s_addr == device.s_addr)
			continue;
		fd = socket_bind(*at, false);
	}
	return fd;
}

struct live_socket *live_socket_open(const char *address, const char *device, char *address_out)
{
	struct live_socket *s = calloc(1, sizeof(*s));
	struct in_addr dev;

	if (!s || inet_pton(AF_INET, device, &dev) != 1)
		abort();
	s->fd = socket_find(address, dev, &s->address);
	if (s->fd < 0) {
		free(s);
		if (address || is_loopback(dev))
			fprintf(stderr, "rnic-drill: %s port %d: %s\n", address ? address : "",
				BTH_UDP_PORT, strerror(errno));
		return NULL;
	}
	inet_ntop(AF_INET, &s->address, address_out, 48);
	return s;
}

struct live_socket *live_socket_join(const struct live_socket *s, const char *group,
				     const char *device)
{
	struct live_socket *g = calloc(1, sizeof(*g));
	struct ip_mreq member = {.imr_interface = s->address};

	if (!g)
		abort();
	if (inet_pton(AF_INET, group, &g->address) != 1 ||
	    inet_pton(AF_INET, device, &g->only) != 1) {
		free(g);
		errno = EINVAL;
		return NULL;
	}
	member.imr_multiaddr = g->address;
	g->fd = socket_bind(g->address, true);
	if (g->fd >= 0 &&
	    setsockopt(g->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof(member)) == 0)
		return g;
	if (g->fd >= 0)
		close(g->fd);
	free(g);
	return NULL;
}

void live_socket_close(struct live_socket *s)
{
	if (!s)
		return;
	close(s->fd);
	free(s);
}

int live_socket_fd(const struct live_socket *s)
{
	return s->fd;
}

static struct icrc_flow flow_of(struct in_addr src, struct in_addr dst, uint16_t sport)
{
	struct icrc_flow flow = {.sport = sport, .dport = BTH_UDP_PORT};

	memcpy(flow.src, &src, sizeof(src));
	memcpy(flow.dst, &dst, sizeof(dst));
	return flow;
}

static void int_add(struct msghdr *m, int type, int value)
{
	struct cmsghdr *c =
		(struct cmsghdr *)(void *)((uint8_t *)m->msg_control + m->msg_controllen);

	c->cmsg_level = IPPROTO_IP;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &value, sizeof(value));
	m->msg_controllen += CMSG_SPACE(sizeof(int));
}

void live_socket_send(struct live_socket *s, const char *to, const struct side_packet *pkt)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(BTH_UDP_PORT)};
	uint8_t icrc[BTH_ICRC_LEN];
	struct iovec iov[2] = {{(void *)(uintptr_t)pkt->data, pkt->len}, {icrc, sizeof(icrc)}};
	_Alignas(struct cmsghdr) uint8_t control[2 * CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_name = &at,
			   .msg_namelen = sizeof(at),
			   .msg_iov = iov,
			   .msg_iovlen = 2,
			   .msg_control = control};
	struct icrc_flow flow;
	uint32_t crc;

	inet_pton(AF_INET, to, &at.sin_addr);
	flow = flow_of(s->address, at.sin_addr, BTH_UDP_PORT);
	crc = icrc_begin(&flow, pkt->len + BTH_ICRC_LEN, 0);
	/* Too short for an ICRC over a BTH: any bytes will do. */
	crc = pkt->len >= BTH_LEN ? icrc_finish(crc, pkt->data, pkt->len) : 0;
	icrc_store(icrc, pkt->bad_icrc ? ~crc : crc);
	if (pkt->tclass_known)
		int_add(&m, IP_TOS, pkt->tclass);
	if (pkt->hops_known)
		int_add(&m, IP_TTL, pkt->hops);
	if (sendmsg(s->fd, &m, 0) < 0)
		fprintf(stderr, "rnic-drill: cannot send to %s: %s\n", to, strerror(errno));
}

static void control_read(struct msghdr *m, struct side_packet *pkt)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct timespec t;

		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			pkt->tclass = *CMSG_DATA(c);
			pkt->tclass_known = true;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) {
			pkt->hops = *CMSG_DATA(c);
			pkt->hops_known = true;
		} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			pkt->time = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec -
				    clock_ns(CLOCK_REALTIME) + live_now();
		}
	}
}

static bool icrc_good(const struct live_socket *s, const struct sockaddr_in *from,
		      const struct side_packet *pkt)
{
	struct icrc_flow flow = flow_of(from->sin_addr, s->address, ntohs(from->sin_port));
	size_t len = pkt->len + BTH_ICRC_LEN;
	uint32_t want = icrc_finish(icrc_begin(&flow, len, 0), pkt->data, pkt->len);
	uint32_t got = icrc_load(pkt->data + pkt->len);

	return want == got || icrc_solve_id(want, got, len) >= 0;
}

bool live_socket_recv(struct live_socket *s, struct side_packet *pkt)
{
	struct sockaddr_in from = {0};
	struct iovec iov = {pkt->data, sizeof(pkt->data)};
	_Alignas(struct cmsghdr) uint8_t control[256];
	struct msghdr m = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(s->fd, &m, 0);

	if (n < 0 || (s->only.s_addr && s->only.s_addr != from.sin_addr.s_addr))
		return false;
	memset(pkt, 0, offsetof(struct side_packet, data));
	pkt->time = live_now();
	control_read(&m, pkt);
	pkt->sport = ntohs(from.sin_port);
	if (n < BTH_LEN + BTH_ICRC_LEN) {
		pkt->len = (uint32_t)n;
		pkt->bad_icrc = true;
		return true;
	}
	pkt->len = (uint32_t)n - BTH_ICRC_LEN;
	pkt->bad_icrc = !icrc_good(s, &from, pkt);
	return true;
}
