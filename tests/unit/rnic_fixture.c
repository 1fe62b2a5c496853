/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The host that rnic_fixture.h describes. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "null_host.h"
#include "rnic_fixture.h"
#include "suite.h"

static void timer_set(void *host, uint64_t deadline)
{
	struct fixture *f = host;

	f->timer = deadline;
	f->n_timer_sets++;
}

static void cq_notify(void *host, struct rnic_cq *cq)
{
	struct fixture *f = host;

	(void)cq;
	f->n_notified++;
}

static void async_event(void *host, const struct rnic_async *event)
{
	struct fixture *f = host;

	ck_assert_uint_lt(f->n_events, FIXTURE_EVENTS);
	f->events[f->n_events++] = *event;
}

static uint64_t tx_room(void *host, const struct rnic_av *av)
{
	struct fixture *f = host;

	(void)av;
	f->n_rooms++;
	return f->room;
}

static int mcast_join(void *host, const uint8_t gid[16])
{
	struct fixture *f = host;

	(void)gid;
	f->n_joined += f->join_ret == 0;
	return f->join_ret;
}

static void mcast_leave(void *host, const uint8_t gid[16])
{
	struct fixture *f = host;

	(void)gid;
	f->n_left++;
}

static void log_line(void *host, const char *line)
{
	struct fixture *f = host;

	strncpy(f->log, line, sizeof(f->log) - 1);
	f->n_logs++;
}

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = null_tx_send,
	.tx_room = tx_room,
	.mcast_join = mcast_join,
	.mcast_leave = mcast_leave,
	.timer_set = timer_set,
	.mem_read = null_mem_access,
	.mem_write = null_mem_access,
	.mem_atomic = null_mem_atomic,
	.cq_notify = cq_notify,
	.async_event = async_event,
	.random = null_random,
	.log = log_line,
};

static int send_next(void *user, struct rnic_send_wr *wr)
{
	(void)user;
	(void)wr;
	return 0;
}

static void send_retire(void *user, uint64_t slot)
{
	(void)user;
	(void)slot;
}

static int recv_next(void *user, struct rnic_recv_wr *wr)
{
	(void)user;
	(void)wr;
	return 0;
}

static uint32_t recv_count(void *user)
{
	(void)user;
	return 0;
}

static int cq_push(void *cq_user, void *qp_user, const struct rnic_cqe *cqe)
{
	struct fixture_cq *cq = cq_user;

	(void)qp_user;
	if (cq->pushed == cq->room)
		return -ENOSPC;
	cq->last = *cqe;
	cq->pushed++;
	return 0;
}

static bool cq_test_arm(void *cq_user, bool solicited)
{
	struct fixture_cq *cq = cq_user;

	if (!cq->armed || (cq->solicited_only && !solicited))
		return false;
	cq->armed = false;
	return true;
}

const struct rnic_personality fixture_personality = {
	.send_next = send_next,
	.send_retire = send_retire,
	.recv_next = recv_next,
	.recv_count = recv_count,
	.cq_push = cq_push,
	.cq_test_arm = cq_test_arm,
};

void fixture_begin(struct fixture *f)
{
	struct rnic_device_config cfg = {
		.ops = &ops, .host = f, .active_mtu = RNIC_MTU_1024, .name = "rxe0"};

	memset(f, 0, sizeof(*f));
	f->dev = rnic_device_create(&cfg);
	ck_assert_ptr_nonnull(f->dev);
}

void fixture_end(struct fixture *f)
{
	struct rnic_counts counts, none = {0};

	rnic_device_counts(f->dev, &counts);
	ck_assert_mem_eq(&counts, &none, sizeof(none));
	rnic_device_destroy(f->dev);
}

static const uint8_t gid[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1};

void fixture_qp_begin(struct fixture *f, struct fixture_qp *q, enum rnic_qp_type type)
{
	struct rnic_qp_init init = {.type = type,
				    .max_send_wr = 16,
				    .max_recv_wr = 16,
				    .max_send_sge = 2,
				    .max_recv_sge = 2,
				    .ops = &fixture_personality};

	memset(q, 0, sizeof(*q));
	q->ring.room = 100;
	rnic_gid_set(f->dev, 0, gid, 1);
	f->n_events = 0;
	ck_assert_int_eq(rnic_pd_create(f->dev, &q->pd), 0);
	ck_assert_int_eq(rnic_cq_create(f->dev, 100, &fixture_personality, &q->ring, &q->cq), 0);
	init.send_cq = q->cq;
	init.recv_cq = q->cq;
	ck_assert_int_eq(rnic_qp_create(q->pd, &init, &q->qp), 0);
}

void fixture_qp_end(struct fixture_qp *q)
{
	ck_assert_int_eq(rnic_qp_destroy(q->qp), 0);
	ck_assert_int_eq(rnic_cq_destroy(q->cq), 0);
	ck_assert_int_eq(rnic_pd_destroy(q->pd), 0);
}

struct rnic_qp_attr fixture_attr(enum rnic_qp_state state)
{
	struct rnic_qp_attr attr = {
		.state = state,
		.path_mtu = RNIC_MTU_1024,
		.qkey = 0x11111111,
		.rq_psn = 0x123456,
		.sq_psn = 0x654321,
		.dest_qpn = 0x22,
		.access_flags = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ,
		.max_rd_atomic = 3,
		.max_dest_rd_atomic = 5,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 6,
		.av = {.grh = true, .port_num = 1, .hop_limit = 64, .traffic_class = 8},
	};

	memcpy(attr.av.dgid, gid, sizeof(gid));
	return attr;
}

void fixture_to_rts(struct rnic_qp *qp)
{
	static const struct {
		enum rnic_qp_state state;
		uint32_t mask;
	} steps[] = {{RNIC_QPS_INIT, FIXTURE_TO_INIT},
		     {RNIC_QPS_RTR, FIXTURE_TO_RTR},
		     {RNIC_QPS_RTS, FIXTURE_TO_RTS}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct rnic_qp_attr attr = fixture_attr(steps[i].state);

		ck_assert_int_eq(rnic_qp_modify(qp, &attr, steps[i].mask, 0), 0);
	}
}

int fixture_run(const char *name, const TTest *const tests[], int n)
{
	return fixture_run_loops(name, NULL, tests, n, &(struct fixture_loop){0});
}

int fixture_run_loops(const char *name, void (*setup)(void), const TTest *const tests[], int n,
		      const struct fixture_loop *loops)
{
	Suite *s = suite_create(name);
	TCase *c = tcase_create(name);

	for (int i = 0; i < n; i++)
		tcase_add_test(c, tests[i]);
	for (; loops->test; loops++)
		tcase_add_loop_test(c, loops->test, loops->from, loops->to);
	if (setup)
		tcase_add_checked_fixture(c, setup, NULL);
	suite_add_tcase(s, c);
	return suite_run_all(srunner_create(s));
}
