/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent waits: for completions, their events, asynchronous events. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "agent.h"

#define NS_PER_MS 1000000ull
#define PAUSE_NS 50000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const char *qp_name(const struct agent *ag, uint32_t qpn)
{
	for (const struct agent_object *o = ag->objects; o; o = o->next)
		if (o->kind == A_QP && o->qp->qp_num == qpn)
			return o->name;
	return "?";
}

static void wc_tell(const struct agent *ag, const struct ibv_wc *wc, struct text *reply)
{
	uint32_t imm = 0;

	text_add(reply, "wr=%" PRIu64 " status=%d qp=%s", wc->wr_id, (int)wc->status,
		 qp_name(ag, wc->qp_num));
	if (wc->status != IBV_WC_SUCCESS)
		return;
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		imm = ntohl(wc->imm_data);
	else if (wc->wc_flags & IBV_WC_WITH_INV)
		imm = wc->invalidated_rkey;
	text_add(reply, " opcode=%d len=%u imm=%u src_qpn=%u with=%u", (int)wc->opcode,
		 wc->byte_len, imm, wc->src_qp, (unsigned int)wc->wc_flags);
}

int agent_poll(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_CQ, a, "cq", "cq");
	uint64_t end = now() + args_time(a, "wait", 0);
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct ibv_wc wc;
	int n;

	if (!o)
		return 0;
	while ((n = ibv_poll_cq(o->cq, 1, &wc)) == 0 && now() < end)
		nanosleep(&pause, NULL);
	if (n < 0)
		return EIO;
	if (n)
		wc_tell(ag, &wc, reply);
	else
		text_add(reply, "none");
	return 0;
}

int agent_arm(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_CQ, a, "cq", "cq");

	(void)reply;
	return o ? ibv_req_notify_cq(o->cq, args_flag(a, "solicited")) : 0;
}

static bool readable(int fd, uint64_t wait)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, (int)((wait + NS_PER_MS - 1) / NS_PER_MS)) == 1;
}

int agent_notified(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_CQ, a, "cq", "cq");
	uint64_t wait = args_time(a, "wait", 0);
	struct ibv_cq *cq;
	void *context;

	if (!o)
		return 0;
	if (!readable(o->channel->fd, wait) || ibv_get_cq_event(o->channel, &cq, &context)) {
		text_add(reply, "none");
		return 0;
	}
	ibv_ack_cq_events(cq, 1);
	text_add(reply, "notified=1");
	return 0;
}

/* What the event is about, by name. */
static const char *event_object(const struct agent *ag, const struct ibv_async_event *e)
{
	for (const struct agent_object *o = ag->objects; o; o = o->next)
		if ((const void *)o->pd == (const void *)e->element.qp)
			return o->name;
	return "port";
}

int agent_event(struct agent *ag, struct args *a, struct text *reply)
{
	uint64_t wait = args_time(a, "wait", 0);
	struct ibv_async_event e;

	if (!readable(ag->ctx->async_fd, wait) || ibv_get_async_event(ag->ctx, &e)) {
		text_add(reply, "none");
		return 0;
	}
	text_add(reply, "event=%d of=%s", (int)e.event_type, event_object(ag, &e));
	ibv_ack_async_event(&e);
	return 0;
}
