/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Work queues of the simulator. It aborts when the core takes or retires out of order. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "queues.h"

static void *zeros(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

void sim_queues_begin(struct sim_queues *q, uint32_t send_room, uint32_t recv_room)
{
	*q = (struct sim_queues){.send_room = send_room, .recv_room = recv_room};
	q->send = zeros(send_room, sizeof(*q->send));
	q->recv = zeros(recv_room, sizeof(*q->recv));
}

void sim_queues_end(struct sim_queues *q)
{
	free(q->send);
	free(q->recv);
}

struct rnic_send_wr *sim_queue_send(struct sim_queues *q)
{
	struct rnic_send_wr *wr = &q->send[q->sent % q->send_room];

	if (q->sent - q->send_retired == q->send_room)
		return NULL;
	*wr = (struct rnic_send_wr){.slot = q->sent};
	return wr;
}

void sim_queue_send_post(struct sim_queues *q)
{
	q->sent++;
}

struct rnic_recv_wr *sim_queue_recv(struct sim_queues *q)
{
	struct rnic_recv_wr *wr = &q->recv[q->received % q->recv_room];

	if (q->received - q->recv_taken == q->recv_room)
		return NULL;
	*wr = (struct rnic_recv_wr){.slot = q->received};
	return wr;
}

void sim_queue_recv_post(struct sim_queues *q)
{
	q->received++;
}

static int send_next(void *user, struct rnic_send_wr *wr)
{
	struct sim_queues *q = user;

	if (q->send_taken == q->sent)
		return 0;
	*wr = q->send[q->send_taken++ % q->send_room];
	return 1;
}

static void send_retire(void *user, uint64_t slot)
{
	struct sim_queues *q = user;

	if (slot != q->send_retired || slot >= q->send_taken) {
		fprintf(stderr, "request %lu retires in place of %lu\n", (unsigned long)slot,
			(unsigned long)q->send_retired);
		abort();
	}
	q->send_retired++;
}

static int recv_next(void *user, struct rnic_recv_wr *wr)
{
	struct sim_queues *q = user;

	if (q->corrupt)
		return -EIO;
	if (q->recv_taken == q->received)
		return 0;
	*wr = q->recv[q->recv_taken++ % q->recv_room];
	return 1;
}

static uint32_t recv_count(void *user)
{
	struct sim_queues *q = user;

	return (uint32_t)(q->received - q->recv_taken);
}

static int cq_push(void *cq_user, void *qp_user, const struct rnic_cqe *cqe)
{
	struct sim_cq *cq = cq_user;

	(void)qp_user;
	if (cq->pushed - cq->polled == cq->room)
		return -ENOSPC;
	cq->ring[cq->pushed++ % cq->room] = *cqe;
	return 0;
}

static bool cq_test_arm(void *cq_user, bool solicited)
{
	(void)cq_user;
	(void)solicited;
	return false;
}

const struct rnic_personality sim_personality = {
	.send_next = send_next,
	.send_retire = send_retire,
	.recv_next = recv_next,
	.recv_count = recv_count,
	.cq_push = cq_push,
	.cq_test_arm = cq_test_arm,
};

void sim_cq_begin(struct sim_cq *cq, uint32_t room)
{
	*cq = (struct sim_cq){.room = room};
	cq->ring = zeros(room, sizeof(*cq->ring));
}

void sim_cq_end(struct sim_cq *cq)
{
	free(cq->ring);
}

const struct rnic_cqe *sim_cq_poll(struct sim_cq *cq)
{
	return cq->polled == cq->pushed ? NULL : &cq->ring[cq->polled++ % cq->room];
}
