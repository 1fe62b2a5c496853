/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queue pairs as objects: creation, lookup, the lists of QPs that want a turn, entering ERR. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/cc_qp.h"
#include "rnic/hold.h"
#include "rnic/mw.h"
#include "rnic/mcast.h"
#include "rnic/qp_priv.h"
#include "rnic/qp_table.h"

#define TIMERS_PER_QP 3

static int caps_check(struct rnic_device *dev, const struct rnic_qp_init *init)
{
	const struct rnic_limits *l = &dev->limits;
	const struct {
		const char *name;
		uint32_t asked, limit;
	} caps[] = {
		{"max_send_wr", init->max_send_wr, l->max_qp_wr},
		{"max_send_sge", init->max_send_sge, l->max_sge},
		{"max_inline_data", init->max_inline, l->max_inline},
		{"max_recv_wr", init->srq ? 0 : init->max_recv_wr, l->max_qp_wr},
		{"max_recv_sge", init->srq ? 0 : init->max_recv_sge, l->max_sge},
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		if (caps[i].asked > caps[i].limit) {
			dev_log(dev, "QP: %s %" PRIu32 " is above %" PRIu32, caps[i].name,
				caps[i].asked, caps[i].limit);
			return -EINVAL;
		}
	}
	return 0;
}

static int init_check(struct rnic_device *dev, const struct rnic_qp_init *init)
{
	if (!init->send_cq || !init->recv_cq) {
		dev_log(dev, "QP: it needs a CQ for each of its queues");
		return -EINVAL;
	}
	if (init->send_cq->dev != dev || init->recv_cq->dev != dev ||
	    (init->srq && init->srq->pd->dev != dev)) {
		dev_log(dev, "QP: its CQs or SRQ belong to another device");
		return -EINVAL;
	}
	switch (init->type) {
	case RNIC_QPT_RC:
	case RNIC_QPT_UC:
	case RNIC_QPT_UD:
		return caps_check(dev, init);
	case RNIC_QPT_GSI:
		if (dev->gsi) {
			dev_log(dev, "QP: the GSI QP exists already");
			return -EINVAL;
		}
		return caps_check(dev, init);
	}
	dev_log(dev, "QP: type %d is not supported", (int)init->type);
	return -EOPNOTSUPP;
}

static int number_take(struct rnic_device *dev, struct rnic_qp *qp)
{
	int64_t n;

	if (qp->init.type == RNIC_QPT_GSI) {
		dev->gsi = qp;
		qp->qpn = RNIC_QPN_GSI;
		return 0;
	}
	if (dev->qps.used >= dev->limits.max_qp) {
		dev_log(dev, "QP: all %" PRIu32 " are in use", dev->limits.max_qp);
		return -ENOMEM;
	}
	n = table_add(&dev->qps, qp);
	if (n < 0)
		return (int)n;
	qp->qpn = (uint32_t)n;
	return 0;
}

static void number_give_back(struct rnic_device *dev, struct rnic_qp *qp)
{
	if (qp == dev->gsi)
		dev->gsi = NULL;
	else
		table_remove(&dev->qps, qp->qpn);
}

static void users_add(struct rnic_qp *qp, int n)
{
	qp->pd->users += (uint32_t)n;
	qp->init.send_cq->users += (uint32_t)n;
	qp->init.recv_cq->users += (uint32_t)n;
	if (qp->init.srq)
		qp->init.srq->users += (uint32_t)n;
}

int rnic_qp_create(struct rnic_pd *pd, const struct rnic_qp_init *init, struct rnic_qp **out)
{
	struct rnic_device *dev = pd->dev;
	struct rnic_qp *qp;
	int ret = init_check(dev, init);

	if (ret < 0)
		return ret;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->dev = dev;
	qp->pd = pd;
	qp->init = *init;
	qp->attr.state = RNIC_QPS_RESET;
	qp_list_init(&qp->active);
	qp_list_init(&qp->waiting);
	qp_list_init(&qp->held);
	cc_init(qp);
	ret = timers_reserve(dev, TIMERS_PER_QP);
	if (ret < 0)
		goto free_qp;
	ret = number_take(dev, qp);
	if (ret < 0)
		goto release_timers;
	ret = transport_create(qp);
	if (ret < 0)
		goto give_back;
	users_add(qp, 1);
	*out = qp;
	return 0;

give_back:
	number_give_back(dev, qp);
release_timers:
	timers_release(dev, TIMERS_PER_QP);
free_qp:
	free(qp);
	return ret;
}

int rnic_qp_destroy(struct rnic_qp *qp)
{
	struct rnic_device *dev = qp->dev;

	hold_end(qp, 0);
	mw_qp_gone(qp);
	mcast_detach_all(qp);
	transport_destroy(qp);
	timer_disarm(dev, &qp->retry_timer);
	timer_disarm(dev, &qp->rnr_timer);
	timer_disarm(dev, &qp->pace_timer);
	timers_release(dev, TIMERS_PER_QP);
	qp_list_del(&qp->active);
	qp_list_del(&qp->waiting);
	number_give_back(dev, qp);
	users_add(qp, -1);
	free(qp);
	return 0;
}

struct rnic_qp *qp_lookup(struct rnic_device *dev, uint32_t qpn)
{
	return qpn == RNIC_QPN_GSI ? dev->gsi : table_get(&dev->qps, qpn);
}

void qp_error(struct rnic_qp *qp, uint64_t now, int event_type)
{
	enum rnic_qp_state from = qp->attr.state;
	struct rnic_async event = {.qp = qp};

	if (from == RNIC_QPS_ERR)
		return;
	hold_end(qp, now);
	qp->attr.state = RNIC_QPS_ERR;
	qp_history_add(qp, from, true, now);
	transport_state_entered(qp, from, 0, now);
	if (event_type >= 0) {
		event.type = (enum rnic_event_type)event_type;
		qp->dev->cfg.ops->async_event(qp->dev->cfg.host, &event);
	}
}

void qp_send_error(struct rnic_qp *qp, uint64_t now)
{
	enum rnic_qp_state from = qp->attr.state, to = qp_table_send_error(qp->init.type);

	if (to == RNIC_QPS_ERR) {
		qp_error(qp, now, -1);
		return;
	}
	if (from != RNIC_QPS_RTS && from != RNIC_QPS_SQD)
		return;
	qp->attr.state = to;
	qp_history_add(qp, from, true, now);
	transport_state_entered(qp, from, 0, now);
}

int rnic_qp_kick(struct rnic_qp *qp)
{
	switch (qp->attr.state) {
	case RNIC_QPS_RESET:
	case RNIC_QPS_INIT:
	case RNIC_QPS_RTR:
		qp_post_refused(qp);
		return -EINVAL;
	case RNIC_QPS_RTS:
	case RNIC_QPS_SQD:
	case RNIC_QPS_SQE:
	case RNIC_QPS_ERR:
	case RNIC_QPS_COUNT:
		break;
	}
	qp_activate(qp);
	return 0;
}

void rnic_qp_query(const struct rnic_qp *qp, struct rnic_qp_attr *attr)
{
	struct rnic_qp_info info;

	*attr = qp->attr;
	attr->cur_state = qp->attr.state;
	/* As rxe: where the PSNs are now. */
	transport_info_get(qp, &info);
	if (qp->attr.state >= RNIC_QPS_RTS)
		attr->sq_psn = info.sq_psn;
	if (qp->attr.state >= RNIC_QPS_RTR)
		attr->rq_psn = info.rq_psn;
}

void rnic_qp_info_get(const struct rnic_qp *qp, struct rnic_qp_info *info)
{
	*info = (struct rnic_qp_info){
		.qpn = qp->qpn,
		.type = qp->init.type,
		.state = qp->attr.state,
		.dest_qpn = qp->attr.dest_qpn,
		.av = qp->attr.av,
	};
	transport_info_get(qp, info);
}

const struct rnic_qp_init *rnic_qp_init_get(const struct rnic_qp *qp)
{
	return &qp->init;
}

uint32_t rnic_qp_num(const struct rnic_qp *qp)
{
	return qp->qpn;
}

enum rnic_qp_state rnic_qp_state(const struct rnic_qp *qp)
{
	return qp->attr.state;
}

struct rnic_pd *rnic_qp_pd(const struct rnic_qp *qp)
{
	return qp->pd;
}

void *rnic_qp_user(const struct rnic_qp *qp)
{
	return qp->init.user;
}

void qp_list_init(struct qp_list *l)
{
	l->next = l;
	l->prev = l;
}

void qp_list_add_tail(struct qp_list *head, struct qp_list *l)
{
	assert(l->next == l);
	l->next = head;
	l->prev = head->prev;
	head->prev->next = l;
	head->prev = l;
}

void qp_list_del(struct qp_list *l)
{
	l->next->prev = l->prev;
	l->prev->next = l->next;
	qp_list_init(l);
}

void qp_activate(struct rnic_qp *qp)
{
	if (qp->active.next == &qp->active)
		qp_list_add_tail(&qp->dev->active, &qp->active);
}

void qp_deactivate(struct rnic_qp *qp)
{
	qp_list_del(&qp->active);
}
