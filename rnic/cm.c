/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ends of connections: their life, and what their owners do with them. */
#include "config.h"

#include "rnic/cm.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bth/psn.h"
#include "rnic/cm_priv.h"

#define ENDS_LIMIT (1u << 20)

static uint64_t random64(struct rnic_device *dev)
{
	uint64_t high = dev->cfg.ops->random(dev->cfg.host);

	return high << 32 | dev->cfg.ops->random(dev->cfg.host);
}

int rnic_cm_start(struct rnic_device *dev, const struct rnic_cm_host *ops, void *host,
		  uint64_t guid)
{
	dev->cm = calloc(1, sizeof(*dev->cm));
	if (!dev->cm)
		return -ENOMEM;
	dev->cm->index = cm_index_create(random64(dev));
	if (!dev->cm->index) {
		free(dev->cm);
		dev->cm = NULL;
		return -ENOMEM;
	}
	table_init(&dev->cm->ends, 1, ENDS_LIMIT);
	dev->cm->mask = dev->cfg.ops->random(dev->cfg.host);
	dev->cm->tid = (uint64_t)dev->cfg.ops->random(dev->cfg.host) << 32;
	dev->cm->ops = ops;
	dev->cm->host = host;
	dev->cm->guid = guid;
	return 0;
}

void cm_stop(struct rnic_device *dev)
{
	uint32_t number = 0;
	struct rnic_cm *cm;

	if (!dev->cm)
		return;
	while ((cm = table_next(&dev->cm->ends, &number))) {
		assert(!cm->owned);
		cm_free(cm);
	}
	table_free(&dev->cm->ends);
	cm_index_free(dev->cm->index);
	free(dev->cm);
}

struct rnic_cm *rnic_cm_create(struct rnic_device *dev, void *user)
{
	struct rnic_cm *cm = calloc(1, sizeof(*cm));
	int64_t number;

	if (!cm || timers_reserve(dev, 1)) {
		free(cm);
		return NULL;
	}
	number = table_add(&dev->cm->ends, cm);
	if (number < 0) {
		timers_release(dev, 1);
		free(cm);
		return NULL;
	}
	cm->dev = dev;
	cm->user = user;
	cm->owned = true;
	cm->number = (uint32_t)number;
	cm->timer.fired = cm_timer_fired;
	return cm;
}

void cm_free(struct rnic_cm *cm)
{
	timer_disarm(cm->dev, &cm->timer);
	timers_release(cm->dev, 1);
	if (!cm->owned)
		cm->dev->cm->forgotten--;
	cm_index_remove(cm);
	table_remove(&cm->dev->cm->ends, cm->number);
	free(cm);
}

uint32_t cm_id(const struct rnic_cm *cm)
{
	return cm->number ^ cm->dev->cm->mask;
}

struct rnic_cm *cm_find(struct rnic_device *dev, uint32_t id)
{
	return table_get(&dev->cm->ends, id ^ dev->cm->mask);
}

struct rnic_cm *rnic_cm_next(struct rnic_device *dev, uint32_t *cursor)
{
	struct rnic_cm *cm;

	++*cursor;
	cm = table_next(&dev->cm->ends, cursor);
	return cm;
}

void rnic_cm_user_set(struct rnic_cm *cm, void *user)
{
	cm->user = user;
}

enum rnic_cm_state rnic_cm_state(const struct rnic_cm *cm)
{
	return cm->state;
}

const struct rnic_cm_counts *rnic_cm_counts(const struct rnic_device *dev)
{
	static const struct rnic_cm_counts none;

	return dev->cm ? &dev->cm->counts : &none;
}

const char *rnic_cm_state_name(enum rnic_cm_state state)
{
	static const char *const names[RNIC_CM_STATES] = {
		[RNIC_CM_IDLE] = "IDLE",
		[RNIC_CM_REQ_SENT] = "REQ_SENT",
		[RNIC_CM_REQ_RCVD] = "REQ_RCVD",
		[RNIC_CM_REP_SENT] = "REP_SENT",
		[RNIC_CM_REP_RCVD] = "REP_RCVD",
		[RNIC_CM_ESTABLISHED] = "ESTABLISHED",
		[RNIC_CM_DREQ_SENT] = "DREQ_SENT",
		[RNIC_CM_DREQ_RCVD] = "DREQ_RCVD",
		[RNIC_CM_TIMEWAIT] = "TIMEWAIT",
		[RNIC_CM_SIDR_REQ_SENT] = "SIDR_REQ_SENT",
		[RNIC_CM_SIDR_REQ_RCVD] = "SIDR_REQ_RCVD",
	};

	return names[state];
}

const struct rnic_av *rnic_cm_av(const struct rnic_cm *cm)
{
	return &cm->av;
}

uint32_t rnic_cm_local_id(const struct rnic_cm *cm)
{
	return cm_id(cm);
}

static void exchange_begin(struct rnic_cm *cm, const struct rnic_av *av, struct cm_msg *msg)
{
	cm->av = *av;
	cm->tid = ++cm->dev->cm->tid;
	cm->service_id = msg->service_id;
	cm->local_qpn = msg->qpn;
	cm->remote_id = 0;
	cm->timeout = cm_timeout_ns(msg->remote_timeout);
	cm->retries = msg->max_cm_retries;
}

int rnic_cm_req(struct rnic_cm *cm, uint64_t now, const struct rnic_av *av, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_IDLE)
		return -EINVAL;
	exchange_begin(cm, av, msg);
	msg->ca_guid = cm->dev->cm->guid;
	cm->state = RNIC_CM_REQ_SENT;
	cm_transmit(cm, msg, CM_REQ, true);
	cm_expect(cm, now);
	return 0;
}

int rnic_cm_sidr_req(struct rnic_cm *cm, uint64_t now, const struct rnic_av *av, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_IDLE)
		return -EINVAL;
	exchange_begin(cm, av, msg);
	cm->state = RNIC_CM_SIDR_REQ_SENT;
	cm_transmit(cm, msg, CM_SIDR_REQ, true);
	cm_expect(cm, now);
	return 0;
}

int rnic_cm_rep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_REQ_RCVD)
		return -EINVAL;
	msg->ca_guid = cm->dev->cm->guid;
	cm->local_qpn = msg->qpn;
	cm->state = RNIC_CM_REP_SENT;
	cm_transmit(cm, msg, CM_REP, true);
	cm_expect(cm, now);
	return 0;
}

int rnic_cm_rtu(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	(void)now;
	if (cm->state != RNIC_CM_REP_RCVD)
		return -EINVAL;
	cm->state = RNIC_CM_ESTABLISHED;
	cm_transmit(cm, msg, CM_RTU, true);
	return 0;
}

int rnic_cm_rej(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	switch (cm->state) {
	case RNIC_CM_REQ_RCVD:
		msg->which = 0;
		break;
	case RNIC_CM_REP_RCVD:
	case RNIC_CM_REP_SENT:
		msg->which = 1;
		break;
	case RNIC_CM_REQ_SENT:
		msg->which = 2;
		break;
	case RNIC_CM_IDLE:
	case RNIC_CM_ESTABLISHED:
	case RNIC_CM_DREQ_SENT:
	case RNIC_CM_DREQ_RCVD:
	case RNIC_CM_TIMEWAIT:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_SIDR_REQ_RCVD:
	case RNIC_CM_STATES:
		return -EINVAL;
	}
	cm_transmit(cm, msg, CM_REJ, true);
	cm_enter_timewait(cm, now);
	return 0;
}

int rnic_cm_dreq(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_ESTABLISHED && cm->state != RNIC_CM_REP_SENT)
		return -EINVAL;
	msg->qpn = cm->remote_qpn;
	cm->tid = ++cm->dev->cm->tid;
	cm->state = RNIC_CM_DREQ_SENT;
	cm_transmit(cm, msg, CM_DREQ, true);
	cm_expect(cm, now);
	return 0;
}

int rnic_cm_drep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_DREQ_RCVD)
		return -EINVAL;
	cm_transmit(cm, msg, CM_DREP, true);
	cm_enter_timewait(cm, now);
	return 0;
}

int rnic_cm_sidr_rep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg)
{
	if (cm->state != RNIC_CM_SIDR_REQ_RCVD)
		return -EINVAL;
	msg->service_id = cm->service_id;
	cm_transmit(cm, msg, CM_SIDR_REP, true);
	cm_enter_timewait(cm, now);
	return 0;
}

int rnic_cm_notify(struct rnic_cm *cm, uint64_t now)
{
	(void)now;
	if (cm->state != RNIC_CM_REP_SENT)
		return cm->state == RNIC_CM_ESTABLISHED ? -EISCONN : -EINVAL;
	timer_disarm(cm->dev, &cm->timer);
	cm->state = RNIC_CM_ESTABLISHED;
	cm_tell(cm, RNIC_CM_EV_ESTABLISHED, NULL);
	return 0;
}

void cm_name_adapter(const struct rnic_cm *cm, struct cm_msg *rej)
{
	rej->ari_length = 8;
	for (int i = 0; i < 8; i++)
		rej->ari[i] = (uint8_t)(cm->dev->cm->guid >> (56 - 8 * i));
}

void rnic_cm_destroy(struct rnic_cm *cm, uint64_t now)
{
	struct cm_msg msg = {.reason = CM_REJ_CONSUMER};

	cm->owned = false;
	cm->dev->cm->forgotten++;
	cm->user = NULL;
	switch (cm->state) {
	case RNIC_CM_IDLE:
	case RNIC_CM_SIDR_REQ_SENT:
	case RNIC_CM_STATES:
		cm_free(cm);
		return;
	case RNIC_CM_REQ_SENT:
		msg.reason = CM_REJ_TIMEOUT;
		cm_name_adapter(cm, &msg);
		rnic_cm_rej(cm, now, &msg);
		return;
	case RNIC_CM_REQ_RCVD:
	case RNIC_CM_REP_RCVD:
		rnic_cm_rej(cm, now, &msg);
		return;
	case RNIC_CM_REP_SENT:
	case RNIC_CM_ESTABLISHED:
		rnic_cm_dreq(cm, now, &msg);
		cm_hurry(cm, now);
		return;
	case RNIC_CM_DREQ_RCVD:
		rnic_cm_drep(cm, now, &msg);
		return;
	case RNIC_CM_SIDR_REQ_RCVD:
		msg.status = CM_SIDR_REJECT;
		rnic_cm_sidr_rep(cm, now, &msg);
		return;
	case RNIC_CM_DREQ_SENT:
	case RNIC_CM_TIMEWAIT:
		cm_hurry(cm, now); /* else its timer goes on */
		return;
	}
}
