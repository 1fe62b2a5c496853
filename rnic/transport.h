/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the transport share. */
#ifndef RNIC_TRANSPORT_H
#define RNIC_TRANSPORT_H

struct rnic_qp;

/* In dev->waiting as long as its requester or its responder waits for memory. */
void transport_wait_update(struct rnic_qp *qp);

#endif
