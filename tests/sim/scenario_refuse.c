/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios in which the responder refuses a request. */
#include "config.h"

#include <inttypes.h>

#include "scenario.h"
#include "scenario_rig.h"

struct refusal {
	enum rnic_wr_op op;
	uint32_t key_xor;
	uint64_t offset; /* of the address */
	bool no_access;	 /* the responder's QP permits nothing */
	enum rnic_wc_status status;
};

static void refusal_run(const struct refusal *row)
{
	struct sim_end_config closed = sim_end_default;
	struct rnic_send_wr *wr;
	struct rig r;

	closed.access = row->no_access ? 0 : SIM_ALL_ACCESS;
	rig_begin(&r, &sim_end_default, &closed);
	rig_receive(&r.b, 64);
	wr = rig_request(&r.a, &r.b, row->op, 8);
	wr->rkey ^= row->key_xor;
	wr->raddr += row->offset;
	rig_post(&r.a);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 8);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, row->status);
	rig_expect(&r.a.send_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_none(&r.a.send_ring);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	rig_expect_state(&r.b, RNIC_QPS_ERR);
	rig_expect(&r.b.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_none(&r.b.recv_ring);
	for (uint64_t i = 0; i < r.b.mem.len; i++)
		sim_check(r.b.mem.bytes[i] == 0, "byte %" PRIu64 " was written", i);
	rig_end(&r);
}

static void bad_rkey(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_WRITE_IMM, 0x5500, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_READ, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_CMP_SWAP, 1, 0, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_FETCH_ADD, 0xff000000, 0, false, RNIC_WC_REM_ACCESS_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

static void out_of_range(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 0, 65536 - 7, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_READ, 0, -1ull, false, RNIC_WC_REM_ACCESS_ERR},
		{RNIC_WR_FETCH_ADD, 0, 65536, false, RNIC_WC_REM_ACCESS_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

static void no_access(void)
{
	static const struct refusal rows[] = {
		{RNIC_WR_WRITE, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
		{RNIC_WR_READ, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
		{RNIC_WR_CMP_SWAP, 0, 0, true, RNIC_WC_REM_INV_REQ_ERR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refusal_run(&rows[i]);
}

/* As rxe's post_send: no packet is made of it. */
static void unaligned_atomic(void)
{
	struct rnic_send_wr *wr;
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	wr = rig_request(&r.a, &r.b, RNIC_WR_FETCH_ADD, 8);
	wr->raddr += 4;
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_LOC_QP_OP_ERR);
	rig_expect_state(&r.b, RNIC_QPS_RTS);
	sim_check(r.world.n_sent == 0, "%" PRIu64 " packets", r.world.n_sent);
	rig_end(&r);
}

static void receive_too_small(void)
{
	struct rig r;

	rig_begin(&r, &sim_end_default, &sim_end_default);
	rig_receive(&r.b, 1500);
	rig_receive(&r.b, 1500);
	rig_request(&r.a, &r.b, RNIC_WR_SEND, 1501);
	rig_post(&r.a);
	rig_run(&r);
	rig_expect(&r.a.send_ring, 0, RNIC_WC_REM_INV_REQ_ERR);
	rig_expect(&r.b.recv_ring, 0, RNIC_WC_LOC_LEN_ERR);
	rig_expect(&r.b.recv_ring, 1, RNIC_WC_WR_FLUSH_ERR);
	rig_expect_state(&r.a, RNIC_QPS_ERR);
	rig_expect_state(&r.b, RNIC_QPS_ERR);
	rig_end(&r);
}

/* Not a NAK: the peer of a process that died sees its retries exceeded. */
static void memory_of_a_dead_process(void)
{
	static const enum rnic_wr_op ops[] = {RNIC_WR_SEND, RNIC_WR_WRITE, RNIC_WR_WRITE_IMM,
					      RNIC_WR_READ, RNIC_WR_FETCH_ADD};
	struct rig r;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		rig_begin(&r, &sim_end_default, &sim_end_default);
		rig_receive(&r.b, 64);
		r.b.mem.gone = true;
		rig_request(&r.a, &r.b, ops[i], 8);
		rig_post(&r.a);
		rig_run(&r);
		rig_expect(&r.a.send_ring, 0, RNIC_WC_RETRY_EXC_ERR);
		rig_expect_none(&r.b.recv_ring);
		rig_expect_state(&r.b, RNIC_QPS_RTS);
		rig_end(&r);
	}
}

const struct scenario scenarios_refuse[] = {
	SCENARIO(bad_rkey),
	SCENARIO(out_of_range),
	SCENARIO(no_access),
	SCENARIO(unaligned_atomic),
	SCENARIO(receive_too_small),
	SCENARIO(memory_of_a_dead_process),
	{NULL, NULL},
};
