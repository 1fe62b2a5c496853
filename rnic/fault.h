/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One line in the log for each request that fails and for each that is refused: what was wrong. */
#ifndef RNIC_FAULT_H
#define RNIC_FAULT_H

#include "rnic/responder.h"

struct send_entry;

void fault_sent(const struct rnic_qp *qp, const struct send_entry *e, enum rnic_wc_status status);
/* The peer's request gets a NAK that ends the connection; nothing is said of other verdicts. */
void fault_refused(const struct rnic_qp *qp, const struct bth_packet *pkt,
		   enum resp_verdict verdict);

#endif
