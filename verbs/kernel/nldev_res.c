/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `rdma resource`: what programs have made on a device. A dump is a list of messages, each with as
 * many entries as fit; a request that names an object by its number gets that one's attributes.
 *
 * Numbers of objects are unique in the daemon's life, unlike handles, which belong to a context.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "rnic/objects.h"
#include "rnic/qp.h"
#include "verbs/kernel/context_priv.h"
#include "verbs/kernel/nldev_priv.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/uverbs_obj.h"

enum { SRQT_BASIC = 0 };

/* Which number belongs to what the core has: sorted by the pointer. */
struct pair {
	const void *key;
	uint32_t number;
};

struct index {
	struct pair *at;
	size_t n, room;
};

/* An object to be told of. */
struct item {
	const struct nl_call *call;
	const struct context *context; /* NULL for an ID of rdma_cm */
	const struct uobject *object;  /* NULL for a context, too */
	const struct ucma_entry *cm;
	const struct index *pds, *srq_qps;
};

struct kind {
	uint16_t table, entry, number; /* attributes */
	enum uobject_kind of;	       /* 0: contexts, or IDs */
	void (*fill)(struct nl_buf *b, const struct item *item);
	uint32_t (*number_of)(const struct item *item);
};

static void index_add(struct index *x, const void *key, uint32_t number)
{
	if (x->n == x->room) {
		size_t room = x->room ? x->room * 2 : 64;
		struct pair *p = realloc(x->at, room * sizeof(*p));

		if (!p)
			return;
		x->at = p;
		x->room = room;
	}
	x->at[x->n++] = (struct pair){key, number};
}

static int pair_compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->key != y->key)
		return (uintptr_t)x->key < (uintptr_t)y->key ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void index_sort(struct index *x)
{
	if (x->n)
		qsort(x->at, x->n, sizeof(*x->at), pair_compare);
}

/* The first with that key; x->n if there is none. */
static size_t index_find(const struct index *x, const void *key)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)x->at[middle].key < (uintptr_t)key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->n && x->at[low].key == key ? low : x->n;
}

static void put_owner(struct nl_buf *b, const struct item *item)
{
	uint32_t pid = item->cm ? item->cm->pid : item->context->opener_pid;

	if (pid)
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_PID, pid);
}

static void put_pd(struct nl_buf *b, const struct item *item, const struct rnic_pd *pd)
{
	size_t i = index_find(item->pds, pd);

	if (i < item->pds->n)
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_PDN, item->pds->at[i].number);
}

static void qp_fill(struct nl_buf *b, const struct item *item)
{
	const struct uverbs_qp *qp = item->object->object;
	enum rnic_qp_type type = rnic_qp_init_get(qp->qp)->type;
	bool connected = type == RNIC_QPT_RC || type == RNIC_QPT_UC;
	struct rnic_qp_attr attr;

	rnic_qp_query(qp->qp, &attr);
	if (attr.port_num)
		nl_put_u32(b, RDMA_NLDEV_ATTR_PORT_INDEX, attr.port_num);
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_LQPN, rnic_qp_num(qp->qp));
	if (connected) {
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_RQPN, attr.dest_qpn);
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr.rq_psn);
	}
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr.sq_psn);
	if (connected)
		nl_put_u8(b, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, attr.path_mig_state);
	nl_put_u8(b, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)type);
	nl_put_u8(b, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)rnic_qp_state(qp->qp));
	put_pd(b, item, rnic_qp_pd(qp->qp));
	put_owner(b, item);
}

static uint32_t qp_number(const struct item *item)
{
	return rnic_qp_num(((const struct uverbs_qp *)item->object->object)->qp);
}

static void cm_id_fill(struct nl_buf *b, const struct item *item)
{
	const struct ucma_entry *e = item->cm;

	if (e->dev)
		nl_put_u32(b, RDMA_NLDEV_ATTR_PORT_INDEX, NLDEV_PORT);
	if (e->qpn) {
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_LQPN, e->qpn);
		nl_put_u8(b, RDMA_NLDEV_ATTR_RES_TYPE, e->qp_type);
	}
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_PS, e->ps);
	nl_put_u8(b, RDMA_NLDEV_ATTR_RES_STATE, e->state);
	if (e->src.ss_family)
		nl_put(b, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &e->src, sizeof(e->src));
	if (e->dst.ss_family)
		nl_put(b, RDMA_NLDEV_ATTR_RES_DST_ADDR, &e->dst, sizeof(e->dst));
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_CM_IDN, e->number);
	put_owner(b, item);
}

static uint32_t cm_id_number(const struct item *item)
{
	return item->cm->number;
}

static void put_context(struct nl_buf *b, const struct item *item)
{
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_CTXN, (uint32_t)item->context->id);
}

static void cq_fill(struct nl_buf *b, const struct item *item)
{
	const struct uverbs_cq *cq = item->object->object;

	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_CQE, rxe_ring_entries(&cq->rxe.ring));
	nl_put_u64(b, RDMA_NLDEV_ATTR_RES_USECNT, rnic_cq_users(cq->cq));
	nl_put_u8(b, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_CQN, item->object->id);
	put_context(b, item);
	put_owner(b, item);
}

static void mr_fill(struct nl_buf *b, const struct item *item)
{
	const struct uverbs_mr *mr = item->object->object;

	if (item->call->peer->admin) {
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_RKEY, rnic_mr_key(mr->mr));
		nl_put_u32(b, RDMA_NLDEV_ATTR_RES_LKEY, rnic_mr_key(mr->mr));
	}
	nl_put_u64(b, RDMA_NLDEV_ATTR_RES_MRLEN, rnic_mr_attr_get(mr->mr)->length);
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_MRN, item->object->id);
	put_pd(b, item, rnic_mr_pd(mr->mr));
	put_owner(b, item);
}

static void pd_fill(struct nl_buf *b, const struct item *item)
{
	nl_put_u64(b, RDMA_NLDEV_ATTR_RES_USECNT, rnic_pd_users(item->object->object));
	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_PDN, item->object->id);
	put_context(b, item);
	put_owner(b, item);
}

static void context_fill(struct nl_buf *b, const struct item *item)
{
	put_context(b, item);
	put_owner(b, item);
}

static uint32_t context_number(const struct item *item)
{
	return (uint32_t)item->context->id;
}

/* The QPs of an SRQ, as ranges of neighbours. */
static void put_srq_qps(struct nl_buf *b, const struct item *item, const struct rnic_srq *srq)
{
	const struct index *x = item->srq_qps;
	size_t i = index_find(x, srq), table = nl_nest_begin(b, RDMA_NLDEV_ATTR_RES_QP);

	while (i < x->n && x->at[i].key == srq && b->len < NL_PACKET_MAX / 2) {
		size_t entry = nl_nest_begin(b, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		uint32_t first = x->at[i].number, last = first;

		while (++i < x->n && x->at[i].key == srq && x->at[i].number == last + 1)
			last++;
		if (first == last) {
			nl_put_u32(b, RDMA_NLDEV_ATTR_RES_LQPN, first);
		} else {
			nl_put_u32(b, RDMA_NLDEV_ATTR_MIN_RANGE, first);
			nl_put_u32(b, RDMA_NLDEV_ATTR_MAX_RANGE, last);
		}
		nl_nest_end(b, entry);
	}
	nl_nest_end(b, table);
}

static void srq_fill(struct nl_buf *b, const struct item *item)
{
	const struct uverbs_srq *srq = item->object->object;

	nl_put_u32(b, RDMA_NLDEV_ATTR_RES_SRQN, item->object->id);
	nl_put_u8(b, RDMA_NLDEV_ATTR_RES_TYPE, SRQT_BASIC);
	put_pd(b, item, rnic_srq_pd(srq->srq));
	put_srq_qps(b, item, srq->srq);
	put_owner(b, item);
}

static uint32_t object_number(const struct item *item)
{
	return item->object->id;
}

/* ---- going through them ---- */

struct visit {
	struct nl_call *call;
	struct kdevice *dev;
	const struct kind *kind;
	struct item item;
	int (*seen)(struct visit *v); /* not 0: enough */
	/* A dump's message under construction. */
	struct nl_buf message;
	size_t at, table;
	bool begun;
	uint32_t wanted; /* of a request by number */
};

static void indices_make(const struct visit *v, struct index *pds, struct index *srq_qps)
{
	struct uobject *u;

	for (struct context *c = v->call->kernel->contexts; c; c = c->next) {
		if (c->dev != v->dev)
			continue;
		for (uint32_t i = 0; (u = uobject_next(c, UOBJ_PD, i)); i = u->handle + 1)
			index_add(pds, u->object, u->id);
		for (uint32_t i = 0; (u = uobject_next(c, UOBJ_QP, i)); i = u->handle + 1) {
			const struct rnic_qp *qp = ((const struct uverbs_qp *)u->object)->qp;

			if (rnic_qp_init_get(qp)->srq)
				index_add(srq_qps, rnic_qp_init_get(qp)->srq, rnic_qp_num(qp));
		}
	}
	index_sort(pds);
	index_sort(srq_qps);
}

static int visit_cm(struct visit *v)
{
	struct ucma_entry entry;
	uint32_t cursor = 0;
	int rc = 0;

	v->item.cm = &entry;
	while (!rc && ucma_entry_next(v->call->kernel, &cursor, &entry))
		/* Who listens to any address listens on every device. */
		if (entry.dev ? entry.dev == v->dev : entry.listens)
			rc = v->seen(v);
	v->item.cm = NULL;
	return rc;
}

static int visit_context(struct visit *v, struct context *c)
{
	struct uobject *u;
	int rc = 0;

	v->item.context = c;
	v->item.object = NULL;
	if (!v->kind->of)
		return v->seen(v);
	for (uint32_t i = 0; !rc && (u = uobject_next(c, v->kind->of, i)); i = u->handle + 1) {
		v->item.object = u;
		rc = v->seen(v);
	}
	return rc;
}

static int visit_all(struct visit *v)
{
	struct index pds = {0}, srq_qps = {0};
	int rc = 0;

	v->item.call = v->call;
	if (v->kind->number == RDMA_NLDEV_ATTR_RES_CM_IDN)
		return visit_cm(v);
	v->item.pds = &pds;
	v->item.srq_qps = &srq_qps;
	indices_make(v, &pds, &srq_qps);
	for (struct context *c = v->call->kernel->contexts; c && !rc; c = c->next)
		if (c->dev == v->dev)
			rc = visit_context(v, c);
	v->item.pds = NULL;
	v->item.srq_qps = NULL;
	free(pds.at);
	free(srq_qps.at);
	return rc;
}

static void dump_end(struct visit *v)
{
	if (!v->begun)
		return;
	nl_nest_end(&v->message, v->table);
	nl_answer_end(v->call, &v->message, v->at);
	v->begun = false;
}

static int dump_seen(struct visit *v)
{
	struct nl_buf e = {0};
	size_t entry = nl_nest_begin(&e, v->kind->entry);

	v->kind->fill(&e, &v->item);
	nl_nest_end(&e, entry);
	if (v->begun && v->message.len + e.len > NL_PACKET_MAX)
		dump_end(v);
	if (!v->begun) {
		v->at = nl_answer_begin(v->call, &v->message, true);
		nl_put_device(&v->message, v->dev);
		v->table = nl_nest_begin(&v->message, v->kind->table);
		v->begun = true;
	}
	nl_put_all(&v->message, &e);
	return 0;
}

static int one_seen(struct visit *v)
{
	struct nl_buf b;
	size_t at;

	if (v->kind->number_of(&v->item) != v->wanted)
		return 0;
	at = nl_answer_begin(v->call, &b, false);
	nl_put_device(&b, v->dev);
	v->kind->fill(&b, &v->item);
	nl_answer_end(v->call, &b, at);
	return 1;
}

static int res_get(struct nl_call *call, bool dump, const struct kind *kind)
{
	const struct nlattr *wanted = call->attrs.at[kind->number];
	struct visit v = {.call = call, .kind = kind, .dev = nl_call_device(call)};

	if (!v.dev || !nl_call_port_is_good(call) || (!dump && !wanted))
		return -EINVAL;
	if (dump) {
		v.seen = dump_seen;
		visit_all(&v);
		dump_end(&v);
		return 0;
	}
	v.seen = one_seen;
	v.wanted = nl_u32(wanted);
	return visit_all(&v) ? 0 : -ENOENT;
}

/* ---- the requests ---- */

static void put_summary(struct nl_buf *b, const char *name, uint64_t n)
{
	size_t entry = nl_nest_begin(b, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	nl_put_text(b, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	nl_put_u64(b, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
	nl_nest_end(b, entry);
}

static int count_seen(struct visit *v)
{
	v->wanted++;
	return 0;
}

static const struct kind cm_id_kind = {RDMA_NLDEV_ATTR_RES_CM_ID,
				       RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
				       RDMA_NLDEV_ATTR_RES_CM_IDN,
				       0,
				       cm_id_fill,
				       cm_id_number};
static const struct kind context_kind = {RDMA_NLDEV_ATTR_RES_CTX,
					 RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
					 RDMA_NLDEV_ATTR_RES_CTXN,
					 0,
					 context_fill,
					 context_number};

static uint32_t count(struct nl_call *call, struct kdevice *dev, const struct kind *kind)
{
	struct visit v = {.call = call, .kind = kind, .dev = dev, .seen = count_seen};

	visit_all(&v);
	return v.wanted;
}

static void summary_answer(struct nl_call *call, struct kdevice *dev, bool dump)
{
	struct rnic_counts n;
	struct nl_buf b;
	size_t at = nl_answer_begin(call, &b, dump), table;

	rnic_device_counts(dev->rnic, &n);
	nl_put_device(&b, dev);
	table = nl_nest_begin(&b, RDMA_NLDEV_ATTR_RES_SUMMARY);
	put_summary(&b, "pd", n.pd);
	put_summary(&b, "cq", n.cq);
	put_summary(&b, "qp", n.qp);
	put_summary(&b, "cm_id", count(call, dev, &cm_id_kind));
	put_summary(&b, "mr", n.mr);
	put_summary(&b, "ctx", count(call, dev, &context_kind));
	put_summary(&b, "srq", n.srq);
	nl_nest_end(&b, table);
	nl_answer_end(call, &b, at);
}

int nldev_res_summary(struct nl_call *call, bool dump)
{
	struct kdevice *dev = nl_call_device(call);

	if (!dump && !dev)
		return -EINVAL;
	if (!dump)
		summary_answer(call, dev, false);
	for (dev = dump ? call->kernel->devices : NULL; dev; dev = dev->next)
		summary_answer(call, dev, true);
	return 0;
}

int nldev_res_qp(struct nl_call *call, bool dump)
{
	static const struct kind kind = {RDMA_NLDEV_ATTR_RES_QP,
					 RDMA_NLDEV_ATTR_RES_QP_ENTRY,
					 RDMA_NLDEV_ATTR_RES_LQPN,
					 UOBJ_QP,
					 qp_fill,
					 qp_number};

	return res_get(call, dump, &kind);
}

int nldev_res_cm_id(struct nl_call *call, bool dump)
{
	return res_get(call, dump, &cm_id_kind);
}

int nldev_res_cq(struct nl_call *call, bool dump)
{
	static const struct kind kind = {RDMA_NLDEV_ATTR_RES_CQ,
					 RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
					 RDMA_NLDEV_ATTR_RES_CQN,
					 UOBJ_CQ,
					 cq_fill,
					 object_number};

	return res_get(call, dump, &kind);
}

int nldev_res_mr(struct nl_call *call, bool dump)
{
	static const struct kind kind = {RDMA_NLDEV_ATTR_RES_MR,
					 RDMA_NLDEV_ATTR_RES_MR_ENTRY,
					 RDMA_NLDEV_ATTR_RES_MRN,
					 UOBJ_MR,
					 mr_fill,
					 object_number};

	return res_get(call, dump, &kind);
}

int nldev_res_pd(struct nl_call *call, bool dump)
{
	static const struct kind kind = {RDMA_NLDEV_ATTR_RES_PD,
					 RDMA_NLDEV_ATTR_RES_PD_ENTRY,
					 RDMA_NLDEV_ATTR_RES_PDN,
					 UOBJ_PD,
					 pd_fill,
					 object_number};

	return res_get(call, dump, &kind);
}

int nldev_res_ctx(struct nl_call *call, bool dump)
{
	return res_get(call, dump, &context_kind);
}

int nldev_res_srq(struct nl_call *call, bool dump)
{
	static const struct kind kind = {RDMA_NLDEV_ATTR_RES_SRQ,
					 RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
					 RDMA_NLDEV_ATTR_RES_SRQN,
					 UOBJ_SRQ,
					 srq_fill,
					 object_number};

	return res_get(call, dump, &kind);
}
