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
#define OPTION_LEN_MAX 4

/* One command. `in` bytes of it follow the header at addr. */
struct ucmd_cm {
	struct call *call;
	struct ucma_file *file;
	uint64_t addr;
	uint16_t in, out;
};

/* Shorter input is filled with zeros: older programs know fewer fields. */
static int request(struct ucmd_cm *cmd, void *dst, size_t size)
{
	memset(dst, 0, size);
	return call_read(cmd->call, dst, cmd->addr, cmd->in < size ? cmd->in : size);
}

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
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req;
	struct cma_id *id;
	uint8_t type;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = qp_type_of(req.ps, req.qp_type, &type);
	if (!rc)
		rc = cma_id_create(cmd->file, req.ps, type, req.uid, &id);
	if (rc)
		return rc;
	rc = cma_id_number(id);
	resp.id = id->number;
	if (!rc)
		rc = response(cmd, req.response, &resp, sizeof(resp));
	if (rc)
		cma_id_destroy(id);
	return rc;
}

static int do_destroy_id(struct ucmd_cm *cmd)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req;
	struct cma_id *id;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	resp.events_reported = id->events_reported;
	rc = response(cmd, req.response, &resp, sizeof(resp));
	records_gone(cmd, ucma_events_forget(cmd->file, id, NULL), -1);
	cma_id_destroy(id);
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
	struct rdma_ucm_bind_ip req;
	int rc = request(cmd, &req, sizeof(req));

	return rc ? rc : bind_to(cmd, req.id, &req.addr, sizeof(req.addr));
}

static int do_bind(struct ucmd_cm *cmd)
{
	struct rdma_ucm_bind req;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc && (req.reserved || req.addr_size > sizeof(req.addr)))
		rc = -EINVAL;
	return rc ? rc : bind_to(cmd, req.id, &req.addr, req.addr_size);
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
	struct rdma_ucm_resolve_ip req;
	int rc = request(cmd, &req, sizeof(req));

	return rc ? rc
		  : resolve(cmd, req.id, &req.src_addr, sizeof(req.src_addr), &req.dst_addr,
			    sizeof(req.dst_addr));
}

static int do_resolve_addr(struct ucmd_cm *cmd)
{
	struct rdma_ucm_resolve_addr req;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc && (req.reserved || req.src_size > sizeof(req.src_addr) || !req.dst_size ||
		    req.dst_size > sizeof(req.dst_addr)))
		rc = -EINVAL;
	return rc ? rc
		  : resolve(cmd, req.id, &req.src_addr, req.src_size, &req.dst_addr, req.dst_size);
}

static int do_resolve_route(struct ucmd_cm *cmd)
{
	struct rdma_ucm_resolve_route req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
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
	struct rdma_ucm_query req;
	struct cma_id *id;
	int rc;

	if (cmd->out < offsetof(struct rdma_ucm_query_route_resp, ibdev_index))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	cma_query_route(id, &resp);
	return response(cmd, req.response, &resp, sizeof(resp));
}

static int query_path(struct ucmd_cm *cmd, const struct rdma_ucm_query *req,
		      const struct cma_id *id)
{
	union {
		struct rdma_ucm_query_path_resp head;
		uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
			     sizeof(struct ib_path_rec_data)]; /* one path */
	} resp = {.room = {0}};

	if (cmd->out < sizeof(resp.head))
		return -ENOSPC;
	resp.head.num_paths = cma_query_path(id, resp.head.path_data);
	return response(cmd, req->response, &resp, sizeof(resp));
}

static int do_query(struct ucmd_cm *cmd)
{
	struct rdma_ucm_query_addr_resp resp;
	struct rdma_ucm_query req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	if (req.option == RDMA_USER_CM_QUERY_PATH)
		return query_path(cmd, &req, id);
	if (req.option != RDMA_USER_CM_QUERY_ADDR && req.option != RDMA_USER_CM_QUERY_GID)
		return -ENOSYS;
	if (cmd->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	(req.option == RDMA_USER_CM_QUERY_ADDR ? cma_query_addr : cma_query_gid)(id, &resp);
	return response(cmd, req.response, &resp, sizeof(resp));
}

static int do_connect(struct ucmd_cm *cmd)
{
	struct rdma_ucm_connect req;
	struct cma_id *id;
	int rc;

	if (cmd->in < offsetof(struct rdma_ucm_connect, ece))
		return -EINVAL;
	rc = request(cmd, &req, sizeof(req));
	if (!rc && !req.conn_param.valid)
		rc = -EINVAL;
	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	id->ece = req.ece;
	return cma_connect(id, &req.conn_param);
}

static int do_listen(struct ucmd_cm *cmd)
{
	struct rdma_ucm_listen req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	if (!req.backlog || req.backlog > BACKLOG_MAX)
		req.backlog = BACKLOG_MAX;
	return cma_listen(id, req.backlog);
}

static int do_accept(struct ucmd_cm *cmd)
{
	struct rdma_ucm_accept req;
	struct cma_id *id;
	int rc;

	if (cmd->in < offsetof(struct rdma_ucm_accept, ece))
		return -EINVAL;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	if (req.conn_param.valid) {
		id->uid = req.uid;
		id->ece = req.ece;
	}
	return cma_accept(id, &req.conn_param);
}

static int do_reject(struct ucmd_cm *cmd)
{
	struct rdma_ucm_reject req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	return rc ? rc : cma_reject(id, req.private_data, req.private_data_len, req.reason);
}

static int do_disconnect(struct ucmd_cm *cmd)
{
	struct rdma_ucm_disconnect req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	return rc ? rc : cma_disconnect(id);
}

static int do_init_qp_attr(struct ucmd_cm *cmd)
{
	struct rdma_ucm_init_qp_attr req;
	struct ib_uverbs_qp_attr resp;
	struct cma_id *id;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (!rc && (req.qp_state > RNIC_QPS_ERR || !id->dev))
		rc = -EINVAL;
	if (rc)
		return rc;
	cma_qp_attr(id, req.qp_state, &resp);
	return response(cmd, req.response, &resp, sizeof(resp));
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
	struct rdma_ucm_get_event req;
	struct ucma_event *ev = cmd->file->head;
	int rc;

	if (cmd->out < EVENT_LEN_MIN)
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (rc)
		return rc;
	if (!ev)
		return RNIC_CTL_WAIT;
	rc = event_tell(cmd, req.response, ev);
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
	uint8_t value[OPTION_LEN_MAX] = {0};
	struct rdma_ucm_set_option req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	if (rc)
		return rc;
	if (req.level != RDMA_OPTION_ID)
		return -ENOSYS;
	if (!req.optlen || req.optlen > sizeof(value))
		return -EINVAL;
	rc = call_read(cmd->call, value, req.optval, req.optlen);
	return rc ? rc : cma_option_set(id, req.optname, value, req.optlen);
}

static int do_notify(struct ucmd_cm *cmd)
{
	struct rdma_ucm_notify req;
	struct cma_id *id;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc)
		rc = id_find(cmd, req.id, &id);
	return rc ? rc : cma_notify(id, req.event);
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
	struct rdma_ucm_join_ip_mcast req;
	int rc = request(cmd, &req, sizeof(req));

	return rc ? rc
		  : join(cmd, req.id, &req.addr, sizeof(req.addr), req.uid,
			 RDMA_MC_JOIN_FLAG_FULLMEMBER, req.response);
}

static int do_join_mcast(struct ucmd_cm *cmd)
{
	struct rdma_ucm_join_mcast req;
	int rc = request(cmd, &req, sizeof(req));

	if (!rc && req.addr_size > sizeof(req.addr))
		rc = -EINVAL;
	return rc ? rc
		  : join(cmd, req.id, &req.addr, req.addr_size, req.uid, req.join_flags,
			 req.response);
}

static int do_leave_mcast(struct ucmd_cm *cmd)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = cma_mcast_events(cmd->file, req.id, &resp.events_reported);
	if (!rc)
		rc = response(cmd, req.response, &resp, sizeof(resp));
	if (!rc)
		records_gone(cmd, cma_leave(cmd->file, req.id), -1);
	return rc;
}

/* The command is given to the new channel, and names the old one by its descriptor. */
static int do_migrate_id(struct ucmd_cm *cmd)
{
	struct rdma_ucm_migrate_resp resp;
	struct rdma_ucm_migrate_id req;
	struct ucma_file *from;
	struct cma_id *id;
	int rc;

	if (cmd->out < sizeof(resp))
		return -ENOSPC;
	rc = request(cmd, &req, sizeof(req));
	if (!rc)
		rc = call_ucma(cmd->call, (int32_t)req.fd, &from);
	if (rc)
		return rc;
	id = cma_id_find(from, req.id, &rc);
	if (rc)
		return rc;
	resp.events_reported = id->events_reported;
	rc = response(cmd, req.response, &resp, sizeof(resp));
	if (!rc && from != cmd->file)
		records_gone(cmd, cma_id_move(id, cmd->file), (int32_t)req.fd);
	return rc;
}

static int (*const commands[])(struct ucmd_cm *cmd) = {
	[RDMA_USER_CM_CMD_CREATE_ID] = do_create_id,
	[RDMA_USER_CM_CMD_DESTROY_ID] = do_destroy_id,
	[RDMA_USER_CM_CMD_BIND_IP] = do_bind_ip,
	[RDMA_USER_CM_CMD_RESOLVE_IP] = do_resolve_ip,
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = do_resolve_route,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = do_query_route,
	[RDMA_USER_CM_CMD_CONNECT] = do_connect,
	[RDMA_USER_CM_CMD_LISTEN] = do_listen,
	[RDMA_USER_CM_CMD_ACCEPT] = do_accept,
	[RDMA_USER_CM_CMD_REJECT] = do_reject,
	[RDMA_USER_CM_CMD_DISCONNECT] = do_disconnect,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = do_init_qp_attr,
	[RDMA_USER_CM_CMD_GET_EVENT] = do_get_event,
	[RDMA_USER_CM_CMD_SET_OPTION] = do_set_option,
	[RDMA_USER_CM_CMD_NOTIFY] = do_notify,
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = do_join_ip_mcast,
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = do_leave_mcast,
	[RDMA_USER_CM_CMD_MIGRATE_ID] = do_migrate_id,
	[RDMA_USER_CM_CMD_QUERY] = do_query,
	[RDMA_USER_CM_CMD_BIND] = do_bind,
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = do_resolve_addr,
	[RDMA_USER_CM_CMD_JOIN_MCAST] = do_join_mcast,
};

int64_t ucma_write(struct call *call, struct ucma_file *file, uint64_t addr, uint64_t len)
{
	struct rdma_ucm_cmd_hdr hdr;
	struct ucmd_cm cmd;
	int rc;

	if (len < sizeof(hdr))
		return -EINVAL;
	rc = call_read(call, &hdr, addr, sizeof(hdr));
	if (rc)
		return rc;
	if (hdr.cmd >= sizeof(commands) / sizeof(commands[0]) || hdr.in + sizeof(hdr) > len)
		return -EINVAL;
	if (!commands[hdr.cmd])
		return -ENOSYS;
	cmd = (struct ucmd_cm){call, file, addr + sizeof(hdr), hdr.in, hdr.out};
	rc = commands[hdr.cmd](&cmd);
	return rc ? rc : (int64_t)len;
}
