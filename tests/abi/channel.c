/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An event channel of rdma_cm by hand: what is opened not to wait does not, and what a command
 * takes away is away, also if the command then fails.
 *
 *     channel
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

static int fd;

static int command(uint32_t number, const void *in, size_t in_len, size_t out_len)
{
	uint8_t buf[512];
	struct rdma_ucm_cmd_hdr hdr = {number, (uint16_t)in_len, (uint16_t)out_len};

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), in, in_len);
	return write(fd, buf, sizeof(hdr) + in_len) < 0 ? errno : 0;
}

static int get_event(struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_get_event req = {.response = (uintptr_t)event};

	return command(RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), sizeof(*event));
}

static uint32_t create_id(void)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req = {
		.response = (uintptr_t)&resp, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC};

	IS(0, command(RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req), sizeof(resp)));
	return resp.id;
}

static void resolve(uint32_t id)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_ucm_resolve_ip req = {.id = id, .timeout_ms = 1000};
	struct pollfd p = {.fd = fd, .events = POLLIN};

	memcpy(&req.dst_addr, &to, sizeof(to));
	IS(0, command(RDMA_USER_CM_CMD_RESOLVE_IP, &req, sizeof(req), 0));
	MUST(poll(&p, 1, RIG_PATIENCE) == 1);
}

static int destroy(uint32_t id, uint64_t response)
{
	struct rdma_ucm_destroy_id req = {.response = response, .id = id};

	return command(RDMA_USER_CM_CMD_DESTROY_ID, &req, sizeof(req),
		       sizeof(struct rdma_ucm_destroy_id_resp));
}

static void nothing_waits(void)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct rdma_ucm_event_resp event;

	MUST(poll(&p, 1, 0) == 0);
	IS(EAGAIN, get_event(&event));
}

int main(void)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_event_resp event;
	uint32_t id;

	fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	MUST(fd >= 0);
	nothing_waits();
	id = create_id();
	resolve(id);
	IS(0, get_event(&event));
	MUST(event.id == id && event.event == 0);
	IS(0, destroy(id, (uintptr_t)&resp));
	MUST(resp.events_reported == 1);
	nothing_waits();
	id = create_id();
	resolve(id);
	IS(EFAULT, destroy(id, 8));
	IS(ENOENT, destroy(id, (uintptr_t)&resp)); /* it is gone all the same */
	nothing_waits();
	return 0;
}
