/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rdma_cm (rdma/rdma_user_cm.h), as write() brings them. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "verbs/kernel/capability.h"
#include "verbs/kernel/ucma_priv.h"

#define BACKLOG_MAX 1024 /* as the kernel's net.rdma_ucm.max_backlog */
#define EVENT_LEN_MIN offsetof(struct rdma_ucm_event_resp, reserved)
#define ROUTE_LEN_MIN offsetof(struct rdma_ucm_query_route_resp, ibdev_index)
#define OPTION_LEN_MAX 4

union cm_request {
	struct rdma_ucm_create_id create_id;
	struct rdma_ucm_destroy_id destroy_id;
	struct rdma_ucm_bind_ip bind_ip;
	struct rdma_ucm_bind bind;
	struct rdma_ucm_resolve_ip resolve_ip;
	struct rdma_ucm_resolve_addr resolve_addr;
	struct rdma_ucm_resolve_route resolve_route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr init_qp_attr;
	struct rdma_ucm_get_event get_event;
	struct rdma_ucm_set_option set_option;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_join_ip_mcast join_ip;
	struct rdma_ucm_join_mcast join;
	struct rdma_ucm_migrate_id migrate_id;
};

/* One command, with its own copy of the request. */
struct ucmd_cm {
	struct call *call;
	struct ucma_file *file;
	struct cma_id *id; /* whose it is, where it is one of an ID */
	uint16_t out;
	union cm_request req;
};

static int response(struct ucmd_cm *cmd, uint64_t addr, const void *src, size_t size)
{
	return call_write(cmd->call, addr, src, cmd->out < size ? cmd->out : size);
}

/* librnic.so is to take records out of the socket: events that wait no more. */
static void records_gone(struct ucmd_cm *cmd, uint32_t n, int32_t fd)
{
	cmd->call->fd_info[0] = (struct rnic_ctl_fd){
		.kind = RNIC_FD_UCMA, .where = n, .rdev = (uint64_t)(int64_t)(fd + 1)};
}

static int id_find(struct ucmd_cm *cmd, uint32_t number, struct cma_id **id)
{
	int rc;

	*id = cma_id_find(cmd->file, number, &rc);
	return rc;
}

static int qp_type_of(uint16_t ps, uint8_t asked, uint8_t *type)
{
	switch (ps) {
	case RDMA_PS_TCP:
		*type = RNIC_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*type = RNIC_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		*type = asked;
		return 0;
	default:
		return -EINVAL;
	}
}

static int do_create_id(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_create_id *req = &cmd->req.create_id;
	struct rdma_ucm_create_id_resp resp;
	struct cma_id *id;
	uint8_t type;
	int rc = qp_type_of(req->ps, req->qp_type, &type);

	if (!rc)
		rc = cma_id_create(cmd->file, req->ps, type, req->uid, &id);
	if (rc)
		return rc;
	rc = cma_id_number(id);
	resp.id = id->number;
	if (!rc)
		rc = response(cmd, req->response, &resp, sizeof(resp));
	if (rc)
		cma_id_destroy(id);
	return rc;
}

static int do_destroy_id(struct ucmd_cm *cmd)
{
	struct rdma_ucm_destroy_id_resp resp = {.events_reported = cmd->id->events_reported};
	int rc = response(cmd, cmd->req.destroy_id.response, &resp, sizeof(resp));

	records_gone(cmd, ucma_events_forget(cmd->file, cmd->id, NULL), -1);
	cma_id_destroy(cmd->id);
	return rc;
}

/* Asked only where it matters: for that the process is looked at. */
static void low_ports_ask(struct ucmd_cm *cmd, struct cma_id *id, const union cma_addr *a)
{
	uint16_t port = cma_addr_port(a);

	if (port && port < CMA_PORT_LOW)
		id->low_ports = session_has(cmd->call->session, CAPABILITY_NET_BIND_SERVICE);
}

static int bind_to(struct ucmd_cm *cmd, uint32_t number, const void *addr, size_t len)
{
	union cma_addr a = {0};
	struct cma_id *id;
	int rc = id_find(cmd, number, &id);

	if (rc)
		return rc;
	memcpy(&a, addr, len < sizeof(a) ? len : sizeof(a));
	rc = cma_addr_check(&a, len);
	if (rc)
		return rc;
	low_ports_ask(cmd, id, &a);
	return cma_bind(id, &a);
}

static int do_bind_ip(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_bind_ip *req = &cmd->req.bind_ip;

	return bind_to(cmd, req->id, &req->addr, sizeof(req->addr));
}

static int do_bind(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_bind *req = &cmd->req.bind;

	if (req->reserved || req->addr_size > sizeof(req->addr))
		return -EINVAL;
	return bind_to(cmd, req->id, &req->addr, req->addr_size);
}

static int resolve(struct ucmd_cm *cmd, uint32_t number, const void *src, size_t src_len,
		   const void *dst, size_t dst_len)
{
	union cma_addr from = {0}, to = {0};
	struct cma_id *id;
	int rc = id_find(cmd, number, &id);

	if (rc)
		return rc;
	memcpy(&from, src, src_len);
	memcpy(&to, dst, dst_len);
	rc = ucma_events_full(cmd->file) ? -ENOMEM : cma_addr_check(&to, dst_len);
	if (!rc && from.sa.sa_family)
		rc = cma_addr_check(&from, src_len);
	if (!rc)
		low_ports_ask(cmd, id, &from);
	return rc ? rc : cma_resolve_addr(id, from.sa.sa_family ? &from : NULL, &to);
}

static int do_resolve_ip(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_resolve_ip *req = &cmd->req.resolve_ip;

	return resolve(cmd, req->id, &req->src_addr, sizeof(req->src_addr), &req->dst_addr,
		       sizeof(req->dst_addr));
}

static int do_resolve_addr(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_resolve_addr *req = &cmd->req.resolve_addr;

	if (req->reserved || req->src_size > sizeof(req->src_addr) || !req->dst_size ||
	    req->dst_size > sizeof(req->dst_addr))
		return -EINVAL;
	return resolve(cmd, req->id, &req->src_addr, req->src_size, &req->dst_addr, req->dst_size);
}

static int do_resolve_route(struct ucmd_cm *cmd)
{
	struct cma_id *id = cmd->id;

	if (id->state != CMA_ADDR_RESOLVED)
		return -EINVAL;
	if (ucma_events_full(cmd->file))
		return -ENOMEM;
	if (id->tos_set)
		id->av.traffic_class = id->tos;
	id->state = CMA_ROUTE_RESOLVED;
	ucma_event_add(ucma_event_new(id, CMA_EV_ROUTE_RESOLVED, 0));
	return 0;
}

static int do_query_route(struct ucmd_cm *cmd)
{
	struct rdma_ucm_query_route_resp resp;

	cma_query_route(cmd->id, &resp);
	return response(cmd, cmd->req.query.response, &resp, sizeof(resp));
}

static int query_path(struct ucmd_cm *cmd)
{
	union {
		struct rdma_ucm_query_path_resp head;
		uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
			     sizeof(struct ib_path_rec_data)]; /* one path */
	} resp = {.room = {0}};

	if (cmd->out < sizeof(resp.head))
		return -ENOSPC;
	resp.head.num_paths = cma_query_path(cmd->id, resp.head.path_data);
	return response(cmd, cmd->req.query.response, &resp, sizeof(resp));
}

static int do_query(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_query *req = &cmd->req.query;
	struct rdma_ucm_query_addr_resp resp;

	if (req->option == RDMA_USER_CM_QUERY_PATH)
		return query_path(cmd);
	if (req->option != RDMA_USER_CM_QUERY_ADDR && req->option != RDMA_USER_CM_QUERY_GID)
		return -ENOSYS;
	if (cmd->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	(req->option == RDMA_USER_CM_QUERY_ADDR ? cma_query_addr : cma_query_gid)(cmd->id, &resp);
	return response(cmd, req->response, &resp, sizeof(resp));
}

static int do_connect(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_connect *req = &cmd->req.connect;
	struct cma_id *id;
	int rc = req->conn_param.valid ? id_find(cmd, req->id, &id) : -EINVAL;

	if (rc)
		return rc;
	id->ece = req->ece;
	return cma_connect(id, &req->conn_param);
}

static int do_listen(struct ucmd_cm *cmd)
{
	uint32_t backlog = cmd->req.listen.backlog;

	return cma_listen(cmd->id, backlog && backlog <= BACKLOG_MAX ? backlog : BACKLOG_MAX);
}

static int do_accept(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_accept *req = &cmd->req.accept;

	if (req->conn_param.valid) {
		cmd->id->uid = req->uid;
		cmd->id->ece = req->ece;
	}
	return cma_accept(cmd->id, &req->conn_param);
}

static int do_reject(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_reject *req = &cmd->req.reject;

	return cma_reject(cmd->id, req->private_data, req->private_data_len, req->reason);
}

static int do_disconnect(struct ucmd_cm *cmd)
{
	return cma_disconnect(cmd->id);
}

static int do_init_qp_attr(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_init_qp_attr *req = &cmd->req.init_qp_attr;
	struct ib_uverbs_qp_attr resp;

	if (req->qp_state > RNIC_QPS_ERR || !cmd->id->dev)
		return -EINVAL;
	cma_qp_attr(cmd->id, req->qp_state, &resp);
	return response(cmd, req->response, &resp, sizeof(resp));
}

/* No command may name an ID whose event has not been told. */
static int event_tell(struct ucmd_cm *cmd, uint64_t to, struct ucma_event *ev)
{
	int rc = ev->born ? cma_id_number(ev->born) : 0;

	if (rc)
		return rc;
	if (ev->born)
		ev->resp.id = ev->born->number;
	rc = response(cmd, to, &ev->resp, sizeof(ev->resp));
	if (rc && ev->born)
		cma_id_unnumber(ev->born);
	return rc;
}

static int do_get_event(struct ucmd_cm *cmd)
{
	struct ucma_event *ev = cmd->file->head;
	int rc;

	if (!ev)
		return RNIC_CTL_WAIT;
	rc = event_tell(cmd, cmd->req.get_event.response, ev);
	if (rc)
		return rc;
	if (ev->born)
		ev->id->backlog++;
	ev->id->events_reported++;
	if (ev->mcast)
		cma_mcast_reported(ev->mcast);
	records_gone(cmd, ucma_event_fetched(cmd->file), -1);
	return 0;
}

static int do_set_option(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_set_option *req = &cmd->req.set_option;
	uint8_t value[OPTION_LEN_MAX] = {0};
	int rc;

	if (req->level != RDMA_OPTION_ID)
		return -ENOSYS;
	if (!req->optlen || req->optlen > sizeof(value))
		return -EINVAL;
	rc = call_read(cmd->call, value, req->optval, req->optlen);
	return rc ? rc : cma_option_set(cmd->id, req->optname, value, req->optlen);
}

static int do_notify(struct ucmd_cm *cmd)
{
	return cma_notify(cmd->id, cmd->req.notify.event);
}

static int join(struct ucmd_cm *cmd, uint32_t number, const void *addr, size_t len, uint64_t uid,
		uint16_t flags, uint64_t to)
{
	struct rdma_ucm_create_id_resp resp;
	union cma_addr group = {0};
	struct cma_id *id;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = id_find(cmd, number, &id);
	if (rc)
		return rc;
	memcpy(&group, addr, len < sizeof(group) ? len : sizeof(group));
	rc = ucma_events_full(cmd->file) ? -ENOMEM : cma_addr_check(&group, len);
	if (!rc)
		rc = cma_join(id, &group, uid, flags, &resp.id);
	if (rc)
		return rc;
	/* Only a join that has been answered has an event. */
	rc = response(cmd, to, &resp, sizeof(resp));
	if (rc)
		(void)cma_leave(cmd->file, resp.id);
	else
		cma_joined(cmd->file, resp.id);
	return rc;
}

static int do_join_ip_mcast(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_join_ip_mcast *req = &cmd->req.join_ip;

	return join(cmd, req->id, &req->addr, sizeof(req->addr), req->uid,
		    RDMA_MC_JOIN_FLAG_FULLMEMBER, req->response);
}

static int do_join_mcast(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_join_mcast *req = &cmd->req.join;

	if (req->addr_size > sizeof(req->addr))
		return -EINVAL;
	return join(cmd, req->id, &req->addr, req->addr_size, req->uid, req->join_flags,
		    req->response);
}

static int do_leave_mcast(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_destroy_id *req = &cmd->req.destroy_id;
	struct rdma_ucm_destroy_id_resp resp;
	int rc = cma_mcast_events(cmd->file, req->id, &resp.events_reported);

	if (!rc)
		rc = response(cmd, req->response, &resp, sizeof(resp));
	if (!rc)
		records_gone(cmd, cma_leave(cmd->file, req->id), -1);
	return rc;
}

/* The command is given to the new channel, and names the old one by its descriptor. */
static int do_migrate_id(struct ucmd_cm *cmd)
{
	const struct rdma_ucm_migrate_id *req = &cmd->req.migrate_id;
	struct rdma_ucm_migrate_resp resp;
	struct ucma_file *from;
	struct cma_id *id;
	int rc = call_ucma(cmd->call, (int32_t)req->fd, &from);

	if (rc)
		return rc;
	id = cma_id_find(from, req->id, &rc);
	if (rc)
		return rc;
	resp.events_reported = id->events_reported;
	rc = response(cmd, req->response, &resp, sizeof(resp));
	if (!rc && from != cmd->file)
		records_gone(cmd, cma_id_move(id, cmd->file), (int32_t)req->fd);
	return rc;
}

/* What a command of a kind has, which is looked at before it is done, in this order. */
struct cm_kind {
	int (*run)(struct ucmd_cm *cmd);
	uint16_t size;	  /* of the request, as far as this kernel knows it */
	uint16_t out, in; /* the least room for the response, the shortest request */
	bool of_id;	  /* of the ID whose number stands in the request */
	uint16_t id_at;
};

#define REQUEST(name) .size = sizeof(((union cm_request *)NULL)->name)
#define OF_ID(name) REQUEST(name), .of_id = true, .id_at = offsetof(union cm_request, name.id)

static const struct cm_kind kinds[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {do_create_id, REQUEST(create_id),
					.out = sizeof(struct rdma_ucm_create_id_resp)},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {do_destroy_id, OF_ID(destroy_id),
					 .out = sizeof(struct rdma_ucm_destroy_id_resp)},
	[RDMA_USER_CM_CMD_BIND_IP] = {do_bind_ip, REQUEST(bind_ip)},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {do_resolve_ip, REQUEST(resolve_ip)},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {do_resolve_route, OF_ID(resolve_route)},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {do_query_route, OF_ID(query), .out = ROUTE_LEN_MIN},
	[RDMA_USER_CM_CMD_CONNECT] = {do_connect, REQUEST(connect),
				      .in = offsetof(struct rdma_ucm_connect, ece)},
	[RDMA_USER_CM_CMD_LISTEN] = {do_listen, OF_ID(listen)},
	[RDMA_USER_CM_CMD_ACCEPT] = {do_accept, OF_ID(accept),
				     .in = offsetof(struct rdma_ucm_accept, ece)},
	[RDMA_USER_CM_CMD_REJECT] = {do_reject, OF_ID(reject)},
	[RDMA_USER_CM_CMD_DISCONNECT] = {do_disconnect, OF_ID(disconnect)},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {do_init_qp_attr, OF_ID(init_qp_attr),
					   .out = sizeof(struct ib_uverbs_qp_attr)},
	[RDMA_USER_CM_CMD_GET_EVENT] = {do_get_event, REQUEST(get_event), .out = EVENT_LEN_MIN},
	[RDMA_USER_CM_CMD_SET_OPTION] = {do_set_option, OF_ID(set_option)},
	[RDMA_USER_CM_CMD_NOTIFY] = {do_notify, OF_ID(notify)},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {do_join_ip_mcast, REQUEST(join_ip)},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {do_leave_mcast, REQUEST(destroy_id),
					  .out = sizeof(struct rdma_ucm_destroy_id_resp)},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {do_migrate_id, REQUEST(migrate_id),
					 .out = sizeof(struct rdma_ucm_migrate_resp)},
	[RDMA_USER_CM_CMD_QUERY] = {do_query, OF_ID(query)},
	[RDMA_USER_CM_CMD_BIND] = {do_bind, REQUEST(bind)},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {do_resolve_addr, REQUEST(resolve_addr)},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {do_join_mcast, REQUEST(join)},
};

/* `in` bytes of the request are at addr: what older programs do not know of it is 0. */
static int command(struct ucmd_cm *cmd, const struct cm_kind *kind, uint64_t addr, uint16_t in)
{
	uint32_t number;
	int rc;

	if (cmd->out < kind->out)
		return -ENOSPC;
	if (in < kind->in)
		return -EINVAL;
	memset(&cmd->req, 0, sizeof(cmd->req));
	rc = call_read(cmd->call, &cmd->req, addr, in < kind->size ? in : kind->size);
	if (!rc && kind->of_id) {
		memcpy(&number, (const uint8_t *)&cmd->req + kind->id_at, sizeof(number));
		rc = id_find(cmd, number, &cmd->id);
	}
	return rc ? rc : kind->run(cmd);
}

int64_t ucma_write(struct call *call, struct ucma_file *file, uint64_t addr, uint64_t len)
{
	struct ucmd_cm cmd;
	struct rdma_ucm_cmd_hdr hdr;
	int rc;

	if (len < sizeof(hdr))
		return -EINVAL;
	rc = call_read(call, &hdr, addr, sizeof(hdr));
	if (rc)
		return rc;
	if (hdr.cmd >= sizeof(kinds) / sizeof(kinds[0]) || hdr.in + sizeof(hdr) > len)
		return -EINVAL;
	if (!kinds[hdr.cmd].run)
		return -ENOSYS;
	cmd.call = call;
	cmd.file = file;
	cmd.id = NULL;
	cmd.out = hdr.out;
	rc = command(&cmd, &kinds[hdr.cmd], addr + sizeof(hdr), hdr.in);
	return rc ? rc : (int64_t)len;
}
