/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queue pairs as the host sees them (IBA vol. 1, 10.3). */
#ifndef RNIC_QP_H
#define RNIC_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/personality.h"
#include "rnic/types.h"

struct rnic_device;
struct rnic_pd;
struct rnic_cq;
struct rnic_srq;
struct rnic_qp;

struct rnic_qp_init {
	enum rnic_qp_type type;
	struct rnic_cq *send_cq, *recv_cq;
	struct rnic_srq *srq; /* or NULL */
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
	bool sq_sig_all;
	const struct rnic_personality *ops;
	void *user;    /* send_next, send_retire, cq_push's qp_user */
	void *rq_user; /* recv_next of the QP's own receive queue */
};

/* Values of the kernel's enum ib_qp_attr_mask. */
enum rnic_qp_attr_mask {
	RNIC_QP_STATE = 1 << 0,
	RNIC_QP_CUR_STATE = 1 << 1,
	RNIC_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	RNIC_QP_ACCESS_FLAGS = 1 << 3,
	RNIC_QP_PKEY_INDEX = 1 << 4,
	RNIC_QP_PORT = 1 << 5,
	RNIC_QP_QKEY = 1 << 6,
	RNIC_QP_AV = 1 << 7,
	RNIC_QP_PATH_MTU = 1 << 8,
	RNIC_QP_TIMEOUT = 1 << 9,
	RNIC_QP_RETRY_CNT = 1 << 10,
	RNIC_QP_RNR_RETRY = 1 << 11,
	RNIC_QP_RQ_PSN = 1 << 12,
	RNIC_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	RNIC_QP_ALT_PATH = 1 << 14,
	RNIC_QP_MIN_RNR_TIMER = 1 << 15,
	RNIC_QP_SQ_PSN = 1 << 16,
	RNIC_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	RNIC_QP_PATH_MIG_STATE = 1 << 18,
	RNIC_QP_CAP = 1 << 19,
	RNIC_QP_DEST_QPN = 1 << 20,
	RNIC_QP_RATE_LIMIT = 1 << 25,
};

struct rnic_qp_attr {
	enum rnic_qp_state state, cur_state;
	enum rnic_mtu path_mtu;
	uint8_t path_mig_state; /* 0 migrated, 1 rearm, 2 armed */
	uint32_t qkey;
	uint32_t rq_psn, sq_psn, dest_qpn;
	uint32_t access_flags;
	uint16_t pkey_index;
	uint8_t en_sqd_async_notify;
	uint8_t sq_draining;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry;
	uint32_t rate_limit;
	struct rnic_av av;
	uint8_t alt_port_num, alt_timeout;
	uint16_t alt_pkey_index;
	struct rnic_av alt_av;
};

/* Refuses capabilities above the limits and foreign PDs with -EINVAL. */
int rnic_qp_create(struct rnic_pd *pd, const struct rnic_qp_init *init, struct rnic_qp **qp);
/* Frees it without completions; what is in the air is forgotten. */
int rnic_qp_destroy(struct rnic_qp *qp);

/* By the table of qp_table.c and the values' limits: -EINVAL, or -ENODATA for an empty GID index.
 * Nothing is changed on error. */
int rnic_qp_modify(struct rnic_qp *qp, const struct rnic_qp_attr *attr, uint32_t mask,
		   uint64_t now);
/* What was set, but for the PSNs, which are those that come next. */
void rnic_qp_query(const struct rnic_qp *qp, struct rnic_qp_attr *attr);
const struct rnic_qp_init *rnic_qp_init_get(const struct rnic_qp *qp);

uint32_t rnic_qp_num(const struct rnic_qp *qp);
enum rnic_qp_state rnic_qp_state(const struct rnic_qp *qp);
const char *rnic_qp_state_name(enum rnic_qp_state state);
struct rnic_pd *rnic_qp_pd(const struct rnic_qp *qp);
void *rnic_qp_user(const struct rnic_qp *qp);

/* Something may have been posted to the send queue. Idempotent, cheap. -EINVAL below RTS. */
int rnic_qp_kick(struct rnic_qp *qp);

/* For `rnicctl qp`. */
struct rnic_qp_info {
	uint32_t qpn;
	enum rnic_qp_type type;
	enum rnic_qp_state state;
	uint32_t dest_qpn;
	struct rnic_av av;
	uint32_t sq_psn;     /* next new PSN to send */
	uint32_t sq_una_psn; /* oldest unacknowledged PSN */
	uint32_t rq_psn;     /* next PSN expected */
	uint32_t msn;
	uint32_t outstanding; /* requests sent and not completed */
	uint64_t retransmitted;
};
void rnic_qp_info_get(const struct rnic_qp *qp, struct rnic_qp_info *info);

/* A change of state. */
struct rnic_qp_step {
	enum rnic_qp_state from, to;
	bool by_error; /* the QP's own doing, not modify's */
	uint64_t at;   /* ns, as the host's now */
};

#define RNIC_QP_STEPS_MAX 32

/* The last ones, oldest first, and their number; how many older ones are forgotten. */
uint64_t rnic_qp_steps(const struct rnic_qp *qp, struct rnic_qp_step step[RNIC_QP_STEPS_MAX],
		       uint32_t *n);

#endif
