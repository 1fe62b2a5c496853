/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Errors, one row a fault: what the responder answers to a request that is wrong (IBA vol. 1,
 * 9.9.3), and what becomes of a request whose answer is wrong (9.9.2): NAK code, completion, state
 * of the QP, async event.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "rnic_lone.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MTU 1024u
#define NONE (-1)
#define TWO_GIB (1u << 31)

enum answer {
	SILENCE = 0x100,
	ANSWER_ACK = 0x1f,
	NAK_SEQUENCE = 0x60,
	NAK_INVALID = 0x61,
	NAK_ACCESS = 0x62,
	NAK_OPERATIONAL = 0x63,
	NAK_RNR = 0x20 | 12
};

/* ---- the responder ---- */

struct stimulus {
	int op; /* enum bth_op or a reserved number; NONE ends the list */
	int32_t psn;
	uint32_t len, dmalen;
	uint64_t offset; /* of the address from the MR's */
	uint32_t key_xor;
};

enum prepared { AS_USUAL, NO_ACCESS, ONE_READ, BAD_LKEY, LONG_SGL, BROKEN, FOREIGN_KEY };

struct responder_row {
	const char *fault;
	enum prepared prepared;
	uint32_t receive; /* bytes of each of two receives; 0: none is posted */
	struct stimulus in[4];
	int answer; /* enum answer */
	int32_t answer_psn;
	int receive_status; /* of the first receive; NONE: it stays posted, or is flushed in ERR */
	int event;
	enum rnic_qp_state state;
};

#define END                                                                                        \
	{                                                                                          \
		.op = NONE                                                                         \
	}

#define FAULT(nak, psn, status, event) nak, psn, status, event, RNIC_QPS_ERR
#define INVALID(psn) FAULT(NAK_INVALID, psn, NONE, RNIC_EVENT_QP_REQ_ERR)
#define INVALID_IN_USE(psn) FAULT(NAK_INVALID, psn, RNIC_WC_REM_INV_REQ_ERR, NONE)
#define ACCESS(psn) FAULT(NAK_ACCESS, psn, NONE, RNIC_EVENT_QP_ACCESS_ERR)
#define FATAL(psn) FAULT(NAK_OPERATIONAL, psn, NONE, RNIC_EVENT_QP_FATAL)
#define RECEIVE(nak, psn, status) FAULT(nak, psn, status, NONE)
#define ALIVE(answer, psn) answer, psn, NONE, NONE, RNIC_QPS_RTS

/* clang-format off */
static const struct responder_row responder_rows[] = {
	/* requests that make no sense: invalid request */
	{"reserved opcode 0x15", AS_USUAL, 100, {{0x15, 0, 0, 0, 0, 0}, END}, INVALID(0)},
	{"reserved opcode 0x1f", AS_USUAL, 100, {{0x1f, 0, 64, 0, 0, 0}, END}, INVALID(0)},
	{"SEND Middle begins a message", AS_USUAL, 5000,
	 {{BTH_SEND_MIDDLE, 0, MTU, 0, 0, 0}, END}, INVALID(0)},
	{"SEND Last begins a message", AS_USUAL, 5000,
	 {{BTH_SEND_LAST, 0, 8, 0, 0, 0}, END}, INVALID(0)},
	{"WRITE Last begins a message", AS_USUAL, 0,
	 {{BTH_WRITE_LAST, 0, 8, 0, 0, 0}, END}, INVALID(0)},
	{"WRITE Middle goes on with a SEND", AS_USUAL, 5000,
	 {{BTH_SEND_FIRST, 0, MTU, 0, 0, 0}, {BTH_WRITE_MIDDLE, 1, MTU, 0, 0, 0}, END},
	 INVALID_IN_USE(1)},
	{"SEND Only within a SEND", AS_USUAL, 5000,
	 {{BTH_SEND_FIRST, 0, MTU, 0, 0, 0}, {BTH_SEND_ONLY, 1, 8, 0, 0, 0}, END},
	 INVALID_IN_USE(1)},
	{"SEND Middle goes on with a WRITE", AS_USUAL, 5000,
	 {{BTH_WRITE_FIRST, 0, MTU, 2 * MTU, 0, 0}, {BTH_SEND_MIDDLE, 1, MTU, 0, 0, 0}, END},
	 INVALID(1)},
	{"READ within a WRITE", AS_USUAL, 0,
	 {{BTH_WRITE_FIRST, 0, MTU, 2 * MTU, 0, 0}, {BTH_READ_REQUEST, 1, 0, 8, 0, 0}, END},
	 INVALID(1)},
	{"atomic within a SEND", AS_USUAL, 5000,
	 {{BTH_SEND_FIRST, 0, MTU, 0, 0, 0}, {BTH_FETCH_ADD, 1, 0, 0, 0, 0}, END},
	 INVALID_IN_USE(1)},
	{"SEND First shorter than the MTU", AS_USUAL, 5000,
	 {{BTH_SEND_FIRST, 0, MTU - 4, 0, 0, 0}, END}, INVALID(0)},
	{"SEND Only longer than the MTU", AS_USUAL, 5000,
	 {{BTH_SEND_ONLY, 0, MTU + 4, 0, 0, 0}, END}, INVALID(0)},
	{"SEND Last without payload", AS_USUAL, 5000,
	 {{BTH_SEND_FIRST, 0, MTU, 0, 0, 0}, {BTH_SEND_LAST, 1, 0, 0, 0, 0}, END},
	 INVALID_IN_USE(1)},
	{"WRITE Only shorter than its RETH says", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 12, 0, 0}, END}, INVALID(0)},
	{"WRITE Only longer than its RETH says", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY, 0, 12, 8, 0, 0}, END}, INVALID(0)},
	{"WRITE Last longer than is left", AS_USUAL, 0,
	 {{BTH_WRITE_FIRST, 0, MTU, MTU + 4, 0, 0}, {BTH_WRITE_LAST, 1, 8, 0, 0, 0}, END},
	 INVALID(1)},
	{"WRITE Last shorter than is left", AS_USUAL, 0,
	 {{BTH_WRITE_FIRST, 0, MTU, MTU + 8, 0, 0}, {BTH_WRITE_LAST, 1, 4, 0, 0, 0}, END},
	 INVALID(1)},
	{"WRITE Middle where the last must be", AS_USUAL, 0,
	 {{BTH_WRITE_FIRST, 0, MTU, 2 * MTU, 0, 0}, {BTH_WRITE_MIDDLE, 1, MTU, 0, 0, 0}, END},
	 INVALID(1)},
	{"WRITE of more than 2 GiB", AS_USUAL, 0,
	 {{BTH_WRITE_FIRST, 0, MTU, TWO_GIB + 1, 0, 0}, END}, INVALID(0)},
	{"READ of more than 2 GiB", AS_USUAL, 0,
	 {{BTH_READ_REQUEST, 0, 0, TWO_GIB + 1, 0, 0}, END}, INVALID(0)},
	{"WRITE to a QP without remote write", NO_ACCESS, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 8, 0, 0}, END}, INVALID(0)},
	{"READ of a QP without remote read", NO_ACCESS, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, 0, 0}, END}, INVALID(0)},
	{"atomic to a QP without remote atomic", NO_ACCESS, 0,
	 {{BTH_CMP_SWAP, 0, 0, 0, 0, 0}, END}, INVALID(0)},
	{"unaligned atomic", AS_USUAL, 0, {{BTH_FETCH_ADD, 0, 0, 0, 4, 0}, END}, INVALID(0)},
	/* keys: remote access */
	{"WRITE with a key that does not exist", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 8, 0, 0x77000000}, END}, ACCESS(0)},
	{"WRITE with the low byte of a key wrong", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 8, 0, 1}, END}, ACCESS(0)},
	{"READ with a wrong key", AS_USUAL, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, 0, 1}, END}, ACCESS(0)},
	{"atomic with a wrong key", AS_USUAL, 0, {{BTH_FETCH_ADD, 0, 0, 0, 0, 1}, END}, ACCESS(0)},
	{"WRITE by a key of another PD", FOREIGN_KEY, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 8, 0, 0}, END}, ACCESS(0)},
	{"READ by a key of another PD", FOREIGN_KEY, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, 0, 0}, END}, ACCESS(0)},
	{"atomic by a key of another PD", FOREIGN_KEY, 0,
	 {{BTH_CMP_SWAP, 0, 0, 0, 0, 0}, END}, ACCESS(0)},
	{"WRITE with immediate over the end", AS_USUAL, 64,
	 {{BTH_WRITE_ONLY_IMM, 0, 8, 8, 65536 - 7, 0}, END}, ACCESS(0)},
	{"READ from below the region", AS_USUAL, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, UINT64_MAX, 0}, END}, ACCESS(0)},
	/* what is wrong with the responder itself */
	{"SEND longer than the receive", AS_USUAL, 16,
	 {{BTH_SEND_ONLY, 0, 20, 0, 0, 0}, END}, RECEIVE(NAK_INVALID, 0, RNIC_WC_LOC_LEN_ERR)},
	{"second packet longer than the receive", AS_USUAL, MTU + 4,
	 {{BTH_SEND_FIRST, 0, MTU, 0, 0, 0}, {BTH_SEND_LAST, 1, 8, 0, 0, 0}, END},
	 RECEIVE(NAK_INVALID, 1, RNIC_WC_LOC_LEN_ERR)},
	{"receive with a wrong lkey", BAD_LKEY, 64,
	 {{BTH_SEND_ONLY, 0, 8, 0, 0, 0}, END}, RECEIVE(NAK_OPERATIONAL, 0,
	 RNIC_WC_LOC_PROT_ERR)},
	{"receive of too many SGEs", LONG_SGL, 64,
	 {{BTH_SEND_ONLY, 0, 8, 0, 0, 0}, END}, RECEIVE(NAK_OPERATIONAL, 0,
	 RNIC_WC_LOC_QP_OP_ERR)},
	{"receive whose memory faults", BROKEN, 64,
	 {{BTH_SEND_ONLY, 0, 8, 0, 0, 0}, END}, RECEIVE(NAK_OPERATIONAL, 0,
	 RNIC_WC_LOC_PROT_ERR)},
	{"WRITE to memory that faults", BROKEN, 0,
	 {{BTH_WRITE_ONLY, 0, 8, 8, 0, 0}, END}, FATAL(0)},
	{"READ of memory that faults", BROKEN, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, 0, 0}, END}, FATAL(0)},
	{"atomic on memory that faults", BROKEN, 0,
	 {{BTH_FETCH_ADD, 0, 0, 0, 0, 0}, END}, FATAL(0)},
	{"more READs than max_dest_rd_atomic", ONE_READ, 0,
	 {{BTH_READ_REQUEST, 0, 0, 8, 0, 0}, {BTH_READ_REQUEST, 1, 0, 8, 0, 0}, END},
	 INVALID(1)},
	/* what is no fault of anybody's: the QP lives */
	{"no receive for a SEND", AS_USUAL, 0,
	 {{BTH_SEND_ONLY, 0, 8, 0, 0, 0}, END}, ALIVE(NAK_RNR, 0)},
	{"no receive for a WRITE with immediate", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY_IMM, 0, 8, 8, 0, 0}, END}, ALIVE(NAK_RNR, 0)},
	{"a packet is missing", AS_USUAL, 64,
	 {{BTH_SEND_ONLY, 1, 8, 0, 0, 0}, END}, ALIVE(NAK_SEQUENCE, 0)},
	{"what is wrong behind a gap is not looked at", AS_USUAL, 64,
	 {{BTH_WRITE_ONLY, 1, 8, 8, 0, 1}, END}, ALIVE(NAK_SEQUENCE, 0)},
	{"a duplicate SEND", AS_USUAL, 64,
	 {{BTH_SEND_ONLY, -1, 8, 0, 0, 0}, END}, ALIVE(ANSWER_ACK, -1)},
	{"a duplicate WRITE whose key is gone", AS_USUAL, 64,
	 {{BTH_WRITE_ONLY, -1, 8, 8, 0, 1}, END}, ALIVE(ANSWER_ACK, -1)},
	{"a duplicate READ whose key is gone", AS_USUAL, 0,
	 {{BTH_READ_REQUEST, -1, 0, 8, 0, 1}, END}, ALIVE(SILENCE, 0)},
	{"a duplicate atomic that was not kept", AS_USUAL, 0,
	 {{BTH_FETCH_ADD, -1, 0, 0, 0, 0}, END}, ALIVE(SILENCE, 0)},
	{"0 bytes need no key", AS_USUAL, 0,
	 {{BTH_WRITE_ONLY, 0, 0, 0, 99999999, 1}, END}, ALIVE(ANSWER_ACK, 0)},
};
/* clang-format on */

static void receives_post(struct lone *l, const struct responder_row *row)
{
	for (int i = 0; i < 2 && row->receive; i++) {
		struct rnic_recv_wr *wr = sim_queue_recv(&l->end.queues);

		wr->num_sge = 1;
		wr->sge[0] = sim_sge(&l->end, 0, row->receive);
		if (row->prepared == BAD_LKEY)
			wr->sge[0].lkey ^= 1;
		if (row->prepared == LONG_SGL)
			wr->num_sge = RNIC_MAX_SGE + 1;
		sim_queue_recv_post(&l->end.queues);
	}
}

static void stimulate(struct lone *l, const struct responder_row *row, uint32_t key)
{
	for (const struct stimulus *s = row->in; s->op != NONE; s++) {
		struct bth_packet pkt = lone_request(l, (enum bth_op)s->op,
						     LONE_RQ_PSN + (uint32_t)s->psn, s->dmalen);

		pkt.va += s->offset;
		pkt.rkey = (key ? key : pkt.rkey) ^ s->key_xor;
		pkt.payload_len = s->len;
		/* READs are answered in turns: all come before the first. */
		if (row->prepared == ONE_READ)
			lone_inject_bytes(l, &pkt, 0);
		else
			lone_inject(l, &pkt);
	}
	lone_work(l);
}

static void answer_check(struct lone *l, const struct responder_row *row)
{
	const struct lone_sent *s;

	if (row->prepared == ONE_READ)
		lone_next(l, BTH_READ_RESPONSE_ONLY, LONE_RQ_PSN);
	if (row->answer != SILENCE) {
		s = lone_next(l, BTH_ACKNOWLEDGE, LONE_RQ_PSN + (uint32_t)row->answer_psn);
		ck_assert_uint_eq(s->pkt.syndrome, (unsigned int)row->answer);
	}
	lone_silent(l);
}

static void outcome_check(struct lone *l, const struct responder_row *row)
{
	struct sim_cq *cq = &l->end.recv_ring;
	uint64_t slot = 0;

	lone_state(l, row->state);
	ck_assert_uint_eq(l->world.node[0].n_logs, row->state == RNIC_QPS_ERR);
	if (row->state == RNIC_QPS_ERR)
		ck_assert_ptr_nonnull(strstr(l->world.node[0].last_log, " refused: "));
	if (row->receive_status != NONE)
		lone_completion(cq, slot++, (enum rnic_wc_status)row->receive_status);
	while (row->receive && row->state == RNIC_QPS_ERR && slot < 2)
		lone_completion(cq, slot++, RNIC_WC_WR_FLUSH_ERR);
	lone_done(cq);
	for (int type = 0; type < 32; type++) {
		uint32_t wanted = type == row->event || type == RNIC_EVENT_GID_CHANGE;

		ck_assert_msg(lone_events(l, (enum rnic_event_type)type) == wanted,
			      "event %d came %u times", type,
			      lone_events(l, (enum rnic_event_type)type));
	}
}

START_TEST(responder_answers_every_fault_by_the_table)
{
	static struct lone l;
	const struct responder_row *row = &responder_rows[_i];
	struct sim_end_config cfg = sim_end_default;
	struct rnic_mr *foreign = NULL;
	struct rnic_pd *pd = NULL;

	puts(row->fault);
	cfg.access = row->prepared == NO_ACCESS ? 0 : SIM_ALL_ACCESS;
	cfg.max_rd_atomic = row->prepared == ONE_READ ? 1 : 4;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	if (row->prepared == FOREIGN_KEY) {
		ck_assert_int_eq(rnic_pd_create(l.world.node[0].dev, &pd), 0);
		ck_assert_int_eq(rnic_mr_create(pd, rnic_mr_attr_get(l.end.mr), &foreign), 0);
	}
	l.end.mem.broken = row->prepared == BROKEN;
	receives_post(&l, row);
	stimulate(&l, row, foreign ? rnic_mr_key(foreign) : 0);
	answer_check(&l, row);
	outcome_check(&l, row);
	for (uint64_t i = 0; i < l.end.mem.len && row->state == RNIC_QPS_ERR; i++)
		if (!row->receive && row->in[1].op == NONE)
			ck_assert_uint_eq(l.end.mem.bytes[i], (uint8_t)i);
	if (foreign) {
		rnic_mr_destroy(foreign);
		rnic_pd_destroy(pd);
	}
	lone_end(&l);
}
END_TEST

/* ---- the requester ---- */

enum requester_wrong {
	PEER_ANSWERS, /* what in[] says */
	LKEY_WRONG,
	LKEY_FOREIGN,
	MEMORY_FAULTS,
	TOO_LONG,
	TOO_MANY_SGES,
	INLINE_READ,
	INLINE_TOO_LONG,
	UNALIGNED,
	ATOMIC_LENGTH,
	NO_RD_ATOMIC,
};

struct response {
	int op; /* NONE ends the list */
	int32_t psn;
	uint8_t syndrome;
	uint32_t len;
};

struct requester_row {
	const char *fault;
	enum rnic_wr_op op;
	uint32_t len;
	enum requester_wrong wrong;
	struct response in[3];
	int status; /* of the request; NONE: it is pending still */
};

/* clang-format off */
static const struct requester_row requester_rows[] = {
	{"NAK invalid request", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x61, 0},
	 END}, RNIC_WC_REM_INV_REQ_ERR},
	{"NAK remote access", RNIC_WR_WRITE, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x62, 0},
	 END}, RNIC_WC_REM_ACCESS_ERR},
	{"NAK remote operational", RNIC_WR_WRITE, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x63, 0},
	 END}, RNIC_WC_REM_OP_ERR},
	{"NAK of RD", RNIC_WR_WRITE, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x64, 0}, END},
	 RNIC_WC_BAD_RESP_ERR},
	{"NAK with a reserved code", RNIC_WR_WRITE, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x7f,
	 0}, END}, RNIC_WC_BAD_RESP_ERR},
	{"NAK in the middle of a message", RNIC_WR_WRITE, 3000, PEER_ANSWERS, {{BTH_ACKNOWLEDGE,
	 1, 0x62, 0}, END}, RNIC_WC_REM_ACCESS_ERR},
	{"NAK for a READ", RNIC_WR_READ, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x62, 0}, END},
	 RNIC_WC_REM_ACCESS_ERR},
	{"NAK in the middle of a READ", RNIC_WR_READ, 3000, PEER_ANSWERS,
	 {{BTH_READ_RESPONSE_FIRST, 0, 0x1f, 1024}, {BTH_ACKNOWLEDGE, 1, 0x63, 0}, END},
	 RNIC_WC_REM_OP_ERR},
	{"NAK for an atomic", RNIC_WR_FETCH_ADD, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x61, 0},
	 END}, RNIC_WC_REM_INV_REQ_ERR},
	{"READ response too short", RNIC_WR_READ, 100, PEER_ANSWERS, {{BTH_READ_RESPONSE_ONLY, 0,
	 0x1f, 96}, END}, RNIC_WC_BAD_RESP_ERR},
	{"READ response too long", RNIC_WR_READ, 100, PEER_ANSWERS, {{BTH_READ_RESPONSE_ONLY, 0,
	 0x1f, 104}, END}, RNIC_WC_BAD_RESP_ERR},
	{"READ response First not of the MTU", RNIC_WR_READ, 3000, PEER_ANSWERS,
	 {{BTH_READ_RESPONSE_FIRST, 0, 0x1f, 512}, END}, RNIC_WC_BAD_RESP_ERR},
	{"READ that does not end", RNIC_WR_READ, 2048, PEER_ANSWERS, {{BTH_READ_RESPONSE_FIRST, 0,
	 0x1f, 1024}, {BTH_READ_RESPONSE_MIDDLE, 1, 0, 1024}, END}, RNIC_WC_BAD_RESP_ERR},
	{"READ response to a SEND", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_READ_RESPONSE_ONLY, 0,
	 0x1f, 8}, END}, RNIC_WC_BAD_RESP_ERR},
	{"atomic response to a READ", RNIC_WR_READ, 8, PEER_ANSWERS, {{BTH_ATOMIC_ACKNOWLEDGE, 0,
	 0x1f, 0}, END}, RNIC_WC_BAD_RESP_ERR},
	{"READ response to an atomic", RNIC_WR_CMP_SWAP, 8, PEER_ANSWERS,
	 {{BTH_READ_RESPONSE_ONLY, 0, 0x1f, 8}, END}, RNIC_WC_BAD_RESP_ERR},
	{"wrong lkey", RNIC_WR_SEND, 8, LKEY_WRONG, {END}, RNIC_WC_LOC_PROT_ERR},
	{"lkey of another PD, SEND", RNIC_WR_SEND, 8, LKEY_FOREIGN, {END}, RNIC_WC_LOC_PROT_ERR},
	{"lkey of another PD, READ", RNIC_WR_READ, 8, LKEY_FOREIGN, {END}, RNIC_WC_LOC_PROT_ERR},
	{"memory faults when it is sent", RNIC_WR_WRITE, 8, MEMORY_FAULTS, {END},
	 RNIC_WC_LOC_PROT_ERR},
	{"memory faults when the response comes", RNIC_WR_READ, 8, MEMORY_FAULTS,
	 {{BTH_READ_RESPONSE_ONLY, 0, 0x1f, 8}, END}, RNIC_WC_LOC_PROT_ERR},
	{"memory faults when the atomic's response comes", RNIC_WR_FETCH_ADD, 8, MEMORY_FAULTS,
	 {{BTH_ATOMIC_ACKNOWLEDGE, 0, 0x1f, 0}, END}, RNIC_WC_LOC_PROT_ERR},
	{"more than 2 GiB", RNIC_WR_WRITE, 8, TOO_LONG, {END}, RNIC_WC_LOC_LEN_ERR},
	{"too many SGEs", RNIC_WR_SEND, 8, TOO_MANY_SGES, {END}, RNIC_WC_LOC_QP_OP_ERR},
	{"inline READ", RNIC_WR_READ, 8, INLINE_READ, {END}, RNIC_WC_LOC_QP_OP_ERR},
	{"too much inline", RNIC_WR_SEND, 8, INLINE_TOO_LONG, {END}, RNIC_WC_LOC_QP_OP_ERR},
	{"unaligned atomic", RNIC_WR_FETCH_ADD, 8, UNALIGNED, {END}, RNIC_WC_LOC_QP_OP_ERR},
	{"atomic of another length than 8", RNIC_WR_CMP_SWAP, 4, ATOMIC_LENGTH, {END},
	 RNIC_WC_LOC_LEN_ERR},
	{"READ where max_rd_atomic is 0", RNIC_WR_READ, 8, NO_RD_ATOMIC, {END},
	 RNIC_WC_LOC_QP_OP_ERR},
	/* ghosts: nothing happens */
	{"ACK for what is not sent yet", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 2,
	 0x1f, 0}, END}, NONE},
	{"ACK for what is done", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, -1, 0x1f, 0},
	 END}, NONE},
	{"NAK for what is done", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, -1, 0x62, 0},
	 END}, NONE},
	{"NAK for what is not sent yet", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 5,
	 0x61, 0}, END}, NONE},
	{"reserved kind of syndrome", RNIC_WR_SEND, 8, PEER_ANSWERS, {{BTH_ACKNOWLEDGE, 0, 0x40,
	 0}, END}, NONE},
	{"READ response for what is done", RNIC_WR_READ, 8, PEER_ANSWERS,
	 {{BTH_READ_RESPONSE_ONLY, -1, 0x1f, 8}, END}, NONE},
	{"atomic response for what is not sent yet", RNIC_WR_FETCH_ADD, 8, PEER_ANSWERS,
	 {{BTH_ATOMIC_ACKNOWLEDGE, 2, 0x1f, 8}, END}, NONE},
};
/* clang-format on */

static void request_spoil(struct lone *l, struct rnic_send_wr *wr, enum requester_wrong wrong,
			  uint32_t foreign_key)
{
	switch (wrong) {
	case LKEY_WRONG:
		wr->sge[0].lkey ^= 1;
		return;
	case LKEY_FOREIGN:
		wr->sge[0].lkey = foreign_key;
		return;
	case MEMORY_FAULTS:
		l->end.mem.broken = true;
		return;
	case TOO_LONG:
		wr->num_sge = 2;
		wr->sge[0].len = wr->sge[1].len = 0x40000001;
		return;
	case TOO_MANY_SGES:
		wr->num_sge = RNIC_MAX_SGE + 1;
		return;
	case INLINE_READ:
		wr->flags |= RNIC_SEND_INLINE;
		return;
	case INLINE_TOO_LONG:
		wr->flags |= RNIC_SEND_INLINE;
		wr->inline_len = RNIC_MAX_INLINE + 1;
		return;
	case UNALIGNED:
		wr->raddr += 4;
		return;
	case PEER_ANSWERS:
	case ATOMIC_LENGTH:
	case NO_RD_ATOMIC:
		return;
	}
}

static void respond(struct lone *l, const struct requester_row *row)
{
	for (const struct response *r = row->in; r->op != NONE; r++) {
		struct bth_packet pkt =
			lone_packet((enum bth_op)r->op, LONE_SQ_PSN + (uint32_t)r->psn);

		pkt.syndrome = r->syndrome;
		pkt.payload_len = r->len;
		if (r->op == BTH_ATOMIC_ACKNOWLEDGE || r->op == BTH_ACKNOWLEDGE)
			pkt.payload_len = 0;
		lone_inject(l, &pkt);
	}
}

START_TEST(requester_completes_every_fault_by_the_table)
{
	static struct lone l;
	const struct requester_row *row = &requester_rows[_i];
	struct sim_end_config cfg = sim_end_default;
	struct sim_cq *cq = &l.end.send_ring;
	struct rnic_mr *foreign;
	struct rnic_pd *pd;

	puts(row->fault);
	cfg.max_rd_atomic = row->wrong == NO_RD_ATOMIC ? 0 : 4;
	cfg.timeout = 0;
	lone_begin(&l, &cfg, RNIC_QPS_RTS);
	ck_assert_int_eq(rnic_pd_create(l.world.node[0].dev, &pd), 0);
	ck_assert_int_eq(rnic_mr_create(pd, rnic_mr_attr_get(l.end.mr), &foreign), 0);
	request_spoil(&l, lone_post(&l, row->op, row->len), row->wrong, rnic_mr_key(foreign));
	lone_post(&l, RNIC_WR_SEND, 8)->flags = 0;
	lone_receive(&l, 8);
	lone_kick(&l);
	respond(&l, row);
	if (row->status == NONE) {
		lone_state(&l, RNIC_QPS_RTS);
		ck_assert_uint_eq(l.world.node[0].n_logs, 0);
	} else {
		/* One line says what was wrong. */
		ck_assert_uint_eq(l.world.node[0].n_logs, 1);
		ck_assert_ptr_nonnull(strstr(l.world.node[0].last_log, " failed, status "));
		lone_completion(cq, 0, (enum rnic_wc_status)row->status);
		lone_completion(cq, 1, RNIC_WC_WR_FLUSH_ERR);
		lone_completion(&l.end.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
		lone_state(&l, RNIC_QPS_ERR);
	}
	lone_done(cq);
	/* Who has a completion needs no event. */
	for (int type = 0; type < 32; type++)
		ck_assert_uint_eq(lone_events(&l, (enum rnic_event_type)type),
				  type == RNIC_EVENT_GID_CHANGE);
	rnic_mr_destroy(foreign);
	rnic_pd_destroy(pd);
	lone_end(&l);
}
END_TEST

int main(void)
{
	const struct fixture_loop loops[] = {
		{responder_answers_every_fault_by_the_table, 0, ARRAY_SIZE(responder_rows)},
		{requester_completes_every_fault_by_the_table, 0, ARRAY_SIZE(requester_rows)},
		{NULL, 0, 0},
	};

	return fixture_run_loops("rnic errors", NULL, NULL, 0, loops);
}
