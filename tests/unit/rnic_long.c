/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of 2 GiB, the longest that there are (IBA, unverified), and one byte more. Memory
 * keeps nothing, so that no data is copied; the packets are all made.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "bth/psn.h"
#include "rnic/responder.h"
#include "rnic_lone.h"
#include "suite.h"

#define GIB2 (1ull << 31)
#define MTU 4096u
#define PACKETS ((uint32_t)(GIB2 / MTU))
#define PARTS_MAX 8
#define BIG_START 0x100000000000ull

struct big {
	struct lone lone;
	struct rnic_mem mem;
	struct rnic_mr *mr;
	uint64_t bytes; /* of payload that the QP has sent */
	uint32_t packets, next_psn, ack_psn;
	bool ack_wanted;
	struct bth_packet first, last;
	struct bth_packet asked[PARTS_MAX]; /* READ requests, a ring */
	uint32_t n_asked, n_answered;
};

/* The peer: every packet is the next one. */
static bool packet_seen(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct big *b = arg;

	(void)from;
	(void)now;
	if (!b->packets)
		b->first = *pkt;
	else
		ck_assert_uint_eq(pkt->psn, b->next_psn);
	b->last = *pkt;
	b->next_psn = psn_add(pkt->psn, 1);
	if (bth_opcode_op(pkt->opcode) == BTH_READ_REQUEST) {
		b->next_psn = psn_add(pkt->psn, pkt->dmalen / MTU);
		b->asked[b->n_asked++ % PARTS_MAX] = *pkt;
	}
	b->packets++;
	b->bytes += pkt->payload_len;
	if (pkt->ackreq) {
		b->ack_psn = pkt->psn;
		b->ack_wanted = true;
	}
	return true;
}

static void big_begin(struct big *b)
{
	struct sim_end_config cfg = sim_end_default;
	struct rnic_mr_attr attr;

	memset(b, 0, sizeof(*b));
	cfg.mtu = RNIC_MTU_4096;
	lone_begin(&b->lone, &cfg, RNIC_QPS_RTS);
	b->lone.world.filter = packet_seen;
	b->lone.world.filter_arg = b;
	sim_mem_begin(&b->mem, &b->lone.world, 0, BIG_START, 1);
	b->mem.len = 2 * GIB2;
	b->mem.sparse = true;
	attr = (struct rnic_mr_attr){.mem = &b->mem,
				     .start = BIG_START,
				     .length = b->mem.len,
				     .iova = BIG_START,
				     .access = SIM_ALL_ACCESS};
	ck_assert_int_eq(rnic_mr_create(b->lone.end.pd, &attr, &b->mr), 0);
}

static void big_end(struct big *b)
{
	rnic_mr_destroy(b->mr);
	sim_mem_end(&b->mem);
	lone_end(&b->lone);
}

static struct rnic_sge big_sge(const struct big *b, uint32_t len)
{
	return (struct rnic_sge){BIG_START, len, rnic_mr_key(b->mr)};
}

/* Packets with the PSNs [psn, psn + n), alike but for that, and for the opcodes of the ends. */
static void inject_all(struct big *b, const struct bth_packet *like, uint32_t n,
		       const enum bth_op op[3])
{
	static uint8_t buf[BTH_HEADERS_MAX + MTU];
	struct rnic_rx rx = {.data = buf, .hop_limit = 64, .sport = 0xc000};
	struct sim_world *w = &b->lone.world;
	struct bth_packet pkt = *like;

	memcpy(rx.sgid, w->node[1].gid, 16);
	memcpy(rx.dgid, w->node[0].gid, 16);
	pkt.dqpn = rnic_qp_num(b->lone.end.qp);
	pkt.pkey = 0xffff;
	pkt.payload_len = MTU;
	for (uint32_t i = 0; i < n; i++) {
		pkt.opcode = BTH_OPCODE(BTH_RC, op[i == 0 ? 0 : i + 1 < n ? 1 : 2]);
		pkt.psn = psn_add(like->psn, i);
		pkt.ackreq = i + 1 == n;
		rx.len = (uint32_t)bth_encode_headers(&pkt, buf) + MTU;
		rnic_rx(w->node[0].dev, w->now, &rx, 1);
	}
	lone_work(&b->lone);
}

static void acknowledge_until_done(struct big *b)
{
	lone_kick(&b->lone);
	while (b->ack_wanted) {
		b->ack_wanted = false;
		lone_ack(&b->lone, b->ack_psn, AETH_ACK, AETH_CREDITS_INVALID);
	}
}

static const enum bth_op write_ops[] = {BTH_WRITE_FIRST, BTH_WRITE_MIDDLE, BTH_WRITE_LAST};
static const enum bth_op send_ops[] = {BTH_SEND_FIRST, BTH_SEND_MIDDLE, BTH_SEND_LAST};

START_TEST(requester_sends_a_message_of_2_gib)
{
	struct big b;

	big_begin(&b);
	lone_post(&b.lone, _i ? RNIC_WR_SEND : RNIC_WR_WRITE, 8)->sge[0] = big_sge(&b, 1u << 31);
	acknowledge_until_done(&b);
	ck_assert_uint_eq(b.bytes, GIB2);
	ck_assert_uint_eq(b.packets, PACKETS);
	ck_assert_uint_eq(b.first.psn, LONE_SQ_PSN);
	ck_assert_uint_eq(b.first.opcode, _i ? BTH_SEND_FIRST : BTH_WRITE_FIRST);
	ck_assert_uint_eq(b.first.dmalen, _i ? 0 : GIB2);
	ck_assert_uint_eq(b.last.opcode, _i ? BTH_SEND_LAST : BTH_WRITE_LAST);
	lone_completion(&b.lone.end.send_ring, 0, RNIC_WC_SUCCESS);
	big_end(&b);
}
END_TEST

START_TEST(requester_refuses_a_message_of_more_than_2_gib)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_READ};
	struct rnic_send_wr *wr;
	struct big b;

	big_begin(&b);
	wr = lone_post(&b.lone, ops[_i], 8);
	wr->num_sge = 2;
	wr->sge[0] = big_sge(&b, 1u << 31);
	wr->sge[1] = big_sge(&b, 1);
	lone_kick(&b.lone);
	ck_assert_uint_eq(b.packets, 0);
	lone_completion(&b.lone.end.send_ring, 0, RNIC_WC_LOC_LEN_ERR);
	lone_state(&b.lone, RNIC_QPS_ERR);
	big_end(&b);
}
END_TEST

/* In parts, each a request of its own. */
START_TEST(requester_reads_2_gib)
{
	static const enum bth_op ops[] = {BTH_READ_RESPONSE_FIRST, BTH_READ_RESPONSE_MIDDLE,
					  BTH_READ_RESPONSE_LAST};
	uint64_t done = 0;
	struct big b;

	big_begin(&b);
	lone_post(&b.lone, RNIC_WR_READ, 8)->sge[0] = big_sge(&b, 1u << 31);
	lone_kick(&b.lone);
	while (b.n_answered < b.n_asked) {
		struct bth_packet pkt = b.asked[b.n_answered++ % PARTS_MAX];
		uint32_t n = pkt.dmalen / MTU;

		ck_assert_uint_eq(pkt.va, b.first.va + done);
		ck_assert_uint_le(b.n_asked - b.n_answered, 3); /* max_rd_atomic is 4 */
		done += pkt.dmalen;
		pkt.va = pkt.dmalen = 0;
		inject_all(&b, &pkt, n, ops);
	}
	ck_assert_uint_eq(done, GIB2);
	lone_completion(&b.lone.end.send_ring, 0, RNIC_WC_SUCCESS);
	big_end(&b);
}
END_TEST

START_TEST(responder_takes_a_message_of_2_gib)
{
	struct bth_packet pkt = {.psn = LONE_RQ_PSN, .va = BIG_START, .dmalen = 1u << 31};
	const struct rnic_cqe *cqe;
	struct rnic_recv_wr *wr;
	struct big b;

	big_begin(&b);
	pkt.rkey = rnic_mr_key(b.mr);
	wr = sim_queue_recv(&b.lone.end.queues);
	wr->num_sge = 1;
	wr->sge[0] = big_sge(&b, 1u << 31);
	sim_queue_recv_post(&b.lone.end.queues);
	inject_all(&b, &pkt, PACKETS, _i ? send_ops : write_ops);
	ck_assert_uint_eq(b.packets, 1);
	ck_assert_uint_eq(b.last.opcode, BTH_ACKNOWLEDGE);
	ck_assert_uint_eq(b.last.syndrome, 0x1f);
	ck_assert_uint_eq(b.last.psn, psn_add(LONE_RQ_PSN, PACKETS - 1));
	ck_assert_uint_eq(b.last.msn, 1);
	if (_i) {
		cqe = lone_completion(&b.lone.end.recv_ring, 0, RNIC_WC_SUCCESS);
		ck_assert_uint_eq(cqe->byte_len, GIB2);
	}
	big_end(&b);
}
END_TEST

START_TEST(responder_answers_a_read_of_2_gib)
{
	struct bth_packet pkt = {.opcode = BTH_READ_REQUEST,
				 .psn = LONE_RQ_PSN,
				 .ackreq = true,
				 .va = BIG_START,
				 .dmalen = 1u << 31};
	struct big b;

	big_begin(&b);
	pkt.rkey = rnic_mr_key(b.mr);
	lone_inject(&b.lone, &pkt);
	ck_assert_uint_eq(b.bytes, GIB2);
	ck_assert_uint_eq(b.packets, PACKETS);
	ck_assert_uint_eq(b.first.psn, LONE_RQ_PSN);
	ck_assert_uint_eq(b.last.opcode, BTH_READ_RESPONSE_LAST);
	/* The next request's PSN is behind the last response's. */
	pkt.psn = psn_add(LONE_RQ_PSN, PACKETS);
	pkt.dmalen = 8;
	lone_inject(&b.lone, &pkt);
	ck_assert_uint_eq(b.packets, PACKETS + 1);
	ck_assert_uint_eq(b.last.opcode, BTH_READ_RESPONSE_ONLY);
	big_end(&b);
}
END_TEST

START_TEST(responder_refuses_more_than_2_gib)
{
	static const enum bth_op ops[] = {BTH_WRITE_FIRST, BTH_READ_REQUEST};
	struct bth_packet pkt = {.psn = LONE_RQ_PSN, .va = BIG_START, .dmalen = (1u << 31) + 1};
	struct big b;

	big_begin(&b);
	pkt.opcode = BTH_OPCODE(BTH_RC, ops[_i]);
	pkt.payload_len = ops[_i] == BTH_WRITE_FIRST ? MTU : 0;
	pkt.rkey = rnic_mr_key(b.mr);
	lone_inject(&b.lone, &pkt);
	ck_assert_uint_eq(b.packets, 1);
	ck_assert_uint_eq(b.last.syndrome, 0x61);
	big_end(&b);
}
END_TEST

START_TEST(msn_wraps_after_24_bits)
{
	struct sim_end_config cfg = sim_end_default;
	struct bth_packet pkt;
	struct lone l;

	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	l.end.qp->resp->msn = 0xfffffe;
	for (uint32_t i = 0; i < 3; i++) {
		pkt = lone_request(&l, BTH_WRITE_ONLY, LONE_RQ_PSN + i, 8);
		pkt.payload_len = 8;
		lone_inject(&l, &pkt);
		ck_assert_uint_eq(lone_next(&l, BTH_ACKNOWLEDGE, LONE_RQ_PSN + i)->pkt.msn,
				  i ? i - 1 : 0xffffff);
	}
	lone_end(&l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rnic_long");
	TCase *c = tcase_create("long");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, requester_sends_a_message_of_2_gib, 0, 2);
	tcase_add_loop_test(c, requester_refuses_a_message_of_more_than_2_gib, 0, 3);
	tcase_add_test(c, requester_reads_2_gib);
	tcase_add_loop_test(c, responder_takes_a_message_of_2_gib, 0, 2);
	tcase_add_test(c, responder_answers_a_read_of_2_gib);
	tcase_add_loop_test(c, responder_refuses_more_than_2_gib, 0, 2);
	tcase_add_test(c, msn_wraps_after_24_bits);
	suite_add_tcase(s, c);
	return suite_run_all(srunner_create(s));
}
