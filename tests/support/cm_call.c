/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rdma_cm without librdmacm: commands, IDs, events. */
#include "cm.h"

#include <fcntl.h>
#include <unistd.h>

int cm_open(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

int cm_command(int fd, uint32_t cmd, const void *in, size_t len, size_t room)
{
	uint8_t buf[sizeof(struct rdma_ucm_cmd_hdr) + 512];
	struct rdma_ucm_cmd_hdr hdr = {cmd, (uint16_t)len, (uint16_t)room};

	MUST(len <= 512);
	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), in, len);
	return write(fd, buf, sizeof(hdr) + len) < 0 ? errno : 0;
}

/* The last one is for any kind; UC is what only it can have. */
static uint8_t kind_of(uint16_t space)
{
	switch (space) {
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IBV_QPT_UD;
	case RDMA_PS_IB:
		return IBV_QPT_UC;
	default:
		return IBV_QPT_RC;
	}
}

uint32_t cm_create(int fd, uint16_t space)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req = {.uid = 1, /* of 0, events are kept back */
					 .response = (uintptr_t)&resp,
					 .ps = space,
					 .qp_type = kind_of(space)};

	MUST(!CM_ANSWERED(fd, CREATE_ID, req, resp));
	return resp.id;
}

bool cm_destroy(int fd, uint32_t id)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req = {.response = (uintptr_t)&resp, .id = id};

	return !CM_ANSWERED(fd, DESTROY_ID, req, resp);
}

struct rdma_ucm_event_resp cm_event(int fd, uint32_t event)
{
	struct rdma_ucm_event_resp ev = {0};
	struct rdma_ucm_get_event req = {.response = (uintptr_t)&ev};
	int rc = CM_ANSWERED(fd, GET_EVENT, req, ev);

	if (rc || ev.event != event)
		rig_fail("event %u with status %d instead of %u: %s", ev.event, (int)ev.status,
			 event, strerror(rc));
	return ev;
}

struct sockaddr_in cm_address(const char *text, uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

	MUST(inet_pton(AF_INET, text, &in.sin_addr) == 1);
	return in;
}
