/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Objects of the fuzzed device, and choices among what lives. */
#include "config.h"

#include <stdlib.h>

#include "device_rig.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define QUEUE_ROOM 8
#define ALL_ACCESS 0x1f /* but ZERO_BASED */

static const struct {
	enum rnic_qp_type type;
	bool srq;
	uint8_t cq, pd;
} kinds[RIG_QPS] = {
	{RNIC_QPT_RC, false, 0, 0}, {RNIC_QPT_RC, false, 1, 0}, {RNIC_QPT_RC, true, 0, 0},
	{RNIC_QPT_UC, false, 0, 0}, {RNIC_QPT_UC, true, 0, 0},	{RNIC_QPT_UD, false, 0, 0},
	{RNIC_QPT_UD, true, 0, 0},  {RNIC_QPT_RC, true, 2, 1},	{RNIC_QPT_GSI, false, 2, 0},
};

static const uint32_t cq_room[RIG_CQS] = {256, 3, 32}; /* the second is to overflow */

static uint16_t cm_request(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	struct rig *r = host;
	uint8_t choice = feed_u8(r->feed);

	(void)msg;
	for (uint32_t i = 0; choice < 128 && i < RIG_CMS; i++) {
		if (r->cm[i])
			continue;
		r->cm[i] = cm;
		rnic_cm_user_set(cm, r);
		return 0;
	}
	return choice % 32 ? choice % 32 : CM_REJ_CONSUMER;
}

static void cm_event(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	struct rig *r = host;

	(void)user;
	(void)ev;
	if (feed_u8(r->feed) < 200)
		return;
	for (uint32_t i = 0; i < RIG_CMS; i++)
		if (r->cm[i] == cm)
			r->cm[i] = NULL;
	rnic_cm_destroy(cm, r->world.now);
}

static const struct rnic_cm_host cm_host = {.request = cm_request, .event = cm_event};

void rig_qp_begin(struct rig *r, uint32_t i)
{
	struct rig_qp *q = &r->qp[i];
	struct rnic_qp_init init = {.type = kinds[i].type,
				    .send_cq = r->cq[kinds[i].cq],
				    .recv_cq = r->cq[kinds[i].cq],
				    .srq = kinds[i].srq ? r->srq : NULL,
				    .max_send_wr = QUEUE_ROOM,
				    .max_recv_wr = QUEUE_ROOM,
				    .max_send_sge = 4,
				    .max_recv_sge = 4,
				    .max_inline = 64,
				    .ops = &sim_personality,
				    .user = &q->queues,
				    .rq_user = kinds[i].srq ? &r->srq_queues : &q->queues};

	sim_queues_begin(&q->queues, QUEUE_ROOM, QUEUE_ROOM);
	RIG_MUST(rnic_qp_create(r->pd[kinds[i].pd], &init, &q->qp) == 0);
}

void rig_qp_end(struct rig *r, uint32_t i)
{
	struct rig_qp *q = &r->qp[i];

	if (!q->qp)
		return;
	RIG_MUST(rnic_qp_destroy(q->qp) == 0);
	sim_queues_end(&q->queues);
	q->qp = NULL;
}

void rig_mr_begin(struct rig *r, uint32_t i)
{
	static const uint32_t access[RIG_MRS] = {ALL_ACCESS, RNIC_ACCESS_REMOTE_READ,
						 ALL_ACCESS & ~RNIC_ACCESS_REMOTE_ATOMIC,
						 ALL_ACCESS};
	struct rnic_mem *mem = &r->mem[i % RIG_MEMS];
	struct rnic_mr_attr attr = {.mem = mem,
				    .start = mem->start,
				    .length = mem->len / (i + 1),
				    .iova = mem->start,
				    .access = access[i]};

	RIG_MUST(rnic_mr_create(r->pd[i == 3], &attr, &r->mr[i]) == 0);
}

void rig_qp_bring(struct rig *r, uint32_t i, enum rnic_qp_state last)
{
	static const struct {
		enum rnic_qp_state state;
		uint32_t rc, uc, ud;
	} steps[] = {
		{RNIC_QPS_INIT, RNIC_QP_ACCESS_FLAGS, RNIC_QP_ACCESS_FLAGS, RNIC_QP_QKEY},
		{RNIC_QPS_RTR,
		 RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN |
			 RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER,
		 RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN, 0},
		{RNIC_QPS_RTS,
		 RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY | RNIC_QP_SQ_PSN |
			 RNIC_QP_MAX_QP_RD_ATOMIC,
		 RNIC_QP_SQ_PSN, RNIC_QP_SQ_PSN},
	};
	struct rnic_qp_attr attr = {.path_mtu = (enum rnic_mtu)(RNIC_MTU_256 + i % 3),
				    .qkey = 0x11111111,
				    .rq_psn = i % 2 ? 0xfffffd : 5,
				    .sq_psn = i % 2 ? 7 : 0xfffffe,
				    .dest_qpn = RIG_PEER_QPN,
				    .access_flags = ALL_ACCESS & ~RNIC_ACCESS_MW_BIND,
				    .max_rd_atomic = 2,
				    .max_dest_rd_atomic = 2,
				    .min_rnr_timer = 1,
				    .port_num = 1,
				    .timeout = 8,
				    .retry_cnt = 2,
				    .rnr_retry = 2,
				    .av = sim_av(&r->world, 0, 1)};

	for (size_t s = 0; s < ARRAY_SIZE(steps) && steps[s].state <= last; s++) {
		uint32_t mask = kinds[i].type == RNIC_QPT_RC   ? steps[s].rc
				: kinds[i].type == RNIC_QPT_UC ? steps[s].uc
							       : steps[s].ud;

		if (s == 0)
			mask |= RNIC_QP_PKEY_INDEX | RNIC_QP_PORT;
		attr.state = steps[s].state;
		if (rnic_qp_modify(r->qp[i].qp, &attr, mask | RNIC_QP_STATE, r->world.now))
			return;
	}
}

void rig_begin(struct rig *r, struct feed *feed)
{
	memset(r, 0, sizeof(*r));
	r->feed = feed;
	r->cm_on = feed_u8(feed) & 1;
	sim_world_begin(&r->world, feed_u8(feed), RNIC_MTU_4096, feed_u8(feed) & 1 ? 0 : 20000);
	r->world.node[1].unplugged = true;
	r->dev = r->world.node[0].dev;
	for (uint32_t i = 0; i < 2; i++)
		RIG_MUST(rnic_pd_create(r->dev, &r->pd[i]) == 0);
	for (uint32_t i = 0; i < RIG_MEMS; i++)
		sim_mem_begin(&r->mem[i], &r->world, 0, 0x10000ull << 16 * i, RIG_MEM_LEN);
	for (uint32_t i = 0; i < RIG_CQS; i++) {
		sim_cq_begin(&r->ring[i], cq_room[i]);
		RIG_MUST(rnic_cq_create(r->dev, cq_room[i], &sim_personality, &r->ring[i],
					&r->cq[i]) == 0);
	}
	sim_queues_begin(&r->srq_queues, 1, QUEUE_ROOM);
	RIG_MUST(rnic_srq_create(r->pd[0], 4, 2, &sim_personality, &r->srq_queues, &r->srq) == 0);
	for (uint32_t i = 0; i < RIG_MRS; i++)
		rig_mr_begin(r, i);
	for (uint32_t i = 0; i < RIG_MWS; i++)
		RIG_MUST(rnic_mw_create(r->pd[0], i ? RNIC_MW_TYPE_2 : RNIC_MW_TYPE_1, &r->mw[i]) ==
			 0);
	if (r->cm_on)
		RIG_MUST(rnic_cm_start(r->dev, &cm_host, r, 0x1234) == 0);
	for (uint32_t i = 0; i < RIG_QPS; i++) {
		if (r->cm_on && kinds[i].type == RNIC_QPT_GSI)
			continue;
		rig_qp_begin(r, i);
		rig_qp_bring(r, i, RNIC_QPS_RTS);
	}
}

void rig_end(struct rig *r)
{
	for (uint32_t i = 0; i < RIG_CMS; i++)
		if (r->cm[i])
			rnic_cm_destroy(r->cm[i], r->world.now);
	for (uint32_t i = 0; i < RIG_QPS; i++)
		rig_qp_end(r, i);
	for (uint32_t i = 0; i < RIG_MWS; i++)
		RIG_MUST(!r->mw[i] || rnic_mw_destroy(r->mw[i]) == 0);
	for (uint32_t i = 0; i < RIG_MRS; i++)
		RIG_MUST(!r->mr[i] || rnic_mr_destroy(r->mr[i]) == 0);
	RIG_MUST(rnic_srq_destroy(r->srq) == 0);
	sim_queues_end(&r->srq_queues);
	for (uint32_t i = 0; i < RIG_CQS; i++) {
		RIG_MUST(rnic_cq_destroy(r->cq[i]) == 0);
		sim_cq_end(&r->ring[i]);
	}
	for (uint32_t i = 0; i < 2; i++)
		RIG_MUST(rnic_pd_destroy(r->pd[i]) == 0);
	RIG_MUST(sim_world_end(&r->world));
	for (uint32_t i = 0; i < RIG_MEMS; i++)
		sim_mem_end(&r->mem[i]);
}

uint32_t rig_key(struct rig *r)
{
	uint8_t choice = feed_u8(r->feed), i = choice % 8;
	uint32_t key = 0;

	if (choice >= 250)
		return feed_u32(r->feed);
	if (i < RIG_MRS)
		key = r->mr[i] ? rnic_mr_key(r->mr[i]) : 0;
	else if (i - RIG_MRS < RIG_MWS)
		key = r->mw[i - RIG_MRS] ? rnic_mw_key(r->mw[i - RIG_MRS]) : 0;
	return choice >= 128 ? key + choice % 16 : key;
}

uint64_t rig_addr(struct rig *r)
{
	uint8_t choice = feed_u8(r->feed);
	const struct rnic_mem *m = &r->mem[choice % RIG_MEMS];

	if (choice >= 250)
		return feed_u64(r->feed);
	if (choice >= 200)
		return m->start + m->len - choice % 16;
	return m->start + (choice >= 100 ? feed_u16(r->feed) : choice / 2 * 8);
}

uint32_t rig_len(struct rig *r)
{
	static const uint32_t lens[] = {
		0,    1,    4,	  7,	8,    16,   255,  256,	       257,	   511,	      512,
		1023, 1024, 1025, 2048, 3000, 4096, 9000, RIG_MEM_LEN, 0x80000000, UINT32_MAX};
	uint8_t choice = feed_u8(r->feed);

	return choice < 2 * ARRAY_SIZE(lens) ? lens[choice / 2] : feed_u16(r->feed) % 5000;
}
