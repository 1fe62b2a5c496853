/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inside of rnic-drill-agent: objects of stock libibverbs by the names that a script gives. */
#ifndef DRILL_AGENT_H
#define DRILL_AGENT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "args.h"

#define AGENT_NAME_MAX 32
#define AGENT_SGE_MAX 32

enum agent_kind { A_PD, A_CQ, A_MR, A_SRQ, A_AH, A_QP, A_MW };

struct agent_object {
	struct agent_object *next;
	enum agent_kind kind;
	char name[AGENT_NAME_MAX];
	union {
		struct ibv_pd *pd;
		struct ibv_cq *cq;
		struct ibv_mr *mr;
		struct ibv_srq *srq;
		struct ibv_ah *ah;
		struct ibv_qp *qp;
		struct ibv_mw *mw;
	};
	struct ibv_comp_channel *channel; /* of CQs */
	void *buffer;			  /* of MRs that have their own */
	size_t buffer_len;
};

struct agent_cm;
struct agent_cm_event;

struct agent {
	struct ibv_context *ctx;
	int gid_index;
	char gid[48];
	struct agent_object *objects;
	/* An RC QP that scripts do not see; see side_live.c */
	struct ibv_pd *barrier_pd;
	struct ibv_cq *barrier_cq;
	struct ibv_qp *barrier_qp;
	/* agent_cm.c; cm_fd is opened by the first command, 0: not yet */
	int cm_fd;
	uint64_t cm_uid;
	struct agent_cm *cms;
	struct agent_cm_event *cm_events;
};

/* agent_objects.c */
struct agent_object *agent_find(struct agent *ag, enum agent_kind kind, struct args *a,
				const char *key, const char *absent);
struct agent_object *agent_new(struct agent *ag, enum agent_kind kind, struct args *a);
void agent_forget(struct agent *ag, struct agent_object *o);
/* made: what a verb returned; NULL: errno, and the object is gone again. */
int agent_made(struct agent *ag, struct agent_object *o, const void *made);
/* Do these bytes lie in memory of one of the agent's MRs? */
bool agent_mapped(const struct agent *ag, uint64_t addr, uint64_t len);
void agent_objects_destroy(struct agent *ag);
/* agent_qp.c */
void agent_av(const struct agent *ag, struct args *a, struct ibv_ah_attr *av);
void agent_barrier_destroy(struct agent *ag);

/* A request: reads a, writes its reply. Returns a positive errno, 0, or 0 with a->error. */
typedef int agent_verb(struct agent *ag, struct args *a, struct text *reply);
agent_verb agent_pd, agent_cq, agent_mr, agent_srq, agent_ah, agent_mw; /* agent_objects.c */
agent_verb agent_destroy, agent_modify_srq, agent_query_srq;
agent_verb agent_peek, agent_poke, agent_memory;	       /* agent_mem.c */
agent_verb agent_qp, agent_modify, agent_query, agent_barrier; /* agent_qp.c */
agent_verb agent_attach, agent_detach;
agent_verb agent_post_send, agent_post_recv;		       /* agent_post.c */
agent_verb agent_poll, agent_arm, agent_notified, agent_event; /* agent_wait.c */

#endif
