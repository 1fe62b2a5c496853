/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of the virtual side: one device of the core, its clock, its objects by name. */
#ifndef DRILL_VIRTUAL_H
#define DRILL_VIRTUAL_H

#include "rnic/device.h"
#include "rnic/objects.h"
#include "rnic/qp.h"
#include "side.h"

#define V_NAME_MAX 32
#define V_EVENTS 256

enum v_kind { V_PD, V_CQ, V_MR, V_SRQ, V_AH, V_QP, V_MW };

struct rnic_mem {
	struct rnic_mem *next;
	uint8_t *bytes;
	uint64_t start, len;
	int refusal; /* what every access answers; 0: it is done */
};

struct v_queue { /* a ring of requests, taken and retired in order */
	struct rnic_send_wr *send;
	struct rnic_recv_wr *recv;
	uint32_t room;
	uint64_t posted, taken, retired;
};

struct v_cq_ring {
	struct rnic_cqe *cqe;
	uint32_t room;
	uint64_t pushed, polled;
	bool armed, solicited_only;
	uint32_t notified;
};

struct v_object {
	struct v_object *next;
	enum v_kind kind;
	char name[V_NAME_MAX];
	union {
		struct rnic_pd *pd;
		struct rnic_cq *cq;
		struct rnic_mr *mr;
		struct rnic_mw *mw;
		struct rnic_srq *srq;
		struct rnic_ah *ah;
		struct rnic_qp *qp;
	};
	struct v_queue sq, rq;	   /* of QPs, rq of SRQs too */
	struct v_cq_ring ring;	   /* of CQs */
	struct v_object *rq_owner; /* of QPs: the SRQ, or itself */
};

struct v_sent {
	struct v_sent *next;
	struct side_packet pkt;
};

struct v_faults;
struct v_cm;
struct v_cm_event;

struct virtual_side {
	struct side side;
	struct rnic_device *dev;
	uint64_t now, timer;
	struct v_object *objects;
	struct rnic_mem *mems;
	uint64_t next_start; /* of the next memory */
	struct v_sent *first, **last;
	struct side_packet *burst; /* injected, to be delivered with those that follow */
	uint32_t n_burst;
	struct rnic_async event[V_EVENTS];
	uint32_t n_events, events_read;
	struct v_faults *faults; /* virtual_fault.c */
	struct v_cm *cms;	 /* virtual_cm.c */
	struct v_cm_event *cm_first, **cm_last;
	char log[300];
	bool verbose;
	uint64_t rng;
	uint8_t *tx;
};

extern const struct rnic_ops v_ops;		    /* host: a struct virtual_side */
extern const struct rnic_personality v_personality; /* users: v_objects */
/* A provider does so when it has brought a QP to RESET. */
void v_queues_empty(struct v_object *qp);

/* virtual.c */
void v_run(struct virtual_side *v);
/* Time passes until the deadline, or until done() says so. */
void v_until(struct virtual_side *v, uint64_t deadline, bool (*done)(void *arg), void *arg);

/* A packet to the device, to be delivered with the burst; one that has left it. */
void v_burst_add(struct virtual_side *v, const struct side_packet *pkt);
void v_sent_add(struct virtual_side *v, const struct side_packet *pkt); /* virtual_host.c */

/* virtual_objects.c */
struct v_object *v_find(struct virtual_side *v, enum v_kind kind, struct args *a, const char *key,
			const char *absent);
struct v_object *v_new(struct virtual_side *v, enum v_kind kind, struct args *a);
/* 0, or what the core answered, then the object is gone again. */
int v_made(struct virtual_side *v, struct v_object *o, int ret);
void v_forget(struct virtual_side *v, struct v_object *o);
const char *v_name_of(struct virtual_side *v, enum v_kind kind, const void *thing);
struct rnic_mem *v_mem_at(struct virtual_side *v, uint64_t addr, uint64_t len);
void v_objects_destroy(struct virtual_side *v);

/* A request: reads a, writes its reply. Returns a positive errno, 0, or -1 with a->error. */
typedef int v_verb(struct virtual_side *v, struct args *a, struct text *reply);
v_verb v_pd, v_cq, v_mr, v_mw, v_srq, v_ah, v_destroy, v_modify_srq,
	v_query_srq;					    /* virtual_objects.c */
v_verb v_qp, v_modify, v_query, v_attach, v_detach;	    /* virtual_qp.c */
v_verb v_post_send, v_post_recv, v_poll, v_arm, v_notified; /* virtual_queues.c */
v_verb v_peek, v_poke, v_memory, v_event, v_log;	    /* virtual_host.c */

#endif
