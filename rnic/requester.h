/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The sending side of a QP (IBA vol. 1, 9.7): its ring of outstanding requests.
 *
 * Requests are copied out of the client's queue one by one when their turn to be sent comes, and
 * stay in the ring until they complete. The ring has three marks, free-running indexes:
 *
 *	una <= cur <= tail	una: the oldest not completed; cur: the one being sent; tail: the
 *next to be pulled
 *
 * and PSNs to match: una_psn (of entry una, packet `acked`), psn (of entry cur, packet cur_off),
 * max_psn (one above the highest ever sent). Going back sets cur to una. A request that cannot be
 * sent has a status, is the last in the ring, and fails when it has become the oldest.
 */
#ifndef RNIC_REQUESTER_H
#define RNIC_REQUESTER_H

#include "rnic/peer.h"
#include "rnic/personality.h"
#include "rnic/qp_priv.h"

#define IN_FLIGHT_MAX 65536 /* PSNs; far below 2^23, where their order would be lost */

struct send_entry {
	uint64_t slot;
	uint64_t raddr;
	uint64_t compare, swap_add;
	uint32_t rkey, imm;
	uint32_t length; /* bytes of the message */
	/* packets; of a READ the responses'. 0 with a status, and of what makes no packets */
	uint32_t n_psn;
	uint32_t acked;	   /* of them */
	uint32_t pkt_cost; /* socket memory that one of them takes */
	uint32_t flags;	   /* enum rnic_send_flags */
	uint32_t num_sge, inline_len;
	enum rnic_wr_op op;
	enum rnic_wc_status status;
	bool done;		/* BIND_MW, LOCAL_INV: it has been executed */
	bool credited;		/* the peer has a receive for it, as far as credits tell */
	struct rnic_sge data[]; /* num_sge SGEs, inline_len bytes, or a struct rnic_bind */
};

/* Why no turn is wanted although there is something to send. */
enum requester_pause {
	PAUSE_NONE,
	PAUSE_RNR,    /* until rnr_timer; UC, UD: for the receiver to have room */
	PAUSE_MEMORY, /* until rnic_mem_resume(wait_mem) */
};

struct requester {
	uint8_t *ring;
	uint32_t stride, room, mask; /* room: entries used, mask + 1 a power of two */
	uint32_t una, cur, tail;
	uint32_t cur_off;
	uint32_t una_psn, psn, max_psn;
	uint32_t since_ackreq; /* packets sent since one that asked for an acknowledgement */
	uint32_t mtu;
	uint32_t flow;

	/*
	 * PSNs after the READ requests (of which a READ may make several) and atomics that were
	 * ever sent and are not done, a ring of rd_room: rd_known of them, of which the first rd_n
	 * have been sent since the last going back.
	 */
	uint32_t *rd_end;
	uint32_t rd_head, rd_n, rd_known, rd_room;

	uint32_t credits; /* of the peer's last ACK, or AETH_CREDITS_NONE */
	enum requester_pause pause;
	struct rnic_mem *wait_mem;
	uint32_t pend_n;   /* packets of the run whose gathering is pending */
	uint64_t deadline; /* of the oldest unacknowledged packet; 0: none */
	uint16_t jitter;   /* of its timeout, in parts of 65536 */
	uint8_t retries_left, rnr_left;
	bool gap_seen; /* a lost response at una_psn has been asked for again */
	bool draining; /* SQD, not yet drained */
	uint32_t flush_ms;
	uint64_t retransmitted;
	struct peer_share share;
	struct rnic_send_wr *ud_wr; /* UD: the request that is being sent, if ud_held */
	uint64_t ud_length;
	enum rnic_wc_status ud_status; /* what is wrong with it */
	bool ud_held;
};

static inline struct send_entry *send_entry(const struct requester *req, uint32_t i)
{
	return (struct send_entry *)(req->ring + (size_t)(i & req->mask) * req->stride);
}

/* Its answer is a response of its own, for which the peer keeps resources; other requests are
 * acknowledged by any later answer. An ATOMIC_WRITE's is that of a READ of no bytes. */
static inline bool wr_op_awaits_data(enum rnic_wr_op op)
{
	return op == RNIC_WR_READ || op == RNIC_WR_CMP_SWAP || op == RNIC_WR_FETCH_ADD ||
	       op == RNIC_WR_ATOMIC_WRITE;
}

/* Makes no packets. */
static inline bool wr_op_is_local(enum rnic_wr_op op)
{
	return op == RNIC_WR_BIND_MW || op == RNIC_WR_LOCAL_INV;
}

int requester_create(struct rnic_qp *qp);
void requester_destroy(struct rnic_qp *qp);
void requester_reset(struct rnic_qp *qp);
void requester_start(struct rnic_qp *qp);

/* One turn of rnic_run: at most one run of packets. True if it has more to send. */
bool requester_turn(struct rnic_qp *qp, uint64_t now);
/* Copy the next request of the client into the ring; false if there is none, or no room. */
bool requester_pull(struct rnic_qp *qp);
/* Send again from the oldest unacknowledged packet. */
void requester_go_back(struct rnic_qp *qp);
/* How many packets from the next one on have left before. */
uint32_t requester_again(const struct rnic_qp *qp);
/* The packets [psn, psn + n) of entry cur have gone out. */
void requester_sent(struct rnic_qp *qp, struct send_entry *e, uint32_t n, bool ackreq,
		    uint64_t now);
/* Wait for memory; the QP is in dev->waiting. */
void requester_wait(struct rnic_qp *qp, struct rnic_mem *mem);

/* Retire a request and report it, if it asked for that or failed. */
void send_wr_complete(struct rnic_qp *qp, uint64_t slot, enum rnic_wr_op op, uint32_t flags,
		      uint32_t length, enum rnic_wc_status status);
/* The oldest entry is done: a completion if it asked for one or failed; its slot is free. */
void requester_complete(struct rnic_qp *qp, enum rnic_wc_status status);
/* The oldest entry has failed and takes the QP to ERR. */
void requester_fail(struct rnic_qp *qp, enum rnic_wc_status status, uint64_t now);
/* In SQD, once all that was begun has ended: SQ_DRAINED. */
void requester_drained(struct rnic_qp *qp);

/* requester_local.c: BIND_MW and LOCAL_INV */
bool requester_do_local(struct rnic_qp *qp, struct send_entry *e);
/* Complete the local requests that have become the oldest. */
void requester_settle(struct rnic_qp *qp);

/* requester_data.c: SENDs and WRITEs */
bool requester_send_data(struct rnic_qp *qp, struct send_entry *e, uint64_t now);
/* requester_read.c: READs and atomics */
bool requester_send_read(struct rnic_qp *qp, struct send_entry *e, uint64_t now);

#endif
