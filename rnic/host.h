/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the core asks of the world around it: the daemon, or the simulator. */
#ifndef RNIC_HOST_H
#define RNIC_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rnic/types.h"

struct rnic_cq;
struct rnic_qp;
struct rnic_srq;
struct rnic_mem; /* the host's: the address space of one process */

/*
 * A run of packets of one QP to one destination: equal sizes, but the first may be longer, and the
 * last longer or shorter (rnic/shape.h).
 */
struct rnic_tx {
	const struct rnic_av *av;
	uint32_t qpn;	       /* the QP that sends */
	uint8_t traffic_class; /* instead of the AV's */
	uint32_t flow;	       /* chooses the UDP source port; the same for all packets of a QP */
	uint8_t *data;	       /* from tx_alloc; each packet ends with BTH_ICRC_LEN bytes of room */
	uint32_t len;	       /* bytes of all packets, rooms included */
	uint32_t seg;	       /* bytes of each packet, room included, but for these: */
	uint32_t head;	       /* so much longer is the first */
	uint32_t tail;	       /* so much longer may the last be */
	uint32_t again;	       /* so many, the first ones, have left before */
};

/* Bytes of the packet at this offset of the run. */
static inline uint32_t rnic_tx_packet(const struct rnic_tx *tx, uint32_t at)
{
	uint32_t left = tx->len - at;

	if (at == 0 && tx->head)
		return tx->seg + tx->head;
	return left <= tx->seg + tx->tail ? left : tx->seg;
}

/* A packet that came, its ICRC found right and cut off. */
struct rnic_rx {
	const uint8_t *data; /* BTH first */
	uint32_t len;
	uint8_t sgid[16]; /* the sender's address */
	uint8_t dgid[16]; /* the address it came to */
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint16_t sport;
	uint32_t flow_label; /* IPv6's; 0: none */
};

struct rnic_async {
	enum rnic_event_type type;
	struct rnic_cq *cq;   /* CQ events */
	struct rnic_qp *qp;   /* QP events */
	struct rnic_srq *srq; /* SRQ events */
	uint8_t port;	      /* port events */
};

enum rnic_atomic_op { RNIC_ATOMIC_CMP_SWAP, RNIC_ATOMIC_FETCH_ADD };

/*
 * Memory accesses return 0; -EFAULT; -ESRCH: its process is gone, so that nobody is left to answer
 * for it; or -EINPROGRESS: not now, the very same call is to be made
 * again after rnic_mem_resume() (IBA has no such thing; ODP hardware treats a page fault so).
 * A write is done in ascending addresses and is visible to the process before it returns 0.
 */
struct rnic_ops {
	/* Room for a run of len bytes (at most RNIC_TX_RUN_MAX), valid until tx_send. Never NULL.
	 */
	uint8_t *(*tx_alloc)(void *host, uint32_t len);
	/* Takes the run; data must be the pointer of the last tx_alloc. Loss is not an error. */
	void (*tx_send)(void *host, const struct rnic_tx *tx);
	/* Bytes of socket memory that are free at the destination, or RNIC_ROOM_UNKNOWN. Not
	 * between tx_alloc and tx_send. May be NULL: never known, and no limit. */
	uint64_t (*tx_room)(void *host, const struct rnic_av *av);
	/* Receive the packets of a multicast group from now on; 0 or -errno. Both may be NULL. */
	int (*mcast_join)(void *host, const uint8_t gid[16]);
	void (*mcast_leave)(void *host, const uint8_t gid[16]);
	/* Call rnic_timer_fired at or soon after this time in ns; UINT64_MAX: no call needed.
	 * Replaces the time set before. */
	void (*timer_set)(void *host, uint64_t deadline);
	/* An operation of one or more accesses begins. If one of them answers -EINPROGRESS, all of
	 * them are made again after the next mem_begin: what earlier ones gave is kept for that.
	 * May be NULL. */
	void (*mem_begin)(void *host);
	int (*mem_read)(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *dst,
			int n);
	int (*mem_write)(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *src,
			 int n);
	/* addr is a multiple of 8. *orig: the value before. Host byte order. */
	int (*mem_atomic)(void *host, struct rnic_mem *mem, uint64_t addr, enum rnic_atomic_op op,
			  uint64_t swap_add, uint64_t compare, uint64_t *orig);
	/* The CQ was armed and its event has come (once an arming). */
	void (*cq_notify)(void *host, struct rnic_cq *cq);
	void (*async_event)(void *host, const struct rnic_async *event);
	uint32_t (*random)(void *host);
	/* One line, without newline, that says what was wrong. */
	void (*log)(void *host, const char *line);
};

#define RNIC_ROOM_UNKNOWN UINT64_MAX
#define RNIC_TX_RUN_MAX 131072
#define RNIC_TX_SEGS_MAX 64

#endif
