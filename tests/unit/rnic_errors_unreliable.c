/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables of rnic_errors.c for UC and UD, one row a fault. Nothing is ever answered: what is
 * wrong with a packet drops it, what is wrong with a receive fails it and the QP, what is wrong
 * with a request stops the send queue (SQE) and leaves the receives alone.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "rnic_lone.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MTU 1024u
#define NONE (-1)
#define UC RNIC_QPT_UC
#define UD RNIC_QPT_UD
#define OP(op) BTH_OPCODE(BTH_UC, op)
#define UD_SEND BTH_OPCODE(BTH_UD, BTH_SEND_ONLY)

static struct lone l;

/* ---- packets that come ---- */

struct stimulus {
	int opcode; /* NONE ends the list */
	int32_t psn;
	uint32_t len, dmalen;
	uint32_t key_xor; /* of the R_Key or the Q_Key */
};

enum prepared { AS_USUAL, NO_ACCESS, BAD_LKEY, LONG_SGL, BROKEN, FOREIGN_KEY };

struct packet_row {
	enum rnic_qp_type type;
	const char *fault;
	enum prepared prepared;
	uint32_t receive; /* bytes of each of two receives; 0: none */
	struct stimulus in[3];
	int status; /* of the first receive, and the QP is in ERR; NONE: dropped */
};

#define END                                                                                        \
	{                                                                                          \
		.opcode = NONE                                                                     \
	}

/* clang-format off */
static const struct packet_row packet_rows[] = {
	{UC, "reserved opcode", AS_USUAL, 64, {{OP(0x15), 0, 0, 0, 0}, END}, NONE},
	{UC, "READ, which UC has not", AS_USUAL, 0, {{OP(BTH_READ_REQUEST), 0, 0, 8, 0}, END}, NONE},
	{UC, "opcode of RC", AS_USUAL, 64, {{BTH_SEND_ONLY, 0, 8, 0, 0}, END}, NONE},
	{UC, "SEND Last begins a message", AS_USUAL, 5000, {{OP(BTH_SEND_LAST), 0, 8, 0, 0}, END}, NONE},
	{UC, "WRITE goes on with a SEND", AS_USUAL, 5000,
	 {{OP(BTH_SEND_FIRST), 0, MTU, 0, 0}, {OP(BTH_WRITE_LAST), 1, 8, 0, 0}, END}, NONE},
	{UC, "a packet of the message is missing", AS_USUAL, 5000,
	 {{OP(BTH_SEND_FIRST), 0, MTU, 0, 0}, {OP(BTH_SEND_LAST), 2, 8, 0, 0}, END}, NONE},
	{UC, "SEND First shorter than the MTU", AS_USUAL, 5000,
	 {{OP(BTH_SEND_FIRST), 0, MTU - 4, 0, 0}, {OP(BTH_SEND_LAST), 1, 8, 0, 0}, END}, NONE},
	{UC, "SEND Only longer than the MTU", AS_USUAL, 5000,
	 {{OP(BTH_SEND_ONLY), 0, MTU + 4, 0, 0}, END}, NONE},
	{UC, "WRITE longer than its RETH says", AS_USUAL, 0,
	 {{OP(BTH_WRITE_ONLY), 0, 12, 8, 0}, END}, NONE},
	{UC, "WRITE shorter than its RETH says", AS_USUAL, 0,
	 {{OP(BTH_WRITE_ONLY), 0, 8, 12, 0}, END}, NONE},
	{UC, "WRITE with a wrong key", AS_USUAL, 0, {{OP(BTH_WRITE_ONLY), 0, 8, 8, 1}, END}, NONE},
	{UC, "WRITE by a key of another PD", FOREIGN_KEY, 0,
	 {{OP(BTH_WRITE_ONLY), 0, 8, 8, 0}, END}, NONE},
	{UC, "WRITE to a QP without remote write", NO_ACCESS, 0,
	 {{OP(BTH_WRITE_ONLY), 0, 8, 8, 0}, END}, NONE},
	{UC, "WRITE to memory that faults", BROKEN, 0, {{OP(BTH_WRITE_ONLY), 0, 8, 8, 0}, END}, NONE},
	{UC, "no receive", AS_USUAL, 0, {{OP(BTH_SEND_ONLY), 0, 8, 0, 0}, END}, NONE},
	{UC, "SEND longer than the receive", AS_USUAL, 4, {{OP(BTH_SEND_ONLY), 0, 8, 0, 0}, END}, NONE},
	{UC, "receive with a wrong lkey", BAD_LKEY, 64, {{OP(BTH_SEND_ONLY), 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_PROT_ERR},
	{UC, "receive of too many SGEs", LONG_SGL, 64, {{OP(BTH_SEND_ONLY), 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_QP_OP_ERR},
	{UC, "receive whose memory faults", BROKEN, 64, {{OP(BTH_SEND_ONLY), 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_PROT_ERR},
	{UD, "opcode of RC", AS_USUAL, 64, {{BTH_SEND_ONLY, 0, 8, 0, 0}, END}, NONE},
	{UD, "wrong Q_Key", AS_USUAL, 64, {{UD_SEND, 0, 8, 0, 1}, END}, NONE},
	{UD, "no receive", AS_USUAL, 0, {{UD_SEND, 0, 8, 0, 0}, END}, NONE},
	{UD, "receive without room for the GRH", AS_USUAL, 40, {{UD_SEND, 0, 8, 0, 0}, END}, NONE},
	{UD, "receive with a wrong lkey", BAD_LKEY, 64, {{UD_SEND, 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_PROT_ERR},
	{UD, "receive of too many SGEs", LONG_SGL, 64, {{UD_SEND, 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_QP_OP_ERR},
	{UD, "receive whose memory faults", BROKEN, 64, {{UD_SEND, 0, 8, 0, 0}, END},
	 RNIC_WC_LOC_PROT_ERR},
};
/* clang-format on */

static void receives_post(enum prepared prepared, uint32_t len)
{
	for (int i = 0; i < 2 && len; i++) {
		struct rnic_recv_wr *wr = sim_queue_recv(&l.end.queues);

		wr->num_sge = prepared == LONG_SGL ? RNIC_MAX_SGE + 1 : 1;
		wr->sge[0] = sim_sge(&l.end, 0, len);
		wr->sge[0].lkey ^= prepared == BAD_LKEY;
		sim_queue_recv_post(&l.end.queues);
	}
}

static void stimulate(const struct packet_row *row, uint32_t key)
{
	for (const struct stimulus *s = row->in; s->opcode != NONE; s++) {
		struct bth_packet pkt =
			lone_request(&l, BTH_SEND_ONLY, LONE_RQ_PSN + (uint32_t)s->psn, s->dmalen);

		pkt.opcode = (uint8_t)s->opcode;
		pkt.rkey = (key ? key : pkt.rkey) ^ s->key_xor;
		pkt.qkey = LONE_QKEY ^ s->key_xor;
		pkt.sqpn = LONE_PEER_QPN;
		pkt.payload_len = s->len;
		lone_inject(&l, &pkt);
	}
}

static void no_event(void)
{
	for (int type = 0; type < 32; type++)
		ck_assert_uint_eq(lone_events(&l, (enum rnic_event_type)type),
				  type == RNIC_EVENT_GID_CHANGE);
}

static void packet_outcome(const struct packet_row *row)
{
	uint64_t slot = 0;

	lone_silent(&l);
	no_event();
	lone_state(&l, row->status == NONE ? RNIC_QPS_RTS : RNIC_QPS_ERR);
	ck_assert_uint_eq(l.world.node[0].n_logs, row->status != NONE);
	if (row->status != NONE) {
		lone_completion(&l.end.recv_ring, slot++, (enum rnic_wc_status)row->status);
		lone_completion(&l.end.recv_ring, slot++, RNIC_WC_WR_FLUSH_ERR);
	}
	lone_done(&l.end.recv_ring);
	for (uint64_t i = 0; i < l.end.mem.len && !row->receive; i++)
		ck_assert_uint_eq(l.end.mem.bytes[i], (uint8_t)i);
}

START_TEST(packet_is_dropped_or_fails_its_receive_by_the_table)
{
	const struct packet_row *row = &packet_rows[_i];
	struct sim_end_config cfg = sim_end_default;
	struct rnic_mr *foreign;
	struct rnic_pd *pd;

	puts(row->fault);
	cfg.type = row->type;
	cfg.access = row->prepared == NO_ACCESS ? 0 : SIM_ALL_ACCESS;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	ck_assert_int_eq(rnic_pd_create(l.world.node[0].dev, &pd), 0);
	ck_assert_int_eq(rnic_mr_create(pd, rnic_mr_attr_get(l.end.mr), &foreign), 0);
	l.end.mem.broken = row->prepared == BROKEN;
	receives_post(row->prepared, row->receive);
	stimulate(row, row->prepared == FOREIGN_KEY ? rnic_mr_key(foreign) : 0);
	packet_outcome(row);
	rnic_mr_destroy(foreign);
	rnic_pd_destroy(pd);
	lone_end(&l);
}
END_TEST

/* ---- requests ---- */

enum wrong { NOTHING, LKEY, FOREIGN_LKEY, FAULTS, SGES, INLINE, NO_AH };

struct request_row {
	enum rnic_qp_type type;
	const char *fault;
	enum rnic_wr_op op;
	uint32_t len;
	enum wrong wrong;
	enum rnic_wc_status status;
};

/* clang-format off */
static const struct request_row request_rows[] = {
	{UC, "READ", RNIC_WR_READ, 8, NOTHING, RNIC_WC_LOC_QP_OP_ERR},
	{UC, "atomic", RNIC_WR_FETCH_ADD, 8, NOTHING, RNIC_WC_LOC_QP_OP_ERR},
	{UC, "wrong lkey", RNIC_WR_WRITE, 8, LKEY, RNIC_WC_LOC_PROT_ERR},
	{UC, "lkey of another PD", RNIC_WR_SEND, 8, FOREIGN_LKEY, RNIC_WC_LOC_PROT_ERR},
	{UC, "memory that faults", RNIC_WR_SEND, 8, FAULTS, RNIC_WC_LOC_PROT_ERR},
	{UC, "too many SGEs", RNIC_WR_SEND, 8, SGES, RNIC_WC_LOC_QP_OP_ERR},
	{UC, "too much inline", RNIC_WR_SEND, 8, INLINE, RNIC_WC_LOC_QP_OP_ERR},
	{UD, "WRITE", RNIC_WR_WRITE, 8, NOTHING, RNIC_WC_LOC_QP_OP_ERR},
	{UD, "no address handle, or another PD's", RNIC_WR_SEND, 8, NO_AH, RNIC_WC_LOC_QP_OP_ERR},
	{UD, "wrong lkey", RNIC_WR_SEND, 8, LKEY, RNIC_WC_LOC_PROT_ERR},
	{UD, "lkey of another PD", RNIC_WR_SEND, 8, FOREIGN_LKEY, RNIC_WC_LOC_PROT_ERR},
	{UD, "memory that faults", RNIC_WR_SEND, 8, FAULTS, RNIC_WC_LOC_PROT_ERR},
	{UD, "too many SGEs", RNIC_WR_SEND, 8, SGES, RNIC_WC_LOC_QP_OP_ERR},
	{UD, "too much inline", RNIC_WR_SEND, 8, INLINE, RNIC_WC_LOC_QP_OP_ERR},
};
/* clang-format on */

static void request_spoil(struct rnic_send_wr *wr, enum wrong wrong, uint32_t foreign_key)
{
	switch (wrong) {
	case NOTHING:
		return;
	case LKEY:
		wr->sge[0].lkey ^= 1;
		return;
	case FOREIGN_LKEY:
		wr->sge[0].lkey = foreign_key;
		return;
	case FAULTS:
		l.end.mem.broken = true;
		return;
	case SGES:
		wr->num_sge = RNIC_MAX_SGE + 1;
		return;
	case INLINE:
		wr->flags |= RNIC_SEND_INLINE;
		wr->inline_len = RNIC_MAX_INLINE + 1;
		return;
	case NO_AH:
		wr->av_bad = true;
		return;
	}
}

START_TEST(request_stops_the_send_queue_by_the_table)
{
	const struct request_row *row = &request_rows[_i];
	struct sim_end_config cfg = sim_end_default;
	struct rnic_send_wr *wr;
	struct rnic_mr *foreign;
	struct rnic_pd *pd;

	puts(row->fault);
	cfg.type = row->type;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	ck_assert_int_eq(rnic_pd_create(l.world.node[0].dev, &pd), 0);
	ck_assert_int_eq(rnic_mr_create(pd, rnic_mr_attr_get(l.end.mr), &foreign), 0);
	wr = lone_post(&l, row->op, row->len);
	wr->av = sim_av(&l.world, 0, 1);
	wr->remote_qpn = LONE_PEER_QPN;
	request_spoil(wr, row->wrong, rnic_mr_key(foreign));
	lone_post(&l, RNIC_WR_SEND, 8)->flags = 0;
	lone_receive(&l, 64);
	lone_kick(&l);
	lone_completion(&l.end.send_ring, 0, row->status);
	lone_completion(&l.end.send_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	lone_state(&l, RNIC_QPS_SQE);
	lone_done(&l.end.recv_ring);
	lone_silent(&l);
	no_event();
	ck_assert_uint_eq(l.world.node[0].n_logs, 1);
	ck_assert_ptr_nonnull(strstr(l.world.node[0].last_log, " failed, status "));
	rnic_mr_destroy(foreign);
	rnic_pd_destroy(pd);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const struct fixture_loop loops[] = {
		{packet_is_dropped_or_fails_its_receive_by_the_table, 0, ARRAY_SIZE(packet_rows)},
		{request_stops_the_send_queue_by_the_table, 0, ARRAY_SIZE(request_rows)},
		{NULL, 0, 0},
	};

	return fixture_run_loops("rnic errors of UC and UD", NULL, NULL, 0, loops);
}
