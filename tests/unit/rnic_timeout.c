/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ACK timeout (IBA vol. 1, 9.7.6.1.3), of one QP and of very many at once. */
#include "config.h"

#include <stdlib.h>

#include "rnic_lone.h"

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

/* IBA 9.7.6.1.3: between T and 4 T after the last sign of life; the same each time. */
START_TEST(every_timeout_comes_between_t_and_4t)
{
	uint64_t t = 4096ull << _i, last;

	cfg.timeout = (uint8_t)_i;
	cfg.retry_cnt = 7;
	begin();
	sends(1);
	last = lone_next(&l, BTH_SEND_ONLY, PSN)->at;
	for (int i = 0; i <= 7; i++) {
		lone_until_timer(&l);
		ck_assert_uint_ge(l.world.now - last, t);
		ck_assert_uint_le(l.world.now - last, 4 * t);
		last = l.world.now;
		if (i < 7)
			lone_next(&l, BTH_SEND_ONLY, PSN);
		lone_silent(&l);
	}
	lone_completion(&l.end.send_ring, 0, RNIC_WC_RETRY_EXC_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(timeout_zero_is_never)
{
	cfg.timeout = 0;
	begin();
	sends(1);
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_until(&l, FAR);
	lone_silent(&l);
	ck_assert_uint_eq(l.world.node[0].timer, UINT64_MAX);
	lone_end(&l);
}
END_TEST

START_TEST(retry_cnt_zero_fails_at_the_first_timeout)
{
	cfg.retry_cnt = 0;
	begin();
	sends(1);
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_until(&l, 4 * ib_timeout_ns(cfg.timeout));
	lone_silent(&l);
	lone_completion(&l.end.send_ring, 0, RNIC_WC_RETRY_EXC_ERR);
	lone_end(&l);
}
END_TEST

START_TEST(progress_starts_the_timeout_anew)
{
	uint64_t t = ib_timeout_ns(cfg.timeout);

	begin();
	sends(8);
	for (uint32_t i = 0; i < 7; i++) {
		lone_until(&l, l.world.now + t - 1);
		lone_ack(&l, PSN + i, AETH_ACK, 31);
	}
	lone_forget(&l);
	lone_until(&l, l.world.now + t - 1);
	lone_silent(&l);
	lone_until(&l, l.world.now + 3 * t + 1);
	lone_next(&l, BTH_SEND_ONLY, PSN + 7);
	lone_end(&l);
}
END_TEST

START_TEST(stale_acks_do_not_hold_the_timeout_off)
{
	uint64_t t = ib_timeout_ns(cfg.timeout);

	begin();
	sends(1);
	lone_forget(&l);
	for (int i = 0; i < 16; i++) {
		lone_until(&l, l.world.now + t / 4);
		lone_ack(&l, PSN - 1, AETH_ACK, 31);
	}
	lone_next(&l, BTH_SEND_ONLY, PSN);
	lone_end(&l);
}
END_TEST

/* The timeout of what a NAK has called for is not that of what was lost. */
START_TEST(repetition_after_a_nak_has_its_own_timeout)
{
	uint64_t t = ib_timeout_ns(cfg.timeout);

	begin();
	for (uint32_t i = 0; i < 16; i++) {
		sends(1);
		lone_next(&l, BTH_SEND_ONLY, PSN + i);
		lone_until(&l, l.world.now + 2 * t - 1);
		lone_ack(&l, PSN + i, AETH_NAK, AETH_NAK_PSN_SEQUENCE);
		lone_next(&l, BTH_SEND_ONLY, PSN + i);
		lone_until(&l, l.world.now + t - 1);
		lone_silent(&l);
		lone_ack(&l, PSN + i, AETH_ACK, 31);
	}
	lone_end(&l);
}
END_TEST

START_TEST(repetition_after_a_gap_has_its_own_timeout)
{
	uint64_t t = ib_timeout_ns(cfg.timeout);

	begin();
	for (uint32_t i = 0; i < 32; i += 2) {
		struct bth_packet pkt = lone_packet(BTH_READ_RESPONSE_LAST, PSN + i + 1);

		pkt.payload_len = 1024;
		lone_post(&l, RNIC_WR_READ, 2048);
		lone_kick(&l);
		lone_next(&l, BTH_READ_REQUEST, PSN + i);
		lone_until(&l, l.world.now + 2 * t - 1);
		lone_inject(&l, &pkt);
		lone_next(&l, BTH_READ_REQUEST, PSN + i);
		lone_until(&l, l.world.now + t - 1);
		lone_silent(&l);
		pkt.opcode = BTH_OPCODE(BTH_RC, BTH_READ_RESPONSE_FIRST);
		pkt.psn = PSN + i;
		lone_inject(&l, &pkt);
		pkt.opcode = BTH_OPCODE(BTH_RC, BTH_READ_RESPONSE_LAST);
		pkt.psn = PSN + i + 1;
		lone_inject(&l, &pkt);
	}
	lone_end(&l);
}
END_TEST

START_TEST(destroyed_qp_leaves_no_timer)
{
	begin();
	sends(1);
	lone_ack(&l, PSN, AETH_RNR_NAK, 20);
	lone_end(&l); /* checks that the device is empty */
	begin();
	sends(1);
	sim_end_modify(&l.end, RNIC_QPS_RESET);
	lone_forget(&l);
	lone_until(&l, FAR);
	lone_silent(&l);
	lone_end(&l);
}
END_TEST

/* ---- many at once ---- */

#define HERD 1500
#define HERD_LEN 16384

struct herd {
	struct sim_world world;
	struct sim_end *end;
	uint64_t t;	       /* of the timeout */
	uint32_t slot[4 * 16]; /* how many resends came in each 16th of T */
	uint64_t most;	       /* bytes sent by one call of the device */
};

static bool first_packet_count(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct herd *h = arg;

	(void)from;
	if (pkt->psn == PSN && now)
		h->slot[now * 16 / h->t]++;
	return true;
}

static void herd_begin(struct herd *h)
{
	h->t = ib_timeout_ns(cfg.timeout);
	h->end = calloc(HERD, sizeof(*h->end));
	ck_assert_ptr_nonnull(h->end);
	sim_world_begin(&h->world, 1, RNIC_MTU_4096, 0);
	h->world.filter = first_packet_count;
	h->world.filter_arg = h;
	cfg.mem_len = HERD_LEN;
	cfg.send_room = cfg.recv_room = 1;
	for (uint32_t i = 0; i < HERD; i++) {
		struct sim_end *e = &h->end[i];
		struct rnic_send_wr *wr;

		sim_end_begin(e, &h->world, 0, &cfg);
		lone_connect(e, RNIC_QPS_RTS);
		wr = sim_queue_send(&e->queues);
		wr->op = RNIC_WR_WRITE;
		wr->num_sge = 1;
		wr->sge[0] = sim_sge(e, 0, HERD_LEN);
		sim_queue_send_post(&e->queues);
		ck_assert_int_eq(rnic_qp_kick(e->qp), 0);
	}
}

static void herd_work(struct herd *h)
{
	struct rnic_device *dev = h->world.node[0].dev;
	const uint64_t *sent = &rnic_device_counters(dev)->sent_bytes;
	uint64_t before = *sent;
	bool more = true;

	while (more) {
		more = rnic_run(dev, h->world.now);
		if (*sent - before > h->most)
			h->most = *sent - before;
		before = *sent;
	}
}

static void herd_until(struct herd *h, uint64_t time)
{
	struct sim_node *n = &h->world.node[0];

	while (n->timer <= time) {
		if (h->world.now < n->timer)
			h->world.now = n->timer;
		n->timer = UINT64_MAX;
		rnic_timer_fired(n->dev, h->world.now);
		herd_work(h);
	}
}

static void herd_end(struct herd *h)
{
	for (uint32_t i = 0; i < HERD; i++)
		sim_end_end(&h->end[i]);
	free(h->end);
	ck_assert(sim_world_end(&h->world));
}

/* A peer of many QPs is gone: the host must get its turn in between, for others. */
START_TEST(one_call_sends_a_bounded_amount_however_many_qps_there_are)
{
	static struct herd h;

	herd_begin(&h);
	herd_work(&h);
	herd_until(&h, 4 * h.t - 1);
	ck_assert_uint_gt(h.most, 100000);
	ck_assert_uint_lt(h.most, 2000000);
	herd_end(&h);
}
END_TEST

START_TEST(timeouts_of_many_qps_are_spread)
{
	static struct herd h;
	uint32_t sum = 0, most = 0;

	herd_begin(&h);
	herd_work(&h);
	herd_until(&h, 4 * h.t - 1);
	for (int i = 0; i < 4 * 16; i++) {
		sum += h.slot[i];
		if (h.slot[i] > most)
			most = h.slot[i];
	}
	ck_assert_uint_ge(sum, HERD);
	ck_assert_msg(most < HERD / 5, "%u of %u at once", most, sum);
	herd_end(&h);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		timeout_zero_is_never,
		retry_cnt_zero_fails_at_the_first_timeout,
		progress_starts_the_timeout_anew,
		stale_acks_do_not_hold_the_timeout_off,
		repetition_after_a_nak_has_its_own_timeout,
		repetition_after_a_gap_has_its_own_timeout,
		destroyed_qp_leaves_no_timer,
		one_call_sends_a_bounded_amount_however_many_qps_there_are,
		timeouts_of_many_qps_are_spread,
	};
	const struct fixture_loop loops[] = {{every_timeout_comes_between_t_and_4t, 1, 32},
					     {NULL, 0, 0}};

	return fixture_run_loops("rnic timeout", defaults, tests, sizeof(tests) / sizeof(tests[0]),
				 loops);
}
