/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counters of a device, by the names of Linux rxe's hw_counters where it has them. */
#ifndef RNIC_COUNTERS_H
#define RNIC_COUNTERS_H

#include <stdint.h>

#define RNIC_COUNTERS(X)                                                                           \
	X(sent_pkts)                                                                               \
	X(rcvd_pkts)                                                                               \
	X(duplicate_request)                                                                       \
	X(out_of_seq_request)                                                                      \
	X(rcvd_rnr_err)                                                                            \
	X(send_rnr_err)                                                                            \
	X(rcvd_seq_err)                                                                            \
	X(ack_deferred)                                                                            \
	X(retry_exceeded_err)                                                                      \
	X(retry_rnr_exceeded_err)                                                                  \
	X(completer_retry_err)                                                                     \
	X(send_err)                                                                                \
	X(link_downed)                                                                             \
	X(rdma_sends)                                                                              \
	X(rdma_recvs)                                                                              \
	X(sent_bytes)                                                                              \
	X(rcvd_bytes)                                                                              \
	X(retransmitted_pkts)                                                                      \
	X(local_ack_timeout_err)                                                                   \
	X(rx_dropped_malformed)                                                                    \
	X(rx_dropped_no_qp)                                                                        \
	X(rx_dropped_qp_state)                                                                     \
	X(rx_dropped_pkey)                                                                         \
	X(rx_dropped_qkey)                                                                         \
	X(rx_dropped_address)                                                                      \
	X(cm_sent)                                                                                 \
	X(cm_repeated)                                                                             \
	X(cm_rcvd)                                                                                 \
	X(np_cnp_sent)                                                                             \
	X(np_ecn_marked_roce_packets)                                                              \
	X(rp_cnp_handled)                                                                          \
	X(rp_cnp_ignored)

struct rnic_counters {
#define X(name) uint64_t name;
	RNIC_COUNTERS(X)
#undef X
};

#endif
