/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of communication management, for rnic/cm*.c. */
#ifndef RNIC_CM_PRIV_H
#define RNIC_CM_PRIV_H

#include "rnic/cm.h"
#include "rnic/cm_index.h"
#include "rnic/device_priv.h"

struct cm_link {
	struct cm_link *next, **back; /* back: what points to it; NULL: it is in no list */
};

struct cm_device {
	const struct rnic_cm_host *ops;
	void *host;
	struct rnic_table ends; /* by number; an ID on the wire is the number with `mask` over it */
	struct cm_index *index;
	uint32_t mask;
	uint64_t guid; /* of this adapter, in messages */
	uint64_t tid;
	uint32_t psn;
	uint32_t forgotten; /* ends that nobody owns */
	struct rnic_cm_counts counts;
};

/* A peer decides how many connections begin and end, and for how long their ends have to wait. */
#define CM_FORGOTTEN_MAX (1u << 16)

#define CM_STALE_MAX 4

struct cm_stale {
	uint32_t id;
	uint64_t tid;
};

struct rnic_cm {
	struct rnic_device *dev;
	void *user;
	enum rnic_cm_state state;
	bool owned;   /* not yet given to rnic_cm_destroy */
	bool passive; /* made by the peer's message */
	uint32_t number;
	uint32_t remote_id;   /* 0: not known yet */
	uint64_t remote_guid; /* of a REQ */
	uint64_t service_id;
	uint64_t tid;	      /* of the exchange under way */
	uint64_t request_tid; /* of the REQ or SIDR_REQ that made it */
	uint32_t local_qpn, remote_qpn;
	struct rnic_av av;
	struct cm_link by_request, by_qp; /* cm_index.c */
	/* REQs of the same QP that were stale because of this end, which may come again late. */
	struct cm_stale stale[CM_STALE_MAX];
	uint32_t n_stale;
	/* What is repeated when no answer comes, or when its cause is seen again. */
	uint8_t sent[MAD_LEN];
	int sent_type; /* enum cm_type; 0: nothing yet */
	struct rnic_timer timer;
	uint64_t timeout;     /* ns, of one try */
	uint64_t peer_repeat; /* the peer may repeat its request so long after this one, ns */
	uint32_t retries;     /* of every exchange, as the REQ says */
	uint32_t tries;	      /* left */
};

uint32_t cm_id(const struct rnic_cm *cm);
struct rnic_cm *cm_find(struct rnic_device *dev, uint32_t id);
/* So that a REJ for timeout is understood by who does not know its sender's ID yet. */
void cm_name_adapter(const struct rnic_cm *cm, struct cm_msg *rej);
/* Frees at once. */
void cm_free(struct rnic_cm *cm);

/* ---- cm_send.c ---- */
uint64_t cm_timeout_ns(uint32_t exponent);
/* Encode with this end's IDs and send; kept if `keep`. */
void cm_transmit(struct rnic_cm *cm, struct cm_msg *msg, enum cm_type type, bool keep);
void cm_repeat(struct rnic_cm *cm);
/* Without an end: an answer to what came. */
void cm_answer(struct rnic_device *dev, const struct rnic_rx *rx, struct cm_msg *msg);
/* Wait for an answer, for as long and as often as the exchange's first message said. */
void cm_expect(struct rnic_cm *cm, uint64_t now);
void cm_timer_fired(struct rnic_device *dev, struct rnic_timer *t, uint64_t now);
void cm_enter_timewait(struct rnic_cm *cm, uint64_t now);
/* An end that nobody owns waits no longer if there are too many of them. */
void cm_hurry(struct rnic_cm *cm, uint64_t now);
/* Tells the owner, if there is one. */
void cm_tell(struct rnic_cm *cm, enum rnic_cm_event_type type, const struct cm_msg *msg);

/* ---- cm_rx.c ---- */
struct bth_packet;
/* A packet for QP 1. */
void cm_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *rx,
	   const struct bth_packet *pkt);

/* The device ends. */
void cm_stop(struct rnic_device *dev);

#endif
