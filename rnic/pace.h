/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * UC and UD have no acknowledgements that would tell how much the other end has taken, and an
 * adapter's wire that would slow them down is not there either: without a limit, a burst would
 * overflow the receiving socket, whose room the host may know.
 */
#ifndef RNIC_PACE_H
#define RNIC_PACE_H

#include <stdint.h>

struct rnic_av;
struct rnic_qp;

/* How many packets of this cost (peer_packet_cost) may leave for av, at most want. 0: the QP pauses
 * until its rnr_timer has fired. A receiver that takes nothing for long is not waited for. */
uint32_t pace_grant(struct rnic_qp *qp, const struct rnic_av *av, uint32_t want, uint32_t cost,
		    uint64_t now);
void pace_sent(struct rnic_qp *qp, const struct rnic_av *av, uint64_t cost);

#endif
