/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections from the address to the end; each end has a channel of its own. */
#include <unistd.h>

#include "cm.h"

#define HERE "127.0.0.1"

struct ends {
	int server_fd, client_fd;
	uint16_t space;
	uint32_t listener;
	uint16_t port; /* in network order */
};

/* The port that an ID was given. */
static uint16_t port_of(int fd, uint32_t id)
{
	struct rdma_ucm_query_addr_resp resp = {0};
	struct rdma_ucm_query req = {
		.response = (uintptr_t)&resp, .id = id, .option = RDMA_USER_CM_QUERY_ADDR};
	struct sockaddr_in in;

	MUST(!CM_ANSWERED(fd, QUERY, req, resp) && resp.src_size == sizeof(in));
	memcpy(&in, &resp.src_addr, sizeof(in));
	MUST(in.sin_port && in.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	return in.sin_port;
}

static void ask_listening(struct ends *e)
{
	struct rdma_ucm_bind_ip bind_ip = {.id = cm_create(e->server_fd, e->space)};
	struct rdma_ucm_bind bind = {.id = cm_create(e->server_fd, e->space),
				     .addr_size = sizeof(struct sockaddr_in)};
	struct rdma_ucm_listen listen = {.backlog = 4};
	struct sockaddr_in in = cm_address(HERE, 0);

	memcpy(&bind_ip.addr, &in, sizeof(in));
	memcpy(&bind.addr, &in, sizeof(in));
	WORKS(RDMA_USER_CM_CMD_BIND_IP,
	      !CM_COMMAND(e->server_fd, BIND_IP, bind_ip) && port_of(e->server_fd, bind_ip.id));
	WORKS(RDMA_USER_CM_CMD_BIND,
	      !CM_COMMAND(e->server_fd, BIND, bind) && port_of(e->server_fd, bind.id));
	MUST(cm_destroy(e->server_fd, bind_ip.id));
	e->listener = listen.id = bind.id;
	e->port = port_of(e->server_fd, bind.id);
	WORKS(RDMA_USER_CM_CMD_LISTEN, !CM_COMMAND(e->server_fd, LISTEN, listen));
}

/* By the older command, or by the one that takes any kind of address. */
static uint32_t resolved(const struct ends *e, bool older)
{
	struct rdma_ucm_resolve_ip ip = {.id = cm_create(e->client_fd, e->space),
					 .timeout_ms = 60000};
	struct rdma_ucm_resolve_addr addr = {
		.id = ip.id, .timeout_ms = 60000, .dst_size = sizeof(struct sockaddr_in)};
	struct rdma_ucm_resolve_route route = {.id = ip.id, .timeout_ms = 60000};
	struct sockaddr_in to = cm_address(HERE, ntohs(e->port));

	memcpy(&ip.dst_addr, &to, sizeof(to));
	memcpy(&addr.dst_addr, &to, sizeof(to));
	if (older)
		MUST(!CM_COMMAND(e->client_fd, RESOLVE_IP, ip));
	else
		MUST(!CM_COMMAND(e->client_fd, RESOLVE_ADDR, addr));
	cm_event(e->client_fd, ADDR_RESOLVED);
	ask_works(older ? "RDMA_USER_CM_CMD_RESOLVE_IP" : "RDMA_USER_CM_CMD_RESOLVE_ADDR");
	MUST(!CM_COMMAND(e->client_fd, RESOLVE_ROUTE, route));
	cm_event(e->client_fd, ROUTE_RESOLVED);
	return ip.id;
}

static void ask_queries(const struct ends *e, uint32_t id)
{
	struct rdma_ucm_query_route_resp route = {0};
	_Alignas(8) uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
				 2 * sizeof(struct ib_path_rec_data)] = {0};
	const struct rdma_ucm_query_path_resp *path = (const void *)room;
	struct rdma_ucm_query_addr_resp gid = {0};
	struct ib_uverbs_qp_attr attr = {0};
	struct rdma_ucm_query req = {.response = (uintptr_t)&route, .id = id};
	struct rdma_ucm_init_qp_attr init = {
		.response = (uintptr_t)&attr, .id = id, .qp_state = IBV_QPS_INIT};

	WORKS(RDMA_USER_CM_CMD_QUERY_ROUTE,
	      !CM_ANSWERED(e->client_fd, QUERY_ROUTE, req, route) && route.num_paths == 1);
	MUST(port_of(e->client_fd, id));
	ask_works("RDMA_USER_CM_QUERY_ADDR");
	req.response = (uintptr_t)room;
	req.option = RDMA_USER_CM_QUERY_PATH;
	WORKS(RDMA_USER_CM_QUERY_PATH,
	      !CM_ANSWERED(e->client_fd, QUERY, req, room) && path->num_paths == 1);
	req.response = (uintptr_t)&gid;
	req.option = RDMA_USER_CM_QUERY_GID;
	WORKS(RDMA_USER_CM_QUERY_GID, !CM_ANSWERED(e->client_fd, QUERY, req, gid) && gid.dst_size);
	ask_works("RDMA_USER_CM_CMD_QUERY");
	WORKS(RDMA_USER_CM_CMD_INIT_QP_ATTR, !CM_ANSWERED(e->client_fd, INIT_QP_ATTR, init, attr) &&
						     attr.qp_attr_mask & IBV_QP_STATE &&
						     attr.port_num == 1);
}

/* Asks as that QP; the ID that the server has for it. */
static uint32_t connect_as(const struct ends *e, uint32_t id, uint32_t qpn)
{
	struct rdma_ucm_connect req = {
		.id = id,
		.conn_param = {
			.valid = 1, .qp_num = qpn, .private_data_len = 3, .private_data = "hi"}};
	struct rdma_ucm_event_resp ev;

	MUST(!CM_COMMAND(e->client_fd, CONNECT, req));
	ev = cm_event(e->server_fd, CONNECT_REQUEST);
	if (e->space == RDMA_PS_UDP || e->space == RDMA_PS_IPOIB)
		MUST(!memcmp(ev.param.ud.private_data, "hi", 3));
	else
		MUST(ev.param.conn.qp_num == qpn && !memcmp(ev.param.conn.private_data, "hi", 3));
	return ev.id;
}

static int accept_as(int fd, uint32_t id, uint32_t qpn)
{
	struct rdma_ucm_accept req = {
		.uid = 2, .id = id, .conn_param = {.valid = qpn != 0, .qp_num = qpn}};

	return CM_COMMAND(fd, ACCEPT, req);
}

static void ask_ends(const struct ends *e, uint32_t client, uint32_t server)
{
	struct rdma_ucm_disconnect end = {.id = client};

	MUST(!accept_as(e->server_fd, server, 1001));
	cm_event(e->client_fd, CONNECT_RESPONSE);
	MUST(!accept_as(e->client_fd, client, 0)); /* sends the RTU */
	cm_event(e->server_fd, ESTABLISHED);
	ask_works("RDMA_USER_CM_CMD_ACCEPT");
	MUST(!CM_COMMAND(e->client_fd, DISCONNECT, end));
	WORKS(RDMA_USER_CM_CMD_DISCONNECT, cm_event(e->server_fd, DISCONNECTED).id == server);
	MUST(cm_destroy(e->client_fd, client) && cm_destroy(e->server_fd, server));
}

/* Traffic has come before the RTU. */
static void ask_notify(const struct ends *e)
{
	uint32_t client = resolved(e, false), server = connect_as(e, client, 1002);
	struct rdma_ucm_notify req = {.id = server, .event = IBV_EVENT_COMM_EST};

	MUST(!accept_as(e->server_fd, server, 1003));
	cm_event(e->client_fd, CONNECT_RESPONSE);
	MUST(!CM_COMMAND(e->server_fd, NOTIFY, req));
	WORKS(RDMA_USER_CM_CMD_NOTIFY, cm_event(e->server_fd, ESTABLISHED).id == server);
	MUST(cm_destroy(e->client_fd, client) && cm_destroy(e->server_fd, server));
}

static void ask_reject(const struct ends *e)
{
	uint32_t client = resolved(e, false), server = connect_as(e, client, 1004);
	struct rdma_ucm_reject req = {.id = server};

	MUST(!CM_COMMAND(e->server_fd, REJECT, req));
	WORKS(RDMA_USER_CM_CMD_REJECT, cm_event(e->client_fd, REJECTED).id == client);
	MUST(cm_destroy(e->client_fd, client) && cm_destroy(e->server_fd, server));
}

void cm_ask_connections(int fd)
{
	struct ends e = {.server_fd = cm_open(), .client_fd = fd, .space = RDMA_PS_TCP};
	uint32_t client;

	ask_listening(&e);
	client = resolved(&e, true);
	ask_works("RDMA_USER_CM_CMD_RESOLVE_ROUTE");
	ask_works("RDMA_USER_CM_CMD_GET_EVENT");
	ask_queries(&e, client);
	ask_ends(&e, client, connect_as(&e, client, 1000));
	ask_works("RDMA_USER_CM_CMD_CONNECT");
	ask_notify(&e);
	ask_reject(&e);
	MUST(cm_destroy(e.server_fd, e.listener) && !close(e.server_fd));
}

/* A datagram service tells its QP number to who asks; a connection is told to both ends. */
static void ask_space(struct ends *e, const char *name, uint32_t qpn)
{
	uint32_t client, server;

	ask_listening(e);
	client = resolved(e, false);
	server = connect_as(e, client, qpn);
	MUST(!accept_as(e->server_fd, server, qpn + 1));
	if (e->space == RDMA_PS_UDP || e->space == RDMA_PS_IPOIB) {
		MUST(cm_event(e->client_fd, ESTABLISHED).param.ud.qp_num == qpn + 1);
	} else {
		MUST(cm_event(e->client_fd, CONNECT_RESPONSE).param.conn.qp_num == qpn + 1);
		MUST(!accept_as(e->client_fd, client, 0));
		cm_event(e->server_fd, ESTABLISHED);
	}
	ask_works(name);
	MUST(cm_destroy(e->client_fd, client) && cm_destroy(e->server_fd, server));
	MUST(cm_destroy(e->server_fd, e->listener));
}

void cm_ask_spaces(int fd)
{
	static const struct {
		uint16_t space;
		const char *name;
	} spaces[] = {{RDMA_PS_TCP, "RDMA_PS_TCP"},
		      {RDMA_PS_UDP, "RDMA_PS_UDP"},
		      {RDMA_PS_IPOIB, "RDMA_PS_IPOIB"},
		      {RDMA_PS_IB, "RDMA_PS_IB"}};

	for (uint32_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		struct ends e = {.server_fd = cm_open(), .client_fd = fd, .space = spaces[i].space};

		ask_space(&e, spaces[i].name, 2000 + 2 * i);
		MUST(!close(e.server_fd));
	}
}
