/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* End-to-end flow control of RC by credits in AETHs (IBA vol. 1, 9.7.7.2), where it is on. */
#ifndef RNIC_CREDIT_H
#define RNIC_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

struct rnic_qp;
struct send_entry;

/* What an ACK of this responder says: how many receives are posted, or "no limit". */
uint8_t credit_code(const struct rnic_qp *qp);

/* The requester has had this syndrome from its peer. */
void credit_received(struct rnic_qp *qp, uint8_t syndrome);
/*
 * At most so many packets of entry cur may be sent, of those that are wanted; 0: an ACK has to come
 * first. *limited: credits have cut it, so that the packet has to ask for an acknowledgement.
 */
uint32_t credit_allowed(struct rnic_qp *qp, struct send_entry *e, uint32_t want, bool *limited);

#endif
