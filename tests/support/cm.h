/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rdma_cm without librdmacm. */
#ifndef SUPPORT_CM_H
#define SUPPORT_CM_H

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>

#include "ask.h"

/* RDMA_CM_EVENT_ of librdmacm */
enum {
	ADDR_RESOLVED = 0,
	ROUTE_RESOLVED = 2,
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE = 5,
	REJECTED = 8,
	ESTABLISHED = 9,
	DISCONNECTED = 10,
	MULTICAST_JOIN = 12,
};

int cm_open(void);
/* 0 or the errno. */
int cm_command(int fd, uint32_t cmd, const void *in, size_t len, size_t room);
#define CM_COMMAND(fd, name, req) cm_command(fd, RDMA_USER_CM_CMD_##name, &(req), sizeof(req), 0)
#define CM_ANSWERED(fd, name, req, resp)                                                           \
	cm_command(fd, RDMA_USER_CM_CMD_##name, &(req), sizeof(req), sizeof(resp))

/* Of the kind of QP that the space has. */
uint32_t cm_create(int fd, uint16_t space);
bool cm_destroy(int fd, uint32_t id);
/* Waits for the next event, which is to be that one. */
struct rdma_ucm_event_resp cm_event(int fd, uint32_t event);
struct sockaddr_in cm_address(const char *text, uint16_t port);

void cm_ask_connections(int fd);
void cm_ask_spaces(int fd);

#endif
