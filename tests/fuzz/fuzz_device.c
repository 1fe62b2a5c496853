/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For libFuzzer: a device with live QPs of every type; the input is a program of packets, posts,
 * verbs and time. What is looked for is what the sanitizers see, an abort of the simulator's host
 * (packets that are malformed, work that retires out of order), an end that never comes, and
 * objects that cannot be given back.
 */
#include "config.h"

#include <stdlib.h>

#include "device_rig.h"
#include "packet_feed.h"

#define BATCH 8
#define COMMANDS_MAX 400
#define STEPS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void packets_come(struct rig *r)
{
	static struct packet packet[BATCH];
	struct rnic_rx rx[BATCH];
	uint32_t n = 0;
	uint8_t more;

	do {
		struct packet *p = &packet[n];
		uint8_t how = feed_u8(r->feed);

		more = how & 0x80;
		if (how % 8 == 7)
			packet_by_bytes(r, p);
		else if (how % 8 == 6)
			packet_of_cm(r, p);
		else
			packet_by_fields(r, p);
		n += packet_receive(r, p, &rx[n]);
	} while (more && n < BATCH);
	rnic_rx(r->dev, r->world.now, rx, n);
}

static uint32_t sges_take(struct rig *r, struct rnic_sge *sge, uint8_t n)
{
	for (uint8_t i = 0; i < n && i < 4; i++)
		sge[i] = (struct rnic_sge){rig_addr(r), rig_len(r), rig_key(r)};
	return n == 7 ? RNIC_MAX_SGE : n;
}

static void send_post(struct rig *r)
{
	struct rig_qp *q = &r->qp[feed_u8(r->feed) % RIG_QPS];
	struct rnic_send_wr *wr = q->qp ? sim_queue_send(&q->queues) : NULL;
	uint8_t how;

	if (!wr)
		return;
	wr->op = (enum rnic_wr_op)(feed_u8(r->feed) % 10);
	how = feed_u8(r->feed);
	wr->flags = how & 15;
	wr->raddr = rig_addr(r);
	wr->rkey = wr->inv_key = wr->imm = rig_key(r);
	wr->av = sim_av(&r->world, 0, 1);
	wr->av_bad = how == 255;
	wr->remote_qpn = RIG_PEER_QPN;
	wr->remote_qkey = 0x11111111;
	if (wr->op == RNIC_WR_BIND_MW)
		wr->bind = (struct rnic_bind){rig_addr(r), rig_len(r), rig_key(r),
					      rig_key(r),  rig_key(r), feed_u8(r->feed)};
	else if (wr->flags & RNIC_SEND_INLINE)
		wr->inline_len = feed_u8(r->feed);
	else
		wr->num_sge = sges_take(r, wr->sge, how / 16 % 8);
	sim_queue_send_post(&q->queues);
	(void)rnic_qp_kick(q->qp);
}

static void recv_post(struct rig *r)
{
	uint8_t choice = feed_u8(r->feed), how = feed_u8(r->feed);
	struct sim_queues *queues =
		choice & 0x80 ? &r->srq_queues : &r->qp[choice % RIG_QPS].queues;
	struct rnic_recv_wr *wr;

	if (queues != &r->srq_queues && !r->qp[choice % RIG_QPS].qp)
		return;
	wr = sim_queue_recv(queues);
	if (!wr)
		return;
	wr->num_sge = sges_take(r, wr->sge, how % 8);
	sim_queue_recv_post(queues);
}

/* As a provider does at RESET, what was taken is not expected back. */
static void modify(struct rig *r, uint32_t i, const struct rnic_qp_attr *attr, uint32_t mask)
{
	struct sim_queues *q = &r->qp[i].queues;

	if (rnic_qp_modify(r->qp[i].qp, attr, mask, r->world.now) == 0 && (mask & RNIC_QP_STATE) &&
	    attr->state == RNIC_QPS_RESET)
		q->send_retired = q->send_taken = q->sent;
}

static void qp_modify(struct rig *r)
{
	uint32_t i = feed_u8(r->feed) % RIG_QPS;
	struct rnic_qp_attr attr = {.av = sim_av(&r->world, 0, 1), .dest_qpn = RIG_PEER_QPN};
	uint8_t how = feed_u8(r->feed);

	if (!r->qp[i].qp)
		return;
	attr.state = (enum rnic_qp_state)(how % RNIC_QPS_COUNT);
	if (how >= 64) { /* the straight ways */
		modify(r, i, &attr, RNIC_QP_STATE);
		if (how >= 128)
			rig_qp_bring(r, i, attr.state);
		return;
	}
	attr.cur_state = (enum rnic_qp_state)(feed_u8(r->feed) % RNIC_QPS_COUNT);
	attr.path_mtu = (enum rnic_mtu)(feed_u8(r->feed) % 6);
	attr.rq_psn = attr.sq_psn = feed_u32(r->feed);
	attr.access_flags = feed_u8(r->feed);
	attr.max_rd_atomic = attr.max_dest_rd_atomic = feed_u8(r->feed);
	attr.min_rnr_timer = attr.timeout = feed_u8(r->feed) % 33;
	attr.retry_cnt = attr.rnr_retry = feed_u8(r->feed) % 9;
	attr.port_num = attr.pkey_index = feed_u8(r->feed) % 3;
	attr.en_sqd_async_notify = how & 1;
	modify(r, i, &attr, feed_u32(r->feed));
}

static void time_goes(struct rig *r)
{
	uint8_t how = feed_u8(r->feed);

	r->world.now += 1ull << how % 34;
	for (uint32_t n = how / 4; n > 0 && sim_world_step(&r->world); n--)
		;
}

static void cqs_polled(struct rig *r)
{
	uint8_t n = feed_u8(r->feed);

	for (uint32_t i = 0; i < RIG_CQS; i++)
		for (uint8_t k = 0; k < n && sim_cq_poll(&r->ring[i]); k++)
			;
}

static void objects_change(struct rig *r)
{
	uint8_t what = feed_u8(r->feed), i = feed_u8(r->feed);
	struct rnic_mr_attr attr;

	switch (what % 6) {
	case 0:
		if (r->qp[i % RIG_QPS].qp)
			rig_qp_end(r, i % RIG_QPS);
		else if (!r->cm_on || i % RIG_QPS < RIG_QPS - 1)
			rig_qp_begin(r, i % RIG_QPS);
		break;
	case 1:
		i %= RIG_MRS;
		if (!r->mr[i])
			rig_mr_begin(r, i);
		else if (rnic_mr_destroy(r->mr[i]) == 0)
			r->mr[i] = NULL;
		break;
	case 2:
		i %= RIG_MWS;
		if (!r->mw[i])
			(void)rnic_mw_create(r->pd[0], i ? RNIC_MW_TYPE_2 : RNIC_MW_TYPE_1,
					     &r->mw[i]);
		else if (rnic_mw_destroy(r->mw[i]) == 0)
			r->mw[i] = NULL;
		break;
	case 3:
		if (!r->mr[i % RIG_MRS])
			break;
		attr = *rnic_mr_attr_get(r->mr[i % RIG_MRS]);
		attr.length = rig_len(r) % (RIG_MEM_LEN + 1);
		attr.access = feed_u8(r->feed) & 31;
		(void)rnic_mr_modify(r->mr[i % RIG_MRS], r->pd[i / 128], &attr);
		break;
	case 4:
		(void)rnic_srq_arm(r->srq, i % 10);
		break;
	case 5:
		rnic_port_set(r->dev, i & 1, (enum rnic_mtu)(1 + i % 5));
		break;
	}
}

static void memory_changes(struct rig *r)
{
	uint8_t how = feed_u8(r->feed);
	struct rnic_mem *m = &r->mem[how % RIG_MEMS];

	m->broken = how / 8 % 4 == 1;
	m->gone = how / 8 % 4 == 2;
	m->pending = how / 8 % 4 == 3 ? 5000 : 0;
}

static void cm_verb(struct rig *r)
{
	uint8_t what = feed_u8(r->feed), i = feed_u8(r->feed) % RIG_CMS;
	struct cm_msg m = {.service_id = feed_u8(r->feed), .qpn = 0x20, .max_cm_retries = what & 3};
	struct rnic_av av = sim_av(&r->world, 0, 1);
	uint64_t now = r->world.now;
	static int (*const verbs[])(struct rnic_cm *, uint64_t, struct cm_msg *) = {
		rnic_cm_rep, rnic_cm_rtu, rnic_cm_rej, rnic_cm_dreq, rnic_cm_drep, rnic_cm_sidr_rep,
	};

	m.remote_timeout = m.local_timeout = feed_u8(r->feed) & 31;
	if (!r->cm_on)
		return;
	if (!r->cm[i]) {
		r->cm[i] = rnic_cm_create(r->dev, r);
		if (what & 64)
			(void)rnic_cm_req(r->cm[i], now, &av, &m);
		else
			(void)rnic_cm_sidr_req(r->cm[i], now, &av, &m);
	} else if (what % 8 == 7) {
		struct rnic_cm *cm = r->cm[i];

		r->cm[i] = NULL;
		rnic_cm_destroy(cm, now);
	} else if (what % 8 == 6) {
		(void)rnic_cm_notify(r->cm[i], now);
	} else {
		(void)verbs[what % 8](r->cm[i], now, &m);
	}
}

/* Whatever was begun comes to an end, or waits for ever, but does not turn round and round. */
static void settle(struct rig *r)
{
	for (uint32_t i = 0; i < RIG_MEMS; i++)
		r->mem[i].pending = 0;
	for (uint32_t i = 0; i < STEPS_MAX && sim_world_step(&r->world); i++)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const commands[])(struct rig * r) = {
		packets_come, packets_come, packets_come,   packets_come,   send_post,	recv_post,
		time_goes,    qp_modify,    objects_change, memory_changes, cqs_polled, cm_verb,
	};
	struct feed feed = {data, size};
	static struct rig r;

	rig_begin(&r, &feed);
	for (uint32_t i = 0; i < COMMANDS_MAX && feed.left; i++)
		commands[feed_u8(&feed) % (sizeof(commands) / sizeof(commands[0]))](&r);
	settle(&r);
	rig_end(&r);
	return 0;
}
