/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a requester sends again, when, and how often (IBA vol. 1, 9.7.5.2, 9.7.6). */
#include "config.h"

#include "bth/psn.h"
#include "rnic_lone.h"

#define MTU 1024u
#define PSN LONE_SQ_PSN
#define FAR (1000 * SIM_S)

static struct lone l;
static struct sim_end_config cfg;

static void begin(void)
{
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
}

static void defaults(void)
{
	cfg = sim_end_default;
}

static void sends(uint32_t n)
{
	while (n--)
		lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
}

static void done_until(uint64_t first, uint64_t end)
{
	for (; first < end; first++)
		lone_completion(&l.end.send_ring, first, RNIC_WC_SUCCESS);
	lone_done(&l.end.send_ring);
}

static void response(enum bth_op op, uint32_t psn, uint32_t len)
{
	struct bth_packet pkt = lone_packet(op, psn);

	pkt.payload_len = len;
	pkt.syndrome = aeth_syndrome(AETH_ACK, 31);
	lone_inject(&l, &pkt);
}

/* ---- sequence errors ---- */

START_TEST(sequence_nak_resends_from_its_psn)
{
	begin();
	sends(3);
	lone_forget(&l);
	lone_ack(&l, PSN + 1, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	done_until(0, 1);
	lone_next(&l, BTH_SEND_ONLY, PSN + 1);
	lone_next(&l, BTH_SEND_ONLY, PSN + 2);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(doubled_sequence_nak_before_the_resend_counts_once)
{
	struct bth_packet nak = lone_packet(BTH_ACKNOWLEDGE, PSN);

	cfg.retry_cnt = 1;
	begin();
	sends(2);
	lone_forget(&l);
	nak.syndrome = aeth_syndrome(AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	for (int i = 0; i < 4; i++)
		lone_inject_bytes(&l, &nak, 0);
	lone_work(&l);
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_next(&l, BTH_SEND_ONLY, PSN + 1);
	lone_silent(&l);
	lone_state(&l, RNIC_QPS_RTS);
	lone_end(&l);
}
END_TEST

START_TEST(sequence_naks_use_up_the_retries)
{
	cfg.retry_cnt = 3;
	begin();
	sends(1);
	for (int i = 0; i < 4; i++)
		lone_ack(&l, PSN, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	for (int i = 0; i < 4; i++)
		lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_RETRY_EXC_ERR);
	lone_state(&l, RNIC_QPS_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(progress_gives_all_retries_back)
{
	cfg.retry_cnt = 1;
	begin();
	sends(10);
	for (uint32_t i = 0; i < 9; i++)
		lone_ack(&l, PSN + i, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	done_until(0, 8);
	lone_ack(&l, PSN + 8, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	lone_completion(&l.end.send_ring, 8, RNIC_WC_RETRY_EXC_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(late_ack_spares_what_has_not_been_resent)
{
	struct bth_packet nak = lone_packet(BTH_ACKNOWLEDGE, PSN),
			  ack = lone_packet(BTH_ACKNOWLEDGE, PSN + 2);

	begin();
	sends(3);
	lone_forget(&l);
	nak.syndrome = aeth_syndrome(AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	ack.syndrome = aeth_syndrome(AETH_ACK, 31);
	lone_inject_bytes(&l, &nak, 0);
	lone_inject_bytes(&l, &ack, 0);
	lone_work(&l);
	lone_silent(&l);
	done_until(0, 3);
	lone_until(&l, FAR);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(resent_message_begins_at_the_missing_packet)
{
	begin();
	lone_post(&l, RNIC_WR_WRITE, 3 * MTU);
	lone_kick(&l);
	lone_next(&l, BTH_WRITE_FIRST, PSN);
	lone_next(&l, BTH_WRITE_MIDDLE, PSN + 1);
	lone_next(&l, BTH_WRITE_LAST, PSN + 2);
	lone_ack(&l, PSN + 1, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
	lone_next(&l, BTH_WRITE_MIDDLE, PSN + 1);
	lone_next(&l, BTH_WRITE_LAST, PSN + 2);
	lone_silent(&l);
	lone_ack(&l, PSN + 2, AETH_ACK, 31);
	done_until(0, 1);
	lone_end(&l);
}
END_TEST

START_TEST(one_ack_completes_all_before_it)
{
	begin();
	sends(5);
	lone_ack(&l, PSN + 3, AETH_ACK, 31);
	done_until(0, 4);
	lone_ack(&l, PSN + 1, AETH_ACK, 31); /* stale */
	lone_done(&l.end.send_ring);
	lone_end(&l);
}
END_TEST

/* ---- READs and atomics ---- */

START_TEST(read_response_gap_is_asked_for_at_once)
{
	const struct lone_sent *s;

	begin();
	lone_post(&l, RNIC_WR_READ, 4 * MTU);
	lone_kick(&l);
	lone_next(&l, BTH_READ_REQUEST, PSN);
	response(BTH_READ_RESPONSE_FIRST, PSN, MTU);
	response(BTH_READ_RESPONSE_MIDDLE, PSN + 2, MTU);
	s = lone_next(&l, BTH_READ_REQUEST, PSN + 1);
	ck_assert_uint_eq(s->pkt.va, 0x5000 + MTU);
	ck_assert_uint_eq(s->pkt.dmalen, 3 * MTU);
	response(BTH_READ_RESPONSE_LAST, PSN + 3, MTU);
	lone_silent(&l); /* once a gap */
	response(BTH_READ_RESPONSE_FIRST, PSN + 1, MTU);
	response(BTH_READ_RESPONSE_MIDDLE, PSN + 2, MTU);
	lone_done(&l.end.send_ring);
	response(BTH_READ_RESPONSE_LAST, PSN + 3, MTU);
	done_until(0, 1);
	lone_until(&l, FAR);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(ack_of_a_later_request_is_an_implied_nak_of_a_read)
{
	begin();
	lone_post(&l, RNIC_WR_READ, 2 * MTU);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_forget(&l);
	lone_ack(&l, PSN + 2, AETH_ACK, 31);
	lone_next(&l, BTH_READ_REQUEST, PSN);
	lone_next(&l, BTH_SEND_ONLY, PSN + 2);
	lone_done(&l.end.send_ring);
	lone_ack(&l, PSN + 2, AETH_ACK, 31);
	lone_silent(&l);
	response(BTH_READ_RESPONSE_FIRST, PSN, MTU);
	response(BTH_READ_RESPONSE_LAST, PSN + 1, MTU);
	done_until(0, 1);
	lone_ack(&l, PSN + 2, AETH_ACK, 31);
	done_until(1, 2);
	lone_end(&l);
}
END_TEST

START_TEST(later_atomic_response_is_an_implied_nak_of_the_first)
{
	begin();
	lone_post(&l, RNIC_WR_FETCH_ADD, 8);
	lone_post(&l, RNIC_WR_FETCH_ADD, 8);
	lone_kick(&l);
	lone_forget(&l);
	response(BTH_ATOMIC_ACKNOWLEDGE, PSN + 1, 0);
	lone_next(&l, BTH_FETCH_ADD, PSN);
	lone_next(&l, BTH_FETCH_ADD, PSN + 1);
	response(BTH_ATOMIC_ACKNOWLEDGE, PSN, 0);
	done_until(0, 1);
	response(BTH_ATOMIC_ACKNOWLEDGE, PSN + 1, 0);
	done_until(1, 2);
	lone_end(&l);
}
END_TEST

START_TEST(read_response_acknowledges_the_sends_before_it)
{
	begin();
	sends(2);
	lone_post(&l, RNIC_WR_READ, 8);
	lone_kick(&l);
	response(BTH_READ_RESPONSE_ONLY, PSN + 2, 8);
	done_until(0, 3);
	lone_end(&l);
}
END_TEST

START_TEST(doubled_read_response_is_taken_once)
{
	begin();
	lone_post(&l, RNIC_WR_READ, 2 * MTU);
	lone_kick(&l);
	lone_forget(&l);
	response(BTH_READ_RESPONSE_FIRST, PSN, MTU);
	response(BTH_READ_RESPONSE_FIRST, PSN, MTU);
	lone_done(&l.end.send_ring);
	response(BTH_READ_RESPONSE_LAST, PSN + 1, MTU);
	response(BTH_READ_RESPONSE_LAST, PSN + 1, MTU);
	done_until(0, 1);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(timeout_in_a_read_asks_for_the_rest_only)
{
	const struct lone_sent *s;

	begin();
	lone_post(&l, RNIC_WR_READ, 4 * MTU);
	lone_kick(&l);
	response(BTH_READ_RESPONSE_FIRST, PSN, MTU);
	response(BTH_READ_RESPONSE_MIDDLE, PSN + 1, MTU);
	lone_forget(&l);
	lone_until(&l, 4 * ib_timeout_ns(cfg.timeout));
	s = lone_next(&l, BTH_READ_REQUEST, PSN + 2);
	ck_assert_uint_eq(s->pkt.va, 0x5000 + 2 * MTU);
	ck_assert_uint_eq(s->pkt.dmalen, 2 * MTU);
	lone_end(&l);
}
END_TEST

START_TEST(reads_beyond_max_rd_atomic_wait)
{
	cfg.max_rd_atomic = 2;
	begin();
	for (int i = 0; i < 3; i++)
		lone_post(&l, RNIC_WR_READ, 8);
	lone_kick(&l);
	lone_next(&l, BTH_READ_REQUEST, PSN);
	lone_next(&l, BTH_READ_REQUEST, PSN + 1);
	lone_silent(&l);
	response(BTH_READ_RESPONSE_ONLY, PSN, 8);
	lone_next(&l, BTH_READ_REQUEST, PSN + 2);
	lone_end(&l);
}
END_TEST

START_TEST(fenced_request_waits_for_the_reads)
{
	begin();
	lone_post(&l, RNIC_WR_READ, 8);
	lone_post(&l, RNIC_WR_SEND, 8)->flags |= RNIC_SEND_FENCE;
	lone_kick(&l);
	lone_next(&l, BTH_READ_REQUEST, PSN);
	lone_silent(&l);
	response(BTH_READ_RESPONSE_ONLY, PSN, 8);
	lone_next(&l, BTH_SEND_ONLY, PSN + 1);
	lone_end(&l);
}
END_TEST

/* ---- RNR ---- */

/* IBA 9.7.5.2.8, in units of 10 us */
static const uint32_t rnr_units[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

START_TEST(rnr_waits_as_the_timer_field_says)
{
	uint64_t wait = rnr_units[_i] * 10 * SIM_US, from;

	cfg.retry_cnt = 0;
	cfg.timeout = 1; /* no timeout may come in between */
	begin();
	sends(2);
	lone_forget(&l);
	from = l.world.now;
	lone_ack(&l, PSN, AETH_RNR_NAK, (uint8_t)_i);
	lone_until(&l, from + wait - 1);
	lone_silent(&l);
	lone_until(&l, from + wait);
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_next(&l, BTH_SEND_ONLY, PSN + 1);
	lone_state(&l, RNIC_QPS_RTS);
	lone_end(&l);
}
END_TEST

START_TEST(rnr_retry_seven_is_without_end)
{
	cfg.rnr_retry = 7;
	cfg.timeout = 0;
	begin();
	sends(1);
	for (int i = 0; i < 500; i++) {
		lone_forget(&l);
		lone_ack(&l, PSN, AETH_RNR_NAK, 1);
		lone_until(&l, l.world.now + 10 * SIM_US);
		lone_next(&l, BTH_SEND_ONLY, PSN);
	}
	lone_ack(&l, PSN, AETH_ACK, 31);
	done_until(0, 1);
	lone_end(&l);
}
END_TEST

START_TEST(rnr_retries_end_with_their_own_status)
{
	cfg.rnr_retry = 2;
	begin();
	sends(1);
	for (int i = 0; i < 3; i++) {
		lone_next(&l, BTH_SEND_ONLY, PSN);
		lone_ack(&l, PSN, AETH_RNR_NAK, 1);
		lone_until(&l, l.world.now + 10 * SIM_US);
	}
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_RNR_RETRY_EXC_ERR);
	lone_state(&l, RNIC_QPS_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(rnr_retries_count_anew_after_progress)
{
	cfg.rnr_retry = 1;
	begin();
	sends(6);
	for (uint32_t i = 0; i < 6; i++) {
		lone_ack(&l, PSN + i, AETH_RNR_NAK, 1);
		lone_until(&l, l.world.now + 10 * SIM_US);
	}
	done_until(0, 5);
	lone_state(&l, RNIC_QPS_RTS);
	lone_end(&l);
}
END_TEST

START_TEST(nothing_is_sent_while_rnr_is_waited_for)
{
	begin();
	sends(1);
	lone_forget(&l);
	lone_ack(&l, PSN, AETH_RNR_NAK, 20);
	sends(2);
	lone_until(&l, 10 * SIM_MS);
	lone_silent(&l);
	lone_until(&l, 11 * SIM_MS);
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_next(&l, BTH_SEND_ONLY, PSN + 1);
	lone_end(&l);
}
END_TEST

START_TEST(ack_while_rnr_is_waited_for_completes)
{
	begin();
	sends(1);
	lone_forget(&l);
	lone_ack(&l, PSN, AETH_RNR_NAK, 20);
	lone_ack(&l, PSN, AETH_ACK, 31); /* of an earlier transmission */
	done_until(0, 1);
	lone_until(&l, FAR);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(rnr_forgives_the_timeouts_before_it)
{
	cfg.retry_cnt = 1;
	cfg.timeout = 8;
	begin();
	sends(1);
	for (int i = 0; i < 5; i++) {
		lone_forget(&l);
		lone_until_timer(&l);
		lone_next(&l, BTH_SEND_ONLY, PSN);
		lone_ack(&l, PSN, AETH_RNR_NAK, 1);
		lone_until(&l, l.world.now + 10 * SIM_US);
		lone_state(&l, RNIC_QPS_RTS);
	}
	lone_end(&l);
}
END_TEST

/* Segments that were sent keep their size: a path MTU is for RTR alone. */
START_TEST(path_mtu_cannot_change_under_requests)
{
	static const enum rnic_qp_state states[] = {RNIC_QPS_RTS, RNIC_QPS_SQD};
	struct rnic_qp_attr attr = {.path_mtu = RNIC_MTU_256};

	begin();
	lone_post(&l, RNIC_WR_WRITE, 3 * MTU);
	lone_kick(&l);
	for (int i = 0; i < 2; i++) {
		attr.state = states[i];
		ck_assert_int_lt(
			rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE | RNIC_QP_PATH_MTU, 0), 0);
		if (i == 0)
			sim_end_modify(&l.end, RNIC_QPS_SQD);
	}
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sequence_nak_resends_from_its_psn,
		doubled_sequence_nak_before_the_resend_counts_once,
		sequence_naks_use_up_the_retries,
		progress_gives_all_retries_back,
		late_ack_spares_what_has_not_been_resent,
		resent_message_begins_at_the_missing_packet,
		one_ack_completes_all_before_it,
		read_response_gap_is_asked_for_at_once,
		ack_of_a_later_request_is_an_implied_nak_of_a_read,
		later_atomic_response_is_an_implied_nak_of_the_first,
		read_response_acknowledges_the_sends_before_it,
		doubled_read_response_is_taken_once,
		timeout_in_a_read_asks_for_the_rest_only,
		reads_beyond_max_rd_atomic_wait,
		fenced_request_waits_for_the_reads,
		rnr_retry_seven_is_without_end,
		rnr_retries_end_with_their_own_status,
		rnr_retries_count_anew_after_progress,
		nothing_is_sent_while_rnr_is_waited_for,
		ack_while_rnr_is_waited_for_completes,
		rnr_forgives_the_timeouts_before_it,
		path_mtu_cannot_change_under_requests,
	};
	const struct fixture_loop loops[] = {{rnr_waits_as_the_timer_field_says, 0, 32},
					     {NULL, 0, 0}};

	return fixture_run_loops("rnic recovery", defaults, tests, sizeof(tests) / sizeof(tests[0]),
				 loops);
}
