/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of when a port sends runs and when it does not. */
#include "config.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_pair.h"
#include "net_suites.h"

#define MS UINT64_C(1000000)

enum { SEGS = 10, SEG = 1040, HEADERS = 28 };

static void send_run(struct pair *p)
{
	pair_tx(p, pair_run(p, SEG, SEGS * SEG), 0);
	pair_flush(p);
	pair_rx(p, SEGS, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < SEGS; i++)
		pair_check(p, i, i, SEG - 4);
	ck_assert_uint_eq(net_port_counters(p->b)->icrc_errors, 0);
	ck_assert_uint_eq(net_port_counters(p->b)->icrc_solved, 0);
}

static uint64_t runs_sent(const struct pair *p)
{
	return net_port_counters(p->a)->tx_runs;
}

static int capture_open(uint16_t proto)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(proto));

	ck_assert_int_ge(fd, 0);
	return fd;
}

static const uint16_t protos[] = {ETH_P_ALL, ETH_P_IP, ETH_P_IPV6};

START_TEST(mode_is_single_while_somebody_captures)
{
	uint8_t frame[4096];
	struct pair p;
	uint64_t merged;
	ssize_t n;
	int fd;

	if (!pair_enter_namespace())
		return;
	pair_create(&p, NET_GSO_AUTO);
	send_run(&p);
	ck_assert_str_eq(net_port_tx_mode(p.a), "gso");
	ck_assert_uint_eq(runs_sent(&p), 1);

	fd = capture_open(protos[_i]);
	p.now += 300 * MS;
	for (unsigned i = 0; i < 3; i++) {
		send_run(&p); /* the first of them was a run already when it was noticed */
		while ((n = recv(fd, frame, sizeof(frame), MSG_TRUNC)) > 0)
			ck_assert_int_eq(n, HEADERS + SEG);
	}
	ck_assert_str_eq(net_port_tx_mode(p.a), "single (captured)");
	ck_assert_uint_eq(runs_sent(&p), 1);
	ck_assert_ptr_nonnull(strstr(p.log, "captures"));

	close(fd);
	p.now += 300 * MS;
	send_run(&p); /* notices it */
	merged = net_port_counters(p.b)->rx_merged;
	send_run(&p);
	ck_assert_str_eq(net_port_tx_mode(p.a), "gso");
	ck_assert_uint_eq(runs_sent(&p), 2);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, merged + 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(mode_looks_for_captures_a_few_times_a_second_only)
{
	struct pair p;
	int fd;

	if (!pair_enter_namespace())
		return;
	pair_create(&p, NET_GSO_AUTO);
	send_run(&p);
	fd = capture_open(ETH_P_ALL);
	for (unsigned i = 0; i < 19; i++) {
		p.now += 10 * MS;
		send_run(&p);
	}
	ck_assert_uint_eq(runs_sent(&p), 20);
	p.now += 15 * MS;
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), 20);
	close(fd);
	pair_destroy(&p);
}
END_TEST

START_TEST(mode_looks_for_captures_at_the_first_run_after_a_pause)
{
	struct pair p;
	int fd;

	if (!pair_enter_namespace())
		return;
	pair_create(&p, NET_GSO_AUTO);
	send_run(&p);
	fd = capture_open(ETH_P_ALL);
	p.now += 20 * MS;
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), 1);
	close(fd);
	pair_destroy(&p);
}
END_TEST

START_TEST(mode_on_and_off_do_not_care_about_captures)
{
	struct pair p;
	int fd;

	if (!pair_enter_namespace())
		return;
	fd = capture_open(ETH_P_ALL);
	pair_create(&p, _i ? NET_GSO_ON : NET_GSO_OFF);
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), (unsigned)_i);
	ck_assert_str_eq(net_port_tx_mode(p.a), _i ? "gso" : "single (off)");
	close(fd);
	pair_destroy(&p);
}
END_TEST

START_TEST(mode_ignores_sockets_for_other_protocols)
{
	struct pair p;
	int fd;

	if (!pair_enter_namespace())
		return;
	fd = capture_open(ETH_P_ARP);
	pair_create(&p, NET_GSO_AUTO);
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), 1);
	close(fd);
	pair_destroy(&p);
}
END_TEST

static void set_loopback_mtu(int mtu)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_mtu = mtu};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	ck_assert_int_eq(ioctl(fd, SIOCSIFMTU, &ifr), 0);
	close(fd);
}

START_TEST(mode_is_single_for_a_while_where_runs_are_refused)
{
	struct pair p;

	if (!pair_enter_namespace())
		return;
	pair_create(&p, NET_GSO_AUTO);
	set_loopback_mtu(1000);
	pair_tx(&p, pair_run(&p, SEG, SEGS * SEG), 0);
	pair_flush(&p);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, SEGS); /* singly neither */
	ck_assert_str_eq(net_port_tx_mode(p.a), "single (route)");
	set_loopback_mtu(65536);
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), 0);
	p.now += 60000 * MS;
	pair_flush(&p);
	ck_assert_str_eq(net_port_tx_mode(p.a), "gso");
	send_run(&p);
	ck_assert_uint_eq(runs_sent(&p), 1);
	pair_destroy(&p);
}
END_TEST

Suite *net_mode_suite(void)
{
	Suite *s = suite_create("net_mode");
	TCase *t = tcase_create("mode");

	tcase_set_timeout(t, 20);
	tcase_add_loop_test(t, mode_is_single_while_somebody_captures, 0,
			    sizeof(protos) / sizeof(protos[0]));
	tcase_add_test(t, mode_looks_for_captures_a_few_times_a_second_only);
	tcase_add_test(t, mode_looks_for_captures_at_the_first_run_after_a_pause);
	tcase_add_loop_test(t, mode_on_and_off_do_not_care_about_captures, 0, 2);
	tcase_add_test(t, mode_ignores_sockets_for_other_protocols);
	tcase_add_test(t, mode_is_single_for_a_while_where_runs_are_refused);
	suite_add_tcase(s, t);
	return s;
}
