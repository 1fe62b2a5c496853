/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Objects of the virtual side by name: PD, CQ, MR, SRQ, AH, and their end. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "virtual.h"

#define MEM_MAX (1u << 26)
#define QUEUE_MAX 65536
#define MEM_ALIGN 0x100000

static void *zeros(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

struct v_object *v_find(struct virtual_side *v, enum v_kind kind, struct args *a, const char *key,
			const char *absent)
{
	const char *name = args_str(a, key, absent);

	for (struct v_object *o = v->objects; name && o; o = o->next)
		if (o->kind == kind && !strcmp(o->name, name))
			return o;
	args_wrong(a, "there is no %s \"%s\"", key, name ? name : "");
	return NULL;
}

struct v_object *v_new(struct virtual_side *v, enum v_kind kind, struct args *a)
{
	struct v_object *o = zeros(1, sizeof(*o));
	const char *name = args_str(a, "name", "");

	snprintf(o->name, sizeof(o->name), "%s", name);
	o->kind = kind;
	o->next = v->objects;
	v->objects = o;
	return o;
}

static void object_free(struct v_object *o)
{
	free(o->sq.send);
	free(o->rq.recv);
	free(o->ring.cqe);
	free(o);
}

void v_forget(struct virtual_side *v, struct v_object *o)
{
	struct v_object **p = &v->objects;

	while (*p != o)
		p = &(*p)->next;
	*p = o->next;
	object_free(o);
}

int v_made(struct virtual_side *v, struct v_object *o, int ret)
{
	if (ret < 0)
		v_forget(v, o);
	return -ret;
}

const char *v_name_of(struct virtual_side *v, enum v_kind kind, const void *thing)
{
	for (struct v_object *o = v->objects; o; o = o->next)
		if (o->kind == kind && (const void *)o->pd == thing)
			return o->name;
	return "?";
}

struct rnic_mem *v_mem_at(struct virtual_side *v, uint64_t addr, uint64_t len)
{
	for (struct rnic_mem *m = v->mems; m; m = m->next)
		if (addr >= m->start && addr - m->start <= m->len &&
		    len <= m->len - (addr - m->start))
			return m;
	return NULL;
}

static struct rnic_mem *mem_new(struct virtual_side *v, uint64_t len)
{
	struct rnic_mem *m = zeros(1, sizeof(*m));

	v->next_start += MEM_ALIGN;
	m->start = v->next_start;
	v->next_start += len + MEM_ALIGN - len % MEM_ALIGN;
	m->len = len;
	m->bytes = zeros(len, 1);
	data_fill("mr", m->bytes, len, len);
	m->next = v->mems;
	v->mems = m;
	return m;
}

int v_pd(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *o = v_new(v, V_PD, a);

	(void)reply;
	return v_made(v, o, rnic_pd_create(v->dev, &o->pd));
}

int v_cq(struct virtual_side *v, struct args *a, struct text *reply)
{
	uint64_t cqe = args_num(a, "cqe", 64);
	struct v_object *o;

	(void)reply;
	if (cqe > QUEUE_MAX)
		return EINVAL;
	o = v_new(v, V_CQ, a);
	o->ring.room = (uint32_t)cqe;
	o->ring.cqe = zeros(cqe, sizeof(*o->ring.cqe));
	return v_made(v, o, rnic_cq_create(v->dev, (uint32_t)cqe, &v_personality, o, &o->cq));
}

int v_mr(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *pd = v_find(v, V_PD, a, "pd", "pd"), *o;
	struct rnic_mr_attr attr = {.start = args_num(a, "addr", 0),
				    .length = args_num(a, "len", 65536),
				    .access = (uint32_t)args_num(a, "access", 15)};
	bool mapped = args_has(a, "addr");
	int ret;

	if (!pd || attr.length > MEM_MAX)
		return ENOMEM;
	attr.mem = mapped ? v_mem_at(v, attr.start, attr.length) : mem_new(v, attr.length);
	if (!attr.mem)
		return EFAULT;
	if (!mapped)
		attr.start = attr.mem->start;
	attr.iova = args_num(a, "iova", attr.start);
	o = v_new(v, V_MR, a);
	ret = v_made(v, o, rnic_mr_create(pd->pd, &attr, &o->mr));
	if (ret == 0)
		text_add(reply, "addr=%" PRIu64 " lkey=%u rkey=%u", attr.start, rnic_mr_key(o->mr),
			 rnic_mr_key(o->mr));
	return ret;
}

int v_mw(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *pd = v_find(v, V_PD, a, "pd", "pd"), *o;
	enum rnic_mw_type type = (enum rnic_mw_type)args_num(a, "mw_type", 2);
	int ret;

	if (!pd)
		return EINVAL;
	o = v_new(v, V_MW, a);
	ret = v_made(v, o, rnic_mw_create(pd->pd, type, &o->mw));
	if (ret == 0)
		text_add(reply, "rkey=%u", rnic_mw_key(o->mw));
	return ret;
}

int v_srq(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *pd = v_find(v, V_PD, a, "pd", "pd"), *o;
	uint64_t wr = args_num(a, "wr", 16), sge = args_num(a, "sge", 4);
	uint64_t limit = args_num(a, "limit", 0);

	(void)reply;
	if (!pd || wr > QUEUE_MAX)
		return EINVAL;
	o = v_new(v, V_SRQ, a);
	o->rq.room = (uint32_t)wr;
	o->rq.recv = zeros(wr, sizeof(*o->rq.recv));
	return v_made(v, o,
		      rnic_srq_create(pd->pd, (uint32_t)sge, (uint32_t)limit, &v_personality, o,
				      &o->srq));
}

int v_modify_srq(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *srq = v_find(v, V_SRQ, a, "srq", "srq");

	(void)reply;
	return srq ? -rnic_srq_arm(srq->srq, (uint32_t)args_num(a, "limit", 0)) : EINVAL;
}

int v_query_srq(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *srq = v_find(v, V_SRQ, a, "srq", "srq");

	if (!srq)
		return EINVAL;
	text_add(reply, "limit=%u wr=%u", rnic_srq_limit(srq->srq), srq->rq.room);
	return 0;
}

int v_ah(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_object *pd = v_find(v, V_PD, a, "pd", "pd"), *o;
	const char *dgid = args_str(a, "dgid", v->side.peer);
	struct rnic_av av = {.sgid_index = (uint16_t)args_num(a, "sgid_index", 1),
			     .traffic_class = (uint8_t)args_num(a, "tclass", 0),
			     .hop_limit = (uint8_t)args_num(a, "hops", 64),
			     .flow_label = (uint32_t)args_num(a, "flow", 0),
			     .port_num = (uint8_t)args_num(a, "port", 1),
			     .grh = args_num(a, "grh", 1) != 0,
			     .dgid = {[10] = 0xff, [11] = 0xff}};

	(void)reply;
	if (inet_pton(AF_INET, dgid, av.dgid + 12) != 1 && inet_pton(AF_INET6, dgid, av.dgid) != 1)
		args_wrong(a, "dgid=%s is no address", dgid);
	if (!pd || a->error[0])
		return EINVAL;
	o = v_new(v, V_AH, a);
	return v_made(v, o, rnic_ah_create(pd->pd, &av, &o->ah));
}

static int destroy(struct v_object *o)
{
	switch (o->kind) {
	case V_PD:
		return rnic_pd_destroy(o->pd);
	case V_CQ:
		return rnic_cq_destroy(o->cq);
	case V_MR:
		return rnic_mr_destroy(o->mr);
	case V_SRQ:
		return rnic_srq_destroy(o->srq);
	case V_AH:
		return rnic_ah_destroy(o->ah);
	case V_QP:
		return rnic_qp_destroy(o->qp);
	case V_MW:
		return rnic_mw_destroy(o->mw);
	}
	return -EOPNOTSUPP;
}

int v_destroy(struct virtual_side *v, struct args *a, struct text *reply)
{
	const char *name = args_word(a);
	int ret;

	(void)reply;
	for (struct v_object *o = v->objects; name && o; o = o->next) {
		if (strcmp(o->name, name) != 0)
			continue;
		ret = destroy(o);
		if (ret == 0)
			v_forget(v, o);
		return -ret;
	}
	args_wrong(a, "there is no \"%s\"", name ? name : "");
	return EINVAL;
}

/* In whatever order they allow. */
void v_objects_destroy(struct virtual_side *v)
{
	bool some = true;

	while (some) {
		some = false;
		for (struct v_object *o = v->objects, *next; o; o = next) {
			next = o->next;
			if (destroy(o) == 0) {
				v_forget(v, o);
				some = true;
			}
		}
	}
	while (v->mems) {
		struct rnic_mem *m = v->mems;

		v->mems = m->next;
		free(m->bytes);
		free(m);
	}
	v->next_start = 0;
}
