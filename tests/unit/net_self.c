/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port whose packets go to its own addresses, or to another daemon of this host. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "bth/opcode.h"
#include "net_pair.h"
#include "net_suites.h"

enum { DATA_LEN = 36, ACK_LEN = 20 };

/* A WRITE Only of 2 bytes, or an acknowledgement. */
static void tx_small(struct net_port *port, const uint8_t src[16], const uint8_t dst[16], bool ack)
{
	uint32_t len = ack ? ACK_LEN : DATA_LEN;
	struct net_tx tx = {.sport_hash = 0x1abc, .seg = len, .len = len};

	memcpy(tx.src, src, 16);
	memcpy(tx.dst, dst, 16);
	tx.data = net_port_tx_alloc(port, len);
	memset(tx.data, 0, len);
	tx.data[0] = BTH_OPCODE(BTH_RC, ack ? BTH_ACKNOWLEDGE : BTH_WRITE_ONLY);
	net_port_tx(port, &tx);
}

static uint8_t opcode_of(const struct net_rx *r)
{
	return bth_opcode_op(r->data[0]);
}

START_TEST(port_sends_an_acknowledgement_behind_a_reply_in_one_run_on_this_host)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	tx_small(p.a, p.addr_a, p.addr_b, false);
	tx_small(p.a, p.addr_a, p.addr_b, true);
	pair_flush(&p);
	pair_rx(&p, 2, PAIR_PKTS_MAX);
	ck_assert_uint_eq(opcode_of(&p.pkts[0]), BTH_WRITE_ONLY);
	ck_assert_uint_eq(opcode_of(&p.pkts[1]), BTH_ACKNOWLEDGE);
	ck_assert_uint_eq(p.pkts[1].len, ACK_LEN - 4);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 1);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, 1);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_sends_acknowledgements_one_by_one)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (int i = 0; i < 3; i++)
		tx_small(p.a, p.addr_a, p.addr_b, true);
	pair_flush(&p);
	pair_rx(&p, 3, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 0);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_appends_no_acknowledgement_where_no_runs_are_sent)
{
	struct pair p;

	pair_create(&p, NET_GSO_OFF);
	tx_small(p.a, p.addr_a, p.addr_b, false);
	tx_small(p.a, p.addr_a, p.addr_b, true);
	pair_flush(&p);
	pair_rx(&p, 2, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 0);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, 0);
	pair_destroy(&p);
}
END_TEST

/* What it has sent to itself it receives by one call, and knows that there is no more. */
START_TEST(port_receives_from_itself_what_it_has_sent)
{
	struct net_rx pkts[PAIR_PKTS_MAX];
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (uint32_t n = 1; n <= 3; n++) {
		uint64_t calls = net_port_counters(p.a)->rx_calls;

		for (uint32_t i = 0; i < n; i++)
			tx_small(p.a, p.addr_a, p.addr_a, true);
		ck_assert(net_port_flush(p.a, p.now));
		ck_assert_uint_eq(net_port_rx(p.a, p.now, pkts, PAIR_PKTS_MAX), n);
		ck_assert_uint_eq(net_port_rx(p.a, p.now, pkts, PAIR_PKTS_MAX), 0);
		ck_assert_uint_eq(net_port_counters(p.a)->rx_calls, calls + 1);
	}
	ck_assert(!net_port_flush(p.a, p.now));
	pair_destroy(&p);
}
END_TEST

/* A stranger's packet before its own hides nothing for long: who asks again gets the rest. */
START_TEST(port_receives_its_own_behind_those_of_others)
{
	struct net_rx pkts[PAIR_PKTS_MAX];
	uint32_t n = 0;
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	tx_small(p.b, p.addr_b, p.addr_a, true);
	ck_assert(!net_port_flush(p.b, p.now));
	tx_small(p.a, p.addr_a, p.addr_a, true);
	ck_assert(net_port_flush(p.a, p.now));
	for (int i = 0; i < 4 && n < 2; i++)
		n += net_port_rx(p.a, p.now, pkts + n, PAIR_PKTS_MAX - n);
	ck_assert_uint_eq(n, 2);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_receives_from_each_of_its_addresses)
{
	struct net_rx pkts[PAIR_PKTS_MAX];
	uint8_t addr[8][16];
	uint32_t n = 0;
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (uint8_t i = 0; i < 8; i++) {
		pair_v4(addr[i], (uint8_t)(10 + i));
		ck_assert_int_eq(net_port_addr_add(p.a, addr[i], 0), 0);
	}
	for (int i = 0; i < 8; i++)
		tx_small(p.b, p.addr_b, addr[i], true);
	net_port_flush(p.b, p.now);
	for (int i = 0; i < 20 && n < 8; i++)
		n += net_port_rx(p.a, p.now, pkts + n, PAIR_PKTS_MAX - n);
	ck_assert_uint_eq(n, 8);
	pair_destroy(&p);
}
END_TEST

Suite *net_self_suite(void)
{
	Suite *s = suite_create("net self");
	TCase *t = tcase_create("port");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, port_sends_an_acknowledgement_behind_a_reply_in_one_run_on_this_host);
	tcase_add_test(t, port_sends_acknowledgements_one_by_one);
	tcase_add_test(t, port_appends_no_acknowledgement_where_no_runs_are_sent);
	tcase_add_test(t, port_receives_from_itself_what_it_has_sent);
	tcase_add_test(t, port_receives_its_own_behind_those_of_others);
	tcase_add_test(t, port_receives_from_each_of_its_addresses);
	suite_add_tcase(s, t);
	return s;
}
