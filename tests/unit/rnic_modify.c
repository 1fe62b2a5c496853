/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of QP creation, the state table and modify. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/qp_priv.h"
#include "rnic/qp_table.h"
#include "rnic_fixture.h"

START_TEST(qp_table_permits_what_the_kernel_permits)
{
	/* Row: from; column: to; RESET INIT RTR RTS SQD SQE ERR. */
	static const char *const legal[RNIC_QPS_COUNT] = {
		"xx.....", "xxx...x", "x..x..x", "x..xx.x", "x..xx.x", "x..x..x", "x.....x",
	};
	uint32_t bits;

	for (int from = 0; from < RNIC_QPS_COUNT; from++) {
		for (int to = 0; to < RNIC_QPS_COUNT; to++) {
			enum qp_modify_verdict v =
				qp_table_check(RNIC_QPT_RC, (enum rnic_qp_state)from,
					       (enum rnic_qp_state)to, RNIC_QP_STATE, &bits);

			ck_assert_msg((v != QP_MODIFY_ILLEGAL) == (legal[from][to] == 'x'),
				      "%d to %d", from, to);
		}
	}
}
END_TEST

START_TEST(qp_table_wants_attributes_by_type)
{
	static const struct {
		enum rnic_qp_type type;
		enum rnic_qp_state from, to;
		uint32_t mask;
		enum qp_modify_verdict verdict;
		uint32_t bits;
	} rows[] = {
		{RNIC_QPT_RC, RNIC_QPS_RESET, RNIC_QPS_INIT, FIXTURE_TO_INIT, QP_MODIFY_OK, 0},
		{RNIC_QPT_UC, RNIC_QPS_RESET, RNIC_QPS_INIT, FIXTURE_TO_INIT, QP_MODIFY_OK, 0},
		{RNIC_QPT_UD, RNIC_QPS_RESET, RNIC_QPS_INIT, FIXTURE_TO_INIT, QP_MODIFY_LACKS,
		 RNIC_QP_QKEY},
		{RNIC_QPT_GSI, RNIC_QPS_RESET, RNIC_QPS_INIT,
		 RNIC_QP_STATE | RNIC_QP_PKEY_INDEX | RNIC_QP_QKEY, QP_MODIFY_OK, 0},
		{RNIC_QPT_RC, RNIC_QPS_INIT, RNIC_QPS_RTR, FIXTURE_TO_RTR, QP_MODIFY_OK, 0},
		{RNIC_QPT_UC, RNIC_QPS_INIT, RNIC_QPS_RTR, FIXTURE_TO_RTR, QP_MODIFY_EXCESS,
		 RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER},
		{RNIC_QPT_RC, RNIC_QPS_INIT, RNIC_QPS_RTR,
		 FIXTURE_TO_RTR & ~(uint32_t)(RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN), QP_MODIFY_LACKS,
		 RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN},
		{RNIC_QPT_UD, RNIC_QPS_INIT, RNIC_QPS_RTR, RNIC_QP_STATE, QP_MODIFY_OK, 0},
		{RNIC_QPT_RC, RNIC_QPS_RTR, RNIC_QPS_RTS, FIXTURE_TO_RTS, QP_MODIFY_OK, 0},
		{RNIC_QPT_UD, RNIC_QPS_RTR, RNIC_QPS_RTS, RNIC_QP_STATE | RNIC_QP_SQ_PSN,
		 QP_MODIFY_OK, 0},
		{RNIC_QPT_RC, RNIC_QPS_RTS, RNIC_QPS_RTS, RNIC_QP_MIN_RNR_TIMER, QP_MODIFY_OK, 0},
		{RNIC_QPT_RC, RNIC_QPS_RTS, RNIC_QPS_RTS, RNIC_QP_SQ_PSN, QP_MODIFY_EXCESS,
		 RNIC_QP_SQ_PSN},
		{RNIC_QPT_RC, RNIC_QPS_RTS, RNIC_QPS_SQD, RNIC_QP_EN_SQD_ASYNC_NOTIFY, QP_MODIFY_OK,
		 0},
		{RNIC_QPT_RC, RNIC_QPS_SQD, RNIC_QPS_SQD, RNIC_QP_TIMEOUT | RNIC_QP_AV,
		 QP_MODIFY_OK, 0},
		{RNIC_QPT_RC, RNIC_QPS_RTS, RNIC_QPS_ERR, RNIC_QP_STATE | RNIC_QP_TIMEOUT,
		 QP_MODIFY_EXCESS, RNIC_QP_TIMEOUT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t bits;
		enum qp_modify_verdict v =
			qp_table_check(rows[i].type, rows[i].from, rows[i].to, rows[i].mask, &bits);

		ck_assert_msg(v == rows[i].verdict && bits == rows[i].bits, "row %zu: %d 0x%x", i,
			      (int)v, bits);
	}
}
END_TEST

START_TEST(modify_logs_what_was_wrong)
{
	struct fixture f;
	struct fixture_qp q;
	struct rnic_qp_attr attr;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	ck_assert_uint_eq(rnic_qp_num(q.qp), 17);
	attr = fixture_attr(RNIC_QPS_RTR);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTR, 0), -EINVAL);
	ck_assert_str_eq(f.log,
			 "rxe0: QP 17: RESET to RTR is not a legal transition: modify it to INIT, "
			 "then RTR");
	attr.state = RNIC_QPS_INIT;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_INIT, 0), 0);
	attr.state = RNIC_QPS_RTR;
	ck_assert_int_eq(
		rnic_qp_modify(q.qp, &attr,
			       FIXTURE_TO_RTR & ~(uint32_t)(RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN),
			       0),
		-EINVAL);
	ck_assert_str_eq(
		f.log,
		"rxe0: QP 17: INIT to RTR needs IBV_QP_PATH_MTU, IBV_QP_DEST_QPN: set what it "
		"says, and its bit in the mask");
	attr.cur_state = RNIC_QPS_RTS;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTR | RNIC_QP_CUR_STATE, 0),
			 -EINVAL);
	ck_assert_str_eq(f.log, "rxe0: QP 17: it is in INIT, not in RTS as cur_qp_state says");
	attr.path_mtu = RNIC_MTU_4096;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTR, 0), -EINVAL);
	ck_assert_str_eq(
		f.log, "rxe0: QP 17: path_mtu is 5, 1 to 3 are possible: the port's active_mtu is "
		       "the most");
	ck_assert_int_eq(rnic_qp_kick(q.qp), -EINVAL);
	ck_assert_str_eq(f.log, "rxe0: QP 17: post_send in INIT: modify it to RTR, then RTS first");
	attr.path_mtu = RNIC_MTU_1024;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTR | RNIC_QP_TIMEOUT, 0), -EINVAL);
	ck_assert_str_eq(f.log, "rxe0: QP 17: INIT to RTR does not take IBV_QP_TIMEOUT: leave it "
				"out of the mask, or give it with RTR to RTS");
	attr.state = RNIC_QPS_SQE;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, RNIC_QP_STATE, 0), -EINVAL);
	ck_assert_str_eq(f.log, "rxe0: QP 17: INIT to SQE is not a legal transition: a send that "
				"fails leads there, modify never does");
	ck_assert_uint_eq(f.n_logs, 7);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

#define V4                                                                                         \
	{                                                                                          \
		[10] = 0xff, [11] = 0xff, 127, 0, 0, 2                                             \
	}
#define V6                                                                                         \
	{                                                                                          \
		0xfd, [15] = 1                                                                     \
	}

static const struct {
	uint32_t mask;
	struct rnic_qp_attr attr; /* only what the row is about */
	int ret;
} value_rows[] = {
	{RNIC_QP_TIMEOUT, {.timeout = 31}, 0},
	{RNIC_QP_TIMEOUT, {.timeout = 32}, -EINVAL},
	{RNIC_QP_RETRY_CNT, {.retry_cnt = 7}, 0},
	{RNIC_QP_RETRY_CNT, {.retry_cnt = 8}, -EINVAL},
	{RNIC_QP_RNR_RETRY, {.rnr_retry = 7}, 0},
	{RNIC_QP_RNR_RETRY, {.rnr_retry = 8}, -EINVAL},
	{RNIC_QP_MIN_RNR_TIMER, {.min_rnr_timer = 31}, 0},
	{RNIC_QP_MIN_RNR_TIMER, {.min_rnr_timer = 32}, -EINVAL},
	{RNIC_QP_MAX_QP_RD_ATOMIC, {.max_rd_atomic = 128}, 0},
	{RNIC_QP_MAX_QP_RD_ATOMIC, {.max_rd_atomic = 129}, -EINVAL},
	{RNIC_QP_MAX_DEST_RD_ATOMIC, {.max_dest_rd_atomic = 129}, -EINVAL},
	{RNIC_QP_PKEY_INDEX, {.pkey_index = 1}, -EINVAL},
	{RNIC_QP_PORT, {.port_num = 0}, -EINVAL},
	{RNIC_QP_PORT, {.port_num = 2}, -EINVAL},
	{RNIC_QP_ALT_PATH, {.alt_port_num = 1}, -EINVAL},
	{RNIC_QP_AV, {.av = {.port_num = 1}}, -EINVAL},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 1, .sgid_index = 9}}, -ENODATA},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 1, .sgid_index = 1023}}, -ENODATA},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 1, .sgid_index = 1024}}, -EINVAL},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 2, .dgid = V4}}, -EINVAL},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 1, .dgid = V6}}, -EINVAL},
	{RNIC_QP_AV, {.av = {.grh = true, .port_num = 1, .dgid = V4}}, 0},
	{RNIC_QP_PATH_MIG_STATE, {.path_mig_state = 2}, 0},
	{RNIC_QP_PATH_MIG_STATE, {.path_mig_state = 3}, -EINVAL},
	{RNIC_QP_ACCESS_FLAGS, {.access_flags = 0x3ff0035f}, 0},
	{RNIC_QP_ACCESS_FLAGS, {.access_flags = 1 << 5}, -EINVAL}, /* zero based */
	{RNIC_QP_ACCESS_FLAGS, {.access_flags = 1 << 7}, -EINVAL}, /* huge pages */
	{RNIC_QP_ACCESS_FLAGS, {.access_flags = 1 << 10}, -EINVAL},
	{RNIC_QP_ACCESS_FLAGS, {.access_flags = 1u << 31}, -EINVAL},
};

START_TEST(modify_refuses_values_out_of_range)
{
	struct rnic_qp_attr sqd = fixture_attr(RNIC_QPS_SQD);
	struct fixture f;
	struct fixture_qp q;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	fixture_to_rts(q.qp);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &sqd, RNIC_QP_STATE, 0), 0);
	for (size_t i = 0; i < sizeof(value_rows) / sizeof(value_rows[0]); i++) {
		struct rnic_qp_attr before, after;
		uint32_t logs = f.n_logs;
		int ret;

		rnic_qp_query(q.qp, &before);
		ret = rnic_qp_modify(q.qp, &value_rows[i].attr, value_rows[i].mask, 0);
		ck_assert_msg(ret == value_rows[i].ret, "row %zu: %d", i, ret);
		ck_assert_uint_eq(f.n_logs, logs + (ret < 0));
		rnic_qp_query(q.qp, &after);
		if (ret < 0)
			ck_assert_mem_eq(&before, &after, sizeof(after));
	}
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(query_returns_what_was_set_and_reset_forgets_it)
{
	struct rnic_qp_attr set = fixture_attr(RNIC_QPS_RTS), got, reset = fixture_attr(0), empty;
	struct fixture f;
	struct fixture_qp q;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	rnic_qp_query(q.qp, &empty);
	fixture_to_rts(q.qp);
	rnic_qp_query(q.qp, &got);
	ck_assert_int_eq(got.state, RNIC_QPS_RTS);
	ck_assert_int_eq(got.cur_state, RNIC_QPS_RTS);
	ck_assert_int_eq(got.path_mtu, set.path_mtu);
	ck_assert_uint_eq(got.qkey, 0);
	ck_assert_uint_eq(got.rq_psn, set.rq_psn);
	ck_assert_uint_eq(got.sq_psn, set.sq_psn);
	ck_assert_uint_eq(got.dest_qpn, set.dest_qpn);
	ck_assert_uint_eq(got.access_flags, set.access_flags);
	ck_assert_uint_eq(got.max_rd_atomic, set.max_rd_atomic);
	ck_assert_uint_eq(got.max_dest_rd_atomic, set.max_dest_rd_atomic);
	ck_assert_uint_eq(got.min_rnr_timer, set.min_rnr_timer);
	ck_assert_uint_eq(got.timeout, set.timeout);
	ck_assert_uint_eq(got.retry_cnt, set.retry_cnt);
	ck_assert_uint_eq(got.rnr_retry, set.rnr_retry);
	ck_assert_mem_eq(got.av.dgid, set.av.dgid, 16);
	ck_assert_mem_eq(got.av.sgid, rnic_gid_get(f.dev, 0), 16);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &reset, RNIC_QP_STATE, 0), 0);
	rnic_qp_query(q.qp, &got);
	ck_assert_mem_eq(&got, &empty, sizeof(got));
	fixture_to_rts(q.qp);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(mtu_is_held_against_the_ports_as_it_is_now)
{
	static const struct {
		enum rnic_mtu port, path;
		int ret;
	} rows[] = {
		{RNIC_MTU_1024, (enum rnic_mtu)0, -EINVAL},
		{RNIC_MTU_1024, RNIC_MTU_256, 0},
		{RNIC_MTU_1024, RNIC_MTU_1024, 0},
		{RNIC_MTU_1024, RNIC_MTU_2048, -EINVAL},
		{RNIC_MTU_4096, RNIC_MTU_4096, 0},
		{RNIC_MTU_4096, (enum rnic_mtu)6, -EINVAL},
		{RNIC_MTU_256, RNIC_MTU_512, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rnic_qp_attr attr = fixture_attr(RNIC_QPS_INIT);
		struct fixture f;
		struct fixture_qp q;

		fixture_begin(&f);
		rnic_port_set(f.dev, true, rows[i].port);
		fixture_qp_begin(&f, &q, RNIC_QPT_UC);
		ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_INIT, 0), 0);
		attr.state = RNIC_QPS_RTR;
		attr.path_mtu = rows[i].path;
		ck_assert_int_eq(rnic_qp_modify(q.qp, &attr,
						RNIC_QP_STATE | RNIC_QP_AV | RNIC_QP_PATH_MTU |
							RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN,
						0),
				 rows[i].ret);
		fixture_qp_end(&q);
		fixture_end(&f);
	}
}
END_TEST

START_TEST(while_it_drains_a_qp_goes_but_to_err_and_reset)
{
	struct rnic_qp_attr sqd = fixture_attr(RNIC_QPS_SQD), rts = fixture_attr(RNIC_QPS_RTS);
	struct rnic_qp_attr err = fixture_attr(RNIC_QPS_ERR), got;
	struct fixture f;
	struct fixture_qp q;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	fixture_to_rts(q.qp);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &sqd, RNIC_QP_STATE, 0), 0);
	rnic_qp_query(q.qp, &got);
	ck_assert_uint_eq(got.sq_draining, 0); /* nothing was in flight */
	q.qp->attr.sq_draining = 1;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &rts, RNIC_QP_STATE, 0), -EINVAL);
	ck_assert_ptr_nonnull(strstr(f.log, "QP 17: its send queue is still draining"));
	ck_assert_int_eq(rnic_qp_modify(q.qp, &sqd, RNIC_QP_AV, 0), -EINVAL);
	rnic_qp_query(q.qp, &got);
	ck_assert_int_eq(got.state, RNIC_QPS_SQD);
	ck_assert_uint_eq(got.sq_draining, 1);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &err, RNIC_QP_STATE, 0), 0);
	rnic_qp_query(q.qp, &got);
	ck_assert_uint_eq(got.sq_draining, 0);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(history_keeps_the_last_steps_and_counts_the_others)
{
	struct rnic_qp_attr init = fixture_attr(RNIC_QPS_INIT), reset = fixture_attr(0);
	struct rnic_qp_step step[RNIC_QP_STEPS_MAX];
	struct fixture f;
	struct fixture_qp q;
	uint32_t n;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	ck_assert_uint_eq(rnic_qp_steps(q.qp, step, &n), 0);
	ck_assert_uint_eq(n, 0);
	for (uint64_t t = 0; t < 40; t++)
		ck_assert_int_eq(t % 2 ? rnic_qp_modify(q.qp, &reset, RNIC_QP_STATE, t)
				       : rnic_qp_modify(q.qp, &init, FIXTURE_TO_INIT, t),
				 0);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &reset, RNIC_QP_STATE, 41), 0); /* goes nowhere */
	ck_assert_uint_eq(rnic_qp_steps(q.qp, step, &n), 40 - RNIC_QP_STEPS_MAX);
	ck_assert_uint_eq(n, RNIC_QP_STEPS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(step[i].at, 40 - n + i);
		ck_assert_int_eq(step[i].from, i % 2 ? RNIC_QPS_INIT : RNIC_QPS_RESET);
		ck_assert_int_eq(step[i].to, i % 2 ? RNIC_QPS_RESET : RNIC_QPS_INIT);
		ck_assert(!step[i].by_error);
	}
	fixture_to_rts(q.qp);
	qp_error(q.qp, 99, -1);
	rnic_qp_steps(q.qp, step, &n);
	ck_assert_int_eq(step[n - 1].from, RNIC_QPS_RTS);
	ck_assert_int_eq(step[n - 1].to, RNIC_QPS_ERR);
	ck_assert(step[n - 1].by_error && step[n - 1].at == 99);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(psns_and_qpns_are_cut_to_24_bits)
{
	struct rnic_qp_attr attr = fixture_attr(RNIC_QPS_INIT), got;
	struct fixture f;
	struct fixture_qp q;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_INIT, 0), 0);
	attr.state = RNIC_QPS_RTR;
	attr.rq_psn = 0xff000001;
	attr.dest_qpn = 0xee000002;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTR, 0), 0);
	attr.state = RNIC_QPS_RTS;
	attr.sq_psn = 0xdd000003;
	ck_assert_int_eq(rnic_qp_modify(q.qp, &attr, FIXTURE_TO_RTS, 0), 0);
	rnic_qp_query(q.qp, &got);
	ck_assert_uint_eq(got.rq_psn, 1);
	ck_assert_uint_eq(got.dest_qpn, 2);
	ck_assert_uint_eq(got.sq_psn, 3);
	fixture_qp_end(&q);
	fixture_end(&f);
}
END_TEST

START_TEST(qp_create_refuses_what_the_device_cannot)
{
	static const struct {
		enum rnic_qp_type type;
		uint32_t send_wr, recv_wr, send_sge, recv_sge, inl;
		bool no_cq;
		int ret;
	} rows[] = {
		{RNIC_QPT_RC, 1048576, 1048576, 32, 32, 512, false, 0},
		{RNIC_QPT_RC, 1048577, 1, 1, 1, 0, false, -EINVAL},
		{RNIC_QPT_RC, 1, 1048577, 1, 1, 0, false, -EINVAL},
		{RNIC_QPT_RC, 1, 1, 33, 1, 0, false, -EINVAL},
		{RNIC_QPT_RC, 1, 1, 1, 33, 0, false, -EINVAL},
		{RNIC_QPT_RC, 1, 1, 1, 1, 513, false, -EINVAL},
		{RNIC_QPT_UC, 1, 1, 1, 1, 0, true, -EINVAL},
		{(enum rnic_qp_type)9, 1, 1, 1, 1, 0, false, -EOPNOTSUPP},
	};
	struct fixture_cq ring = {.room = 1};
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct fixture f;

	fixture_begin(&f);
	rnic_pd_create(f.dev, &pd);
	rnic_cq_create(f.dev, 1, &fixture_personality, &ring, &cq);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rnic_qp_init init = {.type = rows[i].type,
					    .send_cq = cq,
					    .recv_cq = rows[i].no_cq ? NULL : cq,
					    .max_send_wr = rows[i].send_wr,
					    .max_recv_wr = rows[i].recv_wr,
					    .max_send_sge = rows[i].send_sge,
					    .max_recv_sge = rows[i].recv_sge,
					    .max_inline = rows[i].inl,
					    .ops = &fixture_personality};
		int ret = rnic_qp_create(pd, &init, &qp);

		ck_assert_msg(ret == rows[i].ret, "row %zu: %d", i, ret);
		if (ret == 0)
			rnic_qp_destroy(qp);
	}
	rnic_cq_destroy(cq);
	rnic_pd_destroy(pd);
	fixture_end(&f);
}
END_TEST

START_TEST(there_is_one_gsi_qp_and_its_number_is_1)
{
	struct fixture f;
	struct fixture_qp gsi, rc;
	struct rnic_qp_init init;
	struct rnic_qp *second;

	fixture_begin(&f);
	fixture_qp_begin(&f, &gsi, RNIC_QPT_GSI);
	fixture_qp_begin(&f, &rc, RNIC_QPT_RC);
	ck_assert_uint_eq(rnic_qp_num(gsi.qp), 1);
	init = *rnic_qp_init_get(gsi.qp);
	ck_assert_int_eq(rnic_qp_create(gsi.pd, &init, &second), -EINVAL);
	ck_assert_ptr_eq(rnic_device_qp_after(f.dev, 0), gsi.qp);
	ck_assert_ptr_eq(rnic_device_qp_after(f.dev, 1), rc.qp);
	ck_assert_ptr_null(rnic_device_qp_after(f.dev, rnic_qp_num(rc.qp)));
	ck_assert_ptr_null(rnic_device_qp_after(f.dev, UINT32_MAX));
	ck_assert_ptr_eq(qp_lookup(f.dev, 1), gsi.qp);
	ck_assert_ptr_null(qp_lookup(f.dev, 0));
	fixture_qp_end(&rc);
	fixture_qp_end(&gsi);
	fixture_end(&f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		qp_table_permits_what_the_kernel_permits,
		qp_table_wants_attributes_by_type,
		modify_logs_what_was_wrong,
		modify_refuses_values_out_of_range,
		query_returns_what_was_set_and_reset_forgets_it,
		mtu_is_held_against_the_ports_as_it_is_now,
		while_it_drains_a_qp_goes_but_to_err_and_reset,
		history_keeps_the_last_steps_and_counts_the_others,
		psns_and_qpns_are_cut_to_24_bits,
		qp_create_refuses_what_the_device_cannot,
		there_is_one_gsi_qp_and_its_number_is_1,
	};

	return fixture_run("rnic_modify", tests, sizeof(tests) / sizeof(tests[0]));
}
