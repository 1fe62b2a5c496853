/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program whose device changes under it.
 *
 *     user status          WRITEs until one fails; prints "flowing", then "status N"
 *     user removed         WRITEs until its device goes; then all is to be as after the kernel's
 *                          disassociation; prints "flowing", then "told"
 *     user removed-events  the same, but it sleeps in ibv_get_async_event
 *     user label           sends itself a datagram by an address handle with a flow label
 *     user watch NAME      prints "there" when the list of devices has NAME, then "gone"
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"

#define SIZE 4096
#define QKEY 0x11111111
#define LABEL 0x12345
#define CLASS 0x68

static uint8_t memory[2 * SIZE];

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

struct user {
	struct rig rig;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
};

static void begin(struct user *u)
{
	rig_open(&u->rig);
	rig_pair(&u->rig, IBV_QPT_RC, u->qp);
	u->mr = rig_mr(&u->rig, memory, sizeof(memory));
}

/* One WRITE after the other; the status of the first that fails. */
static enum ibv_wc_status write_on(struct user *u)
{
	struct ibv_sge sge = {(uintptr_t)memory, SIZE, u->mr->lkey};
	struct ibv_wc wc;

	for (uint64_t n = 0;; n++) {
		int rc = rig_post(u->qp[0], IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)memory + SIZE,
				  u->mr->rkey);

		if (rc == EIO)
			return IBV_WC_FATAL_ERR; /* posted when all was over */
		MUST(!rc);
		MUST(rig_wait(u->rig.cq, &wc, RIG_PATIENCE));
		if (wc.status)
			return wc.status;
		if (!n)
			say("flowing");
	}
}

static void by_status(void)
{
	struct user u;

	begin(&u);
	printf("status %d\n", (int)write_on(&u));
}

static void fatal_comes(struct user *u)
{
	struct ibv_async_event event;

	do {
		MUST(!ibv_get_async_event(u->rig.ctx, &event));
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
	MUST(ibv_get_async_event(u->rig.ctx, &event)); /* nothing comes any more */
}

static void all_is_eio(struct user *u)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	MUST(ibv_query_port(u->rig.ctx, 1, &port) == EIO);
	MUST(!ibv_alloc_pd(u->rig.ctx) && errno == EIO);
	MUST(!ibv_reg_mr(u->rig.pd, memory, SIZE, 0) && errno == EIO);
	MUST(!ibv_create_cq(u->rig.ctx, 1, NULL, NULL, 0) && errno == EIO);
	MUST(ibv_query_qp(u->qp[0], &attr, IBV_QP_STATE, &init) == EIO);
	MUST(ibv_req_notify_cq(u->rig.cq, 0) == EIO);
	MUST(rig_post(u->qp[0], IBV_WR_SEND, NULL, 0, 0, 0) == EIO);
}

static void all_can_be_destroyed(struct user *u)
{
	MUST(!ibv_destroy_qp(u->qp[0]) && !ibv_destroy_qp(u->qp[1]));
	MUST(!ibv_dereg_mr(u->mr));
	rig_close(&u->rig);
}

static void by_removed(void)
{
	struct user u;
	enum ibv_wc_status status;

	begin(&u);
	status = write_on(&u);
	MUST(status == IBV_WC_WR_FLUSH_ERR || status == IBV_WC_FATAL_ERR);
	fatal_comes(&u);
	all_is_eio(&u);
	all_can_be_destroyed(&u);
	say("told");
}

static void by_removed_events(void)
{
	struct user u;

	begin(&u);
	say("flowing");
	fatal_comes(&u);
	all_is_eio(&u);
	all_can_be_destroyed(&u);
	say("told");
}

static void datagram_modify(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

/* The completion of the receive; true if it is still to come. */
static bool datagram_take(struct rig *r, struct ibv_wc *got)
{
	struct ibv_wc wc;

	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE) && !wc.status);
	if (wc.opcode & IBV_WC_RECV)
		*got = wc;
	return !(wc.opcode & IBV_WC_RECV);
}

static void by_label(void)
{
	struct rig r;
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1}, back;
	struct ibv_send_wr *bad, wr = {.num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_sge sge = {(uintptr_t)memory, 64, 0}, recv = {(uintptr_t)memory + SIZE, 104, 0};
	struct ibv_wc wc = {0};
	struct ibv_qp *qp;

	rig_open(&r);
	qp = rig_qp(&r, IBV_QPT_UD);
	sge.lkey = recv.lkey = rig_mr(&r, memory, sizeof(memory))->lkey;
	datagram_modify(qp);
	attr.grh.dgid = r.gid;
	attr.grh.sgid_index = (uint8_t)r.gid_index;
	attr.grh.hop_limit = 64;
	attr.grh.flow_label = LABEL;
	attr.grh.traffic_class = CLASS;
	wr.sg_list = &sge;
	wr.wr.ud.ah = ibv_create_ah(r.pd, &attr);
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	MUST(wr.wr.ud.ah && !rig_recv(qp, &recv, 1) && !ibv_post_send(qp, &wr, &bad));
	if (datagram_take(&r, &wc))
		MUST(!datagram_take(&r, &wc));
	/* The answer takes the label along. */
	MUST(!ibv_init_ah_from_wc(r.ctx, 1, &wc, (struct ibv_grh *)(memory + SIZE), &back));
	MUST(back.grh.flow_label == LABEL && back.grh.traffic_class == CLASS);
	say("labelled");
}

static bool listed(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	bool found = false;

	MUST(list);
	for (int i = 0; list[i]; i++)
		found |= !strcmp(ibv_get_device_name(list[i]), name);
	ibv_free_device_list(list);
	return found;
}

static void watch(const char *name)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	while (!listed(name))
		nanosleep(&pause, NULL);
	say("there");
	while (listed(name))
		nanosleep(&pause, NULL);
	say("gone");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"status", by_status},
		{"removed", by_removed},
		{"removed-events", by_removed_events},
		{"label", by_label},
	};

	if (argc == 3 && !strcmp(argv[1], "watch")) {
		watch(argv[2]);
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].run();
		return 0;
	}
	return 2;
}
