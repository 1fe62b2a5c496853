/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The inside of a QP, for rnic/ only. qp.c and qp_modify.c keep attributes and state; the
 * transport (requester.c, completer.c, responder.c) keeps req and resp.
 */
#ifndef RNIC_QP_PRIV_H
#define RNIC_QP_PRIV_H

#include "rnic/cc_rp.h"
#include "rnic/device_priv.h"
#include "rnic/qp.h"

struct bth_packet;
struct requester;
struct responder;

#define QP_STEPS RNIC_QP_STEPS_MAX

struct qp_history {
	struct rnic_qp_step step[QP_STEPS]; /* a ring */
	uint64_t n;			    /* ever taken */
};

struct rnic_qp {
	struct rnic_device *dev;
	struct rnic_pd *pd;
	struct rnic_qp_init init;
	uint32_t qpn;
	struct rnic_qp_attr attr; /* what was set, attr.state the state now */
	struct qp_history history;
	struct qp_list active;	/* in dev->active or alone */
	struct qp_list waiting; /* in dev->waiting or alone */
	struct qp_list held;	/* in dev->held or alone */
	struct rnic_timer retry_timer;
	struct rnic_timer rnr_timer;
	struct rnic_timer pace_timer; /* limited by congestion: when more may leave */
	struct cc_rp cc;
	bool sends_first;	     /* limited by congestion: the responder was last */
	uint64_t cnp_next;	     /* no CNP before then */
	struct mcast_member *mcasts; /* groups that it is attached to: mcast.c */
	struct requester *req;
	struct responder *resp;
	uint32_t n_mw; /* windows of type 2 that it has bound */
};

/* ---- implemented by the transport, called by qp.c and qp_modify.c ---- */

/* Allocate req and resp for qp->init. 0 or -ENOMEM. */
int transport_create(struct rnic_qp *qp);
void transport_destroy(struct rnic_qp *qp);
/* attr and state have been changed from `from` (which may equal the new state). RESET forgets all,
 * RTR and RTS take the PSNs, ERR flushes both queues with completions. */
void transport_state_entered(struct rnic_qp *qp, enum rnic_qp_state from, uint32_t mask,
			     uint64_t now);
void transport_info_get(const struct rnic_qp *qp, struct rnic_qp_info *info);
/* The device goes: free dev->peers. */
void peers_free(struct rnic_device *dev);

/* ---- implemented by qp.c, called by the transport ---- */

/* The transport has found an error: enter ERR, call transport_state_entered, raise the event if
 * type is not negative. */
void qp_error(struct rnic_qp *qp, uint64_t now, int event_type);
/* A request of the send queue has failed: an RC QP enters ERR, any other SQE (IBA unverified). */
void qp_send_error(struct rnic_qp *qp, uint64_t now);
/* attr.state is new. */
void qp_history_add(struct rnic_qp *qp, enum rnic_qp_state from, bool by_error, uint64_t now);
/* The line that says why nothing can be sent, below RTS. */
void qp_post_refused(struct rnic_qp *qp);
/* 0, or -EINVAL and the line that says why: the state table's verdict on going there. */
int qp_transition_check(struct rnic_qp *qp, enum rnic_qp_state to, uint32_t mask);
struct rnic_qp *qp_lookup(struct rnic_device *dev, uint32_t qpn);
/* In dev->active, at the tail; nothing if it is there already. */
void qp_activate(struct rnic_qp *qp);
void qp_deactivate(struct rnic_qp *qp);

void qp_list_init(struct qp_list *l);
void qp_list_add_tail(struct qp_list *head, struct qp_list *l);
void qp_list_del(struct qp_list *l); /* idempotent */

#endif
