/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the monitor of interfaces and addresses. */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/ifaddr.h"
#include "net/sockaddr.h"
#include "net_pair.h"
#include "net_suites.h"

static void count_change(void *ctx)
{
	++*(unsigned *)ctx;
}

static struct net_monitor *monitor(unsigned *changes)
{
	struct net_monitor_events events = {.changed = count_change, .ctx = changes};
	struct net_monitor *m = net_monitor_create(&events);

	*changes = 0;
	ck_assert_ptr_nonnull(m);
	return m;
}

static bool readable(const struct net_monitor *m, int ms)
{
	struct pollfd p = {.fd = net_monitor_fd(m), .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

START_TEST(monitor_knows_the_loopback)
{
	static const uint8_t localhost[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
	unsigned changes;
	struct net_monitor *m = monitor(&changes);
	struct net_addr addr;
	struct net_if lo;

	ck_assert(net_monitor_if_named(m, "lo", &lo));
	ck_assert(lo.loopback);
	ck_assert(lo.up);
	ck_assert_uint_eq(lo.ifindex, 1);
	ck_assert_uint_ge(lo.mtu, 1280);
	ck_assert(net_monitor_addr(m, lo.ifindex, 0, &addr));
	ck_assert_mem_eq(addr.addr, localhost, 16);
	ck_assert(!addr.tentative);
	ck_assert(!net_monitor_if_named(m, "no-such-if", &lo));
	ck_assert(!net_monitor_addr(m, 1, 1000, &addr));
	ck_assert(!net_monitor_if(m, 1000000, &lo));
	net_monitor_destroy(m);
}
END_TEST

static void run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* Read until the monitor's picture satisfies the condition. */
static void read_until(struct net_monitor *m, bool (*holds)(const struct net_monitor *m))
{
	while (!holds(m)) {
		ck_assert_msg(readable(m, 5000), "no notification");
		net_monitor_read(m);
	}
}

static bool dummy_is_up(const struct net_monitor *m)
{
	struct net_if i;

	return net_monitor_if_named(m, "testif", &i) && i.up && i.mtu == 4200 && !i.loopback;
}

static bool dummy_is_gone(const struct net_monitor *m)
{
	struct net_if i;

	return !net_monitor_if_named(m, "testif", &i);
}

static bool dummy_has_four_addresses(const struct net_monitor *m)
{
	struct net_addr a;
	struct net_if i;

	return net_monitor_if_named(m, "testif", &i) && net_monitor_addr(m, i.ifindex, 3, &a) &&
	       !a.tentative;
}

START_TEST(monitor_follows_interfaces_and_addresses)
{
	/* In the order in which Linux enters them in the GID table of a new device; the link-local
	 * one made of the MAC, which the device itself puts before them, is where it would be
	 * without that. */
	static const uint8_t order[4][16] = {
		{[10] = 0xff, 0xff, 10, 1, 2, 3},
		{[10] = 0xff, 0xff, 10, 1, 2, 4},
		{0x20, 0x01, 0x0d, 0xb8, [15] = 9},
		{0xfe, 0x80},
	};
	struct net_monitor *m;
	struct net_addr a;
	struct net_if i;
	unsigned changes;

	if (!pair_enter_namespace() || system("ip link add probe type veth 2>/dev/null") != 0)
		return; /* not allowed here */
	run("ip link del probe");
	m = monitor(&changes);
	run("ip link add testif mtu 4200 address 02:11:22:33:44:55 type veth peer name other");
	run("ip link set other up");
	run("ip link set testif up");
	read_until(m, dummy_is_up);
	ck_assert_uint_gt(changes, 0);
	net_monitor_if_named(m, "testif", &i);
	ck_assert_mem_eq(i.mac, "\x02\x11\x22\x33\x44\x55", 6);

	run("ip addr add 2001:db8::9/64 dev testif nodad");
	run("ip addr add 10.1.2.3/24 dev testif");
	run("ip addr add 10.1.2.4/24 dev testif");
	read_until(m, dummy_has_four_addresses);
	for (uint32_t n = 0; n < 4; n++) {
		ck_assert(net_monitor_addr(m, i.ifindex, n, &a));
		ck_assert_mem_eq(a.addr, order[n], n == 3 ? 2 : 16);
	}
	run("ip link del testif");
	read_until(m, dummy_is_gone);
	ck_assert(!net_monitor_addr(m, i.ifindex, 0, &a));
	net_monitor_destroy(m);
}
END_TEST

START_TEST(monitor_sleeps_while_nothing_changes)
{
	struct net_monitor *m;
	unsigned changes;

	if (!pair_enter_namespace())
		return;
	m = monitor(&changes);
	while (readable(m, 200)) /* the loopback has just come up */
		net_monitor_read(m);
	changes = 0;
	ck_assert(!readable(m, 300));
	ck_assert_uint_eq(changes, 0);
	net_monitor_read(m); /* says nothing if nothing has changed */
	ck_assert_uint_eq(changes, 0);
	net_monitor_destroy(m);
}
END_TEST

START_TEST(monitor_survives_lost_notifications)
{
	struct net_monitor *m;
	unsigned changes;

	if (!pair_enter_namespace() || system("ip link add probe type veth 2>/dev/null") != 0)
		return;
	m = monitor(&changes);
	run("i=0; while [ $i -lt 6000 ]; do echo link set probe mtu $((1500 + i % 2));"
	    " i=$((i+1)); done | ip -batch -");
	run("ip link add testif mtu 4200 type veth peer name other");
	run("ip link set other up");
	run("ip link set testif up");
	read_until(m, dummy_is_up);
	net_monitor_destroy(m);
}
END_TEST

Suite *net_ifaddr_suite(void)
{
	Suite *s = suite_create("net_ifaddr");
	TCase *t = tcase_create("monitor");

	tcase_set_timeout(t, 20);
	tcase_add_test(t, monitor_knows_the_loopback);
	tcase_add_test(t, monitor_follows_interfaces_and_addresses);
	tcase_add_test(t, monitor_sleeps_while_nothing_changes);
	tcase_add_test(t, monitor_survives_lost_notifications);
	suite_add_tcase(s, t);
	return s;
}
