/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which acknowledgements wait for a reply, for whom, and what ends their waiting. */
#include "config.h"

#include "bth/psn.h"
#include "rnic/device.h"
#include "rnic_lone.h"

#define TRUST 16	 /* replies in time before the first acknowledgement waits */
#define LATE (60 * 1000) /* ns */

static struct lone l;
static uint32_t came, replied; /* messages */

static struct rnic_device *dev(void)
{
	return l.world.node[0].dev;
}

static void begin(bool may_wait)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	rnic_acks_may_wait(dev(), may_wait ? TRUST : 0);
	came = replied = 0;
}

static void end(void)
{
	ck_assert(!rnic_acks_wait(dev()));
	lone_end(&l);
}

static uint32_t message_psn(uint32_t i)
{
	return psn_add(LONE_RQ_PSN, i);
}

static void message_comes(void)
{
	struct bth_packet pkt = lone_request(&l, BTH_WRITE_ONLY, message_psn(came++), 8);

	pkt.payload_len = 8;
	lone_inject(&l, &pkt);
}

static void program_replies(void)
{
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	replied++;
}

static void peer_acks(void)
{
	lone_ack(&l, psn_add(LONE_SQ_PSN, replied - 1), AETH_ACK, 31);
}

static void acked(void)
{
	lone_next(&l, BTH_ACKNOWLEDGE, message_psn(came - 1));
}

static void reply_sent(void)
{
	lone_next(&l, BTH_SEND_ONLY, psn_add(LONE_SQ_PSN, replied - 1));
}

/* n messages that are acknowledged at once and answered after so long. */
static void ping_pong(int n, uint64_t after)
{
	while (n--) {
		message_comes();
		acked();
		l.world.now += after;
		program_replies();
		reply_sent();
		lone_silent(&l);
		peer_acks();
	}
}

START_TEST(ack_waits_for_a_program_that_answers)
{
	begin(true);
	ping_pong(TRUST, 1000);
	for (int i = 0; i < 3; i++) {
		message_comes();
		lone_silent(&l);
		ck_assert(rnic_acks_wait(dev()));
		program_replies();
		reply_sent();
		acked();
		lone_silent(&l);
		ck_assert(!rnic_acks_wait(dev()));
		peer_acks();
	}
	end();
}
END_TEST

START_TEST(ack_never_waits_unless_the_host_looks_after_it)
{
	begin(false);
	ping_pong(4 * TRUST, 1000);
	end();
}
END_TEST

START_TEST(ack_never_waits_for_a_program_that_answers_late)
{
	begin(true);
	ping_pong(4 * TRUST, LATE);
	end();
}
END_TEST

START_TEST(ack_never_waits_in_a_stream_one_way)
{
	begin(true);
	for (int i = 0; i < 4 * TRUST; i++) {
		message_comes();
		acked();
		lone_silent(&l);
	}
	end();
}
END_TEST

START_TEST(ack_in_the_midst_of_a_message_never_waits)
{
	struct bth_packet pkt;

	begin(true);
	ping_pong(TRUST, 1000);
	pkt = lone_request(&l, BTH_WRITE_FIRST, message_psn(came++), 2 * 4096);
	pkt.payload_len = rnic_mtu_bytes(sim_end_default.mtu);
	pkt.dmalen = 2 * pkt.payload_len;
	pkt.ackreq = true;
	lone_inject(&l, &pkt);
	acked();
	end();
}
END_TEST

START_TEST(nak_and_answer_to_a_duplicate_never_wait)
{
	struct bth_packet pkt;

	begin(true);
	ping_pong(TRUST, 1000);
	pkt = lone_request(&l, BTH_WRITE_ONLY, message_psn(came - 1), 8);
	pkt.payload_len = 8;
	lone_inject(&l, &pkt);
	acked();
	pkt.psn = message_psn(came + 1);
	lone_inject(&l, &pkt);
	lone_next(&l, BTH_ACKNOWLEDGE, message_psn(came));
	lone_silent(&l);
	end();
}
END_TEST

START_TEST(ack_leaves_when_another_message_comes_before_the_reply)
{
	begin(true);
	ping_pong(TRUST, 1000);
	message_comes();
	lone_silent(&l);
	message_comes();
	acked();
	lone_silent(&l);
	end();
}
END_TEST

/* One message in vain: twice as many answers are needed before the next waits. */
START_TEST(ack_that_waited_in_vain_is_released_and_trusts_less)
{
	begin(true);
	ping_pong(TRUST, 1000);
	message_comes();
	rnic_acks_release(dev(), l.world.now - 1, l.world.now);
	lone_silent(&l);
	rnic_acks_release(dev(), l.world.now, l.world.now);
	acked();
	ck_assert(!rnic_acks_wait(dev()));
	program_replies();
	reply_sent();
	peer_acks();
	ping_pong(2 * TRUST, 1000);
	message_comes();
	lone_silent(&l);
	program_replies();
	reply_sent();
	acked();
	end();
}
END_TEST

static const enum rnic_qp_state ends[] = {RNIC_QPS_ERR, RNIC_QPS_RESET};

START_TEST(ack_leaves_before_the_qp_changes_its_state)
{
	begin(true);
	ping_pong(TRUST, 1000);
	message_comes();
	lone_silent(&l);
	sim_end_modify(&l.end, ends[_i]);
	acked();
	lone_silent(&l);
	end();
}
END_TEST

START_TEST(ack_leaves_before_the_qp_is_destroyed)
{
	begin(true);
	ping_pong(TRUST, 1000);
	message_comes();
	lone_silent(&l);
	lone_end(&l);
	acked();
}
END_TEST

/* What waited leaves behind the reply, and yet a program that looks at one CQ sees its request
 * done before the reply to it. */
START_TEST(ack_behind_a_message_completes_its_request_first)
{
	struct sim_end_config one_cq = sim_end_default;
	struct bth_packet pkt[2];

	one_cq.one_cq = true;
	lone_begin(&l, &one_cq, RNIC_QPS_RTS);
	came = replied = 0;
	program_replies();
	reply_sent();
	lone_receive(&l, 8);
	pkt[0] = lone_packet(BTH_SEND_ONLY, message_psn(came++));
	pkt[1] = lone_packet(BTH_ACKNOWLEDGE, psn_add(LONE_SQ_PSN, replied - 1));
	pkt[1].syndrome = aeth_syndrome(AETH_ACK, 31);
	lone_inject_two(&l, pkt);
	ck_assert(!lone_completion(&l.end.send_ring, 0, RNIC_WC_SUCCESS)->recv);
	ck_assert(lone_completion(&l.end.send_ring, 0, RNIC_WC_SUCCESS)->recv);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		ack_waits_for_a_program_that_answers,
		ack_never_waits_unless_the_host_looks_after_it,
		ack_never_waits_for_a_program_that_answers_late,
		ack_never_waits_in_a_stream_one_way,
		ack_in_the_midst_of_a_message_never_waits,
		nak_and_answer_to_a_duplicate_never_wait,
		ack_leaves_when_another_message_comes_before_the_reply,
		ack_that_waited_in_vain_is_released_and_trusts_less,
		ack_leaves_before_the_qp_is_destroyed,
		ack_behind_a_message_completes_its_request_first,
	};
	const struct fixture_loop loops[] = {
		{ack_leaves_before_the_qp_changes_its_state, 0, 2},
		{NULL, 0, 0},
	};

	return fixture_run_loops("rnic_hold", NULL, tests, sizeof(tests) / sizeof(tests[0]), loops);
}
