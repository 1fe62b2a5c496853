/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When a requester sends again, and when it gives up (IBA vol. 1, 9.7.6). */
#ifndef RNIC_RETRY_H
#define RNIC_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct rnic_qp;

void retry_init(struct rnic_qp *qp);
/* Choose anew how long the timeout is, in its limits. */
void retry_jitter(struct rnic_qp *qp);
/* The oldest unacknowledged PSN has moved: retries count anew. */
void retry_progress(struct rnic_qp *qp);
/* The peer has answered, but we have to ask again later: no timeout until then. */
void retry_suspend(struct rnic_qp *qp);
/* A packet that asks for an acknowledgement has gone out. */
void retry_ack_expected(struct rnic_qp *qp, uint64_t now);
/* After progress: the timer begins anew, or ends with the last packet in flight. */
void retry_restart(struct rnic_qp *qp, uint64_t now);

/* NAK for a PSN sequence error. */
void retry_sequence_nak(struct rnic_qp *qp, uint64_t now);
/* RNR NAK with this timer code. */
void retry_rnr_nak(struct rnic_qp *qp, uint8_t code, uint64_t now);
/* The memory of PAUSE_MEMORY is there; an RNR time may be running still. */
void retry_memory_arrived(struct rnic_qp *qp);
/* A later answer shows that the one for una_psn is lost. */
void retry_gap(struct rnic_qp *qp, uint64_t now);

#endif
