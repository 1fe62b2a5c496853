/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A script being run on a side: its symbols, its connections, where it is. */
#ifndef DRILL_RUN_H
#define DRILL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bth/cm.h"
#include "side.h"

#define RUN_SYMBOLS 256
#define RUN_QPS 32
#define RUN_NAME 32
#define RUN_TALKS 48
#define RUN_CM_TYPES (CM_TYPE_LAST - CM_TYPE_FIRST + 1)

struct symbol {
	char name[RUN_NAME];
	uint64_t value;
};

/* A QP of the device and what the peer knows of it. */
struct conn {
	char name[RUN_NAME];
	uint32_t type;	/* enum rnic_qp_type */
	uint32_t state; /* as far as modify brought it */
	uint32_t qpn, peer_qpn;
	uint32_t rq_psn, sq_psn; /* what relative PSNs count from */
	uint32_t qkey, mtu;
	uint32_t next_psn;	/* relative, of the next request of the peer */
	uint32_t last_req;	/* relative, of the last request seen of the device */
	uint32_t last_rsp;	/* relative, of the last response that the peer has sent */
	uint32_t sent;		/* bytes of the peer's message so far */
	struct qp_attrs *attrs; /* verb_qp.c: what was asked for and comes with a later modify */
};

/* One exchange of communication management, as the peer sees it. */
struct talk {
	char name[RUN_NAME];
	uint32_t own_id, id;   /* the peer's, the device's (0: not known yet) */
	uint32_t own_qpn, qpn; /* likewise */
	struct cm_msg sent[RUN_CM_TYPES], seen[RUN_CM_TYPES]; /* the last of each; type 0: none */
};

struct run {
	const char *file;
	unsigned int line;
	char text[4096];    /* of the line, symbols replaced */
	const char *source; /* of the line, as written */
	struct side *side;
	struct symbol symbol[RUN_SYMBOLS];
	unsigned int n_symbols;
	struct conn conn[RUN_QPS];
	unsigned int n_conns;
	struct talk talk[RUN_TALKS];
	unsigned int n_talks;
	bool cm_used;
	uint64_t line_time; /* when the line before was done */
	uint64_t next_wr;
	bool injected; /* and not settled since */
	bool verbose;
	bool has_mr;
	char failure[2048]; /* "": none */
};

/* Run one file. True if it holds; else failure tells FILE:LINE and why. */
bool run_file(struct run *r, struct side *side, const char *file, bool verbose);

/* Returns -1; the first failure of a script counts. */
int run_fail(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void symbol_set(struct run *r, const char *name, uint64_t value);
bool symbol_get(const struct run *r, const char *name, uint64_t *value);
/* NULL with a failure; name NULL: the first. */
struct conn *conn_find(struct run *r, const char *name);

/* Ask the side. 0, an errno, or -1 with a failure. The reply is to be freed in any case. */
int run_exec(struct run *r, const char *request, struct args *reply);
/* The same where the line may say errno=NAME: 0 when it went as the line says, else -1. *done:
 * it succeeded, and the reply is of use. */
int run_exec_errno(struct run *r, struct args *a, const char *request, struct args *reply,
		   bool *done);
/* How long to wait for something that is to come within this time. */
uint64_t run_patience(const struct run *r, uint64_t within);
/* The side has dealt with all packets injected so far. */
void run_settle(struct run *r);

/* The rest of a verb's line, the verb itself taken. 0, or -1 with a failure. */
typedef int run_verb(struct run *r, struct args *a);
run_verb verb_pd, verb_cq, verb_mr, verb_mw, verb_srq, verb_ah, verb_destroy; /* verb_objects.c */
run_verb verb_modify_srq, verb_query_srq, verb_attach, verb_detach, verb_join;
run_verb verb_qp, verb_modify, verb_query;				/* verb_qp.c */
run_verb verb_post;							/* verb_post.c */
run_verb verb_wc, verb_event, verb_arm, verb_notify, verb_no, verb_log; /* verb_expect.c */
run_verb verb_cm, no_cm;						/* verb_cm.c */
run_verb verb_mem, verb_poke, verb_memory;				/* verb_mem.c */
run_verb verb_fault;							/* verb_fault.c */
run_verb verb_silence, verb_wait, verb_skip;				/* line_packet.c */
/* "<" and ">" lines, the sign taken. */
run_verb packet_inject, packet_burst, packet_expect;
/* The same, "cm" taken (line_cm.c). */
int line_cm_inject(struct run *r, struct args *a, bool more);
int line_cm_expect(struct run *r, struct args *a);
/* What a packet is, in words; p->len is right. */
void packet_tell(const struct run *r, const struct side_packet *p, char *buf, size_t size);
/* The next packet, as within= and after= of the line want it; 0, or -1 with a failure. */
int packet_await(struct run *r, uint64_t within, uint64_t after, struct side_packet *p);

/* The default PD, CQ and MR. */
int prelude(struct run *r);
/* Reply fields against what the line mentions; "what" names them in a failure. */
int reply_match(struct run *r, struct args *a, struct args *reply, const char *what);
void conns_forget(struct run *r);

#endif
