/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Asynchronous events as a program sees them: each kind, with its own element, once; what is
 * read and not acknowledged holds up the destruction of its object, what is unread goes with it.
 *
 *     async
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "rig.h"

#define SIZE 65536
#define MANY 1000
#define PATIENCE 5000 /* ms for what must come */
#define QUIET 100     /* ms for what must not */

static struct rig rig;
static struct ibv_mr *mr;
static uint8_t memory[SIZE] __attribute__((aligned(4096)));

static bool event_waits(int ms)
{
	struct pollfd p = {.fd = rig.ctx->async_fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void event_get(struct ibv_async_event *e, enum ibv_event_type type)
{
	MUST(event_waits(PATIENCE));
	MUST(!ibv_get_async_event(rig.ctx, e));
	if (e->event_type != type)
		rig_fail("event %s, not %s", ibv_event_type_str(e->event_type),
			 ibv_event_type_str(type));
}

static void qp_event(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct ibv_async_event e;

	event_get(&e, type);
	MUST(e.element.qp == qp);
	ibv_ack_async_event(&e);
}

static void status_is(enum ibv_wc_status status)
{
	struct ibv_wc wc;

	MUST(rig_wait(rig.cq, &wc, PATIENCE));
	if (wc.status != status)
		rig_fail("completion %s, not %s", ibv_wc_status_str(wc.status),
			 ibv_wc_status_str(status));
}

static void write_to(struct ibv_qp *qp, void *addr, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)memory, 8, mr->lkey};

	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)addr, rkey));
}

static void pair_end(struct ibv_qp *qp[2])
{
	MUST(!ibv_destroy_qp(qp[0]));
	MUST(!ibv_destroy_qp(qp[1]));
	MUST(!event_waits(0));
}

static void access_error(void)
{
	struct ibv_qp *qp[2];

	rig_pair(&rig, IBV_QPT_RC, qp);
	write_to(qp[0], memory, mr->rkey ^ 1);
	status_is(IBV_WC_REM_ACCESS_ERR);
	qp_event(qp[1], IBV_EVENT_QP_ACCESS_ERR);
	pair_end(qp);
}

static void request_error(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .qp_access_flags = 0};
	struct ibv_qp *qp[2];

	rig_pair(&rig, IBV_QPT_RC, qp);
	MUST(!ibv_modify_qp(qp[1], &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS));
	write_to(qp[0], memory, mr->rkey);
	status_is(IBV_WC_REM_INV_REQ_ERR);
	qp_event(qp[1], IBV_EVENT_QP_REQ_ERR);
	pair_end(qp);
}

static void fatal_error(void)
{
	void *lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_qp *qp[2];
	struct ibv_mr *gone;

	MUST(lost != MAP_FAILED);
	gone = rig_mr(&rig, lost, 4096);
	rig_pair(&rig, IBV_QPT_RC, qp); /* now, since its rings may come to lie where memory goes */
	MUST(!munmap(lost, 4096));
	write_to(qp[0], lost, gone->rkey);
	status_is(IBV_WC_REM_OP_ERR);
	qp_event(qp[1], IBV_EVENT_QP_FATAL);
	pair_end(qp);
	MUST(!ibv_dereg_mr(gone));
}

static void drained(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_qp *qp[2];

	rig_pair(&rig, IBV_QPT_RC, qp);
	write_to(qp[0], memory, mr->rkey);
	MUST(!ibv_modify_qp(qp[0], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	qp_event(qp[0], IBV_EVENT_SQ_DRAINED);
	status_is(IBV_WC_SUCCESS);
	pair_end(qp);
}

static void established(void)
{
	struct ibv_qp *qp[2] = {rig_qp(&rig, IBV_QPT_RC), rig_qp(&rig, IBV_QPT_RC)};

	rig_connect(&rig, qp[0], qp[1]->qp_num);
	rig_listen(&rig, qp[1], qp[0]->qp_num);
	write_to(qp[0], memory, mr->rkey);
	qp_event(qp[1], IBV_EVENT_COMM_EST);
	status_is(IBV_WC_SUCCESS);
	pair_end(qp);
}

static struct ibv_qp *qp_with(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {.send_cq = rig.cq,
					.recv_cq = cq,
					.cap = {.max_recv_wr = 64, .max_recv_sge = 1},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(rig.pd, &init);

	MUST(qp);
	return qp;
}

/* The QP is in ERR already: one event for the CQ, none for the QP. */
static void overflow(void)
{
	struct ibv_cq *cq = ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event e;
	struct ibv_qp *qp;

	MUST(cq);
	qp = qp_with(cq);
	rig_connect(&rig, qp, qp->qp_num);
	for (int i = 0; i < 32; i++)
		MUST(!rig_recv(qp, NULL, 0));
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	event_get(&e, IBV_EVENT_CQ_ERR);
	MUST(e.element.cq == cq);
	ibv_ack_async_event(&e);
	MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(cq));
	MUST(!event_waits(QUIET));
}

/* ---- acknowledging ---- */

static void *destroy(void *qp)
{
	MUST(!ibv_destroy_qp(qp));
	return NULL;
}

static void unread_goes_with_its_qp(void)
{
	struct ibv_qp *qp[2];

	rig_pair(&rig, IBV_QPT_RC, qp);
	write_to(qp[0], memory, mr->rkey ^ 1);
	status_is(IBV_WC_REM_ACCESS_ERR);
	MUST(event_waits(PATIENCE));
	MUST(!ibv_destroy_qp(qp[1]));
	MUST(!event_waits(QUIET));
	MUST(!ibv_destroy_qp(qp[0]));
}

static void unacknowledged_holds_its_qp(void)
{
	struct timespec soon;
	struct ibv_async_event e;
	struct ibv_qp *qp[2];
	pthread_t thread;

	rig_pair(&rig, IBV_QPT_RC, qp);
	write_to(qp[0], memory, mr->rkey ^ 1);
	status_is(IBV_WC_REM_ACCESS_ERR);
	event_get(&e, IBV_EVENT_QP_ACCESS_ERR);
	MUST(!pthread_create(&thread, NULL, destroy, qp[1]));
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	MUST(pthread_timedjoin_np(thread, NULL, &soon) == ETIMEDOUT);
	ibv_ack_async_event(&e);
	MUST(!pthread_join(thread, NULL));
	MUST(!ibv_destroy_qp(qp[0]));
}

/* More than the descriptor holds: the daemon keeps the rest. */
static void many_are_all_there(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_qp **qp = calloc(MANY, sizeof(struct ibv_qp *));
	struct ibv_async_event e;

	MUST(qp);
	for (int i = 0; i < MANY; i++) {
		qp[i] = qp_with(rig.cq);
		rig_connect(&rig, qp[i], qp[i]->qp_num);
		MUST(!ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	}
	for (int i = 0; i < MANY; i++) {
		event_get(&e, IBV_EVENT_SQ_DRAINED);
		MUST(e.element.qp == qp[i]);
		ibv_ack_async_event(&e);
	}
	MUST(!event_waits(QUIET));
	for (int i = 0; i < MANY; i++)
		MUST(!ibv_destroy_qp(qp[i]));
	free(qp);
}

int main(void)
{
	rig_open(&rig);
	mr = rig_mr(&rig, memory, SIZE);
	access_error();
	request_error();
	fatal_error();
	drained();
	established();
	overflow();
	unread_goes_with_its_qp();
	unacknowledged_holds_its_qp();
	many_are_all_there();
	MUST(!ibv_dereg_mr(mr));
	rig_close(&rig);
	puts("done");
	return 0;
}
