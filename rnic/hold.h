/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Acknowledgements that wait for a reply, to leave together with it.
 *
 * In a ping-pong each end answers a message at once, and its acknowledgement and its reply are two
 * packets where one call could send both. So the acknowledgement of a whole message is held back
 * if the program has answered most messages before it within microseconds; it leaves behind the
 * reply's first packets. A program that does not answer this time is found out by the host
 * (device.h: some time later it releases what waits), and has to answer more messages than before
 * until it is trusted again. Requesters allow for that: what a device says of
 * local_ca_ack_delay is far longer. Everything but the acknowledgement of a message's end leaves
 * at once, and so does that if another request comes first, or the QP changes its state.
 */
#ifndef RNIC_HOLD_H
#define RNIC_HOLD_H

#include "rnic/qp_priv.h"

struct ack_hold {
	bool asked;	/* a message has ended; no reply yet */
	uint64_t since; /* when it did */
	uint32_t score; /* replies in time, less late ones */
	uint32_t need;	/* how much of that makes trust; 0: as the device has it */
	uint32_t kept;	/* replies that were waited for and came */
};

/* The acknowledgement that is due waits; false: it is to be sent now. */
bool hold_begin(struct rnic_qp *qp, uint64_t now);
/* The QP has sent something: what waits goes behind it. */
void hold_replied(struct rnic_qp *qp, uint64_t now);
/* The QP changes its state: what waits goes first. */
void hold_end(struct rnic_qp *qp, uint64_t now);

#endif
