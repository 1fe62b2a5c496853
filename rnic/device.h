/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One adapter: an instance of the core, driven by its host with packets, kicks and time. */
#ifndef RNIC_DEVICE_H
#define RNIC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/counters.h"
#include "rnic/host.h"
#include "rnic/types.h"

struct rnic_device;

/* What ibv_query_device shows, and what the core enforces. */
struct rnic_limits {
	uint32_t max_qp, max_qp_wr, max_sge, max_inline;
	uint32_t max_cq, max_cqe, max_mr, max_pd, max_ah, max_srq, max_srq_wr, max_srq_sge;
	uint32_t max_qp_rd_atom, max_mw;
	uint32_t max_mcast_grp, max_mcast_qp_attach;
	uint32_t max_msg_size; /* bytes */
};

extern const struct rnic_limits rnic_limits_default; /* as shared by Linux rxe: devinfo's figures */

struct rnic_device_config {
	const struct rnic_limits *limits; /* NULL: the defaults */
	const struct rnic_ops *ops;
	void *host;
	uint32_t window_bytes; /* socket memory (truesize) that packets in flight to one peer may
				* fill; 0: unlimited */
	enum rnic_mtu active_mtu;
	char name[16]; /* for log lines */
};

/* NULL only when memory is short. */
struct rnic_device *rnic_device_create(const struct rnic_device_config *cfg);
/* Change cfg.window_bytes, for peers that are met from now on. */
void rnic_window_set(struct rnic_device *dev, uint32_t bytes);
/* Whether ACKs tell how many receives are posted, and whether peers' ACKs that do are heeded. Off
 * at first, as with Linux rxe. */
void rnic_credits_set(struct rnic_device *dev, bool on);
/* All objects must be gone. */
void rnic_device_destroy(struct rnic_device *dev);

/* Packets in the order in which they came. */
void rnic_rx(struct rnic_device *dev, uint64_t now, const struct rnic_rx *pkts, uint32_t n);
/* Give the QPs that have something to send one turn each; true if some have more. */
bool rnic_run(struct rnic_device *dev, uint64_t now);
/*
 * From now on acknowledgements may wait for a reply to leave with (hold.h), for programs that have
 * answered so many messages at once; 0: not any more, as at the beginning. The host looks after
 * rnic_rx whether some do, and later on releases those that have waited since `before` or longer.
 */
void rnic_acks_may_wait(struct rnic_device *dev, uint32_t answers);
bool rnic_acks_wait(const struct rnic_device *dev);
void rnic_acks_release(struct rnic_device *dev, uint64_t before, uint64_t now);

/* The time of timer_set has come. */
void rnic_timer_fired(struct rnic_device *dev, uint64_t now);
/* An access of this memory that answered -EINPROGRESS may be made again. */
void rnic_mem_resume(struct rnic_device *dev, struct rnic_mem *mem, uint64_t now);

/* GID table. An all-zero gid empties the slot. Raises GID_CHANGE. */
void rnic_gid_set(struct rnic_device *dev, uint16_t index, const uint8_t gid[16], uint32_t ifindex);
/* NULL if the slot is empty or out of range. */
const uint8_t *rnic_gid_get(const struct rnic_device *dev, uint16_t index);
uint32_t rnic_gid_ifindex(const struct rnic_device *dev, uint16_t index);

/* Port state: raises PORT_ACTIVE or PORT_ERR on a change. */
void rnic_port_set(struct rnic_device *dev, bool active, enum rnic_mtu active_mtu);
bool rnic_port_active(const struct rnic_device *dev);
enum rnic_mtu rnic_port_mtu(const struct rnic_device *dev);

const struct rnic_limits *rnic_device_limits(const struct rnic_device *dev);
struct rnic_counters *rnic_device_counters(struct rnic_device *dev);

/* How many objects live, for leak checks and `rnicctl`. */
struct rnic_counts {
	uint32_t pd, mr, mw, cq, srq, qp, ah;
};
void rnic_device_counts(const struct rnic_device *dev, struct rnic_counts *counts);

struct rnic_qp;
/* QPs in ascending number: the first with a number above qpn, or NULL. */
struct rnic_qp *rnic_device_qp_after(const struct rnic_device *dev, uint32_t qpn);

#endif
