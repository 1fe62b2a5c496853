/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets of a peer that means ill, or knows nothing: any opcode, any PSN near what is expected,
 * any length and key, in every state of the QP, beside traffic of its own. They may end the
 * connection; what is tested is that the device lives, ends its work, and gives all its objects
 * back.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/psn.h"
#include "endpoint.h"
#include "rnic_fixture.h"

#define SEEDS 400
#define ROUNDS 60
#define BATCH 24
#define PACKET_ROOM 4200
#define STEPS_MAX 300000

struct attack {
	struct sim_world world;
	struct sim_end a, b; /* a is attacked */
	struct rng rng;
	uint8_t data[BATCH][PACKET_ROOM];
	struct rnic_rx rx[BATCH];
};

static uint32_t psn_choose(struct attack *at, const struct rnic_qp_info *info)
{
	uint32_t base = rng_chance(&at->rng, 6000) ? info->rq_psn : info->sq_una_psn;

	if (rng_chance(&at->rng, 500))
		return (uint32_t)rng_next(&at->rng) & BTH_PSN_MASK;
	if (rng_chance(&at->rng, 6000))
		return base;
	return psn_add(base, rng_below(&at->rng, 9) - 4);
}

static uint32_t length_choose(struct attack *at)
{
	static const uint32_t lens[] = {0, 1, 8, 255, 256, 1023, 1024, 1025, 4096};

	return lens[rng_below(&at->rng, sizeof(lens) / sizeof(lens[0]))];
}

static uint32_t packet_make(struct attack *at, uint8_t *buf, uint32_t psn)
{
	static const uint32_t dmalens[] = {0, 8, 1024, 3000, 100000, 1u << 31, UINT32_MAX};
	struct rng *r = &at->rng;
	struct bth_packet pkt = {
		.opcode = (uint8_t)(rng_chance(r, 9000) ? rng_below(r, 0x20) : rng_next(r)),
		.se = rng_chance(r, 2000),
		.migreq = true,
		.pkey = rng_chance(r, 200) ? 1 : 0xffff,
		.dqpn = rnic_qp_num(at->a.qp),
		.ackreq = rng_chance(r, 5000),
		.psn = psn,
		.va = at->a.mem.start + 8 * rng_below(r, 3000),
		.rkey = rng_chance(r, 9500) ? rnic_mr_key(at->a.mr) : (uint32_t)rng_next(r),
		.dmalen = dmalens[rng_below(r, sizeof(dmalens) / sizeof(dmalens[0]))],
		.swap_add = rng_next(r),
		.syndrome = rng_chance(r, 5000) ? 0x1f : (uint8_t)rng_next(r),
		.msn = (uint32_t)rng_next(r) & BTH_PSN_MASK,
		.payload_len = length_choose(at),
	};
	uint8_t opcode = pkt.opcode;
	size_t headers;

	if (!bth_opcode_info(opcode)->name)
		pkt.opcode = BTH_OPCODE(BTH_RC, BTH_SEND_ONLY);
	if (!(bth_opcode_info(pkt.opcode)->flags & BTH_F_PAYLOAD))
		pkt.payload_len = 0;
	if (rng_chance(r, 3000))
		pkt.dmalen = pkt.payload_len;
	pkt.pad = bth_pad(pkt.payload_len);
	headers = bth_encode_headers(&pkt, buf);
	buf[0] = opcode;
	return (uint32_t)headers + pkt.payload_len + pkt.pad;
}

static void batch_send(struct attack *at, uint64_t now)
{
	uint32_t n = rng_between(&at->rng, 1, BATCH), psn;
	struct rnic_qp_info info;

	rnic_qp_info_get(at->a.qp, &info);
	psn = psn_choose(at, &info);
	for (uint32_t i = 0; i < n; i++) {
		struct rnic_rx *rx = &at->rx[i];

		*rx = (struct rnic_rx){.data = at->data[i], .hop_limit = 64, .sport = 0xc000};
		rx->len = packet_make(at, at->data[i], psn);
		if (rng_chance(&at->rng, 200))
			rx->len = rng_below(&at->rng, rx->len + 1);
		memcpy(rx->sgid, at->world.node[1].gid, 16);
		memcpy(rx->dgid, at->world.node[0].gid, 16);
		psn = rng_chance(&at->rng, 7000) ? psn_add(psn, 1) : psn_choose(at, &info);
	}
	rnic_rx(at->world.node[0].dev, now, at->rx, n);
}

static void work_post(struct attack *at)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_READ,
					      RNIC_WR_FETCH_ADD};
	struct rnic_send_wr *wr = sim_queue_send(&at->a.queues);
	struct rnic_recv_wr *recv = sim_queue_recv(&at->a.queues);

	if (recv) {
		recv->num_sge = 1;
		recv->sge[0] = sim_sge(&at->a, 32768, rng_between(&at->rng, 1, 20000));
		sim_queue_recv_post(&at->a.queues);
	}
	if (!wr)
		return;
	wr->op = ops[rng_below(&at->rng, 4)];
	wr->flags = RNIC_SEND_SIGNALED;
	wr->raddr = at->b.mem.start;
	wr->rkey = rnic_mr_key(at->b.mr);
	wr->num_sge = 1;
	wr->sge[0] = sim_sge(&at->a, 0, wr->op == RNIC_WR_FETCH_ADD ? 8 : 9000);
	sim_queue_send_post(&at->a.queues);
	(void)rnic_qp_kick(at->a.qp);
}

static void completions_drop(struct sim_end *e)
{
	while (sim_cq_poll(&e->send_ring))
		;
	while (sim_cq_poll(&e->recv_ring))
		;
}

static void round_run(struct attack *at)
{
	work_post(at);
	for (uint32_t i = rng_below(&at->rng, 6); i > 0; i--)
		(void)sim_world_step(&at->world);
	batch_send(at, at->world.now);
	completions_drop(&at->a);
	completions_drop(&at->b);
	if (rnic_qp_state(at->a.qp) == RNIC_QPS_ERR && rng_chance(&at->rng, 5000)) {
		sim_end_modify(&at->a, RNIC_QPS_RESET);
		sim_end_modify(&at->b, RNIC_QPS_ERR);
		batch_send(at, at->world.now);
		sim_end_modify(&at->b, RNIC_QPS_RESET);
		sim_connect(&at->a, &at->b);
	}
}

static void attack_run(uint64_t seed)
{
	static struct attack at;
	struct sim_end_config cfg = sim_end_default;
	uint32_t steps = 0;

	memset(&at, 0, sizeof(at));
	at.rng.state = seed;
	cfg.mtu = RNIC_MTU_1024;
	cfg.retry_cnt = 2;
	cfg.rnr_retry = 1;
	sim_world_begin(&at.world, seed, RNIC_MTU_4096, seed % 2 ? 0 : 40000);
	at.world.faults.delay = 2 * SIM_US;
	sim_end_begin(&at.a, &at.world, 0, &cfg);
	sim_end_begin(&at.b, &at.world, 1, &cfg);
	at.a.mem.pending = seed % 3 ? 0 : 500;
	sim_connect(&at.a, &at.b);
	for (uint32_t i = 0; i < ROUNDS; i++)
		round_run(&at);
	while (sim_world_step(&at.world))
		ck_assert_msg(++steps < STEPS_MAX, "seed %llu never ends",
			      (unsigned long long)seed);
	sim_end_end(&at.a);
	sim_end_end(&at.b);
	ck_assert(sim_world_end(&at.world));
}

START_TEST(any_packet_in_any_state_leaves_the_device_alive)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		attack_run(seed);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		any_packet_in_any_state_leaves_the_device_alive,
	};

	return fixture_run("rnic hostile", tests, 1);
}
