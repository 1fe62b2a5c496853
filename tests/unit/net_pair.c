/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two ports that talk to each other over the loopback. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bth/opcode.h"
#include "net/sockaddr.h"
#include "net_pair.h"

enum { PATIENCE_MS = 5000 };

const uint8_t pair_v6_loopback[16] = {[15] = 1};

static int watched[16];

static void log_line(void *ctx, const char *line)
{
	struct pair *p = ctx;

	snprintf(p->log, sizeof(p->log), "%s", line);
}

static void watch_fd(void *ctx, int fd, bool on)
{
	(void)ctx;
	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
		if (watched[i] != (on ? 0 : fd))
			continue;
		watched[i] = on ? fd : 0;
		return;
	}
	ck_abort_msg("no such descriptor, or too many");
}

/* Until one of the watched descriptors is readable. */
static void wait_readable(void)
{
	struct pollfd fds[16];
	nfds_t n = 0;

	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		if (watched[i])
			fds[n++] = (struct pollfd){.fd = watched[i], .events = POLLIN};
	ck_assert_msg(poll(fds, n, PATIENCE_MS) > 0, "nothing came");
}

void pair_v4(uint8_t addr[16], uint8_t host)
{
	unsigned pid = (unsigned)getpid();

	memcpy(addr, net_v4_prefix, sizeof(net_v4_prefix));
	addr[12] = 127;
	addr[13] = (uint8_t)(64 + (pid >> 8) % 64);
	addr[14] = (uint8_t)pid;
	addr[15] = host;
}

uint16_t pair_free_udp_port(void)
{
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, pair_v6_loopback, 0, 0);
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, &sa.sa, len)) { /* no IPv6 here */
		uint8_t addr[16];

		close(fd);
		pair_v4(addr, 1);
		len = net_sockaddr_set(&sa, addr, 0, 0);
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		ck_assert_int_eq(bind(fd, &sa.sa, len), 0);
	}
	ck_assert_int_eq(getsockname(fd, &sa.sa, &len), 0);
	close(fd);
	return net_sockaddr_port(&sa);
}

void pair_create_without_addresses(struct pair *p, enum net_gso gso)
{
	struct net_port_config cfg = {.gso = gso, .log = log_line, .log_ctx = p, .watch = watch_fd};

	memset(p, 0, sizeof(*p));
	memset(watched, 0, sizeof(watched));
	p->udp_port = cfg.udp_port = pair_free_udp_port();
	p->faults_a = cfg.faults = fault_rules_create();
	p->a = net_port_create(&cfg);
	p->faults_b = cfg.faults = fault_rules_create();
	p->b = net_port_create(&cfg);
	ck_assert_ptr_nonnull(p->a);
	ck_assert_ptr_nonnull(p->b);
	p->now = 1;
}

void pair_create(struct pair *p, enum net_gso gso)
{
	pair_create_without_addresses(p, gso);
	pair_v4(p->addr_a, 1);
	pair_v4(p->addr_b, 2);
	ck_assert_int_eq(net_port_addr_add(p->a, p->addr_a, 0), 0);
	ck_assert_int_eq(net_port_addr_add(p->b, p->addr_b, 0), 0);
}

void pair_destroy(struct pair *p)
{
	net_port_destroy(p->a);
	net_port_destroy(p->b);
	fault_rules_destroy(p->faults_a);
	fault_rules_destroy(p->faults_b);
	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		ck_assert_int_eq(watched[i], 0);
}

struct net_tx pair_run(const struct pair *p, uint32_t seg, uint32_t len)
{
	struct net_tx tx = {.sport_hash = 0x1abc, .seg = seg, .len = len};

	memcpy(tx.src, p->addr_a, 16);
	memcpy(tx.dst, p->addr_b, 16);
	return tx;
}

/* A SEND Middle, which has payload and so may travel in a run, with bytes that tell its number. */
static uint8_t pattern(uint32_t number, uint32_t at)
{
	if (at == 0)
		return BTH_OPCODE(BTH_RC, BTH_SEND_MIDDLE);
	return (uint8_t)(number * 37 + at * 11 + (at >> 8));
}

void pair_tx(struct pair *p, struct net_tx tx, uint32_t first)
{
	uint8_t *data = tx.data = net_port_tx_alloc(p->a, tx.len);

	for (uint32_t at = 0, i = 0, n; at < tx.len; at += n, i++) {
		n = i ? tx.seg : tx.seg + tx.head;
		if (at + n > tx.len || tx.len - at <= tx.seg + tx.tail)
			n = tx.len - at;
		for (uint32_t k = 0; k < n; k++)
			data[at + k] = pattern(first + i, k);
	}
	net_port_tx(p->a, &tx);
}

void pair_flush(struct pair *p)
{
	net_port_flush(p->a, p->now);
}

/* What came is kept, as the port keeps it until its next call only. */
static void keep(struct net_rx *r, size_t *used)
{
	static uint8_t store[1 << 20];

	ck_assert_uint_le(*used + r->len, sizeof(store));
	memcpy(store + *used, r->data, r->len);
	r->data = store + *used;
	*used += r->len;
}

void pair_rx(struct pair *p, uint32_t n, uint32_t max)
{
	uint32_t have = 0;
	size_t used = 0;

	ck_assert_uint_le(n, PAIR_PKTS_MAX);
	while (have < n) {
		uint32_t room = n - have < max ? n - have : max;
		uint32_t came = net_port_rx(p->b, p->now, p->pkts + have, room);

		ck_assert_uint_le(came, room);
		if (came == 0)
			wait_readable();
		for (; came > 0; came--)
			keep(&p->pkts[have++], &used);
	}
}

void pair_rx_nothing(struct pair *p)
{
	const struct net_counters *c = net_port_counters(p->b);
	uint64_t before = c->rx_datagrams;

	while (c->rx_datagrams == before) {
		wait_readable();
		ck_assert_uint_eq(net_port_rx(p->b, p->now, p->pkts, PAIR_PKTS_MAX), 0);
	}
}

void pair_check(const struct pair *p, uint32_t index, uint32_t number, uint32_t len)
{
	const struct net_rx *r = &p->pkts[index];
	uint32_t wrong = 0;

	ck_assert_uint_eq(r->len, len);
	/* Not an assertion a byte: Check writes down each that it passes. */
	for (uint32_t at = 0; at < len; at++)
		wrong += r->data[at] != pattern(number, at);
	ck_assert_uint_eq(wrong, 0);
}

bool pair_enter_namespace(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	bool up;
	int fd;

	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return false;
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	up = ioctl(fd, SIOCSIFFLAGS, &ifr) == 0;
	close(fd);
	return up;
}
