/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Receives: taken from the QP's own queue or its SRQ, filled, completed. */
#ifndef RNIC_RECV_H
#define RNIC_RECV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rnic/types.h"

struct rnic_cqe;
struct rnic_mem;
struct rnic_qp;

int recv_create(struct rnic_qp *qp);
void recv_destroy(struct rnic_qp *qp);
/* Forget the one that is held. */
void recv_drop(struct rnic_qp *qp);

enum recv_verdict { RECV_HELD, RECV_NONE, RECV_BAD };

/* Hold a receive, if none is held yet. RECV_BAD: one is held, but makes no sense; or none can be
 * had any more, since the queue is corrupt, of which an event has told. */
enum recv_verdict recv_hold(struct rnic_qp *qp);
bool recv_is_held(const struct rnic_qp *qp);
/* Bytes that the held one takes, and that it has. */
uint64_t recv_room(const struct rnic_qp *qp);
uint64_t recv_filled(const struct rnic_qp *qp);
/* Append to it; results of sgl_copy. recv_advance then makes it count. */
int recv_put(struct rnic_qp *qp, const struct iovec *piece, uint32_t n, struct rnic_mem **mem);
void recv_advance(struct rnic_qp *qp, uint32_t len);
/* Fill the held one anew. */
void recv_rewind(struct rnic_qp *qp);

/* Complete the held one: *cqe needs opcode, flags, byte_len and what they imply. */
void recv_complete(struct rnic_qp *qp, struct rnic_cqe *cqe);
void recv_complete_error(struct rnic_qp *qp, enum rnic_wc_status status);
/* Flush the held one, or the next; false if there is none. */
bool recv_flush(struct rnic_qp *qp);

#endif
