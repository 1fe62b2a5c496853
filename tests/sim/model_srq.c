/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared receive queues in random traffic: each receive has an area of its own while it is posted.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "model_srq.h"

void model_srq_begin(struct model_srq *s, struct sim_world *w, uint32_t node, struct rng *rng)
{
	struct rnic_mr_attr attr;

	memset(s, 0, sizeof(*s));
	s->rng = rng;
	sim_queues_begin(&s->queue, 1, rng_between(rng, 1, MODEL_SRQ_ROOM));
	sim_mem_begin(&s->mem, w, node, 0x70000000, MODEL_SRQ_ROOM * MODEL_SRQ_SLOT);
	attr = (struct rnic_mr_attr){.mem = &s->mem,
				     .start = s->mem.start,
				     .length = s->mem.len,
				     .iova = s->mem.start,
				     .access = RNIC_ACCESS_LOCAL_WRITE};
	sim_check(rnic_pd_create(w->node[node].dev, &s->pd) == 0, "PD");
	sim_check(rnic_mr_create(s->pd, &attr, &s->mr) == 0, "MR");
	sim_check(rnic_srq_create(s->pd, 2, 0, &sim_personality, &s->queue, &s->srq) == 0, "SRQ");
}

void model_srq_end(struct model_srq *s)
{
	sim_check(rnic_srq_destroy(s->srq) == 0, "SRQ");
	sim_check(rnic_mr_destroy(s->mr) == 0 && rnic_pd_destroy(s->pd) == 0, "left");
	sim_queues_end(&s->queue);
	sim_mem_end(&s->mem);
}

static bool post_one(struct model_srq *s)
{
	struct rnic_recv_wr *wr = s->n_left ? sim_queue_recv(&s->queue) : NULL;
	uint32_t cut = rng_below(s->rng, MODEL_SRQ_SLOT + 1), i = 0;
	uint64_t addr;

	while (i < MODEL_SRQ_ROOM && s->area[i])
		i++;
	if (!wr || i == MODEL_SRQ_ROOM)
		return false;
	s->area[i] = wr->slot + 1;
	addr = s->mem.start + i * MODEL_SRQ_SLOT;
	wr->num_sge = 2;
	wr->sge[0] = (struct rnic_sge){addr, cut, rnic_mr_key(s->mr)};
	wr->sge[1] = (struct rnic_sge){addr + cut, MODEL_SRQ_SLOT - cut, rnic_mr_key(s->mr)};
	sim_queue_recv_post(&s->queue);
	s->n_left--;
	return true;
}

bool model_srq_post(struct model_srq *s, bool eager)
{
	uint32_t n = rng_between(s->rng, 1, 8);
	bool posted = false;

	if (!eager && rng_chance(s->rng, 5000))
		return false;
	if (rng_chance(s->rng, 1000))
		sim_check(rnic_srq_arm(s->srq, rng_below(s->rng, 8)) == 0, "arm");
	while (n-- && post_one(s))
		posted = true;
	return posted;
}

void model_srq_check(struct model_srq *s, uint64_t slot, const uint8_t *data, uint32_t len)
{
	uint32_t i = 0;

	while (i < MODEL_SRQ_ROOM && s->area[i] != slot + 1)
		i++;
	sim_check(i < MODEL_SRQ_ROOM, "receive %" PRIu64 " of an SRQ is not posted", slot);
	sim_check(!len || !memcmp(s->mem.bytes + i * MODEL_SRQ_SLOT, data, len),
		  "data of receive %" PRIu64 " of an SRQ", slot);
	s->area[i] = 0;
}
