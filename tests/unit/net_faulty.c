/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of ports with fault rules: what leaves one port, or comes to the other, by which rule. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "net_pair.h"
#include "net_suites.h"

enum { SEG = 1000, DQPN = 0x1234, RUN = 6 };

static void rule(struct pair *p, struct fault_rules *rules, const char *text)
{
	char err[FAULT_ERROR_MAX] = "";
	uint32_t id;

	ck_assert_msg(fault_rules_add(rules, p->now, text, &id, err, sizeof(err)) == 0, "%s", err);
}

/* RUN packets of one run, PSNs 0 to RUN - 1, their payloads full of it. */
static void run_send(struct pair *p)
{
	struct net_tx tx = pair_run(p, SEG, SEG * RUN);

	tx.qpn = 0x77;
	tx.data = net_port_tx_alloc(p->a, tx.len);
	for (uint32_t i = 0; i < RUN; i++) {
		struct bth_packet pkt = {.opcode = BTH_OPCODE(BTH_RC, BTH_SEND_MIDDLE),
					 .pkey = 0xffff,
					 .dqpn = DQPN,
					 .psn = i};
		uint8_t *at = tx.data + (size_t)i * SEG;

		memset(at, (int)i, SEG);
		bth_encode_headers(&pkt, at);
	}
	net_port_time(p->a, p->now);
	net_port_tx(p->a, &tx);
	net_port_flush(p->a, p->now);
}

static uint32_t psn_at(const struct pair *p, uint32_t index)
{
	struct bth_packet pkt;

	ck_assert_uint_eq(p->pkts[index].len, SEG - BTH_ICRC_LEN);
	ck_assert_int_eq(bth_decode(p->pkts[index].data, p->pkts[index].len, &pkt), BTH_OK);
	return pkt.psn;
}

static uint8_t payload_at(const struct pair *p, uint32_t index)
{
	return p->pkts[index].data[BTH_LEN];
}

/* These came, in this order, whole. */
static void came(struct pair *p, const char *psns)
{
	uint32_t n = (uint32_t)strlen(psns);

	pair_rx(p, n, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(psn_at(p, i), (uint32_t)(psns[i] - '0'));
		ck_assert_uint_eq(payload_at(p, i), (uint32_t)(psns[i] - '0'));
	}
}

static void nothing_waits(const struct pair *p)
{
	ck_assert_uint_eq(net_port_tx_due(p->a), UINT64_MAX);
	ck_assert_uint_eq(net_port_rx_due(p->b), UINT64_MAX);
}

/* Rules that act alike at both ends, with the packets that come. */
static const struct {
	const char *words, *psns;
} same_rules[] = {
	{"drop psn=2", "01345"},
	{"duplicate psn=2", "0122345"},
	{"duplicate=3 psn=0", "0000"
			      "12345"},
	{"duplicate every=1", "001122334455"},
	{"reorder psn=1", "021345"},
	{"reorder=3 psn=1", "023415"},
	{"reorder=2 psn=0-1", "230145"},
	{"corrupt=psn:4 icrc=right psn=9", "012345"},
	{"drop qp=0x99", "012345"},
};

static void same(enum net_gso gso, bool egress, int i)
{
	struct pair p;
	char text[100];

	pair_create(&p, gso);
	snprintf(text, sizeof(text), "%s %s", egress ? "egress" : "ingress", same_rules[i].words);
	rule(&p, egress ? p.faults_a : p.faults_b, text);
	run_send(&p);
	came(&p, same_rules[i].psns);
	nothing_waits(&p);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	pair_destroy(&p);
}

START_TEST(faulty_runs_leave_as_the_rules_say)
{
	same(NET_GSO_ON, true, _i);
}
END_TEST

START_TEST(faulty_single_packets_leave_as_the_rules_say)
{
	same(NET_GSO_OFF, true, _i);
}
END_TEST

START_TEST(faulty_packets_arrive_as_the_rules_say)
{
	same(NET_GSO_ON, false, _i);
}
END_TEST

START_TEST(faulty_qp_is_ones_own)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress drop qp=0x77 psn=3");
	rule(&p, p.faults_a, "egress drop dqpn=0x1234 psn=4");
	rule(&p, p.faults_b, "ingress drop qp=0x1234 psn=5");
	run_send(&p);
	came(&p, "012");
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	ck_assert_uint_eq(net_port_counters(p.a)->fault_drops, 2);
	ck_assert_uint_eq(net_port_counters(p.b)->fault_drops, 1);
	pair_destroy(&p);
}
END_TEST

/* One that matches nothing, and ones that lose, delay and double nothing of the run, leave it. */
START_TEST(faulty_run_stays_a_run)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress drop opcode=cnp p=1");
	rule(&p, p.faults_a, "egress corrupt=payload icrc=right psn=2");
	run_send(&p);
	pair_rx(&p, RUN, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 1);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_calls, 1);
	ck_assert_str_eq(net_port_tx_mode(p.a), "gso");
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_egress_waits_for_its_time)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress delay=5ms psn=1-2");
	run_send(&p);
	came(&p, "0345");
	ck_assert_uint_eq(net_port_tx_due(p.a), p.now + 5000000);
	p.now += 4999999;
	ck_assert(!net_port_flush(p.a, p.now));
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, 4);
	p.now += 1;
	net_port_flush(p.a, p.now);
	came(&p, "12");
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_ingress_waits_for_its_time)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_b, "ingress delay=5ms psn=1");
	rule(&p, p.faults_b, "ingress duplicate psn=1");
	run_send(&p);
	came(&p, "02345");
	ck_assert_uint_eq(net_port_rx_due(p.b), p.now + 5000000);
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	p.now += 5000000;
	came(&p, "11");
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

/* Taken one by one, a call for each: what is to be given out again stays. */
START_TEST(faulty_late_copies_outlive_the_call)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_b, "ingress delay=5ms psn=1-2");
	rule(&p, p.faults_b, "ingress duplicate=2 psn=1-3");
	run_send(&p);
	came(&p, "033345");
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	p.now += 5000000;
	pair_rx(&p, 6, 1);
	for (uint32_t i = 0; i < 6; i++) {
		ck_assert_uint_eq(psn_at(&p, i), 1 + i / 3);
		ck_assert_uint_eq(payload_at(&p, i), 1 + i / 3);
	}
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_overtaking_has_an_end)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress reorder=100,3ms psn=4");
	rule(&p, p.faults_b, "ingress reorder=100,3ms psn=5");
	run_send(&p);
	came(&p, "0123");
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	p.now += 3000000;
	net_port_flush(p.a, p.now);
	came(&p, "54");
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

/* More copies than there is room for at a time; the receiver need not have room for all. */
START_TEST(faulty_copies_are_of_any_number)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	for (int i = 0; i < 24; i++)
		rule(&p, p.faults_a, "egress duplicate=16 psn=2");
	run_send(&p);
	pair_rx(&p, 3, 3);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, RUN + 24 * 16);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(psn_at(&p, i), i);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

/* A late packet has more copies than there is room for at a time: it is not written over by them,
 * of which each is another packet than it was. */
START_TEST(faulty_late_copies_are_of_any_number)
{
	enum { LARGE = 4096, SEEN = 68 };
	struct pair p;
	struct net_tx tx;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress delay=5ms");
	rule(&p, p.faults_a, "egress corrupt=psn:4 icrc=right");
	for (int i = 0; i < 5; i++)
		rule(&p, p.faults_a, "egress duplicate=16");
	tx = pair_run(&p, LARGE, LARGE);
	pair_tx(&p, tx, 1);
	p.now += 5000000;
	net_port_flush(p.a, p.now);
	pair_rx(&p, SEEN, 1);
	for (uint32_t i = 0; i < SEEN; i++) {
		struct bth_packet pkt;

		ck_assert_int_eq(bth_decode(p.pkts[i].data, p.pkts[i].len, &pkt), BTH_OK);
		ck_assert_uint_eq(pkt.psn, 4);
	}
	ck_assert_uint_eq(net_port_counters(p.a)->tx_datagrams, 1 + 5 * 16);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	nothing_waits(&p);
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_corruption_is_seen_by_the_icrc)
{
	struct pair p;

	pair_create(&p, _i & 1 ? NET_GSO_ON : NET_GSO_OFF);
	if (_i & 2)
		rule(&p, p.faults_a, "egress corrupt=bits:3 psn=2");
	else
		rule(&p, p.faults_b, "ingress corrupt=payload psn=2");
	run_send(&p);
	came(&p, "01345");
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 1);
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_corruption_may_pass_the_icrc)
{
	struct pair p;

	pair_create(&p, _i & 1 ? NET_GSO_ON : NET_GSO_OFF);
	rule(&p, _i & 2 ? p.faults_a : p.faults_b, "both corrupt=payload icrc=right psn=2");
	rule(&p, _i & 2 ? p.faults_a : p.faults_b, "both corrupt=psn:77 icrc=right psn=3");
	run_send(&p);
	pair_rx(&p, RUN, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < RUN; i++) {
		uint32_t other = 0;

		ck_assert_uint_eq(psn_at(&p, i), i == 3 ? 77 : i);
		for (uint32_t k = BTH_LEN; k < SEG - BTH_ICRC_LEN; k++)
			other += p.pkts[i].data[k] != i;
		ck_assert_uint_eq(other, i == 2);
	}
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 0);
	pair_destroy(&p);
}
END_TEST

/* FECN and BECN are not the ICRC's matter. */
START_TEST(faulty_fecn_passes_the_icrc)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, _i ? p.faults_a : p.faults_b, "both corrupt=fecn psn=2");
	run_send(&p);
	pair_rx(&p, RUN, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < RUN; i++)
		ck_assert_uint_eq(p.pkts[i].data[4], i == 2 ? 0x80 : 0);
	pair_destroy(&p);
}
END_TEST

START_TEST(faulty_mark_is_ce)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, _i ? p.faults_a : p.faults_b, "both mark=ce psn=2");
	run_send(&p);
	pair_rx(&p, RUN, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < RUN; i++)
		ck_assert_uint_eq(p.pkts[i].tos & 3, i == 2 ? 3 : 0);
	pair_destroy(&p);
}
END_TEST

/* Late packets of an address that goes, or of a port that ends. */
START_TEST(faulty_late_packets_go_with_their_address)
{
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	rule(&p, p.faults_a, "egress delay=5ms psn=1-3");
	rule(&p, p.faults_b, "ingress delay=5ms psn=4");
	run_send(&p);
	came(&p, "05");
	ck_assert_uint_eq(net_port_rx(p.b, p.now, p.pkts, PAIR_PKTS_MAX), 0);
	if (_i) {
		net_port_addr_del(p.a, p.addr_a, 0);
		net_port_addr_del(p.b, p.addr_b, 0);
		ck_assert_uint_eq(net_port_rx_due(p.b), UINT64_MAX);
		p.now += 5000000;
		net_port_flush(p.a, p.now);
		ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, 3);
	}
	pair_destroy(&p);
}
END_TEST

Suite *net_faulty_suite(void)
{
	Suite *s = suite_create("net_faulty");
	TCase *t = tcase_create("ports");
	int n = sizeof(same_rules) / sizeof(same_rules[0]);

	tcase_add_loop_test(t, faulty_runs_leave_as_the_rules_say, 0, n);
	tcase_add_loop_test(t, faulty_single_packets_leave_as_the_rules_say, 0, n);
	tcase_add_loop_test(t, faulty_packets_arrive_as_the_rules_say, 0, n);
	tcase_add_test(t, faulty_qp_is_ones_own);
	tcase_add_test(t, faulty_run_stays_a_run);
	tcase_add_test(t, faulty_egress_waits_for_its_time);
	tcase_add_test(t, faulty_ingress_waits_for_its_time);
	tcase_add_test(t, faulty_late_copies_outlive_the_call);
	tcase_add_test(t, faulty_overtaking_has_an_end);
	tcase_add_test(t, faulty_copies_are_of_any_number);
	tcase_add_test(t, faulty_late_copies_are_of_any_number);
	tcase_add_loop_test(t, faulty_corruption_is_seen_by_the_icrc, 0, 4);
	tcase_add_loop_test(t, faulty_corruption_may_pass_the_icrc, 0, 4);
	tcase_add_loop_test(t, faulty_fecn_passes_the_icrc, 0, 2);
	tcase_add_loop_test(t, faulty_mark_is_ce, 0, 2);
	tcase_add_loop_test(t, faulty_late_packets_go_with_their_address, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
