/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* uverbs without libibverbs, command by command and method by method. */
#ifndef SUPPORT_UVERBS_H
#define SUPPORT_UVERBS_H

#include <errno.h>
#include <string.h>

#include "ask.h"
#include "raw.h"

#define PAGE 4096

/* An opened device with a context, and what most commands need. */
struct session {
	int fd;
	uint32_t pd, cq, mr, mr_lkey;
	uint8_t page[PAGE] __attribute__((aligned(PAGE)));
};

/* By write(), with the response that the command has. */
#define DO(s, command, req, resp)                                                                  \
	raw_write((s)->fd, command, &(req), sizeof(req), &(resp), sizeof(resp))
/* One that has no response. */
#define DO_ONLY(s, command, req) raw_write((s)->fd, command, &(req), sizeof(req), NULL, 0)

/* Responses with room for what the provider's part says of its rings. */
struct cq_resp {
	struct ib_uverbs_create_cq_resp core;
	uint64_t rings[2];
};
struct qp_resp {
	struct ib_uverbs_create_qp_resp core;
	uint64_t rings[4];
};
struct srq_resp {
	uint32_t handle, max_wr, max_sge, srqn;
	uint64_t rings[3];
};

void uverbs_ask_commands(struct session *s);
void uverbs_ask_queue_pairs(struct session *s);
void uverbs_ask_extended(struct session *s);
void uverbs_ask_methods(struct session *s);

#endif
