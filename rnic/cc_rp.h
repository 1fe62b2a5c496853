/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The reaction point of DCQCN (Zhu et al., SIGCOMM 2015): the rate of one QP.
 *
 * A CNP cuts the rate by as much as the estimate alpha says; time and bytes that pass without one
 * raise it again, first half way back to where it was (fast recovery), then beyond (additive and
 * hyper increase). No timer runs for that: what would have happened in between is done when the
 * rate is asked for. A QP that has seen no CNP, or has its full rate again, is not limited and
 * asks for nothing.
 */
#ifndef RNIC_CC_RP_H
#define RNIC_CC_RP_H

#include <stdbool.h>
#include <stdint.h>

struct cc_params;

#define CC_ALPHA_ONE (1u << 30)

struct cc_rp {
	bool limited;
	uint64_t rate, target; /* bit/s */
	uint32_t alpha;	       /* of CC_ALPHA_ONE */
	uint64_t alpha_at;     /* when it was last brought up to date */
	uint64_t cut_at;
	uint64_t timer_at; /* when the present period of the timer began */
	uint64_t bytes;	   /* sent in the present period of the byte counter */
	uint32_t time_stage, byte_stage;
	uint64_t next; /* the packets sent so far have left at this rate by then */
	bool waiting;  /* there was something to send before that */
};

/* No CNP has ever come. */
void cc_rp_reset(struct cc_rp *rp);
/* A CNP has come. */
void cc_rp_cnp(struct cc_rp *rp, const struct cc_params *p, uint64_t now);
/* What time has done since. */
void cc_rp_update(struct cc_rp *rp, const struct cc_params *p, uint64_t now);

/* Of a QP that is limited: how many of `want` packets of so many bytes may leave now; 0: none
 * before rp->next. */
uint32_t cc_rp_grant(struct cc_rp *rp, const struct cc_params *p, uint32_t want, uint32_t bytes,
		     uint64_t now);
/* So many bytes have left. */
void cc_rp_sent(struct cc_rp *rp, const struct cc_params *p, uint64_t bytes, uint64_t now);

#endif
