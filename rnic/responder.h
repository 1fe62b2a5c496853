/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The receiving side of a QP (IBA vol. 1, 9.7).
 *
 * Answers leave in PSN order. READs and atomics wait in a ring of jobs, which turns of rnic_run
 * work off; the one ACK or NAK that follows them (a later one replaces it) leaves when the jobs are
 * done, at the end of the batch of packets if there are none.
 */
#ifndef RNIC_RESPONDER_H
#define RNIC_RESPONDER_H

#include "rnic/hold.h"
#include "rnic/qp_priv.h"

#define DMALEN_MAX (1u << 31) /* C9-94 */

struct bth_packet;
struct recv_state;

enum resp_job_kind { JOB_READ, JOB_ATOMIC };

struct resp_job {
	enum resp_job_kind kind;
	bool again; /* the response to a duplicate */
	uint32_t psn, n_psn;
	uint32_t msn;
	uint32_t sent,
		end; /* packets sent; where to stop: n_psn, or less if asked again from there */
	uint32_t rkey, len;
	uint64_t va;
	uint64_t orig;
};

struct resp_atomic { /* a result, for duplicates */
	uint32_t psn;
	bool valid;
	uint64_t orig;
};

enum resp_message { MSG_NONE, MSG_SEND, MSG_WRITE };

/* The answer that follows the jobs. */
enum resp_tail {
	TAIL_NONE,
	TAIL_ACK,
	TAIL_NAK,   /* sequence error, RNR: the requester comes again */
	TAIL_FATAL, /* the QP enters ERR when it has left */
};

struct responder {
	uint32_t psn;	  /* expected */
	uint32_t ack_psn; /* last of the SENDs and WRITEs: what an ACK names */
	uint32_t msn;
	uint32_t mtu;
	uint32_t flow;
	bool nak_sent;	  /* nothing but the expected PSN is answered until it comes */
	bool established; /* COMM_EST is raised */
	bool last_wqe;	  /* LAST_WQE_REACHED is raised */

	enum resp_message msg; /* the message that has begun */
	uint64_t va;	       /* WRITE: where it goes on */
	uint32_t rkey, left;   /* WRITE: bytes to come */
	uint32_t dmalen;
	struct recv_state *recv;

	enum resp_tail tail;
	uint8_t tail_syndrome;
	uint32_t tail_psn;	   /* of a NAK */
	int tail_event;		   /* of TAIL_FATAL */
	struct rnic_qp *next_tail; /* QPs of this batch that have a tail to send */
	bool in_tails;
	bool tail_may_wait; /* it acknowledges the end of a message */
	struct ack_hold hold;

	struct resp_job *job;
	uint32_t job_head, n_jobs, job_room;
	struct rnic_mem *wait_mem; /* the first job waits for it */
	uint32_t pend_n;	   /* packets of its run whose reading is pending */
	struct resp_atomic *atomic;
	uint32_t atomic_next;
};

enum resp_verdict {
	RESP_OK,
	RESP_INVALID,	  /* NAK invalid request */
	RESP_ACCESS,	  /* NAK remote access */
	RESP_OPERATIONAL, /* NAK remote operational error */
	RESP_RNR,	  /* no receive */
	RESP_BUSY,	  /* memory does not answer yet: RNR with a short timer */
	RESP_GONE,	  /* the memory's process is gone: no answer */
	RESP_RECV_LENGTH, /* the receive is too short */
	RESP_RECV_ACCESS, /* the receive's memory cannot be written */
	RESP_RECV_BAD,	  /* the receive makes no sense */
};

int responder_create(struct rnic_qp *qp);
void responder_destroy(struct rnic_qp *qp);
void responder_reset(struct rnic_qp *qp);
void responder_start(struct rnic_qp *qp);

/* Request packets of one batch for this RC QP, in the order in which they came. */
void responder_rx(struct rnic_qp *qp, uint64_t now, const struct bth_packet *pkt, uint32_t n);
/* One turn of rnic_run: at most one run of responses. True if there are more. */
bool responder_turn(struct rnic_qp *qp, uint64_t now);
/* Send the ACK or NAK that is due, if no job is before it. */
void responder_send_tail(struct rnic_qp *qp, uint64_t now);

/* A request has come: COMM_EST, if it is the first and the QP is in RTR. */
void responder_established(struct rnic_qp *qp);

/* Refuse the request at the expected PSN. */
void responder_refuse(struct rnic_qp *qp, enum resp_verdict verdict);
/* The READ that is being answered fails at this PSN. */
void responder_refuse_read(struct rnic_qp *qp, uint32_t psn, enum resp_verdict verdict);
/* Send one packet without payload. */
void responder_packet(struct rnic_qp *qp, const struct bth_packet *pkt);

/* responder_data.c: SENDs and WRITEs in order; n: how many packets it has dealt with. */
enum resp_verdict responder_data(struct rnic_qp *qp, const struct bth_packet *pkt, uint32_t *n);
/* responder_read.c: READs and atomics */
enum resp_verdict responder_read(struct rnic_qp *qp, const struct bth_packet *pkt);
enum resp_verdict responder_atomic(struct rnic_qp *qp, const struct bth_packet *pkt);
enum resp_verdict responder_atomic_write(struct rnic_qp *qp, const struct bth_packet *pkt);
void responder_atomic_write_again(struct rnic_qp *qp, const struct bth_packet *pkt);
void responder_read_again(struct rnic_qp *qp, const struct bth_packet *pkt);
void responder_atomic_again(struct rnic_qp *qp, const struct bth_packet *pkt);
/* One run of the first job; false if congestion lets none leave now. */
bool responder_job_work(struct rnic_qp *qp, uint64_t now);

#endif
