/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory windows between two ends: b binds them, a uses them. The rules are IBA vol. 1, 10.6.7
 * (types 1 and 2B), by the numbers that Linux's rxe gives them (unverified).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "scenario.h"
#include "scenario_rig.h"

#define OFFSET 4096 /* of the window in b's memory */
#define LEN 1000
#define REMOTE_RW (RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_WRITE)
#define REMOTE_ALL (REMOTE_RW | RNIC_ACCESS_REMOTE_ATOMIC)

struct windows {
	struct rig rig;
	struct rnic_mr *mr; /* of all of b's memory, and permits windows */
	struct rnic_mw *mw[2];
};

static struct rnic_mr *mr_make(struct sim_end *e, struct rnic_pd *pd, uint32_t access)
{
	struct rnic_mr_attr attr = {.mem = &e->mem,
				    .start = e->mem.start,
				    .length = e->mem.len,
				    .iova = e->mem.start,
				    .access = access};
	struct rnic_mr *mr;

	sim_check(rnic_mr_create(pd, &attr, &mr) == 0, "MR");
	return mr;
}

static void windows_begin(struct windows *w, enum rnic_mw_type type)
{
	rig_begin(&w->rig, &sim_end_default, &sim_end_default);
	w->mr = mr_make(&w->rig.b, w->rig.b.pd, SIM_ALL_ACCESS | RNIC_ACCESS_MW_BIND);
	for (int i = 0; i < 2; i++)
		sim_check(rnic_mw_create(w->rig.b.pd, type, &w->mw[i]) == 0, "MW");
}

static void windows_end(struct windows *w)
{
	for (int i = 0; i < 2; i++)
		sim_check(rnic_mw_destroy(w->mw[i]) == 0, "MW");
	sim_check(rnic_mr_destroy(w->mr) == 0, "MR");
	rig_end(&w->rig);
}

/* A bind of window i to LEN bytes at OFFSET with the next key; not posted yet. */
static struct rnic_send_wr *bind_request(struct windows *w, int i, uint32_t access)
{
	struct sim_end *b = &w->rig.b;
	struct rnic_send_wr *wr = rig_request(b, &w->rig.a, RNIC_WR_BIND_MW, 0);
	uint32_t key = rnic_mw_key(w->mw[i]);

	wr->bind = (struct rnic_bind){
		.addr = b->mem.start + OFFSET,
		.length = LEN,
		.mr_lkey = rnic_mr_key(w->mr),
		.mw_rkey = key,
		.rkey = (key & ~0xffu) | ((key + 1) & 0xff),
		.access = access,
	};
	return wr;
}

/* Bind window i; the key that it has then. */
static uint32_t bind(struct windows *w, int i, uint32_t access)
{
	uint64_t slot = w->rig.b.queues.sent;

	bind_request(w, i, access);
	rig_post(&w->rig.b);
	rig_run(&w->rig);
	rig_expect(&w->rig.b.send_ring, slot, RNIC_WC_SUCCESS);
	return rnic_mw_key(w->mw[i]);
}

static void request_post(struct windows *w, enum rnic_wr_op op, uint32_t key, uint64_t offset,
			 uint32_t len)
{
	struct rnic_send_wr *wr = rig_request(&w->rig.a, &w->rig.b, op, len);

	wr->rkey = key;
	wr->raddr = w->rig.b.mem.start + offset;
	rig_post(&w->rig.a);
}

/* One request of a by this key, and what becomes of it. */
static void request_run(struct windows *w, enum rnic_wr_op op, uint32_t key, uint64_t offset,
			uint32_t len, enum rnic_wc_status status)
{
	uint64_t slot = w->rig.a.queues.sent;

	request_post(w, op, key, offset, len);
	rig_run(&w->rig);
	rig_expect(&w->rig.a.send_ring, slot, status);
}

static void invalidate_post(struct sim_end *e, const struct sim_end *peer, uint32_t key)
{
	rig_request(e, peer, RNIC_WR_LOCAL_INV, 0)->inv_key = key;
	rig_post(e);
}

static void window_gives_its_range_by_its_own_key(void)
{
	static const enum rnic_mw_type types[] = {RNIC_MW_TYPE_1, RNIC_MW_TYPE_2};

	for (int i = 0; i < 2; i++) {
		struct windows w;
		uint32_t key;

		windows_begin(&w, types[i]);
		key = bind(&w, 0, REMOTE_ALL);
		request_run(&w, RNIC_WR_WRITE, key, OFFSET, LEN, RNIC_WC_SUCCESS);
		sim_check(memcmp(w.rig.a.mem.bytes, w.rig.b.mem.bytes + OFFSET, LEN) == 0, "data");
		request_run(&w, RNIC_WR_READ, key, OFFSET + LEN - 1, 1, RNIC_WC_SUCCESS);
		request_run(&w, RNIC_WR_FETCH_ADD, key, OFFSET + 8, 8, RNIC_WC_SUCCESS);
		windows_end(&w);
	}
}

struct use {
	enum rnic_wr_op op;
	uint32_t access; /* the window's */
	int32_t offset;	 /* from the window's beginning */
	uint32_t len;
};

static void window_refuses_what_its_range_or_access_lacks(void)
{
	static const struct use uses[] = {
		{RNIC_WR_WRITE, REMOTE_ALL, 0, LEN + 1},
		{RNIC_WR_WRITE, REMOTE_ALL, -1, 8},
		{RNIC_WR_READ, REMOTE_ALL, LEN, 1},
		{RNIC_WR_FETCH_ADD, REMOTE_ALL, -8, 8},
		{RNIC_WR_WRITE, RNIC_ACCESS_REMOTE_READ, 0, 8},
		{RNIC_WR_READ, RNIC_ACCESS_REMOTE_WRITE, 0, 8},
		{RNIC_WR_CMP_SWAP, REMOTE_RW, 8, 8},
	};

	for (size_t i = 0; i < 2 * sizeof(uses) / sizeof(uses[0]); i++) {
		const struct use *u = &uses[i / 2];
		struct windows w;
		uint32_t key;

		windows_begin(&w, i % 2 ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		key = bind(&w, 0, u->access);
		request_run(&w, u->op, key, (uint64_t)(OFFSET + u->offset), u->len,
			    RNIC_WC_REM_ACCESS_ERR);
		rig_expect_state(&w.rig.b, RNIC_QPS_ERR);
		windows_end(&w);
	}
}

static void window_without_a_range_permits_nothing(void)
{
	struct windows w;

	for (int i = 0; i < 2; i++) {
		windows_begin(&w, i ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		request_run(&w, RNIC_WR_READ, rnic_mw_key(w.mw[0]), 0, 1, RNIC_WC_REM_ACCESS_ERR);
		windows_end(&w);
	}
}

static void window_is_not_a_local_key(void)
{
	struct windows w;
	uint32_t key;

	windows_begin(&w, RNIC_MW_TYPE_1);
	key = bind(&w, 0, REMOTE_ALL);
	rig_request(&w.rig.b, &w.rig.a, RNIC_WR_WRITE, 8)->sge[0] =
		(struct rnic_sge){w.rig.b.mem.start + OFFSET, 8, key};
	rig_post(&w.rig.b);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 1, RNIC_WC_LOC_PROT_ERR);
	windows_end(&w);
}

static void type_1_window_moves_and_is_emptied_by_a_bind(void)
{
	struct windows w;
	uint32_t first, second;

	windows_begin(&w, RNIC_MW_TYPE_1);
	first = bind(&w, 0, REMOTE_ALL);
	second = bind(&w, 0, REMOTE_ALL);
	sim_check(first != second, "the key stays 0x%" PRIx32, first);
	request_run(&w, RNIC_WR_WRITE, second, OFFSET, 8, RNIC_WC_SUCCESS);
	bind_request(&w, 0, 0)->bind.length = 0;
	rig_post(&w.rig.b);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 2, RNIC_WC_SUCCESS);
	sim_check(rnic_mr_destroy(w.mr) == 0, "no window is bound to the MR any more");
	w.mr = mr_make(&w.rig.b, w.rig.b.pd, SIM_ALL_ACCESS);
	request_run(&w, RNIC_WR_WRITE, rnic_mw_key(w.mw[0]), OFFSET, 8, RNIC_WC_REM_ACCESS_ERR);
	windows_end(&w);
}

static void rebinding_takes_the_old_key_away(void)
{
	struct windows w;
	uint32_t first;

	windows_begin(&w, RNIC_MW_TYPE_1);
	first = bind(&w, 0, REMOTE_ALL);
	bind(&w, 0, REMOTE_ALL);
	request_run(&w, RNIC_WR_WRITE, first, OFFSET, 8, RNIC_WC_REM_ACCESS_ERR);
	windows_end(&w);
}

/* What is wrong with a bind. */
enum fault {
	NO_WINDOW,
	OLD_WINDOW_KEY,
	NEW_KEY_OF_ANOTHER,
	NO_MR,
	MR_WITHOUT_BIND,
	MR_WITHOUT_LOCAL_WRITE,
	MR_OF_ANOTHER_PD,
	BELOW_MR,
	ABOVE_MR,
	WRAPS,
	ZERO_BASED,
	UNKNOWN_ACCESS,
	WITH_DATA,
	FAULTS,
};

static void fault_apply(enum fault fault, struct windows *w, struct rnic_send_wr *wr,
			struct rnic_mr *mr)
{
	struct rnic_bind *bind = &wr->bind;

	switch (fault) {
	case NO_WINDOW:
		bind->mw_rkey = bind->rkey = rnic_mr_key(w->mr);
		break;
	case OLD_WINDOW_KEY:
		bind->mw_rkey ^= 0x80;
		break;
	case NEW_KEY_OF_ANOTHER:
		bind->rkey = rnic_mw_key(w->mw[1]);
		break;
	case NO_MR:
		bind->mr_lkey ^= 1;
		break;
	case MR_WITHOUT_BIND:
	case MR_WITHOUT_LOCAL_WRITE:
	case MR_OF_ANOTHER_PD:
		bind->mr_lkey = rnic_mr_key(mr);
		break;
	case BELOW_MR:
		bind->addr = w->rig.b.mem.start - 1;
		break;
	case ABOVE_MR:
		bind->addr = w->rig.b.mem.start + w->rig.b.mem.len - LEN + 1;
		break;
	case WRAPS:
		bind->length = UINT64_MAX;
		break;
	case ZERO_BASED:
		bind->access |= RNIC_ACCESS_ZERO_BASED;
		break;
	case UNKNOWN_ACCESS:
		bind->access |= 1u << 6;
		break;
	case WITH_DATA:
		wr->num_sge = 1;
		break;
	case FAULTS:
		break;
	}
}

/* The bind fails, the QP with it, and the window is as it was. */
static void wrong_bind_is_a_bind_error(void)
{
	static const uint32_t access[FAULTS] = {
		[MR_WITHOUT_BIND] = SIM_ALL_ACCESS,
		[MR_WITHOUT_LOCAL_WRITE] = RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_MW_BIND,
		[MR_OF_ANOTHER_PD] = SIM_ALL_ACCESS | RNIC_ACCESS_MW_BIND,
	};

	for (uint32_t i = 0; i < 2 * FAULTS; i++) {
		enum fault fault = (enum fault)(i / 2);
		struct windows w;
		struct rnic_pd *pd;
		struct rnic_mr *mr;
		uint32_t key;

		windows_begin(&w, i % 2 ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		sim_check(rnic_pd_create(w.rig.world.node[1].dev, &pd) == 0, "PD");
		mr = mr_make(&w.rig.b, fault == MR_OF_ANOTHER_PD ? pd : w.rig.b.pd, access[fault]);
		key = rnic_mw_key(w.mw[0]);
		fault_apply(fault, &w, bind_request(&w, 0, REMOTE_ALL), mr);
		rig_post(&w.rig.b);
		rig_run(&w.rig);
		rig_expect(&w.rig.b.send_ring, 0,
			   fault == WITH_DATA ? RNIC_WC_LOC_QP_OP_ERR : RNIC_WC_MW_BIND_ERR);
		rig_expect_state(&w.rig.b, RNIC_QPS_ERR);
		sim_check(rnic_mw_key(w.mw[0]) == key, "fault %d: the key changed", (int)fault);
		sim_check(rnic_mr_destroy(mr) == 0 && rnic_pd_destroy(pd) == 0, "left");
		windows_end(&w);
	}
}

static void window_of_another_pd_cannot_be_bound(void)
{
	struct windows w;
	struct rnic_mw *other;
	struct rnic_pd *pd;

	windows_begin(&w, RNIC_MW_TYPE_2);
	sim_check(rnic_pd_create(w.rig.world.node[1].dev, &pd) == 0, "PD");
	sim_check(rnic_mw_create(pd, RNIC_MW_TYPE_2, &other) == 0, "MW");
	bind_request(&w, 0, REMOTE_ALL)->bind.mw_rkey = rnic_mw_key(other);
	rig_post(&w.rig.b);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 0, RNIC_WC_MW_BIND_ERR);
	sim_check(rnic_mw_destroy(other) == 0 && rnic_pd_destroy(pd) == 0, "left");
	windows_end(&w);
}

static void type_2_window_is_not_bound_twice(void)
{
	struct windows w;

	windows_begin(&w, RNIC_MW_TYPE_2);
	bind(&w, 0, REMOTE_ALL);
	bind_request(&w, 0, REMOTE_ALL);
	rig_post(&w.rig.b);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 1, RNIC_WC_MW_BIND_ERR);
	windows_end(&w);
}

static void type_2_window_is_not_bound_to_nothing(void)
{
	struct windows w;

	windows_begin(&w, RNIC_MW_TYPE_2);
	bind_request(&w, 0, REMOTE_ALL)->bind.length = 0;
	rig_post(&w.rig.b);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 0, RNIC_WC_MW_BIND_ERR);
	windows_end(&w);
}

/* Another connection, d in b's PD. */
static void neighbours_begin(struct windows *w, struct sim_end *c, struct sim_end *d)
{
	struct sim_end_config cfg = sim_end_default;

	sim_end_begin(c, &w->rig.world, 0, &cfg);
	cfg.pd = w->rig.b.pd;
	sim_end_begin(d, &w->rig.world, 1, &cfg);
	sim_connect(c, d);
}

static void type_2_window_serves_its_qp_only(void)
{
	for (int i = 0; i < 2; i++) {
		struct sim_end c, d;
		struct windows w;
		uint32_t key;
		struct rnic_send_wr *wr;

		windows_begin(&w, i ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		neighbours_begin(&w, &c, &d);
		key = bind(&w, 0, REMOTE_ALL);
		wr = rig_request(&c, &w.rig.b, RNIC_WR_WRITE, 8);
		wr->rkey = key;
		wr->raddr += OFFSET;
		rig_post(&c);
		rig_run(&w.rig);
		rig_expect(&c.send_ring, 0, i ? RNIC_WC_SUCCESS : RNIC_WC_REM_ACCESS_ERR);
		sim_end_end(&c);
		sim_end_end(&d);
		windows_end(&w);
	}
}

static void mr_with_windows_cannot_go_or_change(void)
{
	struct windows w;
	struct rnic_mr_attr attr;

	windows_begin(&w, RNIC_MW_TYPE_2);
	bind(&w, 0, REMOTE_ALL);
	attr = *rnic_mr_attr_get(w.mr);
	attr.length--;
	sim_check(rnic_mr_destroy(w.mr) == -EINVAL, "it went");
	sim_check(rnic_mr_modify(w.mr, w.rig.b.pd, &attr) == -EINVAL, "it changed");
	sim_check(rnic_mw_destroy(w.mw[0]) == 0, "MW");
	sim_check(rnic_mr_modify(w.mr, w.rig.b.pd, &attr) == 0, "no window is bound any more");
	sim_check(rnic_mw_create(w.rig.b.pd, RNIC_MW_TYPE_2, &w.mw[0]) == 0, "MW");
	windows_end(&w);
}

static void destroyed_qp_frees_its_type_2_windows(void)
{
	struct sim_end c, d;
	struct windows w;
	uint32_t key;

	windows_begin(&w, RNIC_MW_TYPE_2);
	neighbours_begin(&w, &c, &d);
	key = rnic_mw_key(w.mw[1]);
	rig_request(&d, &c, RNIC_WR_BIND_MW, 0)->bind =
		bind_request(&w, 1, REMOTE_ALL)->bind; /* b posts nothing */
	rig_post(&d);
	rig_run(&w.rig);
	rig_expect(&d.send_ring, 0, RNIC_WC_SUCCESS);
	sim_check(rnic_mw_key(w.mw[1]) != key && rnic_mr_destroy(w.mr) == -EINVAL, "not bound");
	sim_end_end(&c);
	sim_end_end(&d);
	bind(&w, 1, REMOTE_ALL);
	windows_end(&w);
}

static void local_invalidate_frees_a_type_2_window(void)
{
	struct windows w;
	uint32_t key;

	windows_begin(&w, RNIC_MW_TYPE_2);
	key = bind(&w, 0, REMOTE_ALL);
	invalidate_post(&w.rig.b, &w.rig.a, key);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 1, RNIC_WC_SUCCESS);
	key = bind(&w, 0, REMOTE_ALL);
	invalidate_post(&w.rig.b, &w.rig.a, key);
	rig_run(&w.rig);
	rig_expect(&w.rig.b.send_ring, 3, RNIC_WC_SUCCESS);
	request_run(&w, RNIC_WR_READ, key, OFFSET, 8, RNIC_WC_REM_ACCESS_ERR);
	windows_end(&w);
}

enum invalid_key { TYPE_1, FREE, STALE, AN_MR, NOBODY, INVALID_KEYS };

static uint32_t invalid_key(enum invalid_key which, struct windows *w)
{
	switch (which) {
	case TYPE_1:
		return bind(w, 0, REMOTE_ALL);
	case FREE:
		return rnic_mw_key(w->mw[1]);
	case STALE:
		return bind(w, 0, REMOTE_ALL) - 1;
	case AN_MR: /* only what was made for fast registration can be: Linux gives it no user */
		return rnic_mr_key(w->mr);
	case NOBODY:
	case INVALID_KEYS:
		break;
	}
	return 0xffffffff;
}

static void local_invalidate_of_another_key_is_an_error(void)
{
	for (int i = 0; i < INVALID_KEYS; i++) {
		struct windows w;
		uint32_t key;
		uint64_t slot;

		windows_begin(&w, i == TYPE_1 ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		key = invalid_key((enum invalid_key)i, &w);
		slot = w.rig.b.queues.sent;
		invalidate_post(&w.rig.b, &w.rig.a, key);
		rig_run(&w.rig);
		rig_expect(&w.rig.b.send_ring, slot, RNIC_WC_MW_BIND_ERR);
		rig_expect_state(&w.rig.b, RNIC_QPS_ERR);
		windows_end(&w);
	}
}

static void send_with_invalidate_frees_the_window_and_says_so(void)
{
	const struct rnic_cqe *cqe;
	struct windows w;
	uint32_t key;

	windows_begin(&w, RNIC_MW_TYPE_2);
	key = bind(&w, 0, REMOTE_ALL);
	rig_receive(&w.rig.b, 5000);
	rig_request(&w.rig.a, &w.rig.b, RNIC_WR_SEND_INV, 5000)->imm = key;
	rig_post(&w.rig.a);
	rig_run(&w.rig);
	rig_expect(&w.rig.a.send_ring, 0, RNIC_WC_SUCCESS);
	cqe = sim_cq_poll(&w.rig.b.recv_ring);
	sim_check(cqe && cqe->status == RNIC_WC_SUCCESS && cqe->byte_len == 5000 &&
			  cqe->opcode == RNIC_WC_RECV && cqe->flags == RNIC_WC_WITH_INV &&
			  cqe->imm == key,
		  "completion");
	sim_check(rnic_mr_destroy(w.mr) == 0, "the window is still bound");
	w.mr = mr_make(&w.rig.b, w.rig.b.pd, SIM_ALL_ACCESS);
	request_run(&w, RNIC_WR_READ, key, OFFSET, 8, RNIC_WC_REM_ACCESS_ERR);
	windows_end(&w);
}

/* NAK remote access error; the window, if there is one, and the receive are left alone. */
static void send_with_invalidate_of_another_key_is_refused(void)
{
	for (int i = 0; i < INVALID_KEYS; i++) {
		struct windows w;
		uint32_t key;

		windows_begin(&w, i == TYPE_1 ? RNIC_MW_TYPE_1 : RNIC_MW_TYPE_2);
		key = invalid_key((enum invalid_key)i, &w);
		rig_receive(&w.rig.b, 100);
		rig_request(&w.rig.a, &w.rig.b, RNIC_WR_SEND_INV, 100)->imm = key;
		rig_post(&w.rig.a);
		rig_run(&w.rig);
		rig_expect(&w.rig.a.send_ring, 0, RNIC_WC_REM_ACCESS_ERR);
		rig_expect(&w.rig.b.recv_ring, 0, RNIC_WC_WR_FLUSH_ERR);
		sim_check(w.rig.world.node[1].n_events[RNIC_EVENT_QP_ACCESS_ERR] == 1, "event");
		windows_end(&w);
	}
}

static void send_with_invalidate_by_another_qp_is_refused(void)
{
	struct sim_end c, d;
	struct windows w;
	uint32_t key;

	windows_begin(&w, RNIC_MW_TYPE_2);
	neighbours_begin(&w, &c, &d);
	key = bind(&w, 0, REMOTE_ALL);
	rig_receive(&d, 100);
	rig_request(&c, &d, RNIC_WR_SEND_INV, 100)->imm = key;
	rig_post(&c);
	rig_run(&w.rig);
	rig_expect(&c.send_ring, 0, RNIC_WC_REM_ACCESS_ERR);
	request_run(&w, RNIC_WR_READ, key, OFFSET, 8, RNIC_WC_SUCCESS);
	sim_end_end(&c);
	sim_end_end(&d);
	windows_end(&w);
}

const struct scenario scenarios_windows[] = {
	SCENARIO(window_gives_its_range_by_its_own_key),
	SCENARIO(window_refuses_what_its_range_or_access_lacks),
	SCENARIO(window_without_a_range_permits_nothing),
	SCENARIO(window_is_not_a_local_key),
	SCENARIO(type_1_window_moves_and_is_emptied_by_a_bind),
	SCENARIO(rebinding_takes_the_old_key_away),
	SCENARIO(wrong_bind_is_a_bind_error),
	SCENARIO(window_of_another_pd_cannot_be_bound),
	SCENARIO(type_2_window_is_not_bound_twice),
	SCENARIO(type_2_window_is_not_bound_to_nothing),
	SCENARIO(type_2_window_serves_its_qp_only),
	SCENARIO(mr_with_windows_cannot_go_or_change),
	SCENARIO(destroyed_qp_frees_its_type_2_windows),
	SCENARIO(local_invalidate_frees_a_type_2_window),
	SCENARIO(local_invalidate_of_another_key_is_an_error),
	SCENARIO(send_with_invalidate_frees_the_window_and_says_so),
	SCENARIO(send_with_invalidate_of_another_key_is_refused),
	SCENARIO(send_with_invalidate_by_another_qp_is_refused),
	{NULL, NULL},
};
