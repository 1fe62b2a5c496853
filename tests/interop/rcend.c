/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ends' memory, queues and way to each other. */
#include "rcend.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void fail(const char *what, int error)
{
	fprintf(stderr, "rcdata: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
	exit(1);
}

void *must(void *object, const char *what)
{
	if (!object)
		fail(what, errno);
	return object;
}

void swap_over_tcp(const struct end *end, const void *out, void *in, size_t size)
{
	if (send(end->fd, out, size, MSG_NOSIGNAL) != (ssize_t)size ||
	    recv(end->fd, in, size, MSG_WAITALL) != (ssize_t)size)
		fail("the other end is gone", 0);
}

void barrier(const struct end *end)
{
	char byte = 0;

	swap_over_tcp(end, &byte, &byte, 1);
}

static void open_device(struct end *end, const char *name)
{
	struct ibv_device **list = must(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_port_attr port;

	for (struct ibv_device **dev = list; *dev && !end->ctx; dev++)
		if (!strcmp(ibv_get_device_name(*dev), name))
			end->ctx = must(ibv_open_device(*dev), "ibv_open_device");
	ibv_free_device_list(list);
	if (!end->ctx)
		fail("no such device", 0);
	if (ibv_query_port(end->ctx, 1, &port))
		fail("ibv_query_port", errno);
	end->self.mtu = port.active_mtu < end->mtu_max ? port.active_mtu : end->mtu_max;
}

static void create_qp(struct end *end)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap =
			{
				.max_send_wr = 4,
				.max_recv_wr = 4,
				.max_send_sge = 2,
				.max_recv_sge = 2,
				.max_inline_data = INLINE_MAX,
			},
	};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = 4, .max_sge = 2}};

	end->area = must(aligned_alloc(4096, AREA_SIZE), "aligned_alloc");
	end->pd = must(ibv_alloc_pd(end->ctx), "ibv_alloc_pd");
	end->mr = must(ibv_reg_mr(end->pd, end->area, AREA_SIZE, access), "ibv_reg_mr");
	end->cq = must(ibv_create_cq(end->ctx, 16, NULL, NULL, 0), "ibv_create_cq");
	init.send_cq = init.recv_cq = end->cq;
	if (end->shared)
		end->srq = must(ibv_create_srq(end->pd, &shared), "ibv_create_srq");
	init.srq = end->srq;
	end->qp = must(ibv_create_qp(end->pd, &init), "ibv_create_qp");
	end->self.qpn = end->qp->qp_num;
	end->self.psn = 0xffffc0; /* just before the wrap, so that it is crossed */
	end->self.rkey = end->mr->rkey;
	end->self.addr = (uintptr_t)end->area;
	if (ibv_query_gid(end->ctx, 1, end->gid_index, &end->self.gid))
		fail("ibv_query_gid", errno);
}

static void modify(struct end *end, struct ibv_qp_attr attr, int mask, const char *what)
{
	int error = ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | mask);

	if (error)
		fail(what, error);
}

static void connect_qp(struct end *end)
{
	modify(end,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_INIT,
		       .port_num = 1,
		       .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
					  IBV_ACCESS_REMOTE_ATOMIC,
	       },
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "to INIT");
	modify(end,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_RTR,
		       .path_mtu = end->self.mtu < end->peer.mtu ? end->self.mtu : end->peer.mtu,
		       .dest_qp_num = end->peer.qpn,
		       .rq_psn = end->peer.psn,
		       .max_dest_rd_atomic = 1,
		       .min_rnr_timer = 12,
		       .ah_attr =
			       {
				       .is_global = 1,
				       .port_num = 1,
				       .grh = {.dgid = end->peer.gid,
					       .sgid_index = (uint8_t)end->gid_index,
					       .hop_limit = 64},
			       },
	       },
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	       "to RTR");
	modify(end,
	       (struct ibv_qp_attr){
		       .qp_state = IBV_QPS_RTS,
		       .timeout = 18,
		       .retry_cnt = 7,
		       .rnr_retry = 7,
		       .sq_psn = end->self.psn,
		       .max_rd_atomic = 1,
	       },
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC,
	       "to RTS");
}

static int tcp_open(const char *address, uint16_t port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0 || (address && inet_pton(AF_INET, address, &sin.sin_addr) != 1))
		fail("socket", errno);
	if (address) {
		if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
			fail("connect", errno);
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, 1))
		fail("listen", errno);
	fd = accept(fd, NULL, NULL);
	if (fd < 0)
		fail("accept", errno);
	return fd;
}

void end_create(struct end *end, const char *device)
{
	open_device(end, device);
	create_qp(end);
}

void end_connect(struct end *end, const char *address, uint16_t port)
{
	end->fd = tcp_open(address, port);
	swap_over_tcp(end, &end->self, &end->peer, sizeof(end->self));
	connect_qp(end);
	barrier(end);
}
