/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Verbs used in a wrong way, the errno of each, and what the daemon's log says of it. */
#ifndef USE_REFUSALS_H
#define USE_REFUSALS_H

#include "ladder.h"

/* What the wrong uses may use: objects that are all right. */
struct use {
	struct rig r;
	struct ibv_qp *rc, *uc, *ud; /* ud in RTS, the others anywhere */
	struct ibv_mr *mr;
	uint8_t *buf; /* of the MR */
};

#define USE_BUF_SIZE 8192

struct refusal {
	const char *name;
	int (*wrong)(struct use *u); /* its errno, or 0 if it was not refused */
	int expected;
	const char *log; /* words of the daemon's line; NULL: libibverbs or the provider refuses */
};

extern const struct refusal refusals_modify[], refusals_objects[], refusals_posts[];
extern const unsigned int n_refusals_modify, n_refusals_objects, n_refusals_posts;

#endif
