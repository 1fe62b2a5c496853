/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marks, CNPs and pacing as a peer of one QP sees them. */
#include "config.h"

#include <string.h>

#include "bth/psn.h"
#include "rnic/cc.h"
#include "rnic_lone.h"

#define CE 3
#define ECT0 2
#define DSCP48 (48 << 2)
#define MTU 1024
/* Of a MIDDLE, with Ethernet, IPv4 and UDP: 1082 bytes, which take 432.8 ns of 20 Gbit/s. */
#define WIRE_NS 433
/* Of socket memory, as rnic/peer.h reckons: twice the packet with its headers, and 768 bytes. */
#define WINDOW_COST (2 * (MTU + 60) + 768)

static struct lone l;

static void begin_window(enum cc_mode mode, enum rnic_qp_state state, uint32_t window)
{
	struct sim_end_config cfg = sim_end_default;
	struct cc_params p = cc_params_default;

	cfg.mtu = RNIC_MTU_1024;
	p.mode = mode;
	lone_begin_window(&l, &cfg, state, window);
	rnic_cc_set(l.world.node[0].dev, &p);
}

static void begin(enum cc_mode mode, enum rnic_qp_state state)
{
	begin_window(mode, state, 0);
}

static const struct rnic_counters *counters(void)
{
	return rnic_device_counters(l.world.node[0].dev);
}

static void inject_send(uint32_t psn, uint8_t traffic_class)
{
	struct bth_packet pkt = lone_packet(BTH_SEND_ONLY, psn);

	pkt.ackreq = false;
	l.traffic_class = traffic_class;
	lone_receive(&l, 64);
	lone_inject(&l, &pkt);
	l.traffic_class = 0;
}

static void inject_cnp(void)
{
	struct bth_packet pkt = {.opcode = BTH_OPCODE_CNP, .becn = true};

	lone_inject(&l, &pkt);
}

static uint64_t rate(void)
{
	uint32_t alpha;

	return rnic_qp_cc_rate(l.end.qp, l.world.now, &alpha);
}

static uint32_t cnps_sent(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l.n_sent; i++)
		n += l.sent[i].pkt.opcode == BTH_OPCODE_CNP;
	return n;
}

START_TEST(mark_is_answered_with_a_cnp)
{
	begin(CC_DCQCN, RNIC_QPS_RTR);
	inject_send(LONE_RQ_PSN, DSCP48 | CE);
	ck_assert_uint_ge(l.n_sent, 1);
	ck_assert_uint_eq(l.sent[0].pkt.opcode, BTH_OPCODE_CNP);
	ck_assert(l.sent[0].pkt.becn);
	ck_assert(!l.sent[0].pkt.ackreq);
	ck_assert_uint_eq(l.sent[0].pkt.dqpn, LONE_PEER_QPN);
	ck_assert_uint_eq(l.sent[0].pkt.psn, 0);
	ck_assert_uint_eq(l.sent[0].traffic_class, DSCP48);
	ck_assert_uint_eq(counters()->np_cnp_sent, 1);
	ck_assert_uint_eq(counters()->np_ecn_marked_roce_packets, 1);
	lone_end(&l);
}
END_TEST

START_TEST(no_mark_means_no_cnp)
{
	begin(CC_DCQCN, RNIC_QPS_RTR);
	for (uint32_t ecn = 0; ecn < CE; ecn++)
		inject_send(LONE_RQ_PSN + ecn, (uint8_t)ecn);
	ck_assert_uint_eq(cnps_sent(), 0);
	ck_assert_uint_eq(counters()->np_ecn_marked_roce_packets, 0);
	lone_end(&l);
}
END_TEST

START_TEST(cnps_of_a_qp_keep_their_distance)
{
	uint64_t start;

	begin(CC_DCQCN, RNIC_QPS_RTR);
	start = l.world.now;
	inject_send(LONE_RQ_PSN, CE);
	inject_send(LONE_RQ_PSN + 1, CE);
	l.world.now = start + 50000 - 1;
	inject_send(LONE_RQ_PSN + 2, CE);
	ck_assert_uint_eq(cnps_sent(), 1);
	l.world.now = start + 50000;
	inject_send(LONE_RQ_PSN + 3, CE);
	ck_assert_uint_eq(cnps_sent(), 2);
	ck_assert_uint_eq(counters()->np_ecn_marked_roce_packets, 4);
	lone_end(&l);
}
END_TEST

START_TEST(cnp_has_the_dscp_that_is_set)
{
	struct cc_params p = cc_params_default;

	begin(CC_DCQCN, RNIC_QPS_RTR);
	p.np_cnp_dscp = 10;
	rnic_cc_set(l.world.node[0].dev, &p);
	inject_send(LONE_RQ_PSN, CE);
	ck_assert_uint_eq(l.sent[0].traffic_class, 10 << 2);
	lone_end(&l);
}
END_TEST

START_TEST(marks_are_not_answered_where_control_is_off)
{
	begin(CC_NONE, RNIC_QPS_RTR);
	inject_send(LONE_RQ_PSN, CE);
	ck_assert_uint_eq(cnps_sent(), 0);
	ck_assert_uint_eq(counters()->np_ecn_marked_roce_packets, 1);
	lone_end(&l);
}
END_TEST

START_TEST(packets_say_that_they_may_be_marked)
{
	static const struct {
		enum cc_mode mode;
		uint8_t set, seen;
	} cases[] = {
		{CC_NONE, 0x68, 0x68}, {CC_WINDOW, 0x68, 0x68}, {CC_DCQCN, 0x68, 0x68 | ECT0},
		{CC_DCQCN, 0, ECT0},   {CC_DCQCN, 0x69, 0x69},	{CC_DCQCN, 0x6b, 0x6b},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rnic_qp_attr attr;
		struct bth_packet pkt;

		begin(cases[i].mode, RNIC_QPS_RTS);
		rnic_qp_query(l.end.qp, &attr);
		attr.av.traffic_class = cases[i].set;
		attr.state = RNIC_QPS_SQD;
		ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE, 0), 0);
		ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE | RNIC_QP_AV, 0), 0);
		attr.state = RNIC_QPS_RTS;
		ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE, 0), 0);
		lone_post(&l, RNIC_WR_SEND, 8);
		lone_kick(&l);
		pkt = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 8);
		lone_inject(&l, &pkt);
		pkt = lone_request(&l, BTH_WRITE_ONLY, LONE_RQ_PSN + 1, 8);
		pkt.payload_len = 8;
		lone_inject(&l, &pkt);
		lone_post(&l, RNIC_WR_READ, 8);
		lone_kick(&l);
		/* SEND, response, ACK, READ request */
		ck_assert_uint_eq(l.n_sent, 4);
		for (uint32_t k = 0; k < l.n_sent; k++)
			ck_assert_uint_eq(l.sent[k].traffic_class, cases[i].seen);
		lone_end(&l);
	}
}
END_TEST

START_TEST(cnp_cuts_the_rate_and_spaces_the_packets)
{
	begin(CC_DCQCN, RNIC_QPS_RTS);
	ck_assert_uint_eq(rate(), 0);
	inject_cnp();
	ck_assert_uint_eq(counters()->rp_cnp_handled, 1);
	ck_assert_uint_eq(rate(), 20000000000);
	lone_post(&l, RNIC_WR_SEND, 20 * MTU);
	lone_kick(&l);
	ck_assert_uint_eq(l.n_sent, 1);
	lone_until(&l, l.world.now + 100000);
	ck_assert_uint_eq(l.n_sent, 20);
	for (uint32_t i = 1; i < l.n_sent; i++)
		ck_assert_uint_eq(l.sent[i].at, l.sent[0].at + (uint64_t)i * WIRE_NS);
	lone_end(&l);
}
END_TEST

START_TEST(responses_are_spaced_too)
{
	struct bth_packet pkt;
	uint64_t at;

	begin(CC_DCQCN, RNIC_QPS_RTS);
	inject_cnp();
	pkt = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 20 * MTU);
	at = l.world.now;
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(l.n_sent, 1);
	lone_until(&l, at + 5 * WIRE_NS);
	ck_assert_uint_ge(l.n_sent, 5);
	ck_assert_uint_le(l.n_sent, 6);
	lone_until(&l, at + 100000);
	ck_assert_uint_eq(l.n_sent, 20);
	lone_end(&l);
}
END_TEST

/* The peer asks for more whenever it has been answered. */
START_TEST(reads_of_the_peer_leave_room_for_requests)
{
	uint32_t psn = LONE_RQ_PSN, sends = 0;

	begin(CC_DCQCN, RNIC_QPS_RTS);
	inject_cnp();
	for (int i = 0; i < 3; i++, psn += 4) {
		struct bth_packet pkt = lone_request(&l, BTH_READ_REQUEST, psn, 4 * MTU);

		lone_inject(&l, &pkt);
	}
	lone_post(&l, RNIC_WR_SEND, MTU);
	lone_kick(&l);
	for (int i = 0; i < 12; i++)
		lone_until(&l, l.world.now + WIRE_NS);
	for (uint32_t i = 0; i < l.n_sent && i < 6; i++)
		sends += bth_opcode_op(l.sent[i].pkt.opcode) == BTH_SEND_ONLY;
	ck_assert_uint_eq(sends, 1);
	lone_end(&l);
}
END_TEST

START_TEST(uc_is_paced_like_rc)
{
	struct sim_end_config cfg = sim_end_default;

	cfg.mtu = RNIC_MTU_1024;
	cfg.type = RNIC_QPT_UC;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	rnic_cc_set(l.world.node[0].dev, &cc_params_default);
	inject_cnp();
	lone_post(&l, RNIC_WR_SEND, 20 * MTU);
	lone_kick(&l);
	ck_assert_uint_eq(l.n_sent, 1);
	ck_assert_uint_eq(l.sent[0].traffic_class, ECT0);
	lone_until(&l, l.world.now + 100000);
	ck_assert_uint_eq(l.n_sent, 20);
	ck_assert_uint_eq(l.sent[19].at, l.sent[0].at + 19ull * WIRE_NS);
	lone_end(&l);
}
END_TEST

START_TEST(ud_takes_no_notice)
{
	struct sim_end_config cfg = sim_end_default;

	cfg.type = RNIC_QPT_UD;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	rnic_cc_set(l.world.node[0].dev, &cc_params_default);
	inject_cnp();
	ck_assert_uint_eq(counters()->rp_cnp_ignored, 1);
	ck_assert_uint_eq(rate(), 0);
	lone_end(&l);
}
END_TEST

START_TEST(qp_without_a_cnp_sends_at_once)
{
	begin(CC_DCQCN, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 20 * MTU);
	lone_kick(&l);
	ck_assert_uint_eq(l.n_sent, 20);
	lone_end(&l);
}
END_TEST

START_TEST(idle_limited_qp_has_no_timer)
{
	begin(CC_DCQCN, RNIC_QPS_RTS);
	inject_cnp();
	ck_assert_uint_eq(l.world.node[0].timer, UINT64_MAX);
	l.world.now += SIM_S;
	ck_assert_uint_eq(rate(), 0);
	lone_end(&l);
}
END_TEST

START_TEST(limited_qp_asks_for_acknowledgements_in_time)
{
	struct cc_params p = cc_params_default;
	uint32_t asked = 0;

	begin(CC_DCQCN, RNIC_QPS_RTS);
	p.rp_rate_to_set_on_first_cnp = 100; /* a packet each 86 us */
	rnic_cc_set(l.world.node[0].dev, &p);
	inject_cnp();
	p.rp_time_reset = 100000;
	rnic_cc_set(l.world.node[0].dev, &p);
	lone_post(&l, RNIC_WR_SEND, 8 * MTU);
	lone_kick(&l);
	lone_until(&l, l.world.now + SIM_MS);
	ck_assert_uint_eq(l.n_sent, 8);
	for (uint32_t i = 0; i < l.n_sent; i++)
		asked += l.sent[i].pkt.ackreq;
	ck_assert_uint_eq(asked, 8);
	lone_end(&l);
}
END_TEST

START_TEST(cnp_is_ignored_where_control_is_off)
{
	begin(CC_WINDOW, RNIC_QPS_RTS);
	inject_cnp();
	ck_assert_uint_eq(counters()->rp_cnp_ignored, 1);
	ck_assert_uint_eq(rate(), 0);
	lone_end(&l);
}
END_TEST

START_TEST(control_that_is_turned_off_lets_qps_go)
{
	struct cc_params p = cc_params_default;

	begin(CC_DCQCN, RNIC_QPS_RTS);
	inject_cnp();
	lone_post(&l, RNIC_WR_SEND, 20 * MTU);
	lone_kick(&l);
	ck_assert_uint_eq(l.n_sent, 1);
	p.mode = CC_NONE;
	rnic_cc_set(l.world.node[0].dev, &p);
	lone_until_timer(&l);
	ck_assert_uint_eq(l.n_sent, 20);
	lone_end(&l);
}
END_TEST

/* How many packets it sends unacknowledged, with room for 16 of them, before and after a loss. */
static void in_flight(enum cc_mode mode, uint32_t before, uint32_t after)
{
	begin_window(mode, RNIC_QPS_RTS, 16 * WINDOW_COST);
	lone_post(&l, RNIC_WR_SEND, 40 * MTU);
	lone_kick(&l);
	ck_assert_uint_eq(l.n_sent, before);
	lone_forget(&l);
	lone_ack(&l, LONE_SQ_PSN, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	lone_work(&l);
	ck_assert_uint_eq(l.n_sent, after);
	lone_end(&l);
}

START_TEST(window_is_halved_by_a_loss)
{
	in_flight(CC_WINDOW, 16, 8);
	in_flight(CC_DCQCN, 16, 8);
}
END_TEST

START_TEST(window_stays_where_there_is_no_control)
{
	in_flight(CC_NONE, 16, 16);
}
END_TEST

START_TEST(cnp_of_a_stranger_is_ignored)
{
	struct bth_packet pkt = {.opcode = BTH_OPCODE_CNP, .becn = true};

	begin(CC_DCQCN, RNIC_QPS_RTS);
	l.world.node[1].gid[15] = 99; /* where it comes from */
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(counters()->rp_cnp_ignored, 1);
	ck_assert_uint_eq(rate(), 0);
	lone_end(&l);
}
END_TEST

START_TEST(qp_that_begins_anew_has_no_rate)
{
	struct rnic_qp_attr attr = {.state = RNIC_QPS_RESET};

	begin(CC_DCQCN, RNIC_QPS_RTS);
	inject_cnp();
	ck_assert_uint_ne(rate(), 0);
	ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE, l.world.now), 0);
	ck_assert_uint_eq(rate(), 0);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		mark_is_answered_with_a_cnp,
		no_mark_means_no_cnp,
		cnps_of_a_qp_keep_their_distance,
		cnp_has_the_dscp_that_is_set,
		marks_are_not_answered_where_control_is_off,
		packets_say_that_they_may_be_marked,
		cnp_cuts_the_rate_and_spaces_the_packets,
		responses_are_spaced_too,
		reads_of_the_peer_leave_room_for_requests,
		uc_is_paced_like_rc,
		ud_takes_no_notice,
		qp_without_a_cnp_sends_at_once,
		idle_limited_qp_has_no_timer,
		limited_qp_asks_for_acknowledgements_in_time,
		cnp_is_ignored_where_control_is_off,
		control_that_is_turned_off_lets_qps_go,
		cnp_of_a_stranger_is_ignored,
		qp_that_begins_anew_has_no_rate,
		window_is_halved_by_a_loss,
		window_stays_where_there_is_no_control,
	};

	return fixture_run("rnic_cc", tests, sizeof(tests) / sizeof(tests[0]));
}
