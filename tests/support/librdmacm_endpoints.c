/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Endpoints, whose calls wait for what they ask for. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#include "librdmacm.h"

static const struct ibv_qp_init_attr queue = {
	.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	.qp_type = IBV_QPT_RC};

static struct rdma_cm_id *endpoint(int flags, uint16_t port)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *info;
	struct ibv_qp_init_attr init = queue;
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	MUST(!rdma_getaddrinfo("127.0.0.1", service, &hints, &info));
	MUST(!rdma_create_ep(&id, info, NULL, &init));
	rdma_freeaddrinfo(info);
	return id;
}

static void *asks(void *listener)
{
	struct rdma_cm_id *id = endpoint(0, ntohs(rdma_get_src_port(listener)));

	MUST(id->qp && !rdma_connect(id, NULL));
	return id;
}

void cm_ask_endpoints(void)
{
	struct rdma_cm_id *listener = endpoint(RAI_PASSIVE, 0), *server;
	pthread_t thread;
	void *client;
	int fd;

	MUST(!rdma_listen(listener, 1));
	MUST(!pthread_create(&thread, NULL, asks, listener));
	WORKS(rdma_get_request, !rdma_get_request(listener, &server) && server->qp);
	MUST(!rdma_accept(server, NULL));
	MUST(!pthread_join(thread, &client));
	cm_send(client, server);
	ask_works("rdma_create_ep");
	rdma_destroy_ep(client);
	rdma_destroy_ep(server);
	fd = listener->channel->fd;
	rdma_destroy_ep(listener);
	WORKS(rdma_destroy_ep, fcntl(fd, F_GETFD) == -1 && errno == EBADF);
}
