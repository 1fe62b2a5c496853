/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of PDs, MRs, CQs, SRQs, AHs and the port. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/qp_priv.h"
#include "rnic_fixture.h"

#define RW (RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ)

static struct rnic_mem *const some_mem = (struct rnic_mem *)0x1000;

START_TEST(mr_check_obeys_key_pd_access_and_range)
{
	static const struct {
		uint32_t key_xor;
		bool other_pd;
		uint64_t addr, len;
		uint32_t access;
		enum mr_verdict verdict;
	} rows[] = {
		{0, false, 0x5000, 100, 0, MR_OK},
		{0, false, 0x5000, 100, RW, MR_OK},
		{0, false, 0x5063, 1, RW, MR_OK},
		{0, false, 0x5064, 1, RW, MR_BAD_RANGE},
		{0, false, 0x5000, 101, RW, MR_BAD_RANGE},
		{0, false, 0x4fff, 1, RW, MR_BAD_RANGE},
		{0, false, 0x5001, UINT64_MAX, RW, MR_BAD_RANGE},
		{0, false, 0x5000, 1, RNIC_ACCESS_REMOTE_ATOMIC, MR_BAD_ACCESS},
		{1, false, 0x5000, 1, 0, MR_BAD_KEY},
		{0x100, false, 0x5000, 1, 0, MR_BAD_KEY},
		{0xf0000000, false, 0x5000, 1, 0, MR_BAD_KEY},
		{0, true, 0x5000, 1, 0, MR_BAD_KEY},
		{0xffffffff, true, 7, 0, RNIC_ACCESS_REMOTE_ATOMIC, MR_OK},
	};
	struct rnic_mr_attr attr = {some_mem, 0x70000, 100, 0x5000, RW};
	struct fixture f;
	struct rnic_pd *pd, *other;
	struct rnic_mr *mr;

	fixture_begin(&f);
	ck_assert_int_eq(rnic_pd_create(f.dev, &pd), 0);
	ck_assert_int_eq(rnic_pd_create(f.dev, &other), 0);
	ck_assert_int_eq(rnic_mr_create(pd, &attr, &mr), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rnic_mem *mem;
		uint64_t vaddr;
		enum mr_verdict v =
			mr_check(rows[i].other_pd ? other : pd, rnic_mr_key(mr) ^ rows[i].key_xor,
				 rows[i].addr, rows[i].len, rows[i].access, &mem, &vaddr);

		ck_assert_msg(v == rows[i].verdict, "row %zu: verdict %d", i, (int)v);
		if (v == MR_OK && rows[i].len) {
			ck_assert_ptr_eq(mem, some_mem);
			ck_assert_uint_eq(vaddr, rows[i].addr - 0x5000 + 0x70000);
		}
	}
	ck_assert_int_eq(rnic_pd_destroy(pd), -EBUSY);
	rnic_mr_destroy(mr);
	rnic_pd_destroy(pd);
	rnic_pd_destroy(other);
	fixture_end(&f);
}
END_TEST

START_TEST(mr_refuses_bad_access_and_wrapping_ranges)
{
	static const struct {
		uint64_t start, length, iova;
		uint32_t access;
		int ret;
	} rows[] = {
		{0, 0, 0, 0, 0},
		{0x1000, 0, 0x9000, RW, 0},
		{0, UINT64_MAX, 0, RW, 0},
		{0, 1, 0, RNIC_ACCESS_REMOTE_READ, 0},
		{0, 1, 0, RNIC_ACCESS_REMOTE_WRITE, -EINVAL},
		{0, 1, 0, RNIC_ACCESS_REMOTE_ATOMIC, -EINVAL},
		{UINT64_MAX - 10, 12, 0, RW, -EINVAL},
		{0, 12, UINT64_MAX - 10, RW, -EINVAL},
	};
	struct fixture f;
	struct rnic_pd *pd;
	struct rnic_mr *mr;

	fixture_begin(&f);
	rnic_pd_create(f.dev, &pd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rnic_mr_attr attr = {some_mem, rows[i].start, rows[i].length, rows[i].iova,
					    rows[i].access};
		uint32_t logs = f.n_logs;
		int ret = rnic_mr_create(pd, &attr, &mr);

		ck_assert_msg(ret == rows[i].ret, "row %zu: %d", i, ret);
		ck_assert_uint_eq(f.n_logs, logs + (ret < 0));
		if (ret == 0)
			rnic_mr_destroy(mr);
	}
	rnic_pd_destroy(pd);
	fixture_end(&f);
}
END_TEST

START_TEST(mws_are_limited_and_keep_their_pd)
{
	struct fixture f;
	struct rnic_pd *pd;
	struct rnic_mw *mw[3];

	fixture_begin(&f);
	f.dev->limits.max_mw = 2;
	rnic_pd_create(f.dev, &pd);
	ck_assert_int_eq(rnic_mw_create(pd, (enum rnic_mw_type)3, &mw[0]), -EINVAL);
	ck_assert_int_eq(rnic_mw_create(pd, RNIC_MW_TYPE_1, &mw[0]), 0);
	ck_assert_int_eq(rnic_mw_create(pd, RNIC_MW_TYPE_2, &mw[1]), 0);
	ck_assert_int_eq(rnic_mw_create(pd, RNIC_MW_TYPE_2, &mw[2]), -ENOMEM);
	ck_assert_uint_ne(rnic_mw_key(mw[0]) >> 8, rnic_mw_key(mw[1]) >> 8);
	ck_assert_int_eq(rnic_pd_destroy(pd), -EBUSY);
	rnic_mw_destroy(mw[0]);
	rnic_mw_destroy(mw[1]);
	ck_assert_int_eq(rnic_pd_destroy(pd), 0);
	fixture_end(&f);
}
END_TEST

START_TEST(mr_keys_are_not_reused_soon)
{
	struct rnic_mr_attr attr = {some_mem, 0, 1, 0, 0};
	struct fixture f;
	struct rnic_pd *pd;
	struct rnic_mr *mr;
	uint32_t first;

	fixture_begin(&f);
	rnic_pd_create(f.dev, &pd);
	rnic_mr_create(pd, &attr, &mr);
	first = rnic_mr_key(mr);
	for (int i = 0; i < 200000; i++) {
		rnic_mr_destroy(mr);
		rnic_mr_create(pd, &attr, &mr);
		ck_assert_uint_ne(rnic_mr_key(mr), first);
		ck_assert_uint_ne(rnic_mr_key(mr), 0);
	}
	rnic_mr_destroy(mr);
	rnic_pd_destroy(pd);
	fixture_end(&f);
}
END_TEST

START_TEST(cq_notifies_once_an_arming_and_solicited_only_if_asked)
{
	struct fixture f;
	struct fixture_qp q;
	struct rnic_cqe cqe = {0};

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	cqe.qp = q.qp;
	cq_complete(q.cq, &cqe);
	ck_assert_uint_eq(f.n_notified, 0);
	q.ring.armed = true;
	q.ring.solicited_only = true;
	cq_complete(q.cq, &cqe);
	ck_assert_uint_eq(f.n_notified, 0);
	cqe.solicited = true;
	cq_complete(q.cq, &cqe);
	cq_complete(q.cq, &cqe);
	ck_assert_uint_eq(f.n_notified, 1);
	ck_assert_uint_eq(q.ring.pushed, 4);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(cq_overflow_is_told_once_and_ends_its_qps)
{
	struct fixture f;
	struct fixture_qp q;
	struct rnic_cqe cqe = {0};

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	fixture_to_rts(q.qp);
	cqe.qp = q.qp;
	q.ring.room = 1;
	for (int i = 0; i < 5; i++)
		cq_complete(q.cq, &cqe);
	ck_assert(rnic_cq_overflowed(q.cq));
	ck_assert_int_eq(rnic_qp_state(q.qp), RNIC_QPS_RTS);
	cq_settle(f.dev, 0);
	ck_assert_int_eq(rnic_qp_state(q.qp), RNIC_QPS_ERR);
	ck_assert_uint_eq(f.n_events, 2);
	ck_assert_int_eq(f.events[0].type, RNIC_EVENT_CQ_ERR);
	ck_assert_ptr_eq(f.events[0].cq, q.cq);
	ck_assert_int_eq(f.events[1].type, RNIC_EVENT_QP_FATAL);
	ck_assert_ptr_eq(f.events[1].qp, q.qp);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(objects_in_use_cannot_be_destroyed)
{
	struct fixture f;
	struct fixture_qp q;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_UD);
	ck_assert_int_eq(rnic_pd_destroy(q.pd), -EBUSY);
	ck_assert_int_eq(rnic_cq_destroy(q.cq), -EBUSY);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(cq_and_srq_sizes_are_limited)
{
	struct fixture f;
	struct rnic_cq *cq;
	struct rnic_srq *srq;
	struct rnic_pd *pd;

	fixture_begin(&f);
	ck_assert_int_eq(rnic_cq_create(f.dev, 0, &fixture_personality, NULL, &cq), -EINVAL);
	ck_assert_int_eq(rnic_cq_create(f.dev, 32768, &fixture_personality, NULL, &cq), -EINVAL);
	rnic_pd_create(f.dev, &pd);
	ck_assert_int_eq(rnic_srq_create(pd, 28, 0, &fixture_personality, NULL, &srq), -EINVAL);
	ck_assert_int_eq(rnic_srq_create(pd, 27, 1, &fixture_personality, NULL, &srq), 0);
	ck_assert_int_eq(rnic_srq_arm(srq, 5), 0);
	ck_assert_uint_eq(rnic_srq_limit(srq), 5);
	ck_assert_int_eq(rnic_pd_destroy(pd), -EBUSY);
	rnic_srq_destroy(srq);
	rnic_pd_destroy(pd);
	fixture_end(&f);
}
END_TEST

START_TEST(ah_needs_a_grh_port_1_and_a_filled_gid)
{
	static const struct {
		struct rnic_av av;
		int ret;
	} rows[] = {
		{{.grh = true, .port_num = 1, .sgid_index = 3}, 0},
		{{.grh = false, .port_num = 1, .sgid_index = 3}, -EINVAL},
		{{.grh = true, .port_num = 2, .sgid_index = 3}, -EINVAL},
		{{.grh = true, .port_num = 1, .sgid_index = 2}, -ENODATA},
		{{.grh = true, .port_num = 1, .sgid_index = 1024}, -EINVAL},
	};
	static const uint8_t gid[16] = {0xfe, 0x80, [15] = 7};
	struct fixture f;
	struct rnic_pd *pd;
	struct rnic_ah *ah;

	fixture_begin(&f);
	rnic_gid_set(f.dev, 3, gid, 5);
	rnic_pd_create(f.dev, &pd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret = rnic_ah_create(pd, &rows[i].av, &ah);

		ck_assert_msg(ret == rows[i].ret, "row %zu: %d", i, ret);
		if (ret < 0)
			continue;
		ck_assert_mem_eq(rnic_ah_av(ah)->sgid, gid, 16);
		ck_assert_int_eq(rnic_pd_destroy(pd), -EBUSY);
		rnic_ah_destroy(ah);
	}
	rnic_pd_destroy(pd);
	fixture_end(&f);
}
END_TEST

START_TEST(port_raises_events_on_changes_only)
{
	static const uint8_t gid[16] = {0xfe, 0x80, [15] = 7}, none[16];
	struct fixture f;

	fixture_begin(&f);
	rnic_gid_set(f.dev, 3, gid, 5);
	rnic_gid_set(f.dev, 3, gid, 5);
	ck_assert_uint_eq(rnic_gid_ifindex(f.dev, 3), 5);
	rnic_gid_set(f.dev, 3, none, 0);
	ck_assert_ptr_null(rnic_gid_get(f.dev, 3));
	rnic_gid_set(f.dev, RNIC_GID_TABLE_LEN, gid, 5);
	ck_assert_ptr_null(rnic_gid_get(f.dev, RNIC_GID_TABLE_LEN));
	ck_assert_uint_eq(f.n_events, 2);
	ck_assert_int_eq(f.events[1].type, RNIC_EVENT_GID_CHANGE);
	rnic_port_set(f.dev, true, RNIC_MTU_4096);
	ck_assert_int_eq(rnic_port_mtu(f.dev), RNIC_MTU_4096);
	rnic_port_set(f.dev, false, RNIC_MTU_4096);
	rnic_port_set(f.dev, true, RNIC_MTU_4096);
	ck_assert_uint_eq(f.n_events, 4);
	ck_assert_int_eq(f.events[2].type, RNIC_EVENT_PORT_ERR);
	ck_assert_int_eq(f.events[3].type, RNIC_EVENT_PORT_ACTIVE);
	ck_assert_uint_eq(rnic_device_counters(f.dev)->link_downed, 1);
	fixture_end(&f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		mr_check_obeys_key_pd_access_and_range,
		mr_refuses_bad_access_and_wrapping_ranges,
		mws_are_limited_and_keep_their_pd,
		mr_keys_are_not_reused_soon,
		cq_notifies_once_an_arming_and_solicited_only_if_asked,
		cq_overflow_is_told_once_and_ends_its_qps,
		objects_in_use_cannot_be_destroyed,
		cq_and_srq_sizes_are_limited,
		ah_needs_a_grh_port_1_and_a_filled_gid,
		port_raises_events_on_changes_only,
	};

	return fixture_run("rnic_objects", tests, sizeof(tests) / sizeof(tests[0]));
}
