/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Async events that are no error of a request, and the overflow of a CQ (IBA vol. 1, chapter 11).
 */
#include "config.h"

#include "rnic_lone.h"

static struct lone l;

static void send_arrives(uint32_t psn)
{
	struct bth_packet pkt = lone_packet(BTH_SEND_ONLY, psn);

	pkt.payload_len = 8;
	lone_inject(&l, &pkt);
}

static void modify(enum rnic_qp_state state, uint32_t mask, bool notify)
{
	struct rnic_qp_attr attr = {.state = state,
				    .en_sqd_async_notify = notify,
				    .sq_psn = LONE_SQ_PSN,
				    .retry_cnt = 1};

	ck_assert_int_eq(rnic_qp_modify(l.end.qp, &attr, mask | RNIC_QP_STATE, l.world.now), 0);
	lone_work(&l);
}

START_TEST(first_packet_in_rtr_says_that_the_connection_is_there)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTR);
	lone_receive(&l, 64);
	lone_receive(&l, 64);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 0);
	send_arrives(LONE_RQ_PSN);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 1);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	send_arrives(LONE_RQ_PSN + 1);
	lone_completion(&l.end.recv_ring, 1, RNIC_WC_SUCCESS);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 1);
	modify(RNIC_QPS_RTS, FIXTURE_TO_RTS, false);
	send_arrives(LONE_RQ_PSN + 2);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 1);
	lone_end(&l);
}
END_TEST

START_TEST(first_packet_in_rts_is_no_event)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_receive(&l, 64);
	send_arrives(LONE_RQ_PSN);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 0);
	lone_end(&l);
}
END_TEST

START_TEST(stray_packet_in_rtr_is_no_event)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTR);
	lone_receive(&l, 64);
	send_arrives(LONE_RQ_PSN + 1);
	send_arrives(LONE_RQ_PSN - 1);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_COMM_EST), 0);
	lone_end(&l);
}
END_TEST

START_TEST(drained_comes_when_the_last_request_is_done)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	modify(RNIC_QPS_SQD, RNIC_QP_EN_SQD_ASYNC_NOTIFY, true);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_ack(&l, LONE_SQ_PSN, AETH_ACK, 31);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_SQ_DRAINED), 0);
	lone_ack(&l, LONE_SQ_PSN + 1, AETH_ACK, 31);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_SQ_DRAINED), 1);
	lone_forget(&l);
	lone_work(&l);
	lone_silent(&l); /* what was posted in SQD waits for RTS */
	modify(RNIC_QPS_RTS, 0, false);
	lone_next(&l, BTH_SEND_ONLY, LONE_SQ_PSN + 2);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_SQ_DRAINED), 1);
	lone_end(&l);
}
END_TEST

START_TEST(drained_comes_at_once_when_nothing_flies)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	modify(RNIC_QPS_SQD, RNIC_QP_EN_SQD_ASYNC_NOTIFY, true);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_SQ_DRAINED), 1);
	lone_end(&l);
}
END_TEST

START_TEST(drained_comes_only_to_who_asked)
{
	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	modify(RNIC_QPS_SQD, RNIC_QP_EN_SQD_ASYNC_NOTIFY, false);
	lone_ack(&l, LONE_SQ_PSN, AETH_ACK, 31);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_SQ_DRAINED), 0);
	lone_end(&l);
}
END_TEST

/* ---- overflow ---- */

START_TEST(cq_overflow_is_an_event_and_ends_every_qp_of_the_cq)
{
	static struct sim_end second;
	struct sim_end_config cfg = sim_end_default;
	struct rnic_qp_init init;
	struct rnic_qp_attr attr = {.state = RNIC_QPS_INIT, .port_num = 1};
	struct rnic_qp *other;

	cfg.cq_room = 1;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	sim_end_begin(&second, &l.world, 0, &sim_end_default);
	init = *rnic_qp_init_get(l.end.qp);
	init.send_cq = second.send_cq;
	ck_assert_int_eq(rnic_qp_create(l.end.pd, &init, &other), 0);
	ck_assert_int_eq(rnic_qp_modify(other, &attr, FIXTURE_TO_INIT, 0), 0);
	for (uint32_t i = 0; i < 3; i++) {
		lone_receive(&l, 64);
		send_arrives(LONE_RQ_PSN + i);
	}
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_SUCCESS);
	lone_done(&l.end.recv_ring); /* nothing after what is lost */
	ck_assert_uint_eq(l.world.node[0].n_events[RNIC_EVENT_CQ_ERR], 1);
	ck_assert_uint_eq(l.world.node[0].n_events[RNIC_EVENT_QP_FATAL], 2);
	lone_state(&l, RNIC_QPS_ERR);
	ck_assert_int_eq(rnic_qp_state(other), RNIC_QPS_ERR);
	ck_assert_int_eq(rnic_qp_state(second.qp), RNIC_QPS_RESET);
	rnic_qp_destroy(other);
	sim_end_end(&second);
	lone_end(&l);
}
END_TEST

/* Else its completions would vanish without a word. */
START_TEST(qp_that_begins_with_an_overflowed_cq_fails_at_its_first_completion)
{
	struct sim_end_config cfg = sim_end_default;

	cfg.cq_room = 1;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	for (int i = 0; i < 3; i++)
		lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_ack(&l, LONE_SQ_PSN + 1, AETH_ACK, 31);
	lone_state(&l, RNIC_QPS_ERR);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_QP_FATAL), 1);
	modify(RNIC_QPS_RESET, 0, false);
	l.end.queues.send_retired = l.end.queues.send_taken = l.end.queues.sent;
	lone_connect(&l.end, RNIC_QPS_RTS);
	lone_post(&l, RNIC_WR_SEND, 8);
	lone_kick(&l);
	lone_ack(&l, LONE_SQ_PSN, AETH_ACK, 31);
	lone_state(&l, RNIC_QPS_ERR);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_QP_FATAL), 2);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_CQ_ERR), 1);
	lone_end(&l);
}
END_TEST

START_TEST(overflow_by_a_flush_is_told_too)
{
	struct sim_end_config cfg = sim_end_default;

	cfg.cq_room = 1;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	for (int i = 0; i < 3; i++)
		lone_receive(&l, 64);
	modify(RNIC_QPS_ERR, 0, false);
	lone_completion(&l.end.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	lone_done(&l.end.recv_ring);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_CQ_ERR), 1);
	ck_assert_uint_eq(lone_events(&l, RNIC_EVENT_QP_FATAL), 0);
	lone_end(&l);
}
END_TEST

START_TEST(gsi_qp_of_an_overflowed_cq_ends_too)
{
	struct sim_end_config cfg = sim_end_default;
	struct rnic_qp_init init;
	struct rnic_qp_attr attr = {.state = RNIC_QPS_INIT};
	struct rnic_qp *gsi;

	cfg.cq_room = 1;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	init = *rnic_qp_init_get(l.end.qp);
	init.type = RNIC_QPT_GSI;
	ck_assert_int_eq(rnic_qp_create(l.end.pd, &init, &gsi), 0);
	ck_assert_int_eq(
		rnic_qp_modify(gsi, &attr, RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_QKEY, 0),
		0);
	for (uint32_t i = 0; i < 2; i++) {
		lone_receive(&l, 64);
		send_arrives(LONE_RQ_PSN + i);
	}
	ck_assert_int_eq(rnic_qp_state(gsi), RNIC_QPS_ERR);
	ck_assert_uint_eq(l.world.node[0].n_events[RNIC_EVENT_QP_FATAL], 2);
	rnic_qp_destroy(gsi);
	lone_end(&l);
}
END_TEST

/* ---- the port ---- */

START_TEST(port_events_come_at_changes_only)
{
	struct sim_node *n = &l.world.node[0];

	lone_begin(&l, &sim_end_default, RNIC_QPS_RTS);
	rnic_port_set(n->dev, true, RNIC_MTU_4096);
	ck_assert_uint_eq(n->n_events[RNIC_EVENT_PORT_ACTIVE], 0);
	rnic_port_set(n->dev, false, RNIC_MTU_4096);
	rnic_port_set(n->dev, false, RNIC_MTU_4096);
	ck_assert_uint_eq(n->n_events[RNIC_EVENT_PORT_ERR], 1);
	ck_assert_uint_eq(n->last_event.port, 1);
	rnic_port_set(n->dev, true, RNIC_MTU_4096);
	ck_assert_uint_eq(n->n_events[RNIC_EVENT_PORT_ACTIVE], 1);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		first_packet_in_rtr_says_that_the_connection_is_there,
		first_packet_in_rts_is_no_event,
		stray_packet_in_rtr_is_no_event,
		drained_comes_when_the_last_request_is_done,
		drained_comes_at_once_when_nothing_flies,
		drained_comes_only_to_who_asked,
		cq_overflow_is_an_event_and_ends_every_qp_of_the_cq,
		qp_that_begins_with_an_overflowed_cq_fails_at_its_first_completion,
		overflow_by_a_flush_is_told_too,
		gsi_qp_of_an_overflowed_cq_ends_too,
		port_events_come_at_changes_only,
	};

	return fixture_run("rnic events", tests, sizeof(tests) / sizeof(tests[0]));
}
