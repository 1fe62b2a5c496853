/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Our responder is fed the requests of each recorded RC trace and must give the answers that Linux
 * rxe gave, but for the differences in `traces` and one that holds always: MigReq is 1 (C9-... of
 * a QP that never migrates; rxe sends 0). QP numbers and keys are ours, so they are replaced.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/psn.h"
#include "bth_trace.h"
#include "endpoint.h"
#include "suite.h"

#define ANSWERS_MAX 512
#define MEM_LEN 400000 /* less than what out_of_range goes beyond */
#define RECEIVES 40
#define NO_PSN UINT32_MAX
#define CLIENT_PSN 0x1000
#define SERVER_PSN 0xa00000

enum difference {
	AS_RXE,
	INVALID_REQUEST,   /* NAK 0x61 in place of rxe's last answer */
	REMOTE_ACCESS,	   /* NAK 0x62 in place of rxe's last answer */
	ONE_NAK_AFTER_RNR, /* no PSN sequence NAK for what follows an RNR NAK */
};

static const struct golden {
	const char *name;
	enum rnic_mtu mtu;
	uint32_t lost_psn; /* the server never saw the first packet with it */
	uint32_t recv_len;
	uint32_t rnr_ms; /* receives are posted so long after the first packet */
	uint8_t rnr_timer;
	bool no_access;
	enum difference difference;
} traces[] = {
	{"rc_all_1024", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_all_4096", RNIC_MTU_4096, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_small", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_zero", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_imm", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_atomic", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_inline", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_tclass", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_ipv6", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_ce", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_send_inv", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, REMOTE_ACCESS},
	{"rc_window", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"rc_long", RNIC_MTU_256, NO_PSN, 40000, 0, 12, false, AS_RXE},
	{"rnr", RNIC_MTU_1024, NO_PSN, 20000, 300, 26, false, ONE_NAK_AFTER_RNR},
	{"bad_rkey", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"bad_rkey_read", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"out_of_range", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
	{"no_access", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, true, AS_RXE},
	{"recv_too_small", RNIC_MTU_1024, NO_PSN, 1500, 0, 12, false, INVALID_REQUEST},
	{"lost_first", RNIC_MTU_1024, 0x1000, 20000, 0, 12, false, AS_RXE},
	{"lost_middle", RNIC_MTU_1024, 0x1001, 20000, 0, 12, false, AS_RXE},
	{"lost_last", RNIC_MTU_1024, 0x1002, 20000, 0, 12, false, AS_RXE},
	{"lost_ack", RNIC_MTU_1024, NO_PSN, 20000, 0, 12, false, AS_RXE},
};

struct answer {
	struct bth_packet pkt;
	uint8_t payload[4096];
};

struct answers {
	struct answer *a;
	uint32_t n;
};

struct run {
	const struct golden *golden;
	struct sim_world world;
	struct sim_end client, server;
	uint32_t rkey; /* of the server that was recorded */
	bool lost, receives_posted;
	uint64_t begin; /* of the trace */
	struct answers rxe, ours;
};

static void answer_add(struct answers *to, const struct bth_packet *pkt)
{
	struct answer *a = &to->a[to->n++];

	ck_assert_uint_lt(to->n, ANSWERS_MAX);
	a->pkt = *pkt;
	ck_assert_uint_le(pkt->payload_len, sizeof(a->payload));
	memcpy(a->payload, pkt->payload, pkt->payload_len);
	a->pkt.payload = a->payload;
}

static bool our_answer(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct run *r = arg;

	(void)now;
	ck_assert_uint_eq(from, 1);
	answer_add(&r->ours, pkt);
	return true;
}

/* Key and address of the server's buffer, from programs.txt. */
static void server_find(const char *name, uint32_t *rkey, uint64_t *addr)
{
	FILE *f = fopen(GOLDEN_DIR "/programs.txt", "r");
	char line[300], head[60];
	bool here = false, found = false;

	ck_assert_ptr_nonnull(f);
	snprintf(head, sizeof(head), "== %s\n", name);
	while (!found && fgets(line, sizeof(line), f)) {
		if (line[0] == '=')
			here = strcmp(line, head) == 0;
		found = here &&
			sscanf(line, "s| local qpn=%*x psn=%*x rkey=%" SCNx32 " addr=%" SCNx64,
			       rkey, addr) == 2;
	}
	fclose(f);
	ck_assert_msg(found, "%s is not in programs.txt", name);
}

static void receives_post(struct run *r)
{
	for (int i = 0; i < RECEIVES; i++) {
		struct rnic_recv_wr *wr = sim_queue_recv(&r->server.queues);

		wr->num_sge = 1;
		wr->sge[0] = sim_sge(&r->server, MEM_LEN / 2, r->golden->recv_len);
		sim_queue_recv_post(&r->server.queues);
	}
	r->receives_posted = true;
}

static void run_begin(struct run *r, const struct golden *golden)
{
	struct sim_end_config cfg = sim_end_default;

	memset(r, 0, sizeof(*r));
	r->golden = golden;
	r->rxe.a = calloc(ANSWERS_MAX, sizeof(struct answer));
	r->ours.a = calloc(ANSWERS_MAX, sizeof(struct answer));
	ck_assert(r->rxe.a && r->ours.a);
	cfg.mtu = golden->mtu;
	cfg.mem_len = MEM_LEN;
	cfg.recv_room = RECEIVES;
	cfg.min_rnr_timer = golden->rnr_timer;
	cfg.max_rd_atomic = 16;
	cfg.access = golden->no_access ? 0 : SIM_ALL_ACCESS;
	server_find(golden->name, &r->rkey, &cfg.mem_start);
	sim_world_begin(&r->world, 1, RNIC_MTU_4096, 0);
	sim_end_begin(&r->client, &r->world, 0, &cfg);
	sim_end_begin(&r->server, &r->world, 1, &cfg);
	r->client.sq_psn = CLIENT_PSN;
	r->server.sq_psn = SERVER_PSN;
	for (uint32_t i = 0; i < MEM_LEN; i++)
		r->server.mem.bytes[i] = (uint8_t)(0x80 | (i & 0x7f));
	sim_connect(&r->client, &r->server);
	r->world.filter = our_answer;
	r->world.filter_arg = r;
	if (!golden->rnr_ms)
		receives_post(r);
}

static void run_end(struct run *r)
{
	sim_end_end(&r->client);
	sim_end_end(&r->server);
	ck_assert(sim_world_end(&r->world));
	free(r->rxe.a);
	free(r->ours.a);
}

static void request_feed(struct run *r, struct bth_packet *pkt)
{
	struct sim_node *node = r->world.node;
	uint8_t buf[BTH_HEADERS_MAX + 4096 + 4] = {0};
	struct rnic_rx rx = {.data = buf, .hop_limit = 64, .sport = 0xc000};
	size_t headers;

	pkt->dqpn = rnic_qp_num(r->server.qp);
	pkt->rkey = r->rkey && pkt->rkey == r->rkey ? rnic_mr_key(r->server.mr) : pkt->rkey;
	headers = bth_encode_headers(pkt, buf);
	memcpy(buf + headers, pkt->payload, pkt->payload_len);
	rx.len = (uint32_t)headers + pkt->payload_len + pkt->pad;
	memcpy(rx.sgid, node[0].gid, 16);
	memcpy(rx.dgid, node[1].gid, 16);
	rnic_rx(node[1].dev, r->world.now, &rx, 1);
	while (rnic_run(node[1].dev, r->world.now))
		;
}

static void packet_replay(const struct trace_packet *tp, void *ctx)
{
	struct run *r = ctx;
	struct bth_packet pkt;

	ck_assert_int_eq(bth_decode(tp->bth, tp->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	if (bth_opcode_info(pkt.opcode)->flags & BTH_F_RESPONSE) {
		pkt.dqpn = rnic_qp_num(r->client.qp);
		answer_add(&r->rxe, &pkt);
		return;
	}
	if (!r->begin)
		r->begin = tp->time;
	r->world.now = tp->time - r->begin;
	if (r->world.node[1].timer <= r->world.now)
		rnic_timer_fired(r->world.node[1].dev, r->world.now);
	if (!r->receives_posted && r->world.now >= r->golden->rnr_ms * SIM_MS)
		receives_post(r);
	if (pkt.psn == r->golden->lost_psn && !r->lost)
		r->lost = true;
	else
		request_feed(r, &pkt);
}

static bool is_nak(const struct bth_packet *pkt, enum aeth_nak code)
{
	return bth_opcode_op(pkt->opcode) == BTH_ACKNOWLEDGE &&
	       pkt->syndrome == aeth_syndrome(AETH_NAK, (uint8_t)code);
}

/* What rxe should have said last. */
static void last_becomes(struct answers *rxe, enum aeth_nak code)
{
	ck_assert_uint_gt(rxe->n, 0);
	rxe->a[rxe->n - 1].pkt.syndrome = aeth_syndrome(AETH_NAK, (uint8_t)code);
}

static void sequence_naks_drop(struct answers *rxe)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rxe->n; i++)
		if (!is_nak(&rxe->a[i].pkt, AETH_NAK_PSN_SEQUENCE))
			rxe->a[kept++] = rxe->a[i];
	rxe->n = kept;
}

static void differences_apply(struct run *r)
{
	switch (r->golden->difference) {
	case AS_RXE:
		break;
	case INVALID_REQUEST:
		last_becomes(&r->rxe, AETH_NAK_INVALID_REQUEST);
		break;
	case REMOTE_ACCESS:
		last_becomes(&r->rxe, AETH_NAK_REMOTE_ACCESS);
		break;
	case ONE_NAK_AFTER_RNR:
		sequence_naks_drop(&r->rxe);
		break;
	}
}

static void answer_compare(const char *name, uint32_t i, const struct answer *rxe,
			   const struct answer *ours)
{
	const struct bth_packet *a = &rxe->pkt, *b = &ours->pkt;
	const struct {
		const char *field;
		uint64_t rxe, ours;
	} fields[] = {
		{"opcode", a->opcode, b->opcode},
		{"PSN", a->psn, b->psn},
		{"syndrome", a->syndrome, b->syndrome},
		{"MSN", a->msn, b->msn},
		{"solicited", a->se, b->se},
		{"pad", a->pad, b->pad},
		{"version", a->tver, b->tver},
		{"P_Key", a->pkey, b->pkey},
		{"FECN", a->fecn, b->fecn},
		{"BECN", a->becn, b->becn},
		{"QP", a->dqpn, b->dqpn},
		{"AckReq", a->ackreq, b->ackreq},
		{"original value", a->orig, b->orig},
		{"payload length", a->payload_len, b->payload_len},
	};

	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
		ck_assert_msg(fields[k].rxe == fields[k].ours,
			      "%s, answer %u: %s is 0x%" PRIx64 ", rxe's was 0x%" PRIx64, name, i,
			      fields[k].field, fields[k].ours, fields[k].rxe);
	ck_assert_msg(b->migreq, "%s, answer %u: MigReq", name, i);
	if (a->payload_len)
		ck_assert_mem_eq(rxe->payload, ours->payload, a->payload_len);
}

START_TEST(responder_answers_recorded_requests_as_rxe_did)
{
	static struct run r;

	sim_fail_context("in trace %s", traces[_i].name);
	run_begin(&r, &traces[_i]);
	trace_for_each(traces[_i].name, packet_replay, &r);
	differences_apply(&r);
	for (uint32_t i = 0; i < r.rxe.n && i < r.ours.n; i++)
		answer_compare(traces[_i].name, i, &r.rxe.a[i], &r.ours.a[i]);
	ck_assert_msg(r.rxe.n == r.ours.n, "%s: %u answers, rxe gave %u", traces[_i].name, r.ours.n,
		      r.rxe.n);
	run_end(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rnic_golden");
	TCase *c = tcase_create("responder");

	tcase_add_loop_test(c, responder_answers_recorded_requests_as_rxe_did, 0,
			    (int)(sizeof(traces) / sizeof(traces[0])));
	suite_add_tcase(s, c);
	return suite_run_all(srunner_create(s));
}
