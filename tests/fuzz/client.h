/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client of uverbs has when it begins to misbehave, by commands that are as they should be.
 */
#ifndef TESTS_FUZZ_CLIENT_H
#define TESTS_FUZZ_CLIENT_H

#include "tests/unit/verbs_rig.h"

struct client {
	uint32_t pd, cq, srq; /* handles; the CQ has a completion channel */
	uint32_t lkey, rkey;  /* of an MR for everything */
	uint32_t ah;	      /* its number in requests */
};

/* In a context that is there; the MR is of that memory. */
void client_begin(struct client *c, uint64_t addr, uint64_t len);
/* A QP of a request that is right; its handle. */
uint32_t client_qp(const struct ib_uverbs_create_qp *req);
/* The client reads its events once half the room is taken, so that there is always some. */
void client_reads(void);

#endif
