/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which order errors come, and whom they concern when several requests are there. */
#include "config.h"

#include "rnic_lone.h"

#define MTU 1024u
#define NAK_ACCESS 0x62
#define NAK_OPERATIONAL 0x63

static struct lone l;

START_TEST(request_that_cannot_be_sent_fails_after_those_before_it)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_post(&l, RNIC_WR_SEND, 8)->sge[0].lkey ^= 1;
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_done(&l.end.send_ring);
	lone_state(&l, RNIC_QPS_RTS);
	lone_ack(&l, LONE_SQ_PSN, AETH_ACK, 31);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_SUCCESS);
	lone_completion(&l.end.send_ring, 1, RNIC_WC_LOC_PROT_ERR);
	lone_completion(&l.end.send_ring, 2, RNIC_WC_WR_FLUSH_ERR);
	lone_state(&l, RNIC_QPS_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(nak_completes_what_came_before_it)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	for (int i = 0; i < 3; i++)
		lone_post(&l, RNIC_WR_WRITE, 8);
	lone_kick(&l);
	lone_ack(&l, LONE_SQ_PSN + 1, AETH_NAK, AETH_NAK_REMOTE_ACCESS);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_SUCCESS);
	lone_completion(&l.end.send_ring, 1, RNIC_WC_REM_ACCESS_ERR);
	lone_completion(&l.end.send_ring, 2, RNIC_WC_WR_FLUSH_ERR);
	lone_end(&l);
}
END_TEST

/* The answers that are due go before the NAK, which is the last packet of the QP. */
START_TEST(fatal_nak_follows_the_reads_before_it)
{
	struct bth_packet read, write;

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	read = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 3000);
	write = lone_request(&l, BTH_WRITE_ONLY, LONE_RQ_PSN + 3, 8);
	write.rkey ^= 1;
	write.payload_len = 8;
	lone_inject_bytes(&l, &read, 0);
	lone_inject_bytes(&l, &write, 0);
	lone_state(&l, RNIC_QPS_RTS);
	lone_work(&l);
	lone_next(&l, BTH_READ_RESPONSE_FIRST, LONE_RQ_PSN);
	lone_next(&l, BTH_READ_RESPONSE_MIDDLE, LONE_RQ_PSN + 1);
	lone_next(&l, BTH_READ_RESPONSE_LAST, LONE_RQ_PSN + 2);
	ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN + 3)->pkt.syndrome,
			  NAK_ACCESS);
	lone_state(&l, RNIC_QPS_ERR);
	lone_inject(&l, &write);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

START_TEST(failing_read_does_not_blame_the_message_behind_it)
{
	struct bth_packet read, send = lone_packet(BTH_SEND_FIRST, LONE_RQ_PSN + 1);

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_receive(&l, 4000);
	read = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 8);
	send.payload_len = MTU;
	lone_inject_bytes(&l, &read, 0);
	lone_inject_bytes(&l, &send, 0);
	l.end.mem.broken = true;
	lone_work(&l);
	ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN)->pkt.syndrome,
			  NAK_OPERATIONAL);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_QP_FATAL), 1);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	lone_end(&l);
}
END_TEST

/* The peer's process has died: it sees its retries exceeded, and what it has begun can go on. */
START_TEST(read_of_a_dead_process_leaves_the_message_behind_it_alone)
{
	struct bth_packet read, send = lone_packet(BTH_SEND_FIRST, LONE_RQ_PSN + 1);

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_receive(&l, 4000);
	read = lone_request(&l, BTH_READ_REQUEST, LONE_RQ_PSN, 8);
	send.payload_len = MTU;
	lone_inject_bytes(&l, &read, 0);
	lone_inject_bytes(&l, &send, 0);
	l.end.mem.gone = true;
	lone_work(&l);
	l.end.mem.gone = false;
	lone_silent(&l);
	send.opcode = BTH_OPCODE(BTH_RC, BTH_SEND_LAST);
	send.ackreq = true;
	send.psn++;
	lone_inject(&l, &send);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_state(&l, RNIC_QPS_RTS);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		request_that_cannot_be_sent_fails_after_those_before_it,
		nak_completes_what_came_before_it,
		fatal_nak_follows_the_reads_before_it,
		failing_read_does_not_blame_the_message_behind_it,
		read_of_a_dead_process_leaves_the_message_behind_it_alone,
	};

	return fixture_run("rnic error order", tests, sizeof(tests) / sizeof(tests[0]));
}
