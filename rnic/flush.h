/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a QP in ERR does: every request posted to it completes with WR_FLUSH_ERR (IBA 10.3). */
#ifndef RNIC_FLUSH_H
#define RNIC_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

struct rnic_qp;

/* ERR has been entered. */
void flush_begin(struct rnic_qp *qp, uint64_t now);
/* A turn in ERR; true if there may be more. */
bool flush_turn(struct rnic_qp *qp, uint64_t now);
/* SQE has been entered: the same for the send queue alone; a turn; and SQE is left for RTS. */
void flush_sends_begin(struct rnic_qp *qp);
bool flush_sends(struct rnic_qp *qp);
void flush_sends_end(struct rnic_qp *qp);
void flush_timer_fired(struct rnic_qp *qp, uint64_t now);

#endif
