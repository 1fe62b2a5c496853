/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The packets of the recorded UC and UD traces, fed to our responder, must complete as they did at
 * the Linux rxe that received them (programs.txt), with the data that is in the trace. Where rxe is
 * not the model: it sets the GRH flag on UC too, and a UDP socket does not see the IP ID that rxe
 * copies into the GRH area.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth_trace.h"
#include "endpoint.h"
#include "suite.h"

#define MEM_LEN 400000
#define RECEIVES 8
#define RECEIVE_LEN 4096
#define GRH_LEN 40
#define CLIENT_PSN 0x1000

struct expected {
	enum rnic_wc_opcode opcode;
	uint32_t len, flags, imm, src_qpn;
};

static const struct golden {
	const char *name;
	enum rnic_qp_type type;
	uint32_t n;
	struct expected wc[RECEIVES];
} traces[] = {
	{"uc_all",
	 RNIC_QPT_UC,
	 4,
	 {{RNIC_WC_RECV, 3000, 0, 0, 0},
	  {RNIC_WC_RECV, 3000, RNIC_WC_WITH_IMM, 0x11223344, 0},
	  {RNIC_WC_RECV_WRITE_IMM, 3000, RNIC_WC_WITH_IMM, 0x11223344, 0},
	  {RNIC_WC_RECV, 3000, 0, 0, 0}}},
	{"ud_all",
	 RNIC_QPT_UD,
	 4,
	 {{RNIC_WC_RECV, 740, RNIC_WC_GRH, 0, 0x1f},
	  {RNIC_WC_RECV, 740, RNIC_WC_GRH | RNIC_WC_WITH_IMM, 0x11223344, 0x1f},
	  {RNIC_WC_RECV, 740, RNIC_WC_GRH, 0, 0x1f},
	  {RNIC_WC_RECV, 740, RNIC_WC_GRH | RNIC_WC_WITH_IMM, 0x11223344, 0x1f}}},
};

struct run {
	const struct golden *golden;
	struct sim_world world;
	struct sim_end client, server;
	uint8_t sent[RECEIVES][RECEIVE_LEN]; /* payloads of the messages that take a receive */
	uint32_t sent_len, n_sent;
	uint32_t n_packets;
};

static void receives_post(struct run *r)
{
	for (uint32_t i = 0; i < RECEIVES; i++) {
		struct rnic_recv_wr *wr = sim_queue_recv(&r->server.queues);

		wr->num_sge = 1;
		wr->sge[0] = sim_sge(&r->server, (uint64_t)i * RECEIVE_LEN, RECEIVE_LEN);
		sim_queue_recv_post(&r->server.queues);
	}
}

static void run_begin(struct run *r, const struct golden *golden, uint32_t qkey)
{
	struct sim_end_config cfg = sim_end_default;

	memset(r, 0, sizeof(*r));
	r->golden = golden;
	cfg.type = golden->type;
	cfg.qkey = qkey;
	cfg.mem_len = MEM_LEN;
	cfg.recv_room = RECEIVES;
	sim_world_begin(&r->world, 1, RNIC_MTU_4096, 0);
	sim_end_begin(&r->client, &r->world, 0, &cfg);
	sim_end_begin(&r->server, &r->world, 1, &cfg);
	r->client.sq_psn = CLIENT_PSN;
	sim_connect(&r->client, &r->server);
	receives_post(r);
}

static void run_end(struct run *r)
{
	sim_end_end(&r->client);
	sim_end_end(&r->server);
	ck_assert(sim_world_end(&r->world));
}

/* What the receive must hold in the end. */
static void payload_note(struct run *r, const struct bth_packet *pkt)
{
	uint32_t flags = bth_opcode_info(pkt->opcode)->flags;

	if (flags & BTH_F_FIRST)
		r->sent_len = 0;
	memcpy(r->sent[r->n_sent] + r->sent_len, pkt->payload, pkt->payload_len);
	r->sent_len += pkt->payload_len;
	if ((flags & BTH_F_LAST) && (flags & (BTH_F_SEND | BTH_F_IMM)))
		r->n_sent++;
}

static void addr_of(const uint8_t ip[4], uint8_t gid[16])
{
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, ip, 4);
}

static void packet_feed(struct run *r, struct bth_packet *pkt, const struct icrc_flow *flow)
{
	uint8_t buf[BTH_HEADERS_MAX + 4096 + 4] = {0};
	struct rnic_rx rx = {.data = buf, .hop_limit = 64, .sport = flow->sport};
	size_t headers;

	pkt->dqpn = rnic_qp_num(r->server.qp);
	pkt->rkey = rnic_mr_key(r->server.mr);
	pkt->va = r->server.mem.start + MEM_LEN / 2;
	headers = bth_encode_headers(pkt, buf);
	memcpy(buf + headers, pkt->payload, pkt->payload_len);
	rx.len = (uint32_t)headers + pkt->payload_len + pkt->pad;
	addr_of(flow->src, rx.sgid);
	addr_of(flow->dst, rx.dgid);
	if (r->golden->type == RNIC_QPT_UC)
		memcpy(rx.sgid, r->world.node[0].gid, 16);
	rnic_rx(r->world.node[1].dev, 0, &rx, 1);
}

static void packet_replay(const struct trace_packet *tp, void *ctx)
{
	struct run *r = ctx;
	struct bth_packet pkt;

	ck_assert_int_eq(bth_decode(tp->bth, tp->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	ck_assert_uint_lt(r->n_sent, RECEIVES);
	payload_note(r, &pkt);
	packet_feed(r, &pkt, &tp->flow);
	r->n_packets++;
}

static void qkey_find(const struct trace_packet *tp, void *ctx)
{
	struct bth_packet pkt;

	ck_assert_int_eq(bth_decode(tp->bth, tp->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	*(uint32_t *)ctx = pkt.qkey;
}

static void completion_compare(const struct run *r, const struct rnic_cqe *cqe, uint32_t i)
{
	const struct expected *e = &r->golden->wc[i];
	uint32_t off = r->golden->type == RNIC_QPT_UD ? GRH_LEN : 0;

	ck_assert_ptr_nonnull(cqe);
	ck_assert_int_eq(cqe->status, RNIC_WC_SUCCESS);
	ck_assert_int_eq(cqe->opcode, e->opcode);
	ck_assert_uint_eq(cqe->slot, i);
	ck_assert_uint_eq(cqe->byte_len, e->len);
	ck_assert_uint_eq(cqe->ip_version, r->golden->type == RNIC_QPT_UD ? 4 : 0);
	ck_assert_uint_eq(cqe->flags, e->flags);
	ck_assert_uint_eq(cqe->imm, e->imm);
	if (e->src_qpn)
		ck_assert_uint_eq(cqe->src_qpn, e->src_qpn);
	if (e->opcode == RNIC_WC_RECV)
		ck_assert_mem_eq(r->server.mem.bytes + (size_t)i * RECEIVE_LEN + off, r->sent[i],
				 e->len - off);
}

/* Whether the header's words and its checksum make all ones. */
static bool ip_sum_is_right(const uint8_t ip[20])
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* The next "grh:" line of a trace in programs.txt. */
static void grh_next(FILE *f, uint8_t grh[GRH_LEN])
{
	char line[300], *p;

	do
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	while (!(p = strstr(line, "grh: ")));
	p += 5;
	for (int i = 0; i < GRH_LEN; i++)
		grh[i] = (uint8_t)strtoul(p, &p, 16);
}

static void grhs_compare(const struct run *r)
{
	FILE *f = fopen(GOLDEN_DIR "/programs.txt", "r");
	char line[300];

	ck_assert_ptr_nonnull(f);
	do
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	while (strcmp(line, "== ud_all\n") != 0);
	for (uint32_t i = 0; i < r->golden->n; i++) {
		const uint8_t *ours = r->server.mem.bytes + (size_t)i * RECEIVE_LEN;
		uint8_t rxe[GRH_LEN];

		grh_next(f, rxe);
		ck_assert(ip_sum_is_right(rxe + 20));
		ck_assert(ip_sum_is_right(ours + 20));
		rxe[24] = rxe[25] = 0; /* the ID */
		memcpy(rxe + 30, ours + 30, 2);
		ck_assert_mem_eq(ours, rxe, GRH_LEN);
	}
	fclose(f);
}

START_TEST(recorded_unreliable_packets_complete_as_at_rxe)
{
	const struct golden *golden = &traces[_i];
	static struct run r;
	uint32_t qkey = 0;

	trace_for_each(golden->name, qkey_find, &qkey);
	run_begin(&r, golden, qkey);
	trace_for_each(golden->name, packet_replay, &r);
	for (uint32_t i = 0; i < golden->n; i++)
		completion_compare(&r, sim_cq_poll(&r.server.recv_ring), i);
	ck_assert_ptr_null(sim_cq_poll(&r.server.recv_ring));
	ck_assert_uint_eq(r.n_sent, golden->n);
	if (golden->type == RNIC_QPT_UD)
		grhs_compare(&r);
	run_end(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rnic_golden_unreliable");
	TCase *c = tcase_create("responder");

	tcase_add_loop_test(c, recorded_unreliable_packets_complete_as_at_rxe, 0,
			    (int)(sizeof(traces) / sizeof(traces[0])));
	suite_add_tcase(s, c);
	return suite_run_all(srunner_create(s));
}
