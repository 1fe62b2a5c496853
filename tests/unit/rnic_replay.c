/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a responder does with gaps, duplicates and want of receives (IBA vol. 1, 9.7.5). */
#include "config.h"

#include <string.h>

#include "bth/psn.h"
#include "rnic_lone.h"

#define MTU 1024u
#define PSN LONE_RQ_PSN
#define NAK_SEQUENCE 0x60
#define NAK_RNR (0x20 | 12) /* the default configuration's timer */
#define ACK 0x1f

static struct lone l;

static void begin(void)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
}

static void send_with(enum bth_op op, uint32_t psn, uint32_t len)
{
	struct bth_packet pkt = lone_packet(op, psn);

	pkt.payload_len = len;
	lone_inject(&l, &pkt);
}

static void write_with(enum bth_op op, uint32_t psn, uint32_t len, uint32_t dmalen, uint8_t first)
{
	struct bth_packet pkt = lone_request(&l, op, psn, dmalen);

	pkt.payload_len = len;
	lone_inject_bytes(&l, &pkt, first);
	lone_work(&l);
}

static void read_of(uint32_t psn, uint64_t offset, uint32_t len)
{
	struct bth_packet pkt = lone_request(&l, BTH_READ_REQUEST, psn, len);

	pkt.va += offset;
	lone_inject(&l, &pkt);
}

static void fetch_add(uint32_t psn, uint64_t add)
{
	struct bth_packet pkt = lone_request(&l, BTH_FETCH_ADD, psn, 0);

	pkt.swap_add = add;
	lone_inject(&l, &pkt);
}

static void answered(uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	const struct lone_sent *s = lone_next(&l, BTH_ACKNOWLEDGE, psn);

	ck_assert_uint_eq(s->pkt.syndrome, syndrome);
	ck_assert_uint_eq(s->pkt.msn, msn);
}

static uint64_t word(void)
{
	uint64_t v;

	memcpy(&v, l.end.mem.bytes, 8);
	return v;
}

/* ---- gaps ---- */

START_TEST(responder_naks_once_per_gap)
{
	begin();
	for (int i = 0; i < 8; i++)
		lone_receive(&l, 64);
	for (uint32_t i = 1; i < 4; i++)
		send_with(BTH_SEND_ONLY, PSN + i, 8);
	answered(PSN, NAK_SEQUENCE, 0);
	lone_silent(&l);
	send_with(BTH_SEND_ONLY, PSN, 8);
	answered(PSN, ACK, 1);
	send_with(BTH_SEND_ONLY, PSN + 3, 8); /* the next gap */
	answered(PSN + 1, NAK_SEQUENCE, 1);
	send_with(BTH_SEND_ONLY, PSN + 2, 8);
	lone_silent(&l);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_done(&l.end.recv_ring);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_does_not_make_a_gap_new)
{
	begin();
	lone_receive(&l, 64);
	send_with(BTH_SEND_ONLY, PSN + 1, 8);
	answered(PSN, NAK_SEQUENCE, 0);
	send_with(BTH_SEND_ONLY, PSN - 1, 8);
	answered(PSN - 1, ACK, 0);
	send_with(BTH_SEND_ONLY, PSN + 1, 8);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(half_of_all_numbers_is_past)
{
	begin();
	send_with(BTH_SEND_ONLY, PSN - 0x800000, 8);
	answered(PSN - 1, ACK, 0);
	send_with(BTH_SEND_ONLY, PSN + 0x7fffff, 8);
	answered(PSN, NAK_SEQUENCE, 0);
	lone_end(&l);
}
END_TEST

/* ---- RNR ---- */

/* Linux rxe sends a sequence NAK for the packets that follow. */
START_TEST(rnr_is_followed_by_no_sequence_nak)
{
	begin();
	send_with(BTH_SEND_FIRST, PSN, MTU);
	answered(PSN, NAK_RNR, 0);
	send_with(BTH_SEND_MIDDLE, PSN + 1, MTU);
	send_with(BTH_SEND_LAST, PSN + 2, 8);
	write_with(BTH_WRITE_ONLY, PSN + 3, 8, 8, 0);
	lone_silent(&l);
	lone_receive(&l, 4000);
	send_with(BTH_SEND_MIDDLE, PSN + 1, MTU); /* late ones */
	lone_silent(&l);
	send_with(BTH_SEND_FIRST, PSN, MTU);
	send_with(BTH_SEND_MIDDLE, PSN + 1, MTU);
	send_with(BTH_SEND_LAST, PSN + 2, 8);
	answered(PSN + 2, ACK, 1);
	lone_silent(&l);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_end(&l);
}
END_TEST

START_TEST(rnr_comes_for_each_try)
{
	begin();
	for (int i = 0; i < 3; i++) {
		send_with(BTH_SEND_ONLY, PSN, 8);
		answered(PSN, NAK_RNR, 0);
	}
	lone_end(&l);
}
END_TEST

START_TEST(write_with_immediate_needs_its_receive_at_the_last_packet)
{
	begin();
	write_with(BTH_WRITE_FIRST, PSN, MTU, MTU + 8, 0);
	lone_silent(&l);
	write_with(BTH_WRITE_LAST_IMM, PSN + 1, 8, 0, 0);
	answered(PSN + 1, NAK_RNR, 0);
	lone_receive(&l, 0);
	write_with(BTH_WRITE_LAST_IMM, PSN + 1, 8, 0, 0);
	answered(PSN + 1, ACK, 1);
	ck_assert_uint_eq(lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS)->byte_len, MTU + 8);
	lone_end(&l);
}
END_TEST

/* ---- duplicates ---- */

START_TEST(duplicate_send_is_acknowledged_and_takes_no_receive)
{
	begin();
	for (int i = 0; i < 4; i++)
		lone_receive(&l, 64);
	send_with(BTH_SEND_ONLY, PSN, 8);
	send_with(BTH_SEND_ONLY, PSN + 1, 8);
	answered(PSN, ACK, 1);
	answered(PSN + 1, ACK, 2);
	send_with(BTH_SEND_ONLY, PSN, 8);
	answered(PSN + 1, ACK, 2);	     /* as far as it has come */
	send_with(BTH_SEND_ONLY, PSN, 1000); /* whatever is in it */
	answered(PSN + 1, ACK, 2);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_completion(&l.end.recv_ring, 1, RNIC_WC_SUCCESS);
	lone_done(&l.end.recv_ring);
	lone_end(&l);
}
END_TEST

/* Linux rxe once did, which an honest requester takes for a lost response. */
START_TEST(duplicate_is_not_acknowledged_by_the_psn_of_a_read)
{
	begin();
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, ACK, 1);
	read_of(PSN + 1, 0, 8);
	lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN + 1);
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, ACK, 2);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

/* Linux rxe once forgot that the message had begun. */
START_TEST(duplicate_read_does_not_disturb_a_message_that_has_begun)
{
	begin();
	read_of(PSN, 0, 2 * MTU);
	write_with(BTH_WRITE_FIRST, PSN + 2, MTU, 2 * MTU, 0x40);
	lone_forget(&l);
	read_of(PSN, 0, 2 * MTU);
	lone_next(&l, BTH_READ_RESPONSE_FIRST, PSN);
	lone_next(&l, BTH_READ_RESPONSE_LAST, PSN + 1);
	write_with(BTH_WRITE_LAST, PSN + 3, MTU, 0, 0x80);
	answered(PSN + 3, ACK, 2);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

/* Linux rxe freed what its responder was using. */
START_TEST(smaller_max_dest_rd_atomic_does_not_touch_reads_that_wait)
{
	struct rnic_qp_attr attr = {.state = RNIC_QPS_SQD, .max_dest_rd_atomic = 1};
	struct bth_packet read;

	begin();
	for (uint32_t i = 0; i < 3; i++) {
		read = lone_request(&l, BTH_READ_REQUEST, PSN + i, 8);
		lone_inject_bytes(&l, &read, 0);
	}
	ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE, 0), 0);
	ck_assert_int_eq(
		rnic_qp_modify(l.end.qp, &attr, RNIC_QP_STATE | RNIC_QP_MAX_DEST_RD_ATOMIC, 0), 0);
	lone_work(&l);
	for (uint32_t i = 0; i < 3; i++)
		lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN + i);
	read_of(PSN + 3, 0, 8);
	lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN + 3);
	lone_end(&l);
}
END_TEST

/* Linux rxe once took the packet that had ended the QP up again. */
START_TEST(packets_behind_the_one_that_ends_the_qp_are_not_looked_at)
{
	struct bth_packet bad, good;

	begin();
	lone_receive(&l, 64);
	bad = lone_request(&l, BTH_WRITE_ONLY, PSN, 8);
	bad.rkey ^= 1;
	bad.payload_len = 8;
	good = lone_packet(BTH_SEND_ONLY, PSN);
	good.payload_len = 8;
	lone_inject_bytes(&l, &bad, 0);
	lone_inject_bytes(&l, &good, 0);
	lone_inject_bytes(&l, &bad, 0);
	lone_work(&l);
	answered(PSN, 0x62, 0);
	lone_silent(&l);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	lone_done(&l.end.recv_ring);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_QP_ACCESS_ERR), 1);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_write_is_not_written_again)
{
	begin();
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, ACK, 1);
	memset(l.end.mem.bytes, 0xaa, 8);
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, ACK, 1);
	ck_assert_uint_eq(word(), 0xaaaaaaaaaaaaaaaa);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_within_a_message_is_acknowledged_up_to_there)
{
	begin();
	lone_receive(&l, 4000);
	send_with(BTH_SEND_FIRST, PSN, MTU);
	send_with(BTH_SEND_MIDDLE, PSN + 1, MTU);
	lone_silent(&l);
	send_with(BTH_SEND_FIRST, PSN, MTU);
	answered(PSN + 1, ACK, 0);
	send_with(BTH_SEND_LAST, PSN + 2, 8);
	answered(PSN + 2, ACK, 1);
	ck_assert_uint_eq(lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS)->byte_len,
			  2 * MTU + 8);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_read_is_read_anew)
{
	begin();
	read_of(PSN, 0, 8);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN)->first, 0);
	l.end.mem.bytes[0] = 0x77;
	read_of(PSN, 0, 8);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN)->first, 0x77);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_read_may_ask_for_its_end_only)
{
	begin();
	read_of(PSN, 0, 3 * MTU);
	lone_forget(&l);
	for (uint32_t i = 0; i < 3 * MTU; i++)
		l.end.mem.bytes[i] = (uint8_t)(i / MTU);
	read_of(PSN + 1, MTU, 2 * MTU);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_FIRST, PSN + 1)->first, 1);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_LAST, PSN + 2)->first, 2);
	read_of(PSN + 2, 2 * MTU, MTU);
	ck_assert_uint_eq(lone_next(&l, BTH_READ_RESPONSE_ONLY, PSN + 2)->first, 2);
	lone_silent(&l);
	send_with(BTH_SEND_ONLY, PSN + 3, 8); /* the next is expected where it was */
	answered(PSN + 3, NAK_RNR, 1);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_read_may_not_reach_beyond_what_was_asked)
{
	begin();
	read_of(PSN, 0, MTU);
	lone_forget(&l);
	read_of(PSN, 0, 2 * MTU);
	lone_silent(&l);
	lone_state(&l, RNIC_QPS_RTS);
	lone_end(&l);
}
END_TEST

START_TEST(duplicate_atomic_is_answered_from_memory_of_it)
{
	uint64_t before;

	begin();
	before = word();
	fetch_add(PSN, 5);
	fetch_add(PSN + 1, 7);
	ck_assert_uint_eq(lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, PSN)->pkt.orig, before);
	ck_assert_uint_eq(lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, PSN + 1)->pkt.orig, before + 5);
	for (int i = 0; i < 3; i++) {
		fetch_add(PSN, 5);
		ck_assert_uint_eq(lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, PSN)->pkt.orig, before);
	}
	ck_assert_uint_eq(word(), before + 12);
	lone_end(&l);
}
END_TEST

/* All that a requester may have in flight, and once more as many. */
START_TEST(forgotten_atomic_is_not_done_again)
{
	uint64_t before;

	begin();
	before = word();
	for (uint32_t i = 0; i < 300; i++)
		fetch_add(PSN + i, 1);
	lone_forget(&l);
	fetch_add(PSN, 1);
	lone_silent(&l);
	fetch_add(PSN + 299 - 128, 1);
	ck_assert_uint_eq(lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, PSN + 299 - 128)->pkt.orig,
			  before + 299 - 128);
	ck_assert_uint_eq(word(), before + 300);
	lone_end(&l);
}
END_TEST

START_TEST(read_before_the_duplicate_is_not_repeated)
{
	begin();
	read_of(PSN, 0, 8);
	fetch_add(PSN + 1, 1);
	lone_forget(&l);
	fetch_add(PSN + 1, 1);
	lone_next(&l, BTH_ATOMIC_ACKNOWLEDGE, PSN + 1);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

/* ---- acknowledgements ---- */

START_TEST(only_what_asks_for_it_is_acknowledged)
{
	struct bth_packet pkt = lone_packet(BTH_SEND_ONLY, PSN);

	begin();
	lone_receive(&l, 8);
	pkt.ackreq = false;
	lone_inject(&l, &pkt);
	lone_silent(&l);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_end(&l);
}
END_TEST

START_TEST(acknowledgement_follows_the_read_responses_before_it)
{
	struct bth_packet read, send = lone_packet(BTH_SEND_ONLY, PSN + 2);

	begin();
	lone_receive(&l, 8);
	read = lone_request(&l, BTH_READ_REQUEST, PSN, 2 * MTU);
	lone_inject_bytes(&l, &read, 0);
	lone_inject_bytes(&l, &send, 0);
	lone_work(&l);
	lone_next(&l, BTH_READ_RESPONSE_FIRST, PSN);
	lone_next(&l, BTH_READ_RESPONSE_LAST, PSN + 1);
	answered(PSN + 2, ACK, 2);
	lone_end(&l);
}
END_TEST

START_TEST(memory_that_is_not_there_yet_is_rnr)
{
	begin();
	l.end.mem.busy = true;
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, NAK_RNR, 0);
	lone_silent(&l);
	l.end.mem.busy = false;
	write_with(BTH_WRITE_ONLY, PSN, 8, 8, 0x40);
	answered(PSN, ACK, 1);
	ck_assert_uint_eq(l.end.mem.bytes[7], 0x47);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		responder_naks_once_per_gap,
		duplicate_does_not_make_a_gap_new,
		half_of_all_numbers_is_past,
		rnr_is_followed_by_no_sequence_nak,
		rnr_comes_for_each_try,
		write_with_immediate_needs_its_receive_at_the_last_packet,
		duplicate_send_is_acknowledged_and_takes_no_receive,
		duplicate_is_not_acknowledged_by_the_psn_of_a_read,
		duplicate_read_does_not_disturb_a_message_that_has_begun,
		smaller_max_dest_rd_atomic_does_not_touch_reads_that_wait,
		packets_behind_the_one_that_ends_the_qp_are_not_looked_at,
		duplicate_write_is_not_written_again,
		duplicate_within_a_message_is_acknowledged_up_to_there,
		duplicate_read_is_read_anew,
		duplicate_read_may_ask_for_its_end_only,
		duplicate_read_may_not_reach_beyond_what_was_asked,
		duplicate_atomic_is_answered_from_memory_of_it,
		forgotten_atomic_is_not_done_again,
		read_before_the_duplicate_is_not_repeated,
		only_what_asks_for_it_is_acknowledged,
		acknowledgement_follows_the_read_responses_before_it,
		memory_that_is_not_there_yet_is_rnr,
	};

	return fixture_run("rnic replay", tests, sizeof(tests) / sizeof(tests[0]));
}
