/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every kind of request that fails after it was posted: the completion status of the request and of
 * the receive that it met, that what stands behind it is flushed, and the states of both ends.
 * "ok NAME" or "not ok NAME: ..." for each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladder.h"

#define SIZE 4096
#define NONE (-1)
#define ALL_OF_QP (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

enum key { KEY_GOOD, KEY_UNKNOWN, KEY_OTHER_PD, KEY_READ_ONLY, KEY_LOCAL_ONLY, KEYS };
enum recv { RECV_NONE, RECV_GOOD, RECV_SHORT, RECV_BAD_KEY, RECV_OTHER_PD, RECV_READ_ONLY };

struct row {
	const char *name;
	enum ibv_qp_type type;
	enum ibv_wr_opcode op;
	enum key lkey, rkey;
	uint32_t len;
	uint64_t off, roff; /* in the local and the remote region */
	enum recv recv;
	int access; /* what the peer's QP denies */
	bool no_peer, no_reads;
	int status, recv_status;
	enum ibv_qp_state state, peer_state;
};

#define RC IBV_QPT_RC
#define UC IBV_QPT_UC
#define SEND IBV_WR_SEND
#define WRITE IBV_WR_RDMA_WRITE
#define WRITE_IMM IBV_WR_RDMA_WRITE_WITH_IMM
#define READ IBV_WR_RDMA_READ
#define CAS IBV_WR_ATOMIC_CMP_AND_SWP
#define ADD IBV_WR_ATOMIC_FETCH_AND_ADD
#define LOCAL(how)                                                                                 \
	.status = IBV_WC_##how, .recv_status = NONE, .state = IBV_QPS_ERR, .peer_state = IBV_QPS_RTS
#define REMOTE(how)                                                                                \
	.status = IBV_WC_##how, .recv_status = NONE, .state = IBV_QPS_ERR, .peer_state = IBV_QPS_ERR
#define BOTH(how, at_peer)                                                                         \
	.status = IBV_WC_##how, .recv_status = IBV_WC_##at_peer, .state = IBV_QPS_ERR,             \
	.peer_state = IBV_QPS_ERR
#define FINE                                                                                       \
	.status = IBV_WC_SUCCESS, .recv_status = NONE, .state = IBV_QPS_RTS,                       \
	.peer_state = IBV_QPS_RTS

/* clang-format off */
static const struct row rows[] = {
	{"send_from_unknown_key", RC, SEND, .lkey = KEY_UNKNOWN, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"send_from_key_of_another_pd", RC, SEND, .lkey = KEY_OTHER_PD, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"send_from_beyond_the_region", RC, SEND, .off = SIZE - 4, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"write_from_unknown_key", RC, WRITE, .lkey = KEY_UNKNOWN, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"read_into_unknown_key", RC, READ, .lkey = KEY_UNKNOWN, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"read_into_key_without_local_write", RC, READ, .lkey = KEY_READ_ONLY, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"read_into_beyond_the_region", RC, READ, .off = SIZE - 4, .len = 8, LOCAL(LOC_PROT_ERR)},
	{"atomic_into_key_without_local_write", RC, CAS, .lkey = KEY_READ_ONLY, .len = 8, LOCAL(LOC_PROT_ERR)},

	{"write_to_unknown_key", RC, WRITE, .rkey = KEY_UNKNOWN, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"write_to_key_of_another_pd", RC, WRITE, .rkey = KEY_OTHER_PD, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"write_to_key_without_remote_write", RC, WRITE, .rkey = KEY_LOCAL_ONLY, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"write_to_beyond_the_region", RC, WRITE, .roff = SIZE - 4, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"write_of_3_packets_that_ends_beyond_the_region", RC, WRITE, .roff = SIZE - 2500, .len = 3000, REMOTE(REM_ACCESS_ERR)},
	{"write_of_no_bytes_to_unknown_key", RC, WRITE, .rkey = KEY_UNKNOWN, .len = 0, FINE},
	{"read_of_unknown_key", RC, READ, .rkey = KEY_UNKNOWN, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"read_of_key_of_another_pd", RC, READ, .rkey = KEY_OTHER_PD, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"read_of_key_without_remote_read", RC, READ, .rkey = KEY_LOCAL_ONLY, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"read_of_beyond_the_region", RC, READ, .roff = SIZE - 4, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"atomic_on_unknown_key", RC, ADD, .rkey = KEY_UNKNOWN, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"atomic_on_key_without_remote_atomic", RC, ADD, .rkey = KEY_LOCAL_ONLY, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"atomic_beyond_the_region", RC, CAS, .roff = SIZE, .len = 8, REMOTE(REM_ACCESS_ERR)},
	{"write_to_qp_without_remote_write", RC, WRITE, .access = IBV_ACCESS_REMOTE_WRITE, .len = 8, REMOTE(REM_INV_REQ_ERR)},
	{"read_of_qp_without_remote_read", RC, READ, .access = IBV_ACCESS_REMOTE_READ, .len = 8, REMOTE(REM_INV_REQ_ERR)},
	{"atomic_on_qp_without_remote_atomic", RC, ADD, .access = IBV_ACCESS_REMOTE_ATOMIC, .len = 8, REMOTE(REM_INV_REQ_ERR)},
	{"read_of_qp_that_takes_none", RC, READ, .no_reads = true, .len = 8, REMOTE(REM_INV_REQ_ERR)},

	{"send_into_a_receive_that_is_too_short", RC, SEND, .len = 64, .recv = RECV_SHORT, BOTH(REM_INV_REQ_ERR, LOC_LEN_ERR)},
	{"send_of_3_packets_into_a_receive_that_is_too_short", RC, SEND, .len = 3000, .recv = RECV_SHORT, BOTH(REM_INV_REQ_ERR, LOC_LEN_ERR)},
	{"send_into_a_receive_of_unknown_key", RC, SEND, .len = 8, .recv = RECV_BAD_KEY, BOTH(REM_OP_ERR, LOC_PROT_ERR)},
	{"send_into_a_receive_of_another_pd", RC, SEND, .len = 8, .recv = RECV_OTHER_PD, BOTH(REM_OP_ERR, LOC_PROT_ERR)},
	{"send_into_a_receive_without_local_write", RC, SEND, .len = 8, .recv = RECV_READ_ONLY, BOTH(REM_OP_ERR, LOC_PROT_ERR)},
	{"send_without_a_receive", RC, SEND, .len = 8, LOCAL(RNR_RETRY_EXC_ERR)},
	{"write_imm_without_a_receive", RC, WRITE_IMM, .len = 8, LOCAL(RNR_RETRY_EXC_ERR)},
	{"send_to_nobody", RC, SEND, .len = 8, .no_peer = true, LOCAL(RETRY_EXC_ERR)},
	{"read_of_nobody", RC, READ, .len = 8, .no_peer = true, LOCAL(RETRY_EXC_ERR)},

	{"uc_write_to_unknown_key_is_lost", UC, WRITE, .rkey = KEY_UNKNOWN, .len = 8, FINE},
	{"uc_send_without_a_receive_is_lost", UC, SEND, .len = 8, FINE},
	{"uc_send_to_nobody_is_lost", UC, SEND, .len = 8, .no_peer = true, FINE},
};
/* clang-format on */

struct scene {
	struct rig r;
	struct ibv_pd *other_pd;
	struct ibv_cq *peer_cq;
	uint8_t *buf;
	struct ibv_mr *mr[KEYS];
	uint32_t lkey[KEYS], rkey[KEYS];
};

static void key_make(struct scene *s, enum key key, struct ibv_pd *pd, int access)
{
	s->mr[key] = ibv_reg_mr(pd, s->buf, SIZE, access);
	MUST(s->mr[key]);
	s->lkey[key] = s->mr[key]->lkey;
	s->rkey[key] = s->mr[key]->rkey;
}

static void scene_begin(struct scene *s)
{
	rig_open(&s->r);
	s->other_pd = ibv_alloc_pd(s->r.ctx);
	s->peer_cq = ibv_create_cq(s->r.ctx, 64, NULL, NULL, 0);
	s->buf = calloc(1, SIZE);
	MUST(s->other_pd && s->peer_cq && s->buf);
	key_make(s, KEY_GOOD, s->r.pd, RIG_ACCESS);
	key_make(s, KEY_OTHER_PD, s->other_pd, RIG_ACCESS);
	key_make(s, KEY_READ_ONLY, s->r.pd, IBV_ACCESS_REMOTE_READ);
	key_make(s, KEY_LOCAL_ONLY, s->r.pd, IBV_ACCESS_LOCAL_WRITE);
	s->lkey[KEY_UNKNOWN] = s->rkey[KEY_UNKNOWN] = 0x7fffff00;
}

static struct ibv_qp *qp_make(struct scene *s, const struct row *row, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.cap = {8, 8, 4, 4, 0},
					.qp_type = row->type,
					.sq_sig_all = 1};
	struct ibv_qp *qp = ibv_create_qp(s->r.pd, &init);

	MUST(qp);
	return qp;
}

/* To RTS, connected to that number; what `row` denies is the peer's to deny. */
static void connect_to(struct scene *s, struct ibv_qp *qp, uint32_t dest, const struct row *row,
		       bool is_peer)
{
	for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		struct ibv_qp_attr attr = ladder_attr(&s->r, (enum ibv_qp_state)to);

		attr.dest_qp_num = dest;
		attr.sq_psn = attr.rq_psn = 0;
		attr.rnr_retry = 0;
		attr.timeout = row->no_peer ? 8 : 18;
		attr.qp_access_flags = ALL_OF_QP & ~(is_peer ? row->access : 0);
		if (is_peer && row->no_reads)
			attr.max_dest_rd_atomic = 0;
		MUST(!ibv_modify_qp(qp, &attr, ladder_mask(row->type, (enum ibv_qp_state)to)));
	}
}

static void recv_post(struct scene *s, struct ibv_qp *qp, enum recv how)
{
	struct ibv_sge sge = {(uintptr_t)s->buf, how == RECV_SHORT ? 32 : SIZE, s->lkey[KEY_GOOD]};

	if (how == RECV_NONE)
		return;
	if (how == RECV_BAD_KEY)
		sge.lkey = s->lkey[KEY_UNKNOWN];
	if (how == RECV_OTHER_PD)
		sge.lkey = s->lkey[KEY_OTHER_PD];
	if (how == RECV_READ_ONLY)
		sge.lkey = s->lkey[KEY_READ_ONLY];
	MUST(!rig_recv(qp, &sge, 1));
}

static void request_post(struct scene *s, struct ibv_qp *qp, const struct row *row)
{
	struct ibv_sge sge = {(uintptr_t)s->buf + row->off, row->len, s->lkey[row->lkey]};

	MUST(!rig_post(qp, row->op, &sge, 1, (uintptr_t)s->buf + row->roff, s->rkey[row->rkey]));
}

static int next_status(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	MUST(rig_wait(cq, &wc, RIG_PATIENCE));
	return wc.status;
}

static int compare(const char *name, const char *what, int got, int expected)
{
	if (got == expected)
		return 0;
	printf("not ok %s: %s is %d instead of %d\n", name, what, got, expected);
	return 1;
}

/* The request fails; the one behind it, and a receive of each end, are flushed if the QP is in
 * ERR. */
static int look(struct scene *s, struct ibv_qp *qp, struct ibv_qp *peer, const struct row *row)
{
	const char *name = row->name;
	int bad = compare(name, "the status", next_status(s->r.cq), row->status);

	if (row->recv_status != NONE)
		bad += compare(name, "the receive's status", next_status(s->peer_cq),
			       row->recv_status);
	bad += compare(name, "the state", ladder_state(qp), row->state);
	bad += compare(name, "the peer's state", ladder_state(peer), row->peer_state);
	if (row->state != IBV_QPS_ERR)
		return bad;
	request_post(s, qp, row);
	bad += compare(name, "a later request", next_status(s->r.cq), IBV_WC_WR_FLUSH_ERR);
	recv_post(s, qp, RECV_GOOD);
	bad += compare(name, "a receive", next_status(s->r.cq), IBV_WC_WR_FLUSH_ERR);
	if (row->peer_state != IBV_QPS_ERR)
		return bad;
	recv_post(s, peer, RECV_GOOD);
	return bad +
	       compare(name, "a receive of the peer", next_status(s->peer_cq), IBV_WC_WR_FLUSH_ERR);
}

static int play(struct scene *s, const struct row *row)
{
	struct ibv_qp *qp = qp_make(s, row, s->r.cq), *peer = qp_make(s, row, s->peer_cq);
	int bad;

	connect_to(s, qp, row->no_peer ? 0xfffffe : peer->qp_num, row, false);
	connect_to(s, peer, qp->qp_num, row, true);
	recv_post(s, peer, row->recv);
	request_post(s, qp, row);
	bad = look(s, qp, peer, row);
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_qp(peer));
	if (!bad)
		printf("ok %s\n", row->name);
	return bad;
}

int main(void)
{
	struct scene s;
	int bad = 0;

	scene_begin(&s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		bad += play(&s, &rows[i]);
	return bad ? 1 : 0;
}
