/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast groups of ports, and how full a receiver is. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "net_pair.h"
#include "net_suites.h"

#define LO 1

/* A group of this process's own: tests may run side by side. */
static void group_v4(uint8_t group[16])
{
	pid_t pid = getpid();

	memset(group, 0, 16);
	group[10] = group[11] = 0xff;
	group[12] = 239;
	group[13] = (uint8_t)(pid >> 16);
	group[14] = (uint8_t)(pid >> 8);
	group[15] = (uint8_t)pid;
}

static struct net_tx to_group(const struct pair *p, const uint8_t group[16], uint32_t len)
{
	struct net_tx tx = pair_run(p, 80, len);

	memcpy(tx.dst, group, 16);
	tx.ttl = 1;
	return tx;
}

static uint32_t received_at_a(struct pair *p, struct net_rx *pkts)
{
	uint32_t n = 0, got;

	while ((got = net_port_rx(p->a, p->now, pkts + n, PAIR_PKTS_MAX - n)) > 0)
		n += got;
	return n;
}

START_TEST(group_packets_come_to_every_member_and_to_the_sender)
{
	static struct net_rx at_a[PAIR_PKTS_MAX];
	uint8_t group[16];
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	group_v4(group);
	ck_assert_int_eq(net_port_group_join(p.a, group, LO), 0);
	ck_assert_int_eq(net_port_group_join(p.b, group, LO), 0);
	ck_assert_int_eq(net_port_group_join(p.b, group, LO), -EEXIST);
	pair_tx(&p, to_group(&p, group, 3 * 80), 0);
	pair_flush(&p);
	pair_rx(&p, 3, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 3; i++) {
		pair_check(&p, i, i, 76);
		ck_assert_mem_eq(p.pkts[i].src, p.addr_a, 16);
		ck_assert_mem_eq(p.pkts[i].dst, group, 16);
		ck_assert_uint_eq(p.pkts[i].ttl, 1);
	}
	ck_assert_uint_eq(received_at_a(&p, at_a), 3);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	ck_assert_uint_eq(net_port_counters(p.a)->icrc_errors, 0);
	pair_destroy(&p);
}
END_TEST

START_TEST(group_that_was_left_is_silent)
{
	uint8_t group[16], other[16];
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	group_v4(group);
	memcpy(other, group, 16);
	other[12] = 238;
	ck_assert_int_eq(net_port_group_join(p.b, group, LO), 0);
	net_port_addr_del(p.b, group, LO);
	pair_tx(&p, to_group(&p, group, 80), 0);
	ck_assert_int_eq(net_port_group_join(p.b, other, LO), 0);
	pair_tx(&p, to_group(&p, other, 80), 7);
	pair_flush(&p);
	pair_rx(&p, 1, PAIR_PKTS_MAX);
	pair_check(&p, 0, 7, 76);
	ck_assert_mem_eq(p.pkts[0].dst, other, 16);
	pair_destroy(&p);
}
END_TEST

START_TEST(group_must_be_multicast)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	ck_assert_int_lt(net_port_group_join(p.b, p.addr_a, LO), 0);
	ck_assert_int_ne(p.log[0], '\0');
	pair_destroy(&p);
}
END_TEST

START_TEST(port_sees_how_full_a_receiver_is)
{
	uint64_t empty, filled;
	uint8_t nobody[16];
	struct pair p;

	pair_create(&p, NET_GSO_OFF);
	memcpy(nobody, p.addr_b, 16);
	nobody[15] ^= 0x80;
	ck_assert(net_port_room(p.a, p.addr_b, 0, &empty));
	pair_tx(&p, pair_run(&p, 1040, 10 * 1040), 0);
	pair_flush(&p);
	ck_assert(net_port_room(p.a, p.addr_b, 0, &filled));
	ck_assert_uint_ge(empty - filled, 10 * 1040);
	ck_assert(!net_port_room(p.a, nobody, 0, &filled));
	pair_destroy(&p);
}
END_TEST

Suite *net_group_suite(void)
{
	Suite *s = suite_create("net_group");
	TCase *tc = tcase_create("group");

	tcase_add_test(tc, group_packets_come_to_every_member_and_to_the_sender);
	tcase_add_test(tc, group_that_was_left_is_silent);
	tcase_add_test(tc, group_must_be_multicast);
	tcase_add_test(tc, port_sees_how_full_a_receiver_is);
	suite_add_tcase(s, tc);
	return s;
}
