/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Connections of rdma_cm: what the program asks becomes CM messages, and these become its events.
 * The private data of a REQ or SIDR_REQ begin with the addresses (IBA annex A11), so that a
 * listener can be found and the peer be named.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rnic/types.h"
#include "verbs/kernel/ucma_priv.h"
#include "verbs/kernel/umem_priv.h"

#define HEADER_LEN 36
#define RESPONSE_TIMEOUT 20 /* 4.3 s, as Linux */
#define CM_RETRIES 15
#define ACK_DELAY 15 /* of the device: see its attributes */
#define LID_PERMISSIVE 0xffff
#define EVENT_COMM_EST 4
#define FLOW_LABEL_MASK 0xfffffu

/* ---- the header of private data ---- */

static void header_put(const struct cma_id *id, uint8_t *h)
{
	bool v6 = id->dst.sa.sa_family == AF_INET6;
	uint16_t port = htons(cma_addr_port(&id->src));

	h[0] = 0;
	h[1] = v6 ? 0x60 : 0x40;
	memcpy(h + 2, &port, sizeof(port));
	if (v6) {
		memcpy(h + 4, &id->src.in6.sin6_addr, 16);
		memcpy(h + 20, &id->dst.in6.sin6_addr, 16);
	} else {
		memcpy(h + 16, &id->src.in.sin_addr, 4);
		memcpy(h + 32, &id->dst.in.sin_addr, 4);
	}
}

static bool header_get(const uint8_t *h, uint16_t port, union cma_addr *from, union cma_addr *to)
{
	uint16_t from_port;
	uint8_t gid[2][16];

	if (h[0] != 0 || (h[1] != 0x40 && h[1] != 0x60))
		return false;
	memcpy(&from_port, h + 2, sizeof(from_port));
	for (int i = 0; i < 2; i++) {
		memcpy(gid[i], h + 4 + 16 * i, 16);
		if (h[1] == 0x40) {
			memset(gid[i], 0, 10);
			gid[i][10] = gid[i][11] = 0xff;
		}
	}
	cma_addr_from_gid(from, gid[0], ntohs(from_port));
	cma_addr_from_gid(to, gid[1], port);
	return true;
}

static void ece_put(const struct cma_id *id, struct cm_msg *msg)
{
	cm_vendor_set(msg, id->ece.vendor_id);
	msg->attr_mod = id->ece.attr_mod;
}

static void ece_get(struct rdma_ucm_ece *ece, const struct cm_msg *msg)
{
	ece->vendor_id = cm_vendor_get(msg);
	ece->attr_mod = msg->attr_mod;
}

static int private_put(const struct cma_id *id, const struct rdma_ucm_conn_param *param,
		       struct cm_msg *msg, uint32_t room)
{
	if (param->private_data_len > room - HEADER_LEN)
		return -EINVAL;
	header_put(id, msg->private_data);
	memcpy(msg->private_data + HEADER_LEN, param->private_data, param->private_data_len);
	return 0;
}

static uint64_t service_id(const struct cma_id *id)
{
	return (uint64_t)id->ps << 16 | cma_addr_port(&id->dst);
}

/* ---- what a program asks ---- */

int cma_listen(struct cma_id *id, uint32_t backlog)
{
	union cma_addr any = {.sa.sa_family = AF_INET};
	int rc;

	if (id->state == CMA_IDLE) {
		rc = cma_bind(id, &any);
		if (rc)
			return rc;
	}
	if (id->state != CMA_BOUND)
		return -EINVAL;
	rc = cma_port_listen(id);
	if (rc)
		return rc;
	id->backlog = backlog;
	id->state = CMA_LISTEN;
	return 0;
}

static void path_fill(const struct cma_id *id, struct cm_path *p)
{
	*p = (struct cm_path){
		.local_lid = LID_PERMISSIVE,
		.remote_lid = LID_PERMISSIVE,
		.flow_label = id->av.flow_label,
		.traffic_class = id->av.traffic_class,
		.hop_limit = id->av.hop_limit,
		.ack_timeout = id->ack_timeout_set ? id->ack_timeout : CMA_ACK_TIMEOUT,
	};
	memcpy(p->local_gid, id->av.sgid, 16);
	memcpy(p->remote_gid, id->av.dgid, 16);
}

static int connect_rc(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_msg msg = {
		.service_id = service_id(id),
		.qpn = param->qp_num,
		.starting_psn = id->psn,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.pkey = 0xffff,
		.remote_timeout = RESPONSE_TIMEOUT,
		.local_timeout = RESPONSE_TIMEOUT,
		.transport = id->qp_type == RNIC_QPT_UC,
		.flow_control = param->flow_control,
		.retry_count = param->retry_count & 7,
		.rnr_retry_count = param->rnr_retry_count & 7,
		.path_mtu = (uint8_t)rnic_port_mtu(id->dev->rnic),
		.max_cm_retries = CM_RETRIES,
		.srq = param->srq,
	};
	int rc = private_put(id, param, &msg, CM_REQ_PRIVATE);

	if (rc)
		return rc;
	id->path_mtu = msg.path_mtu;
	id->retry_count = msg.retry_count;
	path_fill(id, &msg.primary);
	ece_put(id, &msg);
	return rnic_cm_req(id->cm, umem_clock(), &id->av, &msg);
}

static int connect_ud(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_msg msg = {
		.service_id = service_id(id),
		.pkey = 0xffff,
		.remote_timeout = RESPONSE_TIMEOUT,
		.max_cm_retries = CM_RETRIES,
	};
	int rc = private_put(id, param, &msg, CM_SIDR_REQ_PRIVATE);

	return rc ? rc : rnic_cm_sidr_req(id->cm, umem_clock(), &id->av, &msg);
}

int cma_connect(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	int rc;

	if (id->state != CMA_ROUTE_RESOLVED)
		return -EINVAL;
	id->cm = rnic_cm_create(id->dev->rnic, id);
	if (!id->cm)
		return -ENOMEM;
	id->qp_num = param->qp_num;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	/* So that each connection may take a path of its own. */
	if (!id->av.flow_label)
		id->av.flow_label = (id->psn ^ param->qp_num) & FLOW_LABEL_MASK;
	rc = (id->qp_type == RNIC_QPT_UD ? connect_ud : connect_rc)(id, param);
	if (rc) {
		rnic_cm_destroy(id->cm, umem_clock());
		id->cm = NULL;
		return rc;
	}
	id->state = CMA_CONNECT;
	return 0;
}

static int accept_ud(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_msg msg = {
		.status = CM_SIDR_SUCCESS,
		.qpn = param->qp_num,
		.qkey = param->qkey ? param->qkey : CMA_UDP_QKEY,
	};

	if (param->private_data_len > CM_SIDR_REP_PRIVATE)
		return -EINVAL;
	ece_put(id, &msg);
	memcpy(msg.private_data, param->private_data, param->private_data_len);
	return rnic_cm_sidr_rep(id->cm, umem_clock(), &msg);
}

static int accept_rc(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_msg msg = {
		.qpn = param->qp_num,
		.starting_psn = id->psn,
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.target_ack_delay = ACK_DELAY,
		.flow_control = param->flow_control,
		.rnr_retry_count = param->rnr_retry_count & 7,
		.srq = param->srq,
	};

	if (param->private_data_len > CM_REP_PRIVATE)
		return -EINVAL;
	ece_put(id, &msg);
	memcpy(msg.private_data, param->private_data, param->private_data_len);
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
	return rnic_cm_rep(id->cm, umem_clock(), &msg);
}

/* The passive side answers with a REP, the active side, which has nothing to say, with an RTU. */
int cma_accept(struct cma_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_msg rtu = {0};

	if (id->state != CMA_CONNECT || !id->cm)
		return -EINVAL;
	if (!param->valid)
		return rnic_cm_rtu(id->cm, umem_clock(), &rtu);
	id->qp_num = param->qp_num;
	return (id->qp_type == RNIC_QPT_UD ? accept_ud : accept_rc)(id, param);
}

int cma_reject(struct cma_id *id, const void *data, uint8_t len, uint8_t reason)
{
	struct cm_msg msg = {.reason = reason ? reason : CM_REJ_CONSUMER, .status = CM_SIDR_REJECT};

	if (!id->cm || (msg.reason != CM_REJ_CONSUMER && msg.reason != CM_REJ_VENDOR_OPTION))
		return -EINVAL;
	if (len > (id->qp_type == RNIC_QPT_UD ? CM_SIDR_REP_PRIVATE : CM_REJ_PRIVATE))
		return -EINVAL;
	memcpy(msg.private_data, data, len);
	if (id->qp_type == RNIC_QPT_UD)
		return rnic_cm_sidr_rep(id->cm, umem_clock(), &msg);
	return rnic_cm_rej(id->cm, umem_clock(), &msg);
}

int cma_disconnect(struct cma_id *id)
{
	struct cm_msg msg = {0};

	if (!id->cm)
		return -EINVAL;
	/* An answer to the peer's wish, or a wish of one's own; both may be over already. */
	if (rnic_cm_dreq(id->cm, umem_clock(), &msg))
		(void)rnic_cm_drep(id->cm, umem_clock(), &msg);
	return 0;
}

int cma_notify(struct cma_id *id, uint32_t event)
{
	if (!id->cm)
		return -EINVAL;
	if (event != EVENT_COMM_EST)
		return -EINVAL;
	return rnic_cm_notify(id->cm, umem_clock());
}

/* ---- what comes ---- */

static void conn_fill(struct ucma_event *ev, const struct cm_msg *msg, const uint8_t *data,
		      uint32_t len)
{
	struct rdma_ucm_conn_param *c = &ev->resp.param.conn;

	ece_get(&ev->resp.ece, msg);
	/* What the peer may begin, this side has to serve. */
	c->responder_resources = msg->initiator_depth;
	c->initiator_depth = msg->responder_resources;
	c->flow_control = msg->flow_control;
	c->retry_count = msg->retry_count;
	c->rnr_retry_count = msg->rnr_retry_count;
	c->srq = msg->srq;
	c->qp_num = msg->qpn;
	c->private_data_len = (uint8_t)len;
	memcpy(c->private_data, data, len);
}

static void ud_fill(struct ucma_event *ev, const struct cma_id *id, const struct cm_msg *msg,
		    const uint8_t *data, uint32_t len)
{
	struct rdma_ucm_ud_param *u = &ev->resp.param.ud;

	ece_get(&ev->resp.ece, msg);
	u->qp_num = msg->qpn;
	u->qkey = msg->qkey;
	cma_ah_attr(id, &u->ah_attr);
	u->private_data_len = (uint8_t)len;
	memcpy(u->private_data, data, len);
}

static void request_take(struct cma_id *id, struct rnic_cm *cm, const struct cm_msg *msg)
{
	id->cm = cm;
	id->av = *rnic_cm_av(cm);
	id->passive = true;
	id->state = CMA_CONNECT;
	id->remote_qpn = msg->qpn;
	id->remote_psn = msg->starting_psn;
	id->path_mtu = msg->path_mtu;
	id->responder_resources = msg->initiator_depth;
	id->initiator_depth = msg->responder_resources;
	id->retry_count = msg->retry_count;
	id->rnr_retry_count = msg->rnr_retry_count;
	id->remote_ack_timeout = msg->primary.ack_timeout;
	id->remote_srq = msg->srq;
	rnic_cm_user_set(cm, id);
}

static bool type_suits(const struct cma_id *listener, const struct cm_msg *msg)
{
	bool ud = listener->qp_type == RNIC_QPT_UD;

	if (ud || msg->type == CM_SIDR_REQ)
		return ud && msg->type == CM_SIDR_REQ;
	return msg->transport == (listener->qp_type == RNIC_QPT_UC);
}

static struct ucma_event *request_event(struct cma_id *listener, struct cma_id *id,
					const struct cm_msg *msg)
{
	struct ucma_event *ev = ucma_event_new(listener, CMA_EV_CONNECT_REQUEST, 0);
	const uint8_t *data = msg->private_data + HEADER_LEN;

	if (!ev)
		return NULL;
	ev->born = id;
	if (id->qp_type == RNIC_QPT_UD)
		ud_fill(ev, id, msg, data, CM_SIDR_REQ_PRIVATE - HEADER_LEN);
	else
		conn_fill(ev, msg, data, CM_REQ_PRIVATE - HEADER_LEN);
	return ev;
}

static void nobody_log(struct kdevice *dev, const struct cm_msg *msg, const union cma_addr *to)
{
	char text[64];

	kernel_log(dev->kernel, "%s: %s for service 0x%llx at %s: nobody listens", dev->name,
		   cm_type_name(msg->type), (unsigned long long)msg->service_id,
		   cma_addr_text(to, text, sizeof(text)));
}

/* As the kernel: it is the service that nobody has, or what it was asked is not for it. */
static uint16_t nobody_reason(const struct kdevice *dev, const struct cm_msg *msg)
{
	bool known = msg->service_id >> 32 == 0 &&
		     cma_port_listened(dev->kernel->ucma, (uint16_t)(msg->service_id >> 16),
				       (uint16_t)msg->service_id);

	if (msg->type == CM_SIDR_REQ)
		return known ? CM_SIDR_REJECT : CM_SIDR_UNSUPPORTED;
	return known ? CM_REJ_CONSUMER : CM_REJ_INVALID_SERVICE_ID;
}

static uint16_t request_came(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	struct kdevice *dev = host;
	union cma_addr from = {0}, to = {0};
	struct cma_id *listener = NULL, *id;
	struct ucma_event *ev;

	if (msg->service_id >> 32 == 0 &&
	    header_get(msg->private_data, (uint16_t)msg->service_id, &from, &to))
		listener = cma_listener(dev->kernel->ucma, (uint16_t)(msg->service_id >> 16), &to);
	if (!listener || (listener->dev && listener->dev != dev) || !type_suits(listener, msg)) {
		nobody_log(dev, msg, &to);
		return nobody_reason(dev, msg);
	}
	/* As the kernel: who has no room for a REQ now may have when it comes again. */
	if (!listener->backlog ||
	    cma_id_create(listener->file, listener->ps, listener->qp_type, 0, &id))
		return msg->type == CM_SIDR_REQ ? CM_SIDR_REJECT : RNIC_CM_SILENCE;
	id->dev = dev;
	id->src = to;
	id->dst = from;
	id->tos_set = listener->tos_set;
	id->tos = listener->tos;
	ev = request_event(listener, id, msg);
	if (!ev) {
		cma_id_destroy(id);
		return CM_REJ_CONSUMER;
	}
	listener->backlog--;
	request_take(id, cm, msg);
	ucma_event_add(ev);
	return 0;
}

static void rep_came(struct cma_id *id, const struct cm_msg *msg)
{
	struct ucma_event *ev = ucma_event_new(id, CMA_EV_CONNECT_RESPONSE, 0);

	id->remote_qpn = msg->qpn;
	id->remote_psn = msg->starting_psn;
	id->responder_resources = msg->initiator_depth;
	id->initiator_depth = msg->responder_resources;
	id->rnr_retry_count = msg->rnr_retry_count;
	id->remote_srq = msg->srq;
	if (ev)
		conn_fill(ev, msg, msg->private_data, CM_REP_PRIVATE);
	ucma_event_add(ev);
}

static void sidr_rep_came(struct cma_id *id, const struct cm_msg *msg)
{
	enum cma_event_type type = msg->status ? CMA_EV_UNREACHABLE : CMA_EV_ESTABLISHED;
	struct ucma_event *ev = ucma_event_new(id, type, msg->status);

	if (!msg->status)
		id->qkey = msg->qkey;
	if (ev)
		ud_fill(ev, id, msg, msg->private_data, CM_SIDR_REP_PRIVATE);
	ucma_event_add(ev);
}

static void rej_came(struct cma_id *id, const struct cm_msg *msg)
{
	struct ucma_event *ev = ucma_event_new(id, CMA_EV_REJECTED, msg->reason);

	if (ev) {
		ev->resp.param.conn.private_data_len = CM_REJ_PRIVATE;
		memcpy(ev->resp.param.conn.private_data, msg->private_data, CM_REJ_PRIVATE);
	}
	ucma_event_add(ev);
}

static void disconnected(struct cma_id *id, bool in_time)
{
	if (id->state != CMA_CONNECT)
		return;
	id->state = CMA_DISCONNECT;
	ucma_event_add(ucma_event_new(id, CMA_EV_DISCONNECTED, in_time ? 0 : -ETIMEDOUT));
}

bool cma_id_deaf(const struct cma_id *id)
{
	return !id->number || !id->uid;
}

static void event_came(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	struct cma_id *id = user;

	(void)host;
	(void)cm;
	if (cma_id_deaf(id))
		return;
	switch (ev->type) {
	case RNIC_CM_EV_REP:
		rep_came(id, ev->msg);
		return;
	case RNIC_CM_EV_ESTABLISHED:
		ucma_event_add(ucma_event_new(id, CMA_EV_ESTABLISHED, 0));
		return;
	case RNIC_CM_EV_REJ:
		rej_came(id, ev->msg);
		return;
	case RNIC_CM_EV_UNREACHABLE:
		ucma_event_add(ucma_event_new(
			id, id->passive ? CMA_EV_CONNECT_ERROR : CMA_EV_UNREACHABLE, -ETIMEDOUT));
		return;
	case RNIC_CM_EV_DREQ:
		disconnected(id, true);
		return;
	case RNIC_CM_EV_DISCONNECTED:
		disconnected(id, ev->msg != NULL);
		return;
	case RNIC_CM_EV_TIMEWAIT_EXIT:
		if (id->state == CMA_DISCONNECT)
			ucma_event_add(ucma_event_new(id, CMA_EV_TIMEWAIT_EXIT, 0));
		return;
	case RNIC_CM_EV_SIDR_REP:
		sidr_rep_came(id, ev->msg);
		return;
	}
}

const struct rnic_cm_host cma_cm_host = {.request = request_came, .event = event_came};

void cma_removed(struct cma_id *id)
{
	if (id->cm)
		rnic_cm_destroy(id->cm, umem_clock());
	id->cm = NULL;
	id->dev = NULL;
	id->state = CMA_REMOVED;
	if (!cma_id_deaf(id))
		ucma_event_add(ucma_event_new(id, CMA_EV_DEVICE_REMOVAL, 0));
}
