/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* librdmacm's functions by what they are for; both ends of each connection are of this process. */
#ifndef SUPPORT_LIBRDMACM_H
#define SUPPORT_LIBRDMACM_H

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

#include "ask.h"

/* A listener, and who connects to it; each has a channel of its own. */
struct ends {
	struct rdma_event_channel *at_server, *at_client;
	struct rdma_cm_id *listener, *server, *client;
};

/* 127.0.0.1, with a port in host order. */
struct sockaddr *cm_here(uint16_t port);
/* Waits for the next event, which is to be that one; to be acknowledged. */
struct rdma_cm_event *cm_await(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* The same, acknowledged: what it came for. */
struct rdma_cm_id *cm_got(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* An ID of that space that is bound to 127.0.0.1. */
struct rdma_cm_id *cm_bound(struct rdma_event_channel *channel, enum rdma_port_space space);

void ends_listen(struct ends *e);
/* The client knows its route, and wants this traffic class. */
#define ENDS_TOS 0x68
void ends_resolve(struct ends *e);
/* The server has the client's request, whose event it leaves to be acknowledged. */
struct rdma_cm_event *ends_request(struct ends *e, struct rdma_conn_param *param);
void ends_forget(struct ends *e); /* the server's and the client's ID */
void ends_close(struct ends *e);

/* Both ids have QPs that are connected; each function of rdma_verbs.h but those for SRQs and UD. */
void cm_ask_traffic(struct rdma_cm_id *from, struct rdma_cm_id *to);
/* A message gets from one to the other. */
void cm_send(struct rdma_cm_id *from, struct rdma_cm_id *to);

void cm_ask_words(void);
void cm_ask_ids(void);
void cm_ask_connections(void);
void cm_ask_own_queues(void);
void cm_ask_endpoints(void);
void cm_ask_datagrams(void);

#endif
