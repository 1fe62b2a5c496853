/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of ports: runs out, packets in, addresses, sockets. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/sockaddr.h"
#include "net_pair.h"
#include "net_suites.h"

static const struct {
	enum net_gso gso;
	uint32_t seg, len;
} runs[] = {
	{NET_GSO_ON, 16, 16},
	{NET_GSO_ON, 80, 80 * 64},
	{NET_GSO_ON, 272, 272 * 3 + 20},
	{NET_GSO_ON, 1040, 62 * 1040},
	{NET_GSO_ON, 4112, 15 * 4112},
	{NET_GSO_ON, 65504, 65504},
	{NET_GSO_OFF, 16, 16},
	{NET_GSO_OFF, 80, 80 * 64},
	{NET_GSO_OFF, 272, 272 * 3 + 20},
	{NET_GSO_OFF, 1040, 62 * 1040},
	{NET_GSO_OFF, 4112, 15 * 4112},
};

START_TEST(port_delivers_runs_as_sent)
{
	struct pair p;
	uint32_t seg = runs[_i].seg, len = runs[_i].len, n = (len + seg - 1) / seg;
	uint32_t last = len - (n - 1) * seg;

	pair_create(&p, runs[_i].gso);
	pair_tx(&p, pair_run(&p, seg, len), 0);
	pair_flush(&p);
	pair_rx(&p, n, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		pair_check(&p, i, i, (i == n - 1 ? last : seg) - 4);
		ck_assert_mem_eq(p.pkts[i].src, p.addr_a, 16);
		ck_assert_mem_eq(p.pkts[i].dst, p.addr_b, 16);
		ck_assert_uint_eq(p.pkts[i].sport, 0xc000 | 0x1abc);
	}
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, n);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_datagrams, n);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_solved, 0);
	pair_destroy(&p);
}
END_TEST

/* As a WRITE of 64 KiB (a longer first), READ responses (both ends longer), and an odd WRITE. */
static const struct {
	enum net_gso gso;
	uint32_t head, tail, n, last;
} ends[] = {
	{NET_GSO_ON, 16, 0, 16, 4112}, {NET_GSO_ON, 4, 4, 16, 4116}, {NET_GSO_ON, 16, 0, 31, 100},
	{NET_GSO_ON, 4, 4, 3, 4116},   {NET_GSO_ON, 0, 4, 2, 4116},  {NET_GSO_OFF, 16, 4, 16, 4116},
	{NET_GSO_OFF, 16, 0, 31, 100},
};

START_TEST(port_delivers_runs_whose_ends_are_longer)
{
	uint32_t seg = 4112, n = ends[_i].n, last = ends[_i].last;
	struct net_tx tx;
	struct pair p;

	pair_create(&p, ends[_i].gso);
	tx = pair_run(&p, seg, ends[_i].head + (n - 1) * seg + last);
	tx.head = ends[_i].head;
	tx.tail = ends[_i].tail;
	pair_tx(&p, tx, 7);
	pair_flush(&p);
	pair_rx(&p, n, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < n; i++)
		pair_check(&p, i, 7 + i, (i ? i + 1 < n ? seg : last : seg + ends[_i].head) - 4);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, n);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_sends_and_receives_a_run_in_one_call)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	pair_tx(&p, pair_run(&p, 4112, 15 * 4112), 0);
	pair_flush(&p);
	pair_rx(&p, 15, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 1);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_merges_equal_runs)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	pair_tx(&p, pair_run(&p, 100, 10 * 100), 0);
	pair_tx(&p, pair_run(&p, 100, 9 * 100 + 40), 10); /* its end is short: the last one */
	pair_tx(&p, pair_run(&p, 100, 100), 20);
	pair_tx(&p, pair_run(&p, 60, 60), 21); /* shorter: may only be last */
	pair_tx(&p, pair_run(&p, 60, 60), 22);
	pair_flush(&p);
	pair_rx(&p, 23, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 23; i++)
		pair_check(&p, i, i, i == 19 ? 36 : i < 21 ? 96 : 56);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 2);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, 2);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_ends_a_run_at_64_packets)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (uint32_t i = 0; i < 130; i++)
		pair_tx(&p, pair_run(&p, 64, 64), i);
	pair_flush(&p);
	pair_rx(&p, 130, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 130; i++)
		pair_check(&p, i, i, 60);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 3);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_does_not_merge_what_differs)
{
	struct pair p;
	struct net_tx tx;

	pair_create(&p, NET_GSO_ON);
	tx = pair_run(&p, 64, 64);
	pair_tx(&p, tx, 0);
	tx.tos = 2;
	pair_tx(&p, tx, 1);
	tx.ttl = 9;
	pair_tx(&p, tx, 2);
	tx.sport_hash ^= 1;
	pair_tx(&p, tx, 3);
	pair_flush(&p);
	pair_rx(&p, 4, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 0);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, 4);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 2); /* two sockets */
	pair_destroy(&p);
}
END_TEST

START_TEST(port_sends_more_than_its_arena_holds)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (uint32_t i = 0; i < 10; i++)
		pair_tx(&p, pair_run(&p, 4112, 15 * 4112), i * 15);
	pair_flush(&p);
	pair_rx(&p, 150, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 150; i++)
		pair_check(&p, i, i, 4108);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_sends_many_flows_at_once)
{
	struct pair p;
	struct net_tx tx;
	uint32_t last[8] = {0};

	pair_create(&p, NET_GSO_ON);
	tx = pair_run(&p, 48, 48);
	for (uint32_t i = 0; i < 200; i++) {
		tx.sport_hash = (uint16_t)(i % 8);
		tx.tos = i % 40 < 20 ? 0 : 4;
		pair_tx(&p, tx, i + 1);
	}
	pair_flush(&p);
	pair_rx(&p, 200, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t flow = p.pkts[i].sport - 0xc000u;
		uint32_t next = last[flow] ? last[flow] + 8 : flow + 1; /* each in its order */

		pair_check(&p, i, next, 44);
		last[flow] = next;
	}
	pair_destroy(&p);
}
END_TEST

START_TEST(port_hands_out_no_more_than_asked)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	pair_tx(&p, pair_run(&p, 100, 64 * 100), 0);
	pair_flush(&p);
	pair_rx(&p, 64, 3);
	for (uint32_t i = 0; i < 64; i++)
		pair_check(&p, i, i, 96);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_calls, 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_keeps_to_one_source_port_a_hash)
{
	struct pair p;
	struct net_tx tx;
	uint16_t sport[300];

	pair_create(&p, NET_GSO_ON);
	tx = pair_run(&p, 64, 64);
	for (unsigned round = 0; round < 2; round++) {
		for (uint16_t i = 0; i < 300; i++) {
			tx.sport_hash = (uint16_t)(i * 54);
			pair_tx(&p, tx, i);
			pair_flush(&p);
			pair_rx(&p, 1, 1);
			if (round == 0)
				sport[i] = p.pkts[0].sport;
			ck_assert_uint_eq(p.pkts[0].sport, sport[i]);
			ck_assert_uint_ge(sport[i], 0xc000);
		}
	}
	pair_destroy(&p);
}
END_TEST

static int bound_socket(const uint8_t addr[16], uint16_t port)
{
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, addr, 0, port);
	int fd = socket(sa.sa.sa_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, &sa.sa, len), 0);
	return fd;
}

START_TEST(port_takes_another_source_port_where_one_is_taken)
{
	struct pair p;
	uint16_t sport;
	int fd;

	pair_create(&p, NET_GSO_ON);
	fd = bound_socket(p.addr_a, 0xc000 | 0x1abc);
	for (uint32_t i = 0; i < 2; i++) {
		pair_tx(&p, pair_run(&p, 64, 64), i);
		pair_flush(&p);
		pair_rx(&p, 1, 1);
		if (i == 0)
			sport = p.pkts[0].sport;
		ck_assert_uint_eq(p.pkts[0].sport, sport);
		ck_assert_uint_ne(sport, 0xc000 | 0x1abc);
		ck_assert_uint_ge(sport, 0xc000);
	}
	close(fd);
	pair_destroy(&p);
}
END_TEST

static const uint8_t v4_any[16] = {[10] = 0xff, [11] = 0xff};

START_TEST(port_names_who_holds_its_place)
{
	struct pair p;
	char pid[32];
	int fd;

	pair_create_without_addresses(&p, NET_GSO_ON);
	pair_v4(p.addr_b, 2);
	fd = bound_socket(_i == 0   ? p.addr_b
			  : _i == 1 ? v4_any
				    : (const uint8_t[16]){0},
			  p.udp_port);
	ck_assert_int_eq(net_port_addr_add(p.b, p.addr_b, 0), -EADDRINUSE);
	snprintf(pid, sizeof(pid), "(pid %d)", getpid());
	ck_assert_msg(strstr(p.log, pid) && strstr(p.log, "127."), "%s", p.log);
	close(fd);
	ck_assert_int_eq(net_port_addr_add(p.b, p.addr_b, 0), 0);
	ck_assert_int_eq(net_port_addr_add(p.b, p.addr_b, 0), -EEXIST);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_says_that_an_address_is_not_here)
{
	static const uint8_t elsewhere[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	struct pair p;

	pair_create_without_addresses(&p, NET_GSO_ON);
	ck_assert_int_eq(net_port_addr_add(p.b, elsewhere, 0), -EADDRNOTAVAIL);
	ck_assert_ptr_nonnull(strstr(p.log, "2001:db8::1"));
	ck_assert_uint_eq(net_port_rcvbuf(p.b), 0);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_serves_many_addresses)
{
	struct pair p;
	struct net_tx tx;
	uint8_t to[16];
	unsigned seen = 0;

	pair_create(&p, NET_GSO_ON);
	for (uint8_t host = 3; host <= 2 + _i; host++) {
		pair_v4(to, host);
		ck_assert_int_eq(net_port_addr_add(p.b, to, 0), 0);
	}
	tx = pair_run(&p, 64, 64);
	for (uint8_t host = 2; host <= 2 + _i; host++) {
		tx.dst[15] = host;
		pair_tx(&p, tx, host);
	}
	pair_flush(&p);
	pair_rx(&p, 1 + (unsigned)_i, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i <= (uint32_t)_i; i++) {
		pair_check(&p, i, p.pkts[i].dst[15], 60);
		seen |= 1u << p.pkts[i].dst[15];
	}
	ck_assert_uint_eq(seen, ((1u << (1 + _i)) - 1) << 2);
	ck_assert_uint_gt(net_port_rcvbuf(p.b), 100000);
	pair_destroy(&p);
}
END_TEST

/* Although another one always has something. */
START_TEST(port_starves_no_address)
{
	struct pair p;
	struct net_tx tx;
	uint8_t quiet[16];

	pair_create(&p, NET_GSO_ON);
	pair_v4(quiet, 3);
	ck_assert_int_eq(net_port_addr_add(p.b, quiet, 0), 0);
	tx = pair_run(&p, 64, 64);
	tx.dst[15] = 3;
	pair_tx(&p, tx, 77);
	for (unsigned calls = 0;; calls++) {
		ck_assert_uint_lt(calls, 50);
		pair_tx(&p, pair_run(&p, 64, 64), calls);
		pair_flush(&p);
		if (net_port_rx(p.b, p.now, p.pkts, 1) == 1 && p.pkts[0].dst[15] == 3)
			break;
	}
	pair_check(&p, 0, 77, 60);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_forgets_a_deleted_address)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	pair_tx(&p, pair_run(&p, 64, 640), 0);
	pair_flush(&p);
	pair_rx(&p, 1, 1); /* nine are left in the ring */
	net_port_addr_del(p.b, p.addr_b, 0);
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	net_port_addr_del(p.a, p.addr_a, 0);
	pair_tx(&p, pair_run(&p, 64, 640), 0);
	pair_flush(&p);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, 10);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_speaks_ipv6)
{
	struct pair p;

	pair_create_without_addresses(&p, _i ? NET_GSO_ON : NET_GSO_OFF);
	memcpy(p.addr_b, pair_v6_loopback, 16);
	memcpy(p.addr_a, pair_v6_loopback, 16);
	if (net_port_addr_add(p.b, p.addr_b, 0) == 0) { /* else: no IPv6 here */
		struct net_port *a = p.a;
		struct net_tx tx = pair_run(&p, 1040, 1040 * 20);

		p.a = p.b; /* ::1 is but one address: it talks to itself */
		pair_tx(&p, tx, 0);
		pair_flush(&p);
		pair_rx(&p, 20, PAIR_PKTS_MAX);
		for (uint32_t i = 0; i < 20; i++)
			pair_check(&p, i, i, 1036);
		ck_assert_mem_eq(p.pkts[0].src, pair_v6_loopback, 16);
		ck_assert_uint_eq(net_port_counters(p.b)->tx_runs, (unsigned)_i);
		p.a = a;
	}
	pair_destroy(&p);
}
END_TEST

START_TEST(port_refuses_to_mix_families)
{
	struct pair p;
	struct net_tx tx;

	pair_create(&p, NET_GSO_ON);
	tx = pair_run(&p, 64, 128);
	memcpy(tx.dst, pair_v6_loopback, 16);
	pair_tx(&p, tx, 0);
	pair_flush(&p);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, 2);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 0);
	pair_destroy(&p);
}
END_TEST

static void add_rule(struct fault_rules *rules, const char *text)
{
	char err[200];
	uint32_t id;

	ck_assert_int_eq(fault_rules_add(rules, 0, text, &id, err, sizeof(err)), 0);
}

START_TEST(port_drops_by_fault_rules)
{
	struct pair p;
	uint32_t number = 0;

	pair_create(&p, _i & 1 ? NET_GSO_ON : NET_GSO_OFF);
	add_rule(_i & 2 ? p.faults_a : p.faults_b, _i & 2 ? "tx drop every=3" : "rx drop every=3");
	pair_tx(&p, pair_run(&p, 100, 29 * 100), 0);
	pair_flush(&p);
	pair_rx(&p, 20, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 20; i++, number++) {
		if (number % 3 == 2)
			number++;
		pair_check(&p, i, number, 96);
	}
	ck_assert_uint_eq(net_port_counters(_i & 2 ? p.a : p.b)->fault_drops, 9);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	pair_destroy(&p);
}
END_TEST

Suite *net_port_suite(void)
{
	Suite *s = suite_create("net_port");
	TCase *t = tcase_create("port");

	tcase_add_loop_test(t, port_delivers_runs_as_sent, 0, sizeof(runs) / sizeof(runs[0]));
	tcase_add_loop_test(t, port_delivers_runs_whose_ends_are_longer, 0,
			    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(t, port_sends_and_receives_a_run_in_one_call);
	tcase_add_test(t, port_merges_equal_runs);
	tcase_add_test(t, port_ends_a_run_at_64_packets);
	tcase_add_test(t, port_does_not_merge_what_differs);
	tcase_add_test(t, port_sends_more_than_its_arena_holds);
	tcase_add_test(t, port_sends_many_flows_at_once);
	tcase_add_test(t, port_hands_out_no_more_than_asked);
	tcase_add_test(t, port_keeps_to_one_source_port_a_hash);
	tcase_add_test(t, port_takes_another_source_port_where_one_is_taken);
	tcase_add_loop_test(t, port_names_who_holds_its_place, 0, 3);
	tcase_add_test(t, port_says_that_an_address_is_not_here);
	tcase_add_loop_test(t, port_serves_many_addresses, 0, 5);
	tcase_add_test(t, port_starves_no_address);
	tcase_add_test(t, port_forgets_a_deleted_address);
	tcase_add_loop_test(t, port_speaks_ipv6, 0, 2);
	tcase_add_test(t, port_refuses_to_mix_families);
	tcase_add_loop_test(t, port_drops_by_fault_rules, 0, 4);
	suite_add_tcase(s, t);
	return s;
}
