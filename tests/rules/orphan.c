/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client whose daemon goes: it prints "ready", waits as it is told to, and "told" when it learns
 * of the daemon's end in the way that suits.
 *
 *     orphan post       posts requests until a post fails with EIO
 *     orphan arm        arms a CQ until that fails with EIO
 *     orphan command    makes commands until one fails with EIO
 *     orphan channel    blocks in ibv_get_cq_event, which is to fail
 *     orphan async      blocks in ibv_get_async_event: DEVICE_FATAL, or it fails
 *     orphan poll       polls a CQ until a request of each queue is flushed
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rig.h"

#define SIZE 4096

static uint8_t memory[2 * SIZE];

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* A completion that comes is a good one, or the flush of a daemon that ends in order. */
static void take(struct rig *r, uint32_t ms)
{
	struct ibv_wc wc;

	if (rig_wait(r->cq, &wc, ms) && wc.status)
		MUST(wc.status == IBV_WC_WR_FLUSH_ERR);
}

static void by_post(struct rig *r)
{
	struct ibv_mr *mr = rig_mr(r, memory, sizeof(memory));
	struct ibv_sge sge = {(uintptr_t)memory, SIZE, mr->lkey};
	struct ibv_qp *qp[2];
	int rc;

	rig_pair(r, IBV_QPT_RC, qp);
	say("ready");
	do {
		rc = rig_post(qp[0], IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)memory + SIZE,
			      mr->rkey);
		take(r, 20);
		/* A full queue is no answer, only a slow daemon's. */
	} while (!rc || rc == ENOMEM);
	errno = rc;
	MUST(rc == EIO);
}

static void by_arm(struct rig *r)
{
	int rc;

	say("ready");
	do
		rc = ibv_req_notify_cq(r->cq, 0);
	while (!rc);
	errno = rc;
	MUST(rc == EIO);
}

static void by_command(struct rig *r)
{
	struct ibv_pd *pd;

	say("ready");
	while ((pd = ibv_alloc_pd(r->ctx)))
		if (ibv_dealloc_pd(pd))
			break;
	MUST(errno == EIO);
	MUST(!ibv_alloc_pd(r->ctx) && errno == EIO); /* and so does the next */
}

static void by_channel(struct rig *r)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(r->ctx);
	struct ibv_cq *cq;
	void *context;

	MUST(ch);
	cq = ibv_create_cq(r->ctx, 1, NULL, ch, 0);
	MUST(cq && !ibv_req_notify_cq(cq, 0));
	say("ready");
	MUST(ibv_get_cq_event(ch, &cq, &context));
}

static void by_async(struct rig *r)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_DEVICE_FATAL};

	say("ready");
	while (!ibv_get_async_event(r->ctx, &event)) {
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return;
	}
}

/* A request whose peer is not there, and a receive. */
static void by_poll(struct rig *r)
{
	struct ibv_qp *qp = rig_qp(r, IBV_QPT_RC);
	struct ibv_wc wc;

	rig_connect_with(r, qp, 0xfffff0, 0, 7, 7);
	MUST(!rig_recv(qp, NULL, 0) && !rig_post(qp, IBV_WR_SEND, NULL, 0, 0, 0));
	say("ready");
	for (int i = 0; i < 2; i++)
		MUST(rig_wait(r->cq, &wc, RIG_PATIENCE) && wc.status == IBV_WC_WR_FLUSH_ERR);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(struct rig *r);
	} ways[] = {
		{"post", by_post},	 {"arm", by_arm},     {"command", by_command},
		{"channel", by_channel}, {"async", by_async}, {"poll", by_poll},
	};
	struct rig r;

	MUST(argc == 2);
	rig_open(&r);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].wait(&r);
		say("told");
		return 0;
	}
	return 2;
}
