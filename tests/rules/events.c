/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Many armed CQs on one completion channel: each event comes once, and CQs whose events nobody
 * has read can be destroyed, after which no event names them.
 *
 *     events CQS
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

struct seat {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	bool alive;
	uint32_t events;
};

static struct ibv_comp_channel *channel;

static bool event_waits(int ms)
{
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void seat_create(struct rig *r, struct seat *s)
{
	struct ibv_qp_init_attr init = {.cap = {.max_recv_wr = 1, .max_recv_sge = 1},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = RIG_ACCESS};

	s->cq = ibv_create_cq(r->ctx, 2, s, channel, 0);
	MUST(s->cq);
	init.send_cq = init.recv_cq = s->cq;
	s->qp = ibv_create_qp(r->pd, &init);
	MUST(s->qp);
	MUST(!ibv_modify_qp(s->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	s->alive = true;
}

/* A receive that is flushed is a completion without any traffic. */
static void seat_fire(struct seat *s)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	MUST(!ibv_req_notify_cq(s->cq, 0));
	MUST(!rig_recv(s->qp, NULL, 0));
	MUST(!ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
}

static void seat_destroy(struct seat *s)
{
	s->alive = false;
	MUST(!ibv_destroy_qp(s->qp));
	MUST(!ibv_destroy_cq(s->cq)); /* waits for events that are read and not acknowledged */
}

static void events_read(struct seat *seats, uint32_t n)
{
	while (n--) {
		struct ibv_cq *cq;
		struct seat *s;
		void *context;

		MUST(event_waits(RIG_PATIENCE));
		MUST(!ibv_get_cq_event(channel, &cq, &context));
		s = context;
		MUST(s >= seats && s->alive && s->cq == cq && !s->events);
		s->events++;
		ibv_ack_cq_events(cq, 1);
	}
	MUST(!event_waits(100));
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 5000, unread = 0;
	struct seat *seats = calloc(n, sizeof(*seats));
	struct rig r;

	rig_open(&r);
	channel = ibv_create_comp_channel(r.ctx);
	MUST(channel);
	for (uint32_t i = 0; i < n; i++)
		seat_create(&r, &seats[i]);
	for (uint32_t i = 0; i < n; i++)
		seat_fire(&seats[i]);
	/* Those in the socket and those in the daemon's queue. */
	for (uint32_t i = 0; i < n; i += 3, unread++)
		seat_destroy(&seats[i]);
	events_read(seats, n - unread);
	for (uint32_t i = 0; i < n; i++)
		if (seats[i].alive)
			seat_destroy(&seats[i]);
	MUST(!ibv_destroy_comp_channel(channel));
	rig_close(&r);
	puts("done");
	return 0;
}
