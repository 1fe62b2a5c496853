/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Work queues as the core sees them. A provider personality (rxe's rings, mlx5's, a test's arrays)
 * turns its own layout into these neutral requests and back. slot is opaque to the core.
 */
#ifndef RNIC_PERSONALITY_H
#define RNIC_PERSONALITY_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/types.h"

struct rnic_qp;

struct rnic_sge {
	uint64_t addr;
	uint32_t len;
	uint32_t lkey;
};

/* BIND_MW: a window and what it shall be (IBA 10.6). */
struct rnic_bind {
	uint64_t addr, length; /* length 0: unbind (type 1 only) */
	uint32_t mr_lkey;
	uint32_t mw_rkey; /* the window's key now */
	uint32_t rkey;	  /* its low byte is the new key's */
	uint32_t access;  /* enum rnic_access */
};

struct rnic_send_wr {
	uint64_t slot;
	enum rnic_wr_op op;
	uint32_t flags; /* enum rnic_send_flags */
	uint32_t imm;	/* host order; SEND_INV: the key to invalidate */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t compare; /* CMP_SWAP */
	uint64_t swap_add;
	uint32_t inv_key; /* LOCAL_INV */
	struct rnic_bind bind;
	/* UD */
	struct rnic_av av;
	bool av_bad; /* the address handle does not exist or belongs to another PD */
	uint32_t remote_qpn, remote_qkey;
	/* Either SGEs or, with RNIC_SEND_INLINE, inline_len bytes of inline_data. */
	uint32_t num_sge;
	struct rnic_sge sge[RNIC_MAX_SGE];
	uint32_t inline_len;
	uint8_t inline_data[RNIC_MAX_INLINE];
};

struct rnic_recv_wr {
	uint64_t slot;
	uint32_t num_sge;
	struct rnic_sge sge[RNIC_MAX_SGE];
};

struct rnic_cqe {
	struct rnic_qp *qp;
	uint64_t slot;
	bool recv; /* slot is a receive's */
	enum rnic_wc_status status;
	enum rnic_wc_opcode opcode;
	uint32_t flags; /* enum rnic_wc_flags */
	uint32_t byte_len;
	uint32_t imm; /* host order immediate, or the invalidated key */
	uint32_t src_qpn;
	uint32_t vendor_err;
	uint16_t pkey_index;
	uint8_t ip_version; /* UD: 4 or 6, which says what the GRH's 40 bytes hold (annex A17) */
	bool solicited;	    /* SE was set, or an error: what a solicited-only arming waits for */
};

/* Nothing here may block, call back into the core, or trust shared memory twice. */
struct rnic_personality {
	/*
	 * Copy the next posted request out of the queue. 1: *wr is set; 0: none; -EINVAL: the next
	 * request is malformed: *wr has its slot and op, and it completes with LOC_QP_OP_ERR.
	 */
	int (*send_next)(void *qp_user, struct rnic_send_wr *wr);
	/*
	 * The request has completed (with or without a CQE); its slot may be posted to again. Comes
	 * before the cq_push of the same slot, so that a client that sees the CQE finds room: what
	 * a CQE needs (the wr_id) is the personality's own copy, made by send_next.
	 */
	void (*send_retire)(void *qp_user, uint64_t slot);
	/*
	 * Likewise for a receive queue or an SRQ; the slot is free as soon as it is taken. -EIO:
	 * the queue itself is corrupt, and nothing can be taken from it any more.
	 */
	int (*recv_next)(void *rq_user, struct rnic_recv_wr *wr);
	/* Receives posted and not taken yet, as far as known: for SRQ limits. */
	uint32_t (*recv_count)(void *rq_user);
	/* 0, or -ENOSPC: the CQ is full and nothing was written. */
	int (*cq_push)(void *cq_user, void *qp_user, const struct rnic_cqe *cqe);
	/* After a push: was the CQ armed for it? Clears the arming if so. */
	bool (*cq_test_arm)(void *cq_user, bool solicited);
};

#endif
