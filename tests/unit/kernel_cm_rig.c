/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The process that kernel_cm_rig.h describes. */
#include "config.h"

#include "kernel_cm_rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bth/packet.h"
#include "null_host.h"
#include "rnic/device.h"
#include "rnic/host.h"
#include "verbs/kernel/ucma.h"

#define PACKET_MAX 512
#define BODY_MAX 400

struct packet {
	struct packet *next;
	uint32_t len;
	uint8_t sgid[16], dgid[16];
	uint8_t data[PACKET_MAX];
};

struct cm_user cm_user;
static struct packet *air, **air_end = &air;

static void tx_send(void *host, const struct rnic_tx *tx)
{
	struct packet *p = calloc(1, sizeof(*p));

	(void)host;
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_le(tx->len, PACKET_MAX);
	p->len = tx->len - BTH_ICRC_LEN;
	memcpy(p->data, tx->data, p->len);
	memcpy(p->sgid, tx->av->sgid, 16);
	memcpy(p->dgid, tx->av->dgid, 16);
	*air_end = p;
	air_end = &p->next;
}

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = tx_send,
	.timer_set = null_timer_set,
	.async_event = null_async_event,
	.random = null_random,
	.log = null_log,
};

static void air_arrives(void)
{
	uint8_t own[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

	while (air) {
		struct packet *p = air;
		struct rnic_rx rx = {.data = p->data, .len = p->len, .hop_limit = 64};

		air = p->next;
		if (!air)
			air_end = &air;
		memcpy(rx.sgid, p->sgid, 16);
		memcpy(rx.dgid, p->dgid, 16);
		if (memcmp(rx.dgid, own, 16) == 0)
			rnic_rx(cm_user.rig.dev.rnic, 1, &rx, 1);
		free(p);
	}
}

void cm_user_start(void)
{
	static const uint8_t own[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};

	memset(&cm_user, 0, sizeof(cm_user));
	rig_start_with(&cm_user.rig, &ops);
	rnic_gid_set(cm_user.rig.dev.rnic, 0, own, 1);
	cm_user.client = client_connect(&cm_user.rig);
	ck_assert_int_eq(client_hello(&cm_user.rig, cm_user.client), 0);
	for (int i = 0; i < CM_FILES; i++) {
		struct rnic_ctl_fd info;

		cm_user.fd[i] =
			client_open(&cm_user.rig, cm_user.client, "/dev/infiniband/rdma_cm", &info);
		ck_assert_int_ge(cm_user.fd[i], 0);
		ck_assert_int_eq(info.kind, RNIC_FD_UCMA);
		cm_user.file[i] = info.id;
	}
}

static bool file_gone(struct rig *rig, void *arg)
{
	return !ucma_find(rig->kernel, *(uint64_t *)arg);
}

void cm_user_close(int file)
{
	if (cm_user.fd[file] < 0)
		return;
	close(cm_user.fd[file]);
	cm_user.fd[file] = -1;
	ck_assert(rig_until(&cm_user.rig, file_gone, &cm_user.file[file]));
	air_arrives();
}

void cm_user_stop(void)
{
	struct ucma_info info;
	uint32_t cursor = 0;

	for (int i = 0; i < CM_FILES; i++)
		cm_user_close(i);
	ck_assert(!ucma_info_next(cm_user.rig.kernel, &cursor, &info));
	close(cm_user.client);
	rig_stop(&cm_user.rig);
	while (air) {
		struct packet *next = air->next;

		free(air);
		air = next;
	}
	air_end = &air;
}

int64_t cm_write(int file, uint32_t cmd, const void *body, size_t len, uint16_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[BODY_MAX];
	} w = {{cmd, (uint16_t)len, out}, {0}};
	struct rnic_ctl_request req = {
		.op = RNIC_CTL_WRITE,
		.arg = {cm_user.file[file], (uintptr_t)&w, sizeof(w.hdr) + len}};
	struct rnic_ctl_answer a = {0};
	int64_t rc;

	ck_assert_uint_le(len, sizeof(w.body));
	memcpy(w.body, body, len);
	rc = client_call(&cm_user.rig, cm_user.client, &req, NULL, NULL, 0, &a, NULL);
	while (rc == RNIC_CTL_NEED_FD) {
		struct rnic_ctl_request fd = {.op = RNIC_CTL_FD, .arg = {a.fd[0].where}};
		int number = (int)a.fd[0].where, have = fcntl(number, F_GETFD) >= 0;

		rc = client_call(&cm_user.rig, cm_user.client, &fd, NULL, &number, have, &a, NULL);
	}
	cm_user.gone = rc >= 0 && a.fd[0].kind == RNIC_FD_UCMA ? (uint32_t)a.fd[0].where : 0;
	air_arrives();
	if (rc >= 0)
		ck_assert_int_eq(rc, (int64_t)(sizeof(w.hdr) + len));
	return rc >= 0 ? 0 : rc;
}

int64_t cm_create(int file, uint16_t ps, uint32_t *id)
{
	struct rdma_ucm_create_id req = {
		.uid = 1, .response = (uintptr_t)id, .ps = ps, .qp_type = 2 /* RC */};

	return cm_write(file, RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req), sizeof(*id));
}

int64_t cm_destroy(int file, uint32_t id, uint32_t *events_reported)
{
	uint32_t unused;
	struct rdma_ucm_destroy_id req = {
		.response = (uintptr_t)(events_reported ? events_reported : &unused), .id = id};

	return cm_write(file, RDMA_USER_CM_CMD_DESTROY_ID, &req, sizeof(req), sizeof(unused));
}

int64_t cm_bind(int file, uint32_t id, uint32_t addr, uint16_t port)
{
	struct rdma_ucm_bind req = {.id = id, .addr_size = sizeof(struct sockaddr_in)};
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(addr)};

	memcpy(&req.addr, &in, sizeof(in));
	return cm_write(file, RDMA_USER_CM_CMD_BIND, &req, sizeof(req), 0);
}

int64_t cm_bind6(int file, uint32_t id, const struct in6_addr *addr, uint16_t port)
{
	struct rdma_ucm_bind_ip req = {
		.id = id,
		.addr = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *addr}};

	return cm_write(file, RDMA_USER_CM_CMD_BIND_IP, &req, sizeof(req), 0);
}

int64_t cm_option(int file, uint32_t id, uint32_t name, const void *value, uint32_t len)
{
	struct rdma_ucm_set_option req = {
		.optval = (uintptr_t)value, .id = id, .optname = name, .optlen = len};

	return cm_write(file, RDMA_USER_CM_CMD_SET_OPTION, &req, sizeof(req), 0);
}

int64_t cm_listen(int file, uint32_t id, uint32_t backlog)
{
	struct rdma_ucm_listen req = {id, backlog};

	return cm_write(file, RDMA_USER_CM_CMD_LISTEN, &req, sizeof(req), 0);
}

int64_t cm_resolve(int file, uint32_t id, uint16_t port)
{
	struct rdma_ucm_resolve_addr req = {.id = id,
					    .timeout_ms = 1000,
					    .src_size = sizeof(struct sockaddr_in),
					    .dst_size = sizeof(struct sockaddr_in)};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(CM_HERE)};

	memcpy(&req.src_addr, &in, sizeof(in));
	in.sin_port = htons(port);
	memcpy(&req.dst_addr, &in, sizeof(in));
	return cm_write(file, RDMA_USER_CM_CMD_RESOLVE_ADDR, &req, sizeof(req), 0);
}

int64_t cm_resolve_route(int file, uint32_t id)
{
	struct rdma_ucm_resolve_route req = {id, 1000};

	return cm_write(file, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &req, sizeof(req), 0);
}

int64_t cm_connect(int file, uint32_t id)
{
	/* Each its own QP, or its REQ would be stale. */
	struct rdma_ucm_connect req = {.id = id, .conn_param = {.qp_num = 0x100 + id, .valid = 1}};

	return cm_write(file, RDMA_USER_CM_CMD_CONNECT, &req, sizeof(req), 0);
}

int64_t cm_accept(int file, uint32_t id, uint64_t uid, bool valid)
{
	struct rdma_ucm_accept req = {
		.uid = uid, .id = id, .conn_param = {.qp_num = 0x100 + id, .valid = valid}};

	return cm_write(file, RDMA_USER_CM_CMD_ACCEPT, &req, sizeof(req), 0);
}

int64_t cm_reject(int file, uint32_t id)
{
	struct rdma_ucm_reject req = {.id = id};

	return cm_write(file, RDMA_USER_CM_CMD_REJECT, &req, sizeof(req), 0);
}

int64_t cm_disconnect(int file, uint32_t id)
{
	struct rdma_ucm_disconnect req = {id};

	return cm_write(file, RDMA_USER_CM_CMD_DISCONNECT, &req, sizeof(req), 0);
}

int64_t cm_event(int file, struct rdma_ucm_event_resp *ev)
{
	struct rdma_ucm_get_event req = {(uintptr_t)ev};

	return cm_write(file, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), sizeof(*ev));
}

int64_t cm_migrate(int to, uint32_t id, int from, uint32_t *events_reported)
{
	struct rdma_ucm_migrate_id req = {(uintptr_t)events_reported, id,
					  (uint32_t)cm_user.fd[from]};

	return cm_write(to, RDMA_USER_CM_CMD_MIGRATE_ID, &req, sizeof(req),
			sizeof(*events_reported));
}

struct rdma_ucm_event_resp cm_next(int file, uint32_t event)
{
	struct rdma_ucm_event_resp ev;

	ck_assert_int_eq(cm_event(file, &ev), 0);
	ck_assert_uint_eq(ev.event, event);
	return ev;
}

uint32_t cm_listener(int file, uint16_t ps, uint16_t port, uint32_t backlog)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(file, ps, &id), 0);
	ck_assert_int_eq(cm_bind(file, id, CM_HERE, port), 0);
	ck_assert_int_eq(cm_listen(file, id, backlog), 0);
	return id;
}

uint32_t cm_asker(int file, uint16_t ps, uint16_t port)
{
	uint32_t id;

	ck_assert_int_eq(cm_create(file, ps, &id), 0);
	ck_assert_int_eq(cm_resolve(file, id, port), 0);
	cm_next(file, 0 /* ADDR_RESOLVED */);
	ck_assert_int_eq(cm_resolve_route(file, id), 0);
	cm_next(file, 2 /* ROUTE_RESOLVED */);
	ck_assert_int_eq(cm_connect(file, id), 0);
	return id;
}
