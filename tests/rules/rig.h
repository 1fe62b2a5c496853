/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the rules' programs share: a device, connected QPs within one process, patient waiting. */
#ifndef RULES_RIG_H
#define RULES_RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define RIG_ACCESS                                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
	int gid_index;
};

/* Says what went wrong, with errno, and ends the program with 1. */
void rig_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define MUST(what) ((what) ? (void)0 : rig_fail("%s:%d: %s", __FILE__, __LINE__, #what))

#define RIG_PATIENCE 300000 /* ms: nothing here takes that long; a busy machine may */

uint64_t rig_now(void); /* ns */

/* $RIG_DEVICE or the first device, a PD, a CQ of 1024; $RIG_ADDRESS or an IPv4 address as GID. */
void rig_open(struct rig *r);
void rig_close(struct rig *r);
struct ibv_qp *rig_qp(struct rig *r, enum ibv_qp_type type);
/* To INIT and on to RTS, connected to that QP number of this device. */
void rig_connect(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn);
/* To RTR only. */
void rig_listen(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn);
/* As rig_connect with retries of its own: timeout exponent, retry_cnt, rnr_retry. */
void rig_connect_with(struct rig *r, struct ibv_qp *qp, uint32_t remote_qpn, uint8_t timeout,
		      uint8_t retry_cnt, uint8_t rnr_retry);
/*
 * Two QPs of this device, connected to each other. Their PSNs begin far from 0, where a lying peer
 * guesses: who knows QP number, address and PSN is the peer, and may end the connection.
 */
#define RIG_PAIR_PSN 0x400000
void rig_pair(struct rig *r, enum ibv_qp_type type, struct ibv_qp *qp[2]);
struct ibv_mr *rig_mr(struct rig *r, void *addr, size_t len);
int rig_post(struct ibv_qp *qp, enum ibv_wr_opcode op, struct ibv_sge *sge, int n, uint64_t raddr,
	     uint32_t rkey);
int rig_recv(struct ibv_qp *qp, struct ibv_sge *sge, int n);
/* The next completion within so many ms, or false. */
bool rig_wait(struct ibv_cq *cq, struct ibv_wc *wc, uint32_t ms);

#endif
