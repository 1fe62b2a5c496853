/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connection management of the virtual side: see virtual_cm.h. */
#include "config.h"

#include "virtual_cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "line_cm.h"
#include "rnic/cm.h"

#define GUID 0x0200007ffffe0001ull
#define QPN 0x51
#define LID_PERMISSIVE 0xffff
#define RESPONSE_TIMEOUT 20 /* as rnicd */
#define CM_RETRIES 15
#define SPACE_UDP 0x111u
#define SIDR_REQ_DATA (CM_SIDR_REQ_PRIVATE - CM_HEADER_LEN)
#define REQ_DATA (CM_REQ_PRIVATE - CM_HEADER_LEN)

/* Events, numbered as librdmacm does. */
enum told {
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE,
	CONNECT_ERROR,
	UNREACHABLE,
	REJECTED,
	ESTABLISHED,
	DISCONNECTED,
	TIMEWAIT_EXIT = 15,
};

struct v_cm {
	struct v_cm *next;
	char name[V_NAME_MAX]; /* "": the script has not been told of it */
	struct rnic_cm *cm;    /* NULL: it listens */
	uint64_t service_id;
	uint64_t backlog;
	bool heard; /* the script has taken it over: it is told what happens */
	bool passive, down;
};

struct v_cm_event {
	struct v_cm_event *next;
	struct v_cm *id, *born;
	enum told type;
	int status;
	struct cm_msg msg;	    /* type 0: none came */
	uint32_t data_at, data_len; /* of its private data */
};

static struct v_cm *cm_find(struct virtual_side *v, struct args *a, bool connection)
{
	const char *name = args_str(a, "name", "");

	for (struct v_cm *c = v->cms; c; c = c->next)
		if (!strcmp(c->name, name) && (!connection || c->cm))
			return c;
	args_wrong(a, "there is no cm \"%s\"", name);
	return NULL;
}

static struct v_cm *cm_new(struct virtual_side *v, const char *name)
{
	struct v_cm *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->next = v->cms;
	v->cms = c;
	return c;
}

static void events_forget(struct virtual_side *v, const struct v_cm *c)
{
	struct v_cm_event **p = &v->cm_first;

	while (*p) {
		struct v_cm_event *e = *p;

		if (e->id == c || e->born == c) {
			*p = e->next;
			free(e);
		} else {
			p = &e->next;
		}
	}
	v->cm_last = p;
}

static void cm_forget(struct virtual_side *v, struct v_cm *c)
{
	struct v_cm **p = &v->cms;

	events_forget(v, c);
	if (c->cm)
		rnic_cm_destroy(c->cm, v->now);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	free(c);
}

static struct v_cm_event *tell(struct virtual_side *v, struct v_cm *c, enum told type, int status,
			       const struct cm_msg *msg)
{
	struct v_cm_event *e = calloc(1, sizeof(*e));

	if (!e)
		abort();
	e->id = c;
	e->type = type;
	e->status = status;
	if (msg) {
		e->msg = *msg;
		e->data_len = cm_private_len(msg->type);
	}
	*v->cm_last = e;
	v->cm_last = &e->next;
	return e;
}

static struct v_cm *listener(struct virtual_side *v, const struct cm_msg *msg)
{
	for (struct v_cm *c = v->cms; c; c = c->next)
		if (!c->cm && c->service_id == msg->service_id)
			return c;
	return NULL;
}

static uint16_t request(void *host, struct rnic_cm *cm, const struct cm_msg *msg)
{
	struct virtual_side *v = host;
	struct v_cm *l = listener(v, msg), *c;
	struct v_cm_event *e;

	if (!l)
		return msg->type == CM_SIDR_REQ ? CM_SIDR_UNSUPPORTED : CM_REJ_INVALID_SERVICE_ID;
	if (!l->backlog)
		return msg->type == CM_SIDR_REQ ? CM_SIDR_REJECT : RNIC_CM_SILENCE;
	if (msg->private_data[0] != 0) /* a header of another version */
		return msg->type == CM_SIDR_REQ ? CM_SIDR_REJECT : CM_REJ_CONSUMER;
	l->backlog--;
	c = cm_new(v, "");
	c->cm = cm;
	c->passive = true;
	c->service_id = msg->service_id;
	rnic_cm_user_set(cm, c);
	e = tell(v, l, CONNECT_REQUEST, 0, msg);
	e->born = c;
	e->data_at = CM_HEADER_LEN;
	e->data_len -= CM_HEADER_LEN;
	return 0;
}

static void disconnected(struct virtual_side *v, struct v_cm *c, int status,
			 const struct cm_msg *msg)
{
	if (!c->down)
		tell(v, c, DISCONNECTED, status, msg);
	c->down = true;
}

static void event(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev)
{
	struct virtual_side *v = host;
	struct v_cm *c = user;

	(void)cm;
	if (!c->heard)
		return;
	switch (ev->type) {
	case RNIC_CM_EV_REP:
		tell(v, c, CONNECT_RESPONSE, 0, ev->msg);
		return;
	case RNIC_CM_EV_ESTABLISHED:
		tell(v, c, ESTABLISHED, 0, ev->msg);
		return;
	case RNIC_CM_EV_REJ:
		tell(v, c, REJECTED, ev->msg->reason, ev->msg);
		return;
	case RNIC_CM_EV_UNREACHABLE:
		tell(v, c, c->passive ? CONNECT_ERROR : UNREACHABLE, -ETIMEDOUT, NULL);
		return;
	case RNIC_CM_EV_DREQ:
		disconnected(v, c, 0, ev->msg);
		return;
	case RNIC_CM_EV_DISCONNECTED:
		disconnected(v, c, ev->msg ? 0 : -ETIMEDOUT, ev->msg);
		return;
	case RNIC_CM_EV_TIMEWAIT_EXIT:
		if (c->down)
			tell(v, c, TIMEWAIT_EXIT, 0, NULL);
		return;
	case RNIC_CM_EV_SIDR_REP:
		tell(v, c, ev->msg->status ? UNREACHABLE : ESTABLISHED, ev->msg->status, ev->msg);
		return;
	}
}

static const struct rnic_cm_host host_ops = {.request = request, .event = event};

bool v_cm_begin(struct virtual_side *v)
{
	v->cm_last = &v->cm_first;
	return rnic_cm_start(v->dev, &host_ops, v, GUID) == 0;
}

void v_cm_end(struct virtual_side *v)
{
	while (v->cms)
		cm_forget(v, v->cms);
}

/* ---- verbs ---- */

static uint64_t service_read(struct args *a)
{
	return args_num(a, "space", CM_SPACE_TCP) << 16 | (args_num(a, "port", CM_PORT) & 0xffff);
}

static bool is_udp(const struct v_cm *c)
{
	return c->service_id >> 16 == SPACE_UDP;
}

int v_cm_listen(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_new(v, args_str(a, "name", ""));

	(void)reply;
	c->service_id = service_read(a);
	c->backlog = args_num(a, "backlog", 1024);
	return 0;
}

/* private=HEX to msg, behind the header of its type. False: too much. */
static bool private_read(struct args *a, struct cm_msg *msg, uint32_t at, uint32_t room)
{
	const char *hex = args_str(a, "private", "");
	char spec[2 * CM_PRIVATE_MAX + 8];

	snprintf(spec, sizeof(spec), "hex:%s", hex);
	return strlen(hex) / 2 <= room && data_fill(spec, msg->private_data + at, 0, room) >= 0;
}

static void conn_read(struct args *a, struct cm_msg *msg)
{
	msg->qpn = (uint32_t)args_num(a, "qpn", QPN);
	msg->starting_psn = (uint32_t)args_num(a, "psn", 2000);
	msg->responder_resources = (uint8_t)args_num(a, "resources", 4);
	msg->initiator_depth = (uint8_t)args_num(a, "depth", 4);
	msg->flow_control = (uint8_t)args_num(a, "flow_control", 0);
	msg->retry_count = (uint8_t)args_num(a, "retry_count", 7) & 7;
	msg->rnr_retry_count = (uint8_t)args_num(a, "rnr_retry_count", 7) & 7;
	msg->srq = (uint8_t)args_num(a, "srq", 0);
}

static void ece_read(struct args *a, struct cm_msg *msg)
{
	cm_vendor_set(msg, (uint32_t)args_num(a, "vendor", 0));
	msg->attr_mod = (uint32_t)args_num(a, "options", 0);
}

static void av_read(struct virtual_side *v, const char *to, struct rnic_av *av)
{
	*av = (struct rnic_av){.sgid_index = 1, .grh = true, .port_num = 1, .hop_limit = 64};
	memcpy(av->sgid, rnic_gid_get(v->dev, 1), 16);
	av->dgid[10] = av->dgid[11] = 0xff;
	inet_pton(AF_INET, to, av->dgid + 12);
}

static int connect_send(struct virtual_side *v, struct v_cm *c, const char *to, struct args *a)
{
	struct cm_msg msg = {.service_id = c->service_id,
			     .pkey = 0xffff,
			     .remote_timeout = RESPONSE_TIMEOUT,
			     .max_cm_retries = CM_RETRIES};
	struct rnic_av av;

	av_read(v, to, &av);
	cm_header_put(msg.private_data, v->side.gid, to, 0x8001);
	if (!private_read(a, &msg, CM_HEADER_LEN, is_udp(c) ? SIDR_REQ_DATA : REQ_DATA))
		return -EINVAL;
	if (is_udp(c))
		return rnic_cm_sidr_req(c->cm, v->now, &av, &msg);
	conn_read(a, &msg);
	ece_read(a, &msg);
	msg.local_timeout = RESPONSE_TIMEOUT;
	msg.path_mtu = (uint8_t)rnic_port_mtu(v->dev);
	msg.primary = (struct cm_path){.local_lid = LID_PERMISSIVE,
				       .remote_lid = LID_PERMISSIVE,
				       .hop_limit = av.hop_limit,
				       .ack_timeout = 19};
	memcpy(msg.primary.local_gid, av.sgid, 16);
	memcpy(msg.primary.remote_gid, av.dgid, 16);
	return rnic_cm_req(c->cm, v->now, &av, &msg);
}

/* An ID that is there already asks once more, if it may. */
int v_cm_connect(struct virtual_side *v, struct args *a, struct text *reply)
{
	const char *name = args_str(a, "name", ""), *to = args_str(a, "to", "");
	struct v_cm *c = v->cms;
	bool is_new;
	int ret;

	(void)reply;
	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	is_new = !c;
	if (is_new) {
		c = cm_new(v, name);
		c->cm = rnic_cm_create(v->dev, c);
		c->heard = true;
	}
	if (!c->cm)
		return EINVAL;
	c->service_id = service_read(a);
	ret = connect_send(v, c, to, a);
	if (ret && is_new)
		cm_forget(v, c);
	return -ret;
}

int v_cm_accept(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, true);
	struct cm_msg msg = {.qkey = (uint32_t)args_num(a, "qkey", 0x01234567)};

	(void)reply;
	if (!c)
		return EINVAL;
	conn_read(a, &msg);
	ece_read(a, &msg);
	msg.target_ack_delay = 15;
	c->heard = true;
	if (!private_read(a, &msg, 0, is_udp(c) ? CM_SIDR_REP_PRIVATE : CM_REP_PRIVATE))
		return EINVAL;
	return -(is_udp(c) ? rnic_cm_sidr_rep : rnic_cm_rep)(c->cm, v->now, &msg);
}

int v_cm_establish(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, true);
	struct cm_msg msg = {0};

	(void)reply;
	return c ? -rnic_cm_rtu(c->cm, v->now, &msg) : EINVAL;
}

int v_cm_reject(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, true);
	struct cm_msg msg = {.reason = (uint16_t)args_num(a, "reason", CM_REJ_CONSUMER),
			     .status = CM_SIDR_REJECT};

	(void)reply;
	if (!c || !private_read(a, &msg, 0, is_udp(c) ? CM_SIDR_REP_PRIVATE : CM_REJ_PRIVATE))
		return EINVAL;
	return -(is_udp(c) ? rnic_cm_sidr_rep : rnic_cm_rej)(c->cm, v->now, &msg);
}

/* A wish of one's own, or the answer to the peer's. */
int v_cm_disconnect(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, true);
	struct cm_msg msg = {0};

	(void)reply;
	if (!c)
		return EINVAL;
	if (rnic_cm_dreq(c->cm, v->now, &msg))
		(void)rnic_cm_drep(c->cm, v->now, &msg);
	return 0;
}

int v_cm_notify(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, true);
	int ret = c ? rnic_cm_notify(c->cm, v->now) : -EINVAL;

	(void)reply;
	return -ret;
}

int v_cm_destroy(struct virtual_side *v, struct args *a, struct text *reply)
{
	struct v_cm *c = cm_find(v, a, false);

	(void)reply;
	if (!c)
		return EINVAL;
	cm_forget(v, c);
	return 0;
}

static bool has_event(void *arg)
{
	return ((struct virtual_side *)arg)->cm_first != NULL;
}

/* cm_event new=NAME wait=TIME */
int v_cm_event(struct virtual_side *v, struct args *a, struct text *reply)
{
	const char *name = args_str(a, "new", "c");
	struct v_cm_event *e;

	v_until(v, v->now + args_time(a, "wait", 0), has_event, v);
	e = v->cm_first;
	if (!e) {
		text_add(reply, "none");
		return 0;
	}
	v->cm_first = e->next;
	if (!v->cm_first)
		v->cm_last = &v->cm_first;
	text_add(reply, "event=%u of=%s status=%u", (unsigned int)e->type, e->id->name,
		 (uint32_t)e->status);
	if (e->born) {
		snprintf(e->born->name, sizeof(e->born->name), "%s", name);
		e->id->backlog++;
	}
	if (e->data_len) {
		text_add(reply, " qpn=%u qkey=%u resources=%u depth=%u vendor=%u options=%u",
			 e->msg.qpn, e->msg.qkey, e->msg.initiator_depth,
			 e->msg.responder_resources, cm_vendor_get(&e->msg), e->msg.attr_mod);
		text_add(reply, " private=");
		text_hex(reply, e->msg.private_data + e->data_at, e->data_len);
	}
	free(e);
	return 0;
}
