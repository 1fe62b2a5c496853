/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Messages of communication management outlive a script: a device asks for an answer again and
 * again, for a minute and more. What belongs to a transaction of a former script is told apart
 * here, and a DREQ is answered.
 */
#ifndef DRILL_LIVE_CM_H
#define DRILL_LIVE_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "side.h"

#define LIVE_CM_TIDS 4096

struct live_cm {
	uint64_t tid[LIVE_CM_TIDS]; /* a ring of what has been seen */
	uint32_t n, old;	    /* those before `old` are of former scripts */
	bool between;		    /* no script runs: whatever comes is of a former one */
	uint64_t barrier, awaited;  /* transactions: the last barrier's, one without an answer */
};

enum live_cm_verdict { LIVE_CM_NEW, LIVE_CM_OLD, LIVE_CM_ANSWER };

/* Writes *answer for LIVE_CM_ANSWER. Packets that are no CM messages are new. */
enum live_cm_verdict live_cm_judge(struct live_cm *l, const struct side_packet *pkt,
				   struct side_packet *answer);
/* Is it a CM message? */
bool live_cm_is(const struct side_packet *pkt);
/*
 * A device may take its CM messages later than its other packets (Linux has a queue of work for
 * them), but in order. So when it has answered a DREQ for no connection, it has had all before:
 * writes one to *out, and awaited is 0 when live_cm_judge has seen the answer.
 */
void live_cm_barrier(struct live_cm *l, struct side_packet *out);
void live_cm_next_script(struct live_cm *l);

#endif
