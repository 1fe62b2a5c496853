/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Flow control by credits in AETHs: IBA vol. 1, 9.7.7.2 (unverified). */
#include "config.h"

#include <string.h>

#include "rnic_lone.h"

#define NO_LIMIT 31

static const struct sim_end_config *config(void)
{
	static struct sim_end_config cfg;

	cfg = sim_end_default;
	cfg.recv_room = 64;
	return &cfg;
}

static void begin(struct lone *l)
{
	lone_begin(l, config(), RNIC_QPS_RTS);
	rnic_credits_set(l->world.node[0].dev, true);
}

/* The table of the specification. */
START_TEST(credit_codes_are_those_of_the_specification)
{
	static const uint32_t counts[] = {0,	1,    2,    3,	   4,	  6,	 8,    12,
					  16,	24,   32,   48,	   64,	  96,	 128,  192,
					  256,	384,  512,  768,   1024,  1536,	 2048, 3072,
					  4096, 6144, 8192, 12288, 16384, 24576, 32768};

	for (uint8_t code = 0; code < NO_LIMIT; code++) {
		ck_assert_uint_eq(aeth_credits(code), counts[code]);
		ck_assert_uint_eq(aeth_credit_code(counts[code]), code);
		if (code >= 4) /* never more than there are */
			ck_assert_uint_eq(aeth_credit_code(counts[code] - 1), code - 1);
	}
	ck_assert_uint_eq(aeth_credits(NO_LIMIT), AETH_CREDITS_NONE);
	ck_assert_uint_eq(aeth_credit_code(UINT32_MAX), 30);
}
END_TEST

START_TEST(ack_tells_how_many_receives_are_posted)
{
	static const uint8_t codes[] = {4, 4, 3, 2, 1, 0}; /* of 5 receives and less */
	struct bth_packet pkt;
	struct lone l;

	begin(&l);
	for (int i = 0; i < 6; i++)
		lone_receive(&l, 100);
	for (uint32_t i = 0; i < 6; i++) {
		pkt = lone_packet(BTH_SEND_ONLY, LONE_RQ_PSN + i);
		lone_inject(&l, &pkt);
		ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN + i)->pkt.syndrome,
				  codes[i]);
	}
	lone_end(&l);
}
END_TEST

/* The message that has begun holds a receive, which its own completion gives back. */
START_TEST(ack_within_a_message_counts_the_receive_that_it_fills)
{
	struct bth_packet pkt;
	struct lone l;

	begin(&l);
	lone_receive(&l, 5000);
	pkt = lone_packet(BTH_SEND_FIRST, LONE_RQ_PSN);
	pkt.payload_len = 1024;
	pkt.ackreq = true;
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN)->pkt.syndrome, 1);
	lone_end(&l);
}
END_TEST

START_TEST(responses_to_reads_and_atomics_tell_credits)
{
	struct bth_packet pkt;
	struct lone l;

	begin(&l);
	lone_receive(&l, 100);
	lone_receive(&l, 100);
	pkt = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 8);
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_ONLY, LONE_RQ_PSN)->pkt.syndrome, 2);
	pkt = lone_request(&l, BTH_FETCH_ADD, LONE_RQ_PSN + 1, 0);
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, LONE_RQ_PSN + 1)->pkt.syndrome, 2);
	lone_end(&l);
}
END_TEST

START_TEST(no_limit_is_told_when_credits_are_off)
{
	struct bth_packet pkt;
	struct lone l;

	lone_begin(&l, config(), RNIC_QPS_RTS);
	lone_receive(&l, 100);
	pkt = lone_packet(BTH_SEND_ONLY, LONE_RQ_PSN);
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN)->pkt.syndrome, NO_LIMIT);
	/* Nor is a limit heeded. */
	for (int i = 0; i < 3; i++)
		lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_ack(&l, LONE_SQ_PSN, AETH_ACK, 0);
	for (uint32_t i = 0; i < 3; i++)
		lone_next(&l, BTH_SEND_ONLY, (LONE_SQ_PSN + i) & 0xffffff);
	lone_end(&l);
}
END_TEST

START_TEST(qp_with_an_srq_has_no_credits_to_give)
{
	struct sim_end_config cfg = *config();
	struct sim_queues queue;
	struct rnic_srq *srq;
	struct rnic_pd *pd;
	struct bth_packet pkt;
	struct lone l;

	/* The SRQ must be there before the QP. */
	memset(&l, 0, sizeof(l));
	begin(&l);
	sim_queues_begin(&queue, 1, 4);
	ck_assert_int_eq(rnic_pd_create(l.world.node[0].dev, &pd), 0);
	ck_assert_int_eq(rnic_srq_create(pd, 1, 0, &sim_personality, &queue, &srq), 0);
	sim_end_end(&l.end);
	cfg.srq = srq;
	sim_end_begin(&l.end, &l.world, 0, &cfg);
	lone_connect(&l.end, RNIC_QPS_RTS);
	sim_queue_recv(&queue)->num_sge = 0;
	sim_queue_recv_post(&queue);
	pkt = lone_packet(BTH_SEND_ONLY, LONE_RQ_PSN);
	lone_inject(&l, &pkt);
	ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN)->pkt.syndrome, NO_LIMIT);
	sim_end_end(&l.end);
	ck_assert_int_eq(rnic_srq_destroy(srq), 0);
	ck_assert_int_eq(rnic_pd_destroy(pd), 0);
	sim_queues_end(&queue);
	ck_assert(sim_world_end(&l.world));
}
END_TEST

static uint32_t sq_psn(uint32_t n)
{
	return (LONE_SQ_PSN + n) & 0xffffff;
}

START_TEST(requester_begins_no_more_messages_than_it_has_credits)
{
	struct lone l;

	begin(&l);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(0));
	lone_ack(&l, sq_psn(0), AETH_ACK, 2);
	for (int i = 0; i < 5; i++)
		lone_post(&l, i == 1 ? RNIC_WR_SEND_IMM : RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(1));
	lone_next(&l, BTH_SEND_ONLY_IMM, sq_psn(2));
	lone_silent(&l);
	lone_ack(&l, sq_psn(1), AETH_ACK, 3);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(3));
	lone_next(&l, BTH_SEND_ONLY, sq_psn(4));
	lone_silent(&l);
	lone_ack(&l, sq_psn(4), AETH_ACK, NO_LIMIT);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(5));
	lone_end(&l);
}
END_TEST

/* A packet at a time, to learn of new receives; then the rest. */
START_TEST(requester_without_credits_sends_one_packet)
{
	struct lone l;

	begin(&l);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(0));
	lone_ack(&l, sq_psn(0), AETH_ACK, 0);
	lone_post(&l, RNIC_WR_SEND, 3000);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	ck_assert(lone_next(&l, BTH_SEND_FIRST, sq_psn(1))->pkt.ackreq);
	lone_silent(&l);
	lone_ack(&l, sq_psn(1), AETH_ACK, 1);
	lone_next(&l, BTH_SEND_MIDDLE, sq_psn(2));
	lone_next(&l, BTH_SEND_LAST, sq_psn(3));
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

/* A WRITE with immediate takes its receive at its end. */
START_TEST(requester_without_credits_gets_a_write_with_immediate_through)
{
	struct lone l;

	begin(&l);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(0));
	lone_ack(&l, sq_psn(0), AETH_ACK, 0);
	lone_post(&l, RNIC_WR_WRITE_IMM, 3000);
	lone_kick(&l);
	lone_next(&l, BTH_WRITE_FIRST, sq_psn(1));
	lone_ack(&l, sq_psn(1), AETH_ACK, 0);
	ck_assert(lone_next(&l, BTH_WRITE_MIDDLE, sq_psn(2))->pkt.ackreq);
	lone_ack(&l, sq_psn(2), AETH_ACK, 0);
	lone_next(&l, BTH_WRITE_LAST_IMM, sq_psn(3));
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(writes_and_reads_need_no_credits)
{
	struct lone l;

	begin(&l);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_next(&l, BTH_SEND_ONLY, sq_psn(0));
	lone_ack(&l, sq_psn(0), AETH_ACK, 0);
	lone_post(&l, RNIC_WR_WRITE, 2000);
	lone_post(&l, RNIC_WR_READ, 8);
	lone_kick(&l);
	lone_next(&l, BTH_WRITE_FIRST, sq_psn(1));
	lone_next(&l, BTH_WRITE_LAST, sq_psn(2));
	lone_next(&l, BTH_READ_REQUEST, sq_psn(3));
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		credit_codes_are_those_of_the_specification,
		ack_tells_how_many_receives_are_posted,
		ack_within_a_message_counts_the_receive_that_it_fills,
		responses_to_reads_and_atomics_tell_credits,
		no_limit_is_told_when_credits_are_off,
		qp_with_an_srq_has_no_credits_to_give,
		requester_begins_no_more_messages_than_it_has_credits,
		requester_without_credits_sends_one_packet,
		requester_without_credits_gets_a_write_with_immediate_through,
		writes_and_reads_need_no_credits,
	};

	return fixture_run("rnic_credit", tests, (int)(sizeof(tests) / sizeof(tests[0])));
}
