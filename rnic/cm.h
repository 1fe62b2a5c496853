/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Communication management (IBA vol. 1, chapter 12): connections, set up and taken down by messages
 * between QP 1 and QP 1. It knows service IDs and QP numbers; addresses, ports and what a program
 * is told are its owner's.
 */
#ifndef RNIC_CM_H
#define RNIC_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "bth/cm.h"
#include "rnic/device.h"

struct rnic_cm; /* one end of a connection, or of a SIDR exchange */

enum rnic_cm_state {
	RNIC_CM_IDLE,
	RNIC_CM_REQ_SENT,
	RNIC_CM_REQ_RCVD,
	RNIC_CM_REP_SENT,
	RNIC_CM_REP_RCVD,
	RNIC_CM_ESTABLISHED,
	RNIC_CM_DREQ_SENT,
	RNIC_CM_DREQ_RCVD,
	RNIC_CM_TIMEWAIT,
	RNIC_CM_SIDR_REQ_SENT,
	RNIC_CM_SIDR_REQ_RCVD,
	RNIC_CM_STATES,
};

/* Reasons of a REJ (IBA chapter 12), as they stand on the wire. */
enum rnic_cm_reason {
	CM_REJ_NO_QP = 1,
	CM_REJ_TIMEOUT = 4,
	CM_REJ_INVALID_COMM_ID = 6,
	CM_REJ_INVALID_SERVICE_ID = 8,
	CM_REJ_INVALID_TRANSPORT_TYPE = 9,
	CM_REJ_STALE_CONN = 10,
	CM_REJ_INVALID_GID = 12,
	CM_REJ_CONSUMER = 28,
	CM_REJ_VENDOR_OPTION = 35,
};

/* Status of a SIDR_REP. */
enum rnic_cm_sidr_status { CM_SIDR_SUCCESS = 0, CM_SIDR_UNSUPPORTED = 1, CM_SIDR_REJECT = 2 };

enum rnic_cm_event_type {
	RNIC_CM_EV_REP,
	RNIC_CM_EV_ESTABLISHED, /* RTU */
	RNIC_CM_EV_REJ,
	RNIC_CM_EV_UNREACHABLE, /* no answer to REQ, SIDR_REQ or REP */
	RNIC_CM_EV_DREQ,
	RNIC_CM_EV_DISCONNECTED, /* DREP, or none in time */
	RNIC_CM_EV_TIMEWAIT_EXIT,
	RNIC_CM_EV_SIDR_REP,
};

struct rnic_cm_event {
	enum rnic_cm_event_type type;
	const struct cm_msg *msg; /* what came; NULL for a timeout */
};

#define RNIC_CM_SILENCE 0xffff

struct rnic_cm_host {
	/*
	 * A REQ or SIDR_REQ that begins something; cm is new. 0: the host takes it (by
	 * rnic_cm_user_set) and answers later. Else a reason of a REJ or a status of a SIDR_REP,
	 * which is sent; or RNIC_CM_SILENCE: nothing is, so that the REQ comes again. cm is gone
	 * then.
	 */
	uint16_t (*request)(void *host, struct rnic_cm *cm, const struct cm_msg *msg);
	/* May call back, rnic_cm_destroy included. */
	void (*event)(void *host, struct rnic_cm *cm, void *user, const struct rnic_cm_event *ev);
};

/*
 * Begin to speak and to hear on QP 1, once, before anything else here. guid: the adapter's, for
 * messages. 0 or -ENOMEM. It ends with the device, whose host must have destroyed its ends by then.
 */
int rnic_cm_start(struct rnic_device *dev, const struct rnic_cm_host *ops, void *host,
		  uint64_t guid);

/* A new end in IDLE. NULL only when memory is short. */
struct rnic_cm *rnic_cm_create(struct rnic_device *dev, void *user);
/* The owner forgets it, in whatever state: the peer is told (REJ, DREQ), and the end lives on
 * unseen until it has been answered and its time wait is over. */
void rnic_cm_destroy(struct rnic_cm *cm, uint64_t now);
void rnic_cm_user_set(struct rnic_cm *cm, void *user);
enum rnic_cm_state rnic_cm_state(const struct rnic_cm *cm);
const char *rnic_cm_state_name(enum rnic_cm_state state);
/* The way to the peer; of an end that a REQ has made, from that REQ's packet. */
const struct rnic_av *rnic_cm_av(const struct rnic_cm *cm);
uint32_t rnic_cm_local_id(const struct rnic_cm *cm);
/* The first end with an ID number above *cursor (begin with 0), or NULL. */
struct rnic_cm *rnic_cm_next(struct rnic_device *dev, uint32_t *cursor);

#define RNIC_CM_TYPES (CM_TYPE_LAST - CM_TYPE_FIRST + 1)
/* Messages by their type less CM_TYPE_FIRST, as Linux counts them (its cm_tx_msgs and so on). */
struct rnic_cm_counts {
	uint64_t sent[RNIC_CM_TYPES], repeated[RNIC_CM_TYPES]; /* for want of an answer */
	uint64_t rcvd[RNIC_CM_TYPES], known[RNIC_CM_TYPES];    /* what had come before */
};
const struct rnic_cm_counts *rnic_cm_counts(const struct rnic_device *dev);

/*
 * Messages. What the caller fills in of *msg is the message's own content: IDs, TID and type are
 * set here. -EINVAL, and nothing is sent, in a state that does not have this message. now in ns.
 */
/* IDLE. The answer is waited for msg->remote_timeout, and asked for msg->max_cm_retries times more.
 * av->sgid must be set. */
int rnic_cm_req(struct rnic_cm *cm, uint64_t now, const struct rnic_av *av, struct cm_msg *msg);
int rnic_cm_rep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg);	/* REQ_RCVD */
int rnic_cm_rtu(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg);	/* REP_RCVD */
int rnic_cm_rej(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg);	/* before ESTABLISHED */
int rnic_cm_dreq(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg); /* ESTABLISHED, REP_SENT */
int rnic_cm_drep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg); /* DREQ_RCVD */
int rnic_cm_sidr_req(struct rnic_cm *cm, uint64_t now, const struct rnic_av *av,
		     struct cm_msg *msg);				    /* IDLE */
int rnic_cm_sidr_rep(struct rnic_cm *cm, uint64_t now, struct cm_msg *msg); /* SIDR_REQ_RCVD */
/* Traffic has come over the connection: REP_SENT becomes ESTABLISHED (IBA chapter 12, unverified).
 */
int rnic_cm_notify(struct rnic_cm *cm, uint64_t now);

#endif
