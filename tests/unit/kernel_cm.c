/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands of rdma_cm: what is refused and how, port spaces, whole connections, channels. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel_cm_rig.h"
#include "verbs/kernel/ucma_priv.h"

#define PORT 7471
#define NO_ID 99999
#define RANDOM_RUNS 3000

/* Every command: where its ID lies, how long it is, and the room that its answer wants. */
static const struct command {
	uint32_t cmd;
	uint16_t len, id_at, out;
} commands[] = {
	{RDMA_USER_CM_CMD_CREATE_ID, sizeof(struct rdma_ucm_create_id), 0, 4},
	{RDMA_USER_CM_CMD_DESTROY_ID, sizeof(struct rdma_ucm_destroy_id), 8, 4},
	{RDMA_USER_CM_CMD_BIND_IP, sizeof(struct rdma_ucm_bind_ip), 36, 0},
	{RDMA_USER_CM_CMD_RESOLVE_IP, sizeof(struct rdma_ucm_resolve_ip), 56, 0},
	{RDMA_USER_CM_CMD_RESOLVE_ROUTE, sizeof(struct rdma_ucm_resolve_route), 0, 0},
	{RDMA_USER_CM_CMD_QUERY_ROUTE, sizeof(struct rdma_ucm_query), 8,
	 offsetof(struct rdma_ucm_query_route_resp, ibdev_index)},
	{RDMA_USER_CM_CMD_CONNECT, sizeof(struct rdma_ucm_connect),
	 offsetof(struct rdma_ucm_connect, id), 0},
	{RDMA_USER_CM_CMD_LISTEN, sizeof(struct rdma_ucm_listen), 0, 0},
	{RDMA_USER_CM_CMD_ACCEPT, sizeof(struct rdma_ucm_accept),
	 offsetof(struct rdma_ucm_accept, id), 0},
	{RDMA_USER_CM_CMD_REJECT, sizeof(struct rdma_ucm_reject), 0, 0},
	{RDMA_USER_CM_CMD_DISCONNECT, sizeof(struct rdma_ucm_disconnect), 0, 0},
	{RDMA_USER_CM_CMD_INIT_QP_ATTR, sizeof(struct rdma_ucm_init_qp_attr), 8,
	 sizeof(struct ib_uverbs_qp_attr)},
	{RDMA_USER_CM_CMD_GET_EVENT, sizeof(struct rdma_ucm_get_event), 0,
	 offsetof(struct rdma_ucm_event_resp, reserved)},
	{RDMA_USER_CM_CMD_SET_OPTION, sizeof(struct rdma_ucm_set_option), 8, 0},
	{RDMA_USER_CM_CMD_NOTIFY, sizeof(struct rdma_ucm_notify), 0, 0},
	{RDMA_USER_CM_CMD_JOIN_IP_MCAST, sizeof(struct rdma_ucm_join_ip_mcast),
	 offsetof(struct rdma_ucm_join_ip_mcast, id), 4},
	{RDMA_USER_CM_CMD_LEAVE_MCAST, sizeof(struct rdma_ucm_destroy_id), 8, 4},
	{RDMA_USER_CM_CMD_MIGRATE_ID, sizeof(struct rdma_ucm_migrate_id), 8, 4},
	{RDMA_USER_CM_CMD_QUERY, sizeof(struct rdma_ucm_query), 8,
	 offsetof(struct rdma_ucm_query_addr_resp, ibdev_index)},
	{RDMA_USER_CM_CMD_BIND, sizeof(struct rdma_ucm_bind), 0, 0},
	{RDMA_USER_CM_CMD_RESOLVE_ADDR, sizeof(struct rdma_ucm_resolve_addr), 0, 0},
	{RDMA_USER_CM_CMD_JOIN_MCAST, sizeof(struct rdma_ucm_join_mcast), 16, 4},
};

#define N_COMMANDS ((int)(sizeof(commands) / sizeof(commands[0])))

static uint8_t answer[1024]; /* to whatever is asked */

/* A request that is right but for its ID: what it needs to be looked at as far as that. */
static void body_fill(const struct command *c, uint8_t *body, uint32_t id)
{
	const uint64_t response = (uintptr_t)answer;
	const uint32_t fd = (uint32_t)cm_user.fd[0];
	const uint16_t size = 16;

	memset(body, 0, c->len);
	if (c->out)
		memcpy(body + (c->cmd == RDMA_USER_CM_CMD_CREATE_ID ? 8 : 0), &response, 8);
	if (c->cmd == RDMA_USER_CM_CMD_CONNECT)
		body[offsetof(struct rdma_ucm_connect, conn_param.valid)] = 1;
	if (c->cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR)
		memcpy(body + offsetof(struct rdma_ucm_resolve_addr, dst_size), &size, 2);
	if (c->cmd == RDMA_USER_CM_CMD_MIGRATE_ID)
		memcpy(body + 12, &fd, 4);
	if (c->cmd == RDMA_USER_CM_CMD_CREATE_ID)
		body[16] = RDMA_PS_TCP & 0xff, body[17] = RDMA_PS_TCP >> 8;
	else if (c->cmd != RDMA_USER_CM_CMD_GET_EVENT)
		memcpy(body + c->id_at, &id, 4);
}

static bool has_id(const struct command *c)
{
	return c->cmd != RDMA_USER_CM_CMD_CREATE_ID && c->cmd != RDMA_USER_CM_CMD_GET_EVENT;
}

START_TEST(answer_without_room_is_enospc)
{
	const struct command *c = &commands[_i];
	uint8_t body[400];
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	body_fill(c, body, id);
	if (c->out)
		ck_assert_int_eq(cm_write(0, c->cmd, body, c->len, (uint16_t)(c->out - 1)),
				 -ENOSPC);
	ck_assert_int_ne(cm_write(0, c->cmd, body, c->len, c->out), -ENOSPC);
}
END_TEST

START_TEST(unknown_id_is_enoent)
{
	const struct command *c = &commands[_i];
	uint8_t body[400];

	body_fill(c, body, NO_ID);
	if (has_id(c))
		ck_assert_int_eq(cm_write(0, c->cmd, body, c->len, sizeof(answer)), -ENOENT);
}
END_TEST

START_TEST(id_of_another_channel_is_einval)
{
	const struct command *c = &commands[_i];
	uint8_t body[400];
	uint32_t id;

	ck_assert_int_eq(cm_create(1, RDMA_PS_TCP, &id), 0);
	body_fill(c, body, id);
	if (has_id(c) && c->cmd != RDMA_USER_CM_CMD_LEAVE_MCAST)
		ck_assert_int_eq(cm_write(0, c->cmd, body, c->len, sizeof(answer)), -EINVAL);
	ck_assert_int_eq(cm_destroy(1, id, NULL), 0);
}
END_TEST

/* What needs a device, a route or a connection, asked of an ID that is new. */
START_TEST(command_before_its_time_is_einval)
{
	static const uint32_t early[] = {RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_USER_CM_CMD_CONNECT,
					 RDMA_USER_CM_CMD_ACCEPT,	 RDMA_USER_CM_CMD_REJECT,
					 RDMA_USER_CM_CMD_DISCONNECT,	 RDMA_USER_CM_CMD_NOTIFY,
					 RDMA_USER_CM_CMD_INIT_QP_ATTR};
	uint8_t body[400];
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	for (int i = 0; i < N_COMMANDS; i++)
		if (commands[i].cmd == early[_i]) {
			body_fill(&commands[i], body, id);
			ck_assert_int_eq(
				cm_write(0, early[_i], body, commands[i].len, sizeof(answer)),
				-EINVAL);
		}
}
END_TEST

START_TEST(unknown_command_is_refused)
{
	uint8_t body[16] = {0};

	ck_assert_int_eq(cm_write(0, RDMA_USER_CM_CMD_JOIN_MCAST + 1, body, 16, 16), -EINVAL);
	ck_assert_int_eq(cm_write(0, UINT32_MAX, body, 16, 16), -EINVAL);
	ck_assert_int_eq(cm_write(0, RDMA_USER_CM_CMD_GET_OPTION, body, 16, 16), -ENOSYS);
}
END_TEST

START_TEST(header_that_lies_about_its_length_is_einval)
{
	struct rdma_ucm_cmd_hdr hdr = {RDMA_USER_CM_CMD_CREATE_ID, 24, 4};
	struct rnic_ctl_request req = {.op = RNIC_CTL_WRITE,
				       .arg = {cm_user.file[0], (uintptr_t)&hdr, sizeof(hdr) - 1}};

	ck_assert_int_eq(client_call(&cm_user.rig, cm_user.client, &req, NULL, NULL, 0, NULL, NULL),
			 -EINVAL);
	req.arg[2] = sizeof(hdr);
	ck_assert_int_eq(client_call(&cm_user.rig, cm_user.client, &req, NULL, NULL, 0, NULL, NULL),
			 -EINVAL);
}
END_TEST

START_TEST(port_space_that_nobody_knows_is_einval)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, 0x1234, &id), -EINVAL);
}
END_TEST

START_TEST(empty_channel_makes_its_reader_wait)
{
	struct rdma_ucm_event_resp ev;

	ck_assert_int_eq(cm_event(0, &ev), RNIC_CTL_WAIT);
}
END_TEST

START_TEST(address_that_no_device_has_is_enodev)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(cm_bind(0, id, CM_HERE + 1, PORT), -ENODEV);
	ck_assert_int_eq(cm_bind(0, id, CM_HERE, PORT), 0);
	ck_assert_int_eq(cm_bind(0, id, CM_HERE, PORT), -EINVAL);
}
END_TEST

/* The kernel takes an address of the host itself for a wildcard that has a name. */
START_TEST(loopback_leaves_the_device_open_as_the_wildcard_does)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(cm_bind(0, id, INADDR_LOOPBACK, PORT), 0);
	ck_assert_int_eq(cm_listen(0, id, 1), 0);
	cm_asker(1, RDMA_PS_TCP, PORT);
	cm_next(0, CMA_EV_CONNECT_REQUEST);
}
END_TEST

/* ---- port spaces ---- */

static const struct pair {
	uint32_t addr[2];
	uint16_t ps[2];
	int32_t reuse[2];
	bool second_listens;
	int64_t rc;
} pairs[] = {
	{{CM_HERE, CM_HERE}, {RDMA_PS_TCP, RDMA_PS_TCP}, {0, 0}, false, -EADDRINUSE},
	{{CM_HERE, CM_HERE}, {RDMA_PS_TCP, RDMA_PS_UDP}, {0, 0}, false, 0},
	{{CM_HERE, CM_HERE}, {RDMA_PS_TCP, RDMA_PS_TCP}, {1, 0}, false, -EADDRINUSE},
	{{CM_HERE, CM_HERE}, {RDMA_PS_TCP, RDMA_PS_TCP}, {1, 1}, false, 0},
	{{CM_HERE, CM_HERE}, {RDMA_PS_TCP, RDMA_PS_TCP}, {1, 1}, true, -EADDRINUSE},
};

START_TEST(port_is_shared_only_as_the_kernel_allows)
{
	const struct pair *p = &pairs[_i];
	uint32_t id[2];
	int64_t rc = 0;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cm_create(0, p->ps[i], &id[i]), 0);
		ck_assert_int_eq(cm_option(0, id[i], RDMA_OPTION_ID_REUSEADDR, &p->reuse[i], 4), 0);
		ck_assert_int_eq(rc, 0);
		rc = cm_bind(0, id[i], p->addr[i], PORT);
	}
	if (p->second_listens)
		rc = cm_listen(0, id[1], 1);
	ck_assert_int_eq(rc, p->rc);
	ck_assert_int_eq(cm_destroy(0, id[0], NULL), 0);
	if (rc) /* it is free now */
		ck_assert_int_eq(p->second_listens ? cm_listen(0, id[1], 1)
						   : cm_bind(0, id[1], p->addr[1], PORT),
				 0);
}
END_TEST

START_TEST(wildcard_and_address_do_not_share_a_port)
{
	uint32_t a, b;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &a), 0);
	ck_assert_int_eq(cm_create(1, RDMA_PS_TCP, &b), 0);
	ck_assert_int_eq(cm_bind(0, a, _i ? CM_HERE : 0, PORT), 0);
	ck_assert_int_eq(cm_bind(1, b, _i ? 0 : CM_HERE, PORT), -EADDRNOTAVAIL);
}
END_TEST

START_TEST(families_share_a_port_if_one_is_for_its_own_only)
{
	int32_t only = _i;
	uint32_t a, b;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &a), 0);
	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &b), 0);
	ck_assert_int_eq(cm_option(0, a, RDMA_OPTION_ID_AFONLY, &only, 4), 0);
	ck_assert_int_eq(cm_option(0, b, RDMA_OPTION_ID_AFONLY, &only, 4), 0);
	ck_assert_int_eq(cm_bind6(0, a, &in6addr_any, PORT), 0);
	if (only)
		ck_assert_int_eq(cm_bind(0, b, 0, PORT), 0);
	else
		ck_assert_int_eq(cm_bind(0, b, 0, PORT), -EADDRNOTAVAIL);
}
END_TEST

START_TEST(options_are_checked)
{
	uint8_t bytes[4] = {32, 0, 0, 0};
	uint32_t id;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_TOS, bytes, 1), 0);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_TOS, bytes, 4), -EINVAL);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_REUSEADDR, bytes, 1), -EINVAL);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_AFONLY, bytes, 1), -EINVAL);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_ACK_TIMEOUT, bytes, 1), -EINVAL);
	bytes[0] = 31;
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_ACK_TIMEOUT, bytes, 1), 0);
	ck_assert_int_eq(cm_option(0, id, 77, bytes, 1), -ENOSYS);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_TOS, bytes, 0), -EINVAL);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_TOS, bytes, 5), -EINVAL);
	ck_assert_int_eq(cm_option(0, id, RDMA_OPTION_ID_TOS, NULL, 1), -EFAULT);
}
END_TEST

/* ---- whole connections ---- */

START_TEST(connection_is_made_and_taken_down)
{
	uint32_t events, listener = cm_listener(0, RDMA_PS_TCP, PORT, 1);
	uint32_t asker = cm_asker(1, RDMA_PS_TCP, PORT), server;

	server = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_uint_eq(cm_user.gone, 1);
	ck_assert_int_eq(cm_accept(0, server, 7, true), 0);
	cm_next(1, CMA_EV_CONNECT_RESPONSE);
	ck_assert_int_eq(cm_accept(1, asker, 0, false), 0);
	ck_assert_uint_eq(cm_next(0, CMA_EV_ESTABLISHED).uid, 7);
	ck_assert_int_eq(cm_disconnect(1, asker), 0);
	cm_next(0, CMA_EV_DISCONNECTED);
	ck_assert_int_eq(cm_disconnect(0, server), 0);
	cm_next(1, CMA_EV_DISCONNECTED);
	ck_assert_int_eq(cm_destroy(0, listener, &events), 0);
	ck_assert_uint_eq(events, 1);
	ck_assert_int_eq(cm_destroy(0, server, &events), 0);
	ck_assert_uint_eq(events, 2);
	ck_assert_int_eq(cm_destroy(1, asker, &events), 0);
	ck_assert_uint_eq(events, 4);
}
END_TEST

START_TEST(request_that_is_rejected_is_told_so)
{
	uint32_t server;

	cm_listener(0, RDMA_PS_TCP, PORT, 1);
	cm_asker(1, RDMA_PS_TCP, PORT);
	server = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_reject(0, server), 0);
	ck_assert_uint_eq(cm_next(1, CMA_EV_REJECTED).status, CM_REJ_CONSUMER);
}
END_TEST

START_TEST(request_where_nobody_listens_is_rejected)
{
	cm_asker(1, RDMA_PS_TCP, PORT);
	ck_assert_uint_eq(cm_next(1, CMA_EV_REJECTED).status, CM_REJ_INVALID_SERVICE_ID);
}
END_TEST

START_TEST(request_beyond_the_backlog_waits_until_one_is_fetched)
{
	struct rdma_ucm_event_resp ev;

	cm_listener(0, RDMA_PS_TCP, PORT, 1);
	cm_asker(1, RDMA_PS_TCP, PORT);
	cm_asker(1, RDMA_PS_TCP, PORT);
	ck_assert_int_eq(cm_event(1, &ev), RNIC_CTL_WAIT); /* neither of them is rejected */
	cm_next(0, CMA_EV_CONNECT_REQUEST);
	ck_assert_int_eq(cm_event(0, &ev), RNIC_CTL_WAIT);
	cm_asker(1, RDMA_PS_TCP, PORT);
	cm_next(0, CMA_EV_CONNECT_REQUEST);
}
END_TEST

START_TEST(listener_that_goes_rejects_unread_requests)
{
	uint32_t listener = cm_listener(0, RDMA_PS_TCP, PORT, 2);

	cm_asker(1, RDMA_PS_TCP, PORT);
	cm_asker(1, RDMA_PS_TCP, PORT);
	if (_i) {
		cm_user_close(0);
	} else {
		ck_assert_int_eq(cm_destroy(0, listener, NULL), 0);
		ck_assert_uint_eq(cm_user.gone, 2);
	}
	ck_assert_uint_eq(cm_next(1, CMA_EV_REJECTED).status, CM_REJ_CONSUMER);
	ck_assert_uint_eq(cm_next(1, CMA_EV_REJECTED).status, CM_REJ_CONSUMER);
}
END_TEST

START_TEST(channel_that_closes_disconnects_its_connections)
{
	uint32_t asker, server;

	cm_listener(0, RDMA_PS_TCP, PORT, 1);
	asker = cm_asker(1, RDMA_PS_TCP, PORT);
	server = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_accept(0, server, 7, true), 0);
	cm_next(1, CMA_EV_CONNECT_RESPONSE);
	ck_assert_int_eq(cm_accept(1, asker, 0, false), 0);
	cm_user_close(0);
	cm_next(1, CMA_EV_DISCONNECTED);
}
END_TEST

START_TEST(datagram_service_is_resolved)
{
	uint32_t server;

	cm_listener(0, RDMA_PS_UDP, PORT, 1);
	cm_asker(1, RDMA_PS_UDP, PORT);
	server = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_accept(0, server, 7, true), 0);
	ck_assert_uint_eq(cm_next(1, CMA_EV_ESTABLISHED).param.ud.qp_num, 0x100 + server);
}
END_TEST

START_TEST(device_that_goes_is_told)
{
	uint32_t listener = cm_listener(0, RDMA_PS_TCP, PORT, 1), asker, server;

	asker = cm_asker(1, RDMA_PS_TCP, PORT);
	server = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_accept(0, server, 7, true), 0);
	cm_next(1, CMA_EV_CONNECT_RESPONSE);
	ck_assert(!ucma_removal_unread(cm_user.rig.kernel));
	ucma_device_del(&cm_user.rig.dev);
	ck_assert(ucma_removal_unread(cm_user.rig.kernel));
	ck_assert_uint_eq(cm_next(1, CMA_EV_DEVICE_REMOVAL).id, asker);
	for (int i = 0; i < 2; i++) {
		uint32_t id = cm_next(0, CMA_EV_DEVICE_REMOVAL).id;

		ck_assert(id == listener || id == server);
	}
	ck_assert(!ucma_removal_unread(cm_user.rig.kernel));
	ck_assert_int_eq(cm_disconnect(1, asker), -EINVAL);
}
END_TEST

/* ---- channels ---- */

START_TEST(migrated_id_takes_its_events_along)
{
	uint32_t id, events = 99;

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(cm_resolve(0, id, PORT), 0);
	ck_assert_int_eq(cm_migrate(1, id, 0, &events), 0);
	ck_assert_uint_eq(events, 0);
	ck_assert_uint_eq(cm_user.gone, 1);
	ck_assert_int_eq(cm_resolve_route(0, id), -EINVAL);
	ck_assert_uint_eq(cm_next(1, CMA_EV_ADDR_RESOLVED).id, id);
	ck_assert_int_eq(cm_resolve_route(1, id), 0);
	ck_assert_int_eq(cm_migrate(1, id, 1, &events), 0);
	ck_assert_uint_eq(events, 1);
	cm_next(1, CMA_EV_ROUTE_RESOLVED);
}
END_TEST

START_TEST(migrated_listener_takes_unread_requests_along)
{
	uint32_t events, listener = cm_listener(0, RDMA_PS_TCP, PORT, 1), server;

	cm_asker(1, RDMA_PS_TCP, PORT);
	ck_assert_int_eq(cm_migrate(1, listener, 0, &events), 0);
	cm_user_close(0);
	server = cm_next(1, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_accept(1, server, 7, true), 0);
	cm_next(1, CMA_EV_CONNECT_RESPONSE);
}
END_TEST

/* What was not told has not happened: the ID is not there to be guessed. */
START_TEST(request_whose_fetching_failed_can_be_fetched_again)
{
	struct rdma_ucm_event_resp *nowhere = NULL;
	uint32_t listener = cm_listener(0, RDMA_PS_TCP, PORT, 1), events, id;

	cm_asker(1, RDMA_PS_TCP, PORT);
	ck_assert_int_eq(cm_event(0, nowhere), -EFAULT);
	for (id = listener + 1; id < listener + 10; id++)
		ck_assert_int_ne(cm_migrate(1, id, 0, &events), 0);
	id = cm_next(0, CMA_EV_CONNECT_REQUEST).id;
	ck_assert_int_eq(cm_accept(0, id, 7, true), 0);
	ck_assert_int_eq(cm_destroy(0, listener, &events), 0);
	ck_assert_uint_eq(events, 1);
}
END_TEST

/* A file may have the number that a socket has, which is of another file system. */
START_TEST(file_with_the_inode_number_of_a_channel_is_none)
{
	struct rnic_ctl_request attach = {.op = RNIC_CTL_ATTACH};
	struct ucma_file *f = ucma_find(cm_user.rig.kernel, cm_user.file[0]);
	uint32_t id, events;
	ino_t ino = f->client_ino;
	struct stat st;
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	ck_assert_int_eq(cm_create(0, RDMA_PS_TCP, &id), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	f->client_ino = st.st_ino;
	ck_assert_int_eq(
		client_call(&cm_user.rig, cm_user.client, &attach, NULL, &fd, 1, NULL, NULL),
		-ENOTTY);
	ck_assert_int_ge(dup2(fd, cm_user.fd[0] + 100), 0);
	close(fd);
	fd = cm_user.fd[0];
	cm_user.fd[0] += 100;
	ck_assert_int_eq(cm_migrate(1, id, 0, &events), -EINVAL);
	close(cm_user.fd[0]);
	cm_user.fd[0] = fd;
	f->client_ino = ino;
}
END_TEST

/* ---- hostile ---- */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Mostly what could be right: nonsense alone would not get far. */
static void body_random(const struct command *c, uint8_t *body, uint32_t *seed)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_port = htons((uint16_t)(PORT + next(seed) % 2)),
				       .sin_addr.s_addr = htonl(next(seed) % 3 ? CM_HERE : 0)};
	uint16_t size = sizeof(in);

	body_fill(c, body, 1 + next(seed) % 24);
	if (c->cmd == RDMA_USER_CM_CMD_BIND) {
		memcpy(body + 4, &size, 2);
		memcpy(body + 8, &in, sizeof(in));
	} else if (c->cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR) {
		memcpy(body + 8, &size, 2);
		memcpy(body + 16, &in, sizeof(in));
		memcpy(body + 16 + 128, &in, sizeof(in));
	} else if (c->cmd == RDMA_USER_CM_CMD_ACCEPT) {
		body[0] = 1;
		body[offsetof(struct rdma_ucm_accept, conn_param.valid)] = next(seed) % 2;
	} else if (c->cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		memcpy(body + 12, &cm_user.fd[next(seed) % 2], 4);
	} else if (c->cmd == RDMA_USER_CM_CMD_CREATE_ID) {
		body[0] = 1;
		body[18] = 2;
		if (next(seed) % 4 == 0)
			body[16] = RDMA_PS_UDP & 0xff, body[17] = RDMA_PS_UDP >> 8;
	}
	if (next(seed) % 8 == 0)
		body[next(seed) % c->len] ^= (uint8_t)next(seed);
}

START_TEST(random_commands_harm_nobody)
{
	uint32_t seed = (uint32_t)_i;
	uint8_t body[400];

	for (int i = 0; i < RANDOM_RUNS; i++) {
		const struct command *c = &commands[next(&seed) % (uint32_t)N_COMMANDS];
		uint16_t out = next(&seed) % 16 ? sizeof(answer) : (uint16_t)next(&seed);
		uint64_t response = (uintptr_t)answer;

		body_random(c, body, &seed);
		/* The answer must not go where the test lives. */
		if (c->out)
			memcpy(body + (c->cmd == RDMA_USER_CM_CMD_CREATE_ID ? 8 : 0), &response, 8);
		cm_write((int)(next(&seed) % 2), c->cmd, body,
			 next(&seed) % 32 ? c->len : next(&seed) % c->len, out);
	}
	if (_i % 3 == 0)
		ucma_device_del(&cm_user.rig.dev);
}
END_TEST

TCase *kernel_cm_tcase(void)
{
	TCase *tc = tcase_create("cm");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, cm_user_start, cm_user_stop);
	tcase_add_loop_test(tc, answer_without_room_is_enospc, 0, N_COMMANDS);
	tcase_add_loop_test(tc, unknown_id_is_enoent, 0, N_COMMANDS);
	tcase_add_loop_test(tc, id_of_another_channel_is_einval, 0, N_COMMANDS);
	tcase_add_loop_test(tc, command_before_its_time_is_einval, 0, 7);
	tcase_add_test(tc, unknown_command_is_refused);
	tcase_add_test(tc, header_that_lies_about_its_length_is_einval);
	tcase_add_test(tc, port_space_that_nobody_knows_is_einval);
	tcase_add_test(tc, empty_channel_makes_its_reader_wait);
	tcase_add_test(tc, address_that_no_device_has_is_enodev);
	tcase_add_test(tc, loopback_leaves_the_device_open_as_the_wildcard_does);
	tcase_add_loop_test(tc, port_is_shared_only_as_the_kernel_allows, 0,
			    (int)(sizeof(pairs) / sizeof(pairs[0])));
	tcase_add_loop_test(tc, wildcard_and_address_do_not_share_a_port, 0, 2);
	tcase_add_loop_test(tc, families_share_a_port_if_one_is_for_its_own_only, 0, 2);
	tcase_add_test(tc, options_are_checked);
	tcase_add_test(tc, connection_is_made_and_taken_down);
	tcase_add_test(tc, request_that_is_rejected_is_told_so);
	tcase_add_test(tc, request_where_nobody_listens_is_rejected);
	tcase_add_test(tc, request_beyond_the_backlog_waits_until_one_is_fetched);
	tcase_add_loop_test(tc, listener_that_goes_rejects_unread_requests, 0, 2);
	tcase_add_test(tc, channel_that_closes_disconnects_its_connections);
	tcase_add_test(tc, datagram_service_is_resolved);
	tcase_add_test(tc, device_that_goes_is_told);
	tcase_add_test(tc, migrated_id_takes_its_events_along);
	tcase_add_test(tc, migrated_listener_takes_unread_requests_along);
	tcase_add_test(tc, request_whose_fetching_failed_can_be_fetched_again);
	tcase_add_test(tc, file_with_the_inode_number_of_a_channel_is_none);
	tcase_add_loop_test(tc, random_commands_harm_nobody, 1, 9);
	return tc;
}
