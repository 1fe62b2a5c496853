/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the rules' programs share. */
#include "rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 64
#define SGES 4

void rig_fail(const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (errno: %s)\n", strerror(error));
	_exit(1);
}

uint64_t rig_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void gid_find(struct rig *r)
{
	const char *text = getenv("RIG_ADDRESS");
	uint8_t wanted[16] = {[10] = 0xff, [11] = 0xff};
	size_t len = text ? 16 : 12;

	MUST(!text || inet_pton(AF_INET, text, wanted + 12) == 1 ||
	     inet_pton(AF_INET6, text, wanted) == 1);
	for (r->gid_index = 0; r->gid_index < 16; r->gid_index++)
		if (!ibv_query_gid(r->ctx, 1, r->gid_index, &r->gid) &&
		    !memcmp(r->gid.raw, wanted, len))
			return;
	rig_fail("no such GID");
}

void rig_open(struct rig *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	const char *name = getenv("RIG_DEVICE");
	int i = 0;

	MUST(list);
	while (name && list[i] && strcmp(ibv_get_device_name(list[i]), name))
		i++;
	MUST(list[i]);
	r->ctx = ibv_open_device(list[i]);
	MUST(r->ctx);
	ibv_free_device_list(list);
	r->pd = ibv_alloc_pd(r->ctx);
	MUST(r->pd);
	r->cq = ibv_create_cq(r->ctx, 1024, NULL, NULL, 0);
	MUST(r->cq);
	gid_find(r);
}

void rig_close(struct rig *r)
{
	MUST(!ibv_destroy_cq(r->cq));
	MUST(!ibv_dealloc_pd(r->pd));
	MUST(!ibv_close_device(r->ctx));
}

struct ibv_qp *rig_qp(struct rig *r, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = SGES,
			.max_recv_sge = SGES,
			.max_inline_data = 64},
		.qp_type = type,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &init);

	MUST(qp);
	return qp;
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = RIG_ACCESS,
				   .qkey = 0x11111111};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	MUST(!ibv_modify_qp(qp, &attr, mask));
}

static void to_rtr(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = remote_qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = r->gid,
				    .sgid_index = (uint8_t)r->gid_index,
				    .hop_limit = 64}},
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	MUST(!ibv_modify_qp(qp, &attr, mask));
}

/* Both ways of the connection begin with the same PSN. */
static void connect_from(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn, uint32_t psn,
			 uint8_t timeout, uint8_t retry_cnt, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = timeout,
				   .retry_cnt = retry_cnt,
				   .rnr_retry = rnr_retry,
				   .max_rd_atomic = 4,
				   .sq_psn = psn};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	to_init(qp);
	to_rtr(r, qp, remote_qpn, psn);
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	MUST(!ibv_modify_qp(qp, &attr, mask));
}

void rig_connect_with(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn, uint8_t timeout,
		      uint8_t retry_cnt, uint8_t rnr_retry)
{
	connect_from(r, qp, remote_qpn, 0, timeout, retry_cnt, rnr_retry);
}

void rig_listen(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn)
{
	to_init(qp);
	to_rtr(r, qp, remote_qpn, 0);
}

void rig_connect(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn)
{
	rig_connect_with(r, qp, remote_qpn, 14, 7, 7);
}

void rig_pair(struct rig *r, enum ibv_qp_type type, struct ibv_qp *qp[2])
{
	qp[0] = rig_qp(r, type);
	qp[1] = rig_qp(r, type);
	connect_from(r, qp[0], qp[1]->qp_num, RIG_PAIR_PSN, 14, 7, 7);
	connect_from(r, qp[1], qp[0]->qp_num, RIG_PAIR_PSN, 14, 7, 7);
}

struct ibv_mr *rig_mr(struct rig *r, void *addr, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(r->pd, addr, len, RIG_ACCESS);

	MUST(mr);
	return mr;
}

int rig_post(struct ibv_qp *qp, enum ibv_wr_opcode op, struct ibv_sge *sge, int n, uint64_t raddr,
	     uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = {.sg_list = sge, .num_sge = n, .opcode = op};

	if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = raddr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = raddr;
		wr.wr.rdma.rkey = rkey;
	}
	return ibv_post_send(qp, &wr, &bad);
}

int rig_recv(struct ibv_qp *qp, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr *bad, wr = {.sg_list = sge, .num_sge = n};

	return ibv_post_recv(qp, &wr, &bad);
}

bool rig_wait(struct ibv_cq *cq, struct ibv_wc *wc, uint32_t ms)
{
	uint64_t end = rig_now() + ms * 1000000ull;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc))) {
		const struct timespec pause = {.tv_nsec = 50000};

		if (rig_now() > end)
			return false;
		nanosleep(&pause, NULL);
	}
	MUST(n == 1);
	return true;
}
