/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's objects by name: PD, CQ, MR, SRQ, AH, MW, and their end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent.h"
#include "data.h"

#define MEM_MAX (1u << 26)

struct agent_object *agent_find(struct agent *ag, enum agent_kind kind, struct args *a,
				const char *key, const char *absent)
{
	const char *name = args_str(a, key, absent);

	for (struct agent_object *o = ag->objects; name && o; o = o->next)
		if (o->kind == kind && !strcmp(o->name, name))
			return o;
	args_wrong(a, "there is no %s \"%s\"", key, name ? name : "");
	return NULL;
}

struct agent_object *agent_new(struct agent *ag, enum agent_kind kind, struct args *a)
{
	struct agent_object *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	snprintf(o->name, sizeof(o->name), "%s", args_str(a, "name", ""));
	o->kind = kind;
	o->next = ag->objects;
	ag->objects = o;
	return o;
}

void agent_forget(struct agent *ag, struct agent_object *o)
{
	struct agent_object **p = &ag->objects;

	while (*p != o)
		p = &(*p)->next;
	*p = o->next;
	if (o->channel)
		ibv_destroy_comp_channel(o->channel);
	if (o->buffer)
		munmap(o->buffer, o->buffer_len);
	free(o);
}

int agent_made(struct agent *ag, struct agent_object *o, const void *made)
{
	int err = errno;

	if (made)
		return 0;
	agent_forget(ag, o);
	return err ? err : EINVAL;
}

int agent_pd(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_new(ag, A_PD, a);

	(void)reply;
	o->pd = ibv_alloc_pd(ag->ctx);
	return agent_made(ag, o, o->pd);
}

int agent_cq(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_new(ag, A_CQ, a);

	(void)reply;
	o->channel = ibv_create_comp_channel(ag->ctx);
	if (!o->channel || fcntl(o->channel->fd, F_SETFL, O_NONBLOCK))
		return agent_made(ag, o, NULL);
	o->cq = ibv_create_cq(ag->ctx, (int)args_num(a, "cqe", 64), NULL, o->channel, 0);
	return agent_made(ag, o, o->cq);
}

bool agent_mapped(const struct agent *ag, uint64_t addr, uint64_t len)
{
	for (const struct agent_object *o = ag->objects; o; o = o->next)
		if (o->buffer && addr - (uintptr_t)o->buffer <= o->buffer_len &&
		    len <= o->buffer_len - (addr - (uintptr_t)o->buffer))
			return true;
	return false;
}

static bool buffer_make(struct agent_object *o, size_t len)
{
	void *p = mmap(NULL, len ? len : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return false;
	o->buffer = p;
	o->buffer_len = len ? len : 1;
	data_fill("mr", p, len, len);
	return true;
}

int agent_mr(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *pd = agent_find(ag, A_PD, a, "pd", "pd"), *o;
	uint64_t len = args_num(a, "len", 65536), addr = args_num(a, "addr", 0);
	unsigned int access = (unsigned int)args_num(a, "access", 15);
	int ret;

	if (!pd || len > MEM_MAX)
		return ENOMEM;
	if (args_has(a, "addr") && !agent_mapped(ag, addr, len))
		return EFAULT;
	o = agent_new(ag, A_MR, a);
	if (!args_has(a, "addr")) {
		if (!buffer_make(o, len))
			return agent_made(ag, o, NULL);
		addr = (uintptr_t)o->buffer;
	}
	errno = 0;
	if (args_has(a, "iova"))
		o->mr = ibv_reg_mr_iova2(pd->pd, (void *)(uintptr_t)addr, len,
					 args_num(a, "iova", 0), access);
	else
		o->mr = ibv_reg_mr(pd->pd, (void *)(uintptr_t)addr, len, access);
	ret = agent_made(ag, o, o->mr);
	if (ret == 0)
		text_add(reply, "addr=%" PRIu64 " lkey=%u rkey=%u", addr, o->mr->lkey, o->mr->rkey);
	return ret;
}

int agent_srq(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *pd = agent_find(ag, A_PD, a, "pd", "pd"), *o;
	struct ibv_srq_init_attr init = {.attr = {.max_wr = (uint32_t)args_num(a, "wr", 16),
						  .max_sge = (uint32_t)args_num(a, "sge", 4)}};
	struct ibv_srq_attr limit = {.srq_limit = (uint32_t)args_num(a, "limit", 0)};
	int ret;

	(void)reply;
	if (!pd)
		return EINVAL;
	o = agent_new(ag, A_SRQ, a);
	o->srq = ibv_create_srq(pd->pd, &init);
	ret = agent_made(ag, o, o->srq);
	if (ret == 0 && limit.srq_limit)
		ret = ibv_modify_srq(o->srq, &limit, IBV_SRQ_LIMIT);
	return ret;
}

int agent_modify_srq(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_SRQ, a, "srq", "srq");
	struct ibv_srq_attr attr = {.srq_limit = (uint32_t)args_num(a, "limit", 0),
				    .max_wr = (uint32_t)args_num(a, "wr", 0)};
	int mask = (args_has(a, "limit") ? IBV_SRQ_LIMIT : 0) |
		   (args_has(a, "wr") ? IBV_SRQ_MAX_WR : 0);

	(void)reply;
	return o ? ibv_modify_srq(o->srq, &attr, mask) : 0;
}

int agent_query_srq(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *o = agent_find(ag, A_SRQ, a, "srq", "srq");
	struct ibv_srq_attr attr = {0};
	int ret = o ? ibv_query_srq(o->srq, &attr) : 0;

	if (ret == 0)
		text_add(reply, "limit=%u wr=%u sge=%u", attr.srq_limit, attr.max_wr, attr.max_sge);
	return ret;
}

int agent_ah(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *pd = agent_find(ag, A_PD, a, "pd", "pd"), *o;
	struct ibv_ah_attr av = {0};

	(void)reply;
	agent_av(ag, a, &av);
	av.port_num = (uint8_t)args_num(a, "port", 1);
	if (!pd || a->error[0])
		return 0;
	o = agent_new(ag, A_AH, a);
	o->ah = ibv_create_ah(pd->pd, &av);
	return agent_made(ag, o, o->ah);
}

int agent_mw(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_object *pd = agent_find(ag, A_PD, a, "pd", "pd"), *o;
	int ret;

	if (!pd)
		return 0;
	o = agent_new(ag, A_MW, a);
	o->mw = ibv_alloc_mw(pd->pd,
			     args_num(a, "mw_type", 2) == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	ret = agent_made(ag, o, o->mw);
	if (ret == 0)
		text_add(reply, "rkey=%u", o->mw->rkey);
	return ret;
}

static int destroy(struct agent_object *o)
{
	switch (o->kind) {
	case A_PD:
		return ibv_dealloc_pd(o->pd);
	case A_CQ:
		return ibv_destroy_cq(o->cq);
	case A_MR:
		return ibv_dereg_mr(o->mr);
	case A_SRQ:
		return ibv_destroy_srq(o->srq);
	case A_AH:
		return ibv_destroy_ah(o->ah);
	case A_QP:
		return ibv_destroy_qp(o->qp);
	case A_MW:
		return ibv_dealloc_mw(o->mw);
	}
	return EINVAL;
}

int agent_destroy(struct agent *ag, struct args *a, struct text *reply)
{
	const char *name = args_word(a);
	int ret;

	(void)reply;
	for (struct agent_object *o = ag->objects; name && o; o = o->next) {
		if (strcmp(o->name, name) != 0)
			continue;
		ret = destroy(o);
		if (ret == 0)
			agent_forget(ag, o);
		return ret;
	}
	args_wrong(a, "there is no \"%s\"", name ? name : "");
	return 0;
}

/* In whatever order they allow. */
void agent_objects_destroy(struct agent *ag)
{
	bool some = true;

	agent_barrier_destroy(ag);
	while (some) {
		some = false;
		for (struct agent_object *o = ag->objects, *next; o; o = next) {
			next = o->next;
			if (destroy(o) == 0) {
				agent_forget(ag, o);
				some = true;
			}
		}
	}
}
