/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each command of rdma/rdma_user_cm.h, without librdmacm: both ends of connections of this process.
 *
 *     cm
 */
#include "cm.h"

#include <unistd.h>

static int option(int fd, uint32_t id, uint32_t level, uint32_t name, const void *value,
		  uint32_t len)
{
	struct rdma_ucm_set_option req = {(uintptr_t)value, id, level, name, len};

	return CM_COMMAND(fd, SET_OPTION, req);
}

static void ask_options(int fd)
{
	uint32_t id = cm_create(fd, RDMA_PS_TCP), on = 1;
	struct ib_path_rec_data path = {.flags = 0};
	uint8_t byte = 0x68;

#define OPTION(name, value)                                                                        \
	WORKS(RDMA_OPTION_ID_##name,                                                               \
	      !option(fd, id, RDMA_OPTION_ID, RDMA_OPTION_ID_##name, &(value), sizeof(value)))
	OPTION(TOS, byte);
	OPTION(REUSEADDR, on);
	OPTION(AFONLY, on);
	byte = 14;
	OPTION(ACK_TIMEOUT, byte);
	ask_works("RDMA_USER_CM_CMD_SET_OPTION");
	REFUSED(RDMA_OPTION_IB_PATH,
		option(fd, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path)));
	REFUSED(RDMA_USER_CM_CMD_GET_OPTION,
		cm_command(fd, RDMA_USER_CM_CMD_GET_OPTION, &path, 24, sizeof(path)));
	MUST(cm_destroy(fd, id));
}

static void join_ip(int fd, uint32_t id, const char *group, uint32_t *member)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_join_ip_mcast req = {.response = (uintptr_t)&resp, .id = id};
	struct sockaddr_in in = cm_address(group, 0);

	memcpy(&req.addr, &in, sizeof(in));
	MUST(!CM_ANSWERED(fd, JOIN_IP_MCAST, req, resp));
	WORKS(RDMA_USER_CM_CMD_JOIN_IP_MCAST, cm_event(fd, MULTICAST_JOIN).status == 0);
	*member = resp.id;
}

static void ask_multicast(int fd)
{
	struct rdma_ucm_bind_ip bind = {.id = cm_create(fd, RDMA_PS_UDP)};
	struct sockaddr_in in = cm_address("127.0.0.1", 0);
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_join_mcast join = {.response = (uintptr_t)&resp,
					   .id = bind.id,
					   .addr_size = sizeof(in),
					   .join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER};
	struct rdma_ucm_destroy_id_resp left;
	struct rdma_ucm_destroy_id leave = {.response = (uintptr_t)&left};

	memcpy(&bind.addr, &in, sizeof(in));
	MUST(!CM_COMMAND(fd, BIND_IP, bind));
	join_ip(fd, bind.id, "239.1.1.1", &leave.id);
	WORKS(RDMA_USER_CM_CMD_LEAVE_MCAST,
	      !CM_ANSWERED(fd, LEAVE_MCAST, leave, left) && left.events_reported == 1);
	in = cm_address("239.1.1.2", 0);
	memcpy(&join.addr, &in, sizeof(in));
	MUST(!CM_ANSWERED(fd, JOIN_MCAST, join, resp));
	WORKS(RDMA_USER_CM_CMD_JOIN_MCAST, cm_event(fd, MULTICAST_JOIN).status == 0);
	leave.id = resp.id;
	MUST(!CM_ANSWERED(fd, LEAVE_MCAST, leave, left) && cm_destroy(fd, bind.id));
}

static void ask_migration(int fd)
{
	int other = cm_open();
	struct rdma_ucm_migrate_resp resp;
	struct rdma_ucm_migrate_id req = {
		.response = (uintptr_t)&resp, .id = cm_create(fd, RDMA_PS_TCP), .fd = (uint32_t)fd};

	WORKS(RDMA_USER_CM_CMD_MIGRATE_ID, !CM_ANSWERED(other, MIGRATE_ID, req, resp) &&
						   !cm_destroy(fd, req.id) &&
						   cm_destroy(other, req.id));
	MUST(!close(other));
}

int main(void)
{
	int fd = cm_open();
	uint32_t id;

	WORKS(RDMA_USER_CM_CMD_CREATE_ID, (id = cm_create(fd, RDMA_PS_TCP), true));
	WORKS(RDMA_USER_CM_CMD_DESTROY_ID, cm_destroy(fd, id) && !cm_destroy(fd, id));
	ask_options(fd);
	cm_ask_connections(fd);
	cm_ask_spaces(fd);
	ask_multicast(fd);
	ask_migration(fd);
	MUST(!close(fd));
	return 0;
}
