/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's IDs of rdma_cm: see agent_cm.h. */
#include "config.h"

#include "agent_cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data.h"

#define QPN 0x51
#define PORT 7471
#define SPACE_TCP 0x106
#define SPACE_UDP 0x111
#define UD 4
#define RC 2
#define EVENT_COMM_EST 4
#define RESOLVE_MS 60000
#define WAIT_MS 60000

enum { ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4 };

struct agent_cm {
	struct agent_cm *next;
	char name[AGENT_NAME_MAX];
	uint64_t uid;
	uint32_t id;
	bool udp;
};

/* Fetched while another was awaited. */
struct agent_cm_event {
	struct agent_cm_event *next;
	struct rdma_ucm_event_resp resp;
};

/* ---- the device ---- */

static int command(struct agent *ag, uint32_t cmd, const void *in, size_t in_len, size_t out_len)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[512];
	} c = {.hdr = {cmd, (uint16_t)in_len, (uint16_t)out_len}};
	size_t len = sizeof(c.hdr) + in_len;

	if (ag->cm_fd <= 0)
		ag->cm_fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	if (ag->cm_fd < 0)
		return errno;
	memcpy(c.body, in, in_len);
	return write(ag->cm_fd, &c, len) == (ssize_t)len ? 0 : errno;
}

static uint64_t place(void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static struct agent_cm *cm_by_uid(struct agent *ag, uint64_t uid)
{
	struct agent_cm *c = ag->cms;

	while (c && c->uid != uid)
		c = c->next;
	return c;
}

static struct agent_cm *cm_by_name(struct agent *ag, const char *name)
{
	struct agent_cm *c = ag->cms;

	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

static struct agent_cm *cm_find(struct agent *ag, struct args *a)
{
	const char *name = args_str(a, "name", "");
	struct agent_cm *c = cm_by_name(ag, name);

	if (!c)
		args_wrong(a, "there is no cm \"%s\"", name);
	return c;
}

static struct agent_cm *cm_enter(struct agent *ag, const char *name)
{
	struct agent_cm *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->uid = ++ag->cm_uid;
	c->next = ag->cms;
	ag->cms = c;
	return c;
}

static void cm_forget(struct agent *ag, struct agent_cm *c)
{
	struct agent_cm **p = &ag->cms;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	free(c);
}

static int cm_create(struct agent *ag, struct args *a, struct agent_cm **out)
{
	struct agent_cm *c = cm_enter(ag, args_str(a, "name", ""));
	struct rdma_ucm_create_id_resp resp = {0};
	struct rdma_ucm_create_id req = {.uid = c->uid, .response = place(&resp)};
	int ret;

	req.ps = (uint16_t)args_num(a, "space", SPACE_TCP);
	c->udp = req.ps == SPACE_UDP;
	req.qp_type = c->udp ? UD : RC;
	ret = command(ag, RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req), sizeof(resp));
	if (ret)
		cm_forget(ag, c);
	c->id = resp.id;
	*out = c;
	return ret;
}

static int destroy(struct agent *ag, struct agent_cm *c)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req = {.id = c->id, .response = place(&resp)};
	int ret = command(ag, RDMA_USER_CM_CMD_DESTROY_ID, &req, sizeof(req), sizeof(resp));

	cm_forget(ag, c);
	return ret;
}

/* ---- events ---- */

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fd > 0 && poll(&p, 1, ms) == 1;
}

static bool event_fetch(struct agent *ag, int ms, struct rdma_ucm_event_resp *resp)
{
	struct rdma_ucm_get_event req = {.response = place(resp)};

	memset(resp, 0, sizeof(*resp));
	return readable(ag->cm_fd, ms) &&
	       command(ag, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), sizeof(*resp)) == 0;
}

/* This event of this ID; others are kept for later. 0 or an errno. */
static int event_await(struct agent *ag, const struct agent_cm *c, uint32_t type)
{
	struct agent_cm_event **end = &ag->cm_events, *kept;
	struct rdma_ucm_event_resp resp;

	while (event_fetch(ag, WAIT_MS, &resp)) {
		if (resp.uid == c->uid && resp.event == type)
			return 0;
		if (resp.uid == c->uid)
			return resp.status ? -(int)resp.status : EPROTO;
		kept = calloc(1, sizeof(*kept));
		if (!kept)
			abort();
		kept->resp = resp;
		while (*end)
			end = &(*end)->next;
		*end = kept;
	}
	return ETIMEDOUT;
}

static bool event_next(struct agent *ag, int ms, struct rdma_ucm_event_resp *resp)
{
	struct agent_cm_event *kept = ag->cm_events;

	if (!kept)
		return event_fetch(ag, ms, resp);
	*resp = kept->resp;
	ag->cm_events = kept->next;
	free(kept);
	return true;
}

static void event_tell(const struct agent_cm *c, const struct rdma_ucm_event_resp *e,
		       struct text *reply)
{
	const struct rdma_ucm_conn_param *conn = &e->param.conn;
	const struct rdma_ucm_ud_param *ud = &e->param.ud;

	text_add(reply, "event=%u of=%s status=%u", e->event, c ? c->name : "?", e->status);
	text_add(reply, " vendor=%u options=%u", e->ece.vendor_id, e->ece.attr_mod);
	if (c && c->udp && ud->private_data_len) {
		text_add(reply, " qpn=%u qkey=%u private=", ud->qp_num, ud->qkey);
		text_hex(reply, ud->private_data, ud->private_data_len);
	} else if (conn->private_data_len) {
		text_add(reply, " qpn=%u resources=%u depth=%u private=", conn->qp_num,
			 conn->responder_resources, conn->initiator_depth);
		text_hex(reply, conn->private_data, conn->private_data_len);
	}
}

/* cm_event new=NAME wait=TIME */
int agent_cm_event(struct agent *ag, struct args *a, struct text *reply)
{
	const char *name = args_str(a, "new", "c");
	int ms = (int)(args_time(a, "wait", 0) / 1000000);
	struct rdma_ucm_event_resp resp;
	struct agent_cm *c, *born;

	if (!event_next(ag, ms, &resp)) {
		text_add(reply, "none");
		return 0;
	}
	c = cm_by_uid(ag, resp.uid);
	event_tell(c, &resp, reply);
	if (resp.event == CONNECT_REQUEST) {
		born = cm_enter(ag, name);
		born->id = resp.id;
		born->udp = c && c->udp;
	}
	return 0;
}

/* ---- verbs ---- */

static struct sockaddr_in address(const char *text, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, text, &in.sin_addr);
	return in;
}

int agent_cm_listen(struct agent *ag, struct args *a, struct text *reply)
{
	struct sockaddr_in at = address(ag->gid, (uint16_t)args_num(a, "port", PORT));
	struct rdma_ucm_bind_ip bind = {0};
	struct rdma_ucm_listen listen = {.backlog = (uint32_t)args_num(a, "backlog", 1024)};
	struct agent_cm *c;
	int ret = cm_create(ag, a, &c);

	(void)reply;
	if (ret)
		return ret;
	bind.id = listen.id = c->id;
	memcpy(&bind.addr, &at, sizeof(at));
	ret = command(ag, RDMA_USER_CM_CMD_BIND_IP, &bind, sizeof(bind), 0);
	if (!ret)
		ret = command(ag, RDMA_USER_CM_CMD_LISTEN, &listen, sizeof(listen), 0);
	if (ret)
		destroy(ag, c);
	return ret;
}

static int resolve(struct agent *ag, struct agent_cm *c, const char *to, uint16_t port)
{
	struct rdma_ucm_resolve_ip ip = {.id = c->id, .timeout_ms = RESOLVE_MS};
	struct rdma_ucm_resolve_route route = {.id = c->id, .timeout_ms = RESOLVE_MS};
	struct sockaddr_in src = address(ag->gid, 0), dst = address(to, port);
	int ret;

	memcpy(&ip.src_addr, &src, sizeof(src));
	memcpy(&ip.dst_addr, &dst, sizeof(dst));
	ret = command(ag, RDMA_USER_CM_CMD_RESOLVE_IP, &ip, sizeof(ip), 0);
	if (!ret)
		ret = event_await(ag, c, ADDR_RESOLVED);
	if (!ret)
		ret = command(ag, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route, sizeof(route), 0);
	return ret ? ret : event_await(ag, c, ROUTE_RESOLVED);
}

static long private_read(struct args *a, uint8_t *buf, size_t room)
{
	char spec[600];
	long n;

	snprintf(spec, sizeof(spec), "hex:%s", args_str(a, "private", ""));
	n = data_fill(spec, buf, 0, room);
	if (n < 0)
		args_wrong(a, "these are no private data");
	return n < 0 ? 0 : n;
}

static void conn_read(struct args *a, struct rdma_ucm_conn_param *p)
{
	*p = (struct rdma_ucm_conn_param){
		.qp_num = (uint32_t)args_num(a, "qpn", QPN),
		.qkey = (uint32_t)args_num(a, "qkey", 0),
		.responder_resources = (uint8_t)args_num(a, "resources", 4),
		.initiator_depth = (uint8_t)args_num(a, "depth", 4),
		.flow_control = (uint8_t)args_num(a, "flow_control", 0),
		.retry_count = (uint8_t)args_num(a, "retry_count", 7),
		.rnr_retry_count = (uint8_t)args_num(a, "rnr_retry_count", 7),
		.srq = (uint8_t)args_num(a, "srq", 0),
		.valid = 1,
	};
	p->private_data_len =
		(uint8_t)private_read(a, p->private_data, sizeof(p->private_data) - 1);
}

static void ece_read(struct args *a, struct rdma_ucm_ece *ece)
{
	ece->vendor_id = (uint32_t)args_num(a, "vendor", 0);
	ece->attr_mod = (uint32_t)args_num(a, "options", 0);
}

/* An ID that is there already asks once more, if it may. */
int agent_cm_connect(struct agent *ag, struct args *a, struct text *reply)
{
	const char *to = args_str(a, "to", "");
	uint16_t port = (uint16_t)args_num(a, "port", PORT);
	struct agent_cm *c = cm_by_name(ag, args_str(a, "name", ""));
	struct rdma_ucm_connect req = {0};
	int ret = 0;

	(void)reply;
	conn_read(a, &req.conn_param);
	ece_read(a, &req.ece);
	if (!c) {
		ret = cm_create(ag, a, &c);
		if (ret)
			return ret;
		ret = resolve(ag, c, to, port);
	}
	req.id = c->id;
	if (!ret)
		ret = command(ag, RDMA_USER_CM_CMD_CONNECT, &req, sizeof(req), 0);
	return ret;
}

int agent_cm_accept(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);
	struct rdma_ucm_accept req = {0};

	(void)reply;
	if (!c)
		return 0;
	req.id = c->id;
	req.uid = c->uid;
	conn_read(a, &req.conn_param);
	ece_read(a, &req.ece);
	return command(ag, RDMA_USER_CM_CMD_ACCEPT, &req, sizeof(req), 0);
}

int agent_cm_establish(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);
	struct rdma_ucm_accept req = {0};

	(void)reply;
	if (!c)
		return 0;
	req.id = c->id;
	req.uid = c->uid;
	return command(ag, RDMA_USER_CM_CMD_ACCEPT, &req, sizeof(req), 0);
}

int agent_cm_reject(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);
	struct rdma_ucm_reject req = {0};

	(void)reply;
	if (!c)
		return 0;
	req.id = c->id;
	req.reason = (uint8_t)args_num(a, "reason", 0);
	req.private_data_len =
		(uint8_t)private_read(a, req.private_data, sizeof(req.private_data) - 1);
	return command(ag, RDMA_USER_CM_CMD_REJECT, &req, sizeof(req), 0);
}

int agent_cm_disconnect(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);
	struct rdma_ucm_disconnect req = {.id = c ? c->id : 0};

	(void)reply;
	return c ? command(ag, RDMA_USER_CM_CMD_DISCONNECT, &req, sizeof(req), 0) : 0;
}

int agent_cm_notify(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);
	struct rdma_ucm_notify req = {.id = c ? c->id : 0, .event = EVENT_COMM_EST};

	(void)reply;
	return c ? command(ag, RDMA_USER_CM_CMD_NOTIFY, &req, sizeof(req), 0) : 0;
}

int agent_cm_destroy(struct agent *ag, struct args *a, struct text *reply)
{
	struct agent_cm *c = cm_find(ag, a);

	(void)reply;
	return c ? destroy(ag, c) : 0;
}

void agent_cm_reset(struct agent *ag)
{
	while (ag->cms)
		destroy(ag, ag->cms);
	while (ag->cm_events) {
		struct agent_cm_event *e = ag->cm_events;

		ag->cm_events = e->next;
		free(e);
	}
	if (ag->cm_fd > 0)
		close(ag->cm_fd);
	ag->cm_fd = 0;
}
