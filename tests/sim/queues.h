/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The smallest provider personality: work queues and completion queues that are plain arrays. */
#ifndef TESTS_SIM_QUEUES_H
#define TESTS_SIM_QUEUES_H

#include "rnic/personality.h"

/* Slots are the numbers of the requests, from 0. */
struct sim_queues {
	struct rnic_send_wr *send;
	struct rnic_recv_wr *recv;
	uint32_t send_room, recv_room;
	uint64_t sent, send_taken, send_retired;
	uint64_t received, recv_taken;
	bool corrupt; /* nothing can be received from it */
};

struct sim_cq {
	struct rnic_cqe *ring;
	uint32_t room;
	uint64_t pushed, polled;
};

extern const struct rnic_personality sim_personality;

void sim_queues_begin(struct sim_queues *q, uint32_t send_room, uint32_t recv_room);
void sim_queues_end(struct sim_queues *q);
/* Where to write the next request, or NULL: no room. sim_queue_*_post makes it visible. */
struct rnic_send_wr *sim_queue_send(struct sim_queues *q);
struct rnic_recv_wr *sim_queue_recv(struct sim_queues *q);
void sim_queue_send_post(struct sim_queues *q);
void sim_queue_recv_post(struct sim_queues *q);

void sim_cq_begin(struct sim_cq *cq, uint32_t room);
void sim_cq_end(struct sim_cq *cq);
/* The next completion, or NULL. */
const struct rnic_cqe *sim_cq_poll(struct sim_cq *cq);

#endif
