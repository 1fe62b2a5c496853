/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How much may be in flight to one destination. A receiving socket holds so many bytes of socket
 * memory, and a packet costs more of it than its length; all QPs of this device to that
 * destination share one window, which shrinks on loss and grows on acknowledgements.
 */
#ifndef RNIC_PEER_H
#define RNIC_PEER_H

#include <stdint.h>

#include "rnic/device_priv.h"

struct rnic_qp;

struct peer {
	struct peer *next;
	uint8_t gid[16];
	uint32_t users;		/* QPs */
	uint64_t window;	/* now; UINT64_MAX: unlimited */
	uint64_t used;		/* cost of what is in flight */
	uint64_t held;		/* bytes to be acknowledged before a loss halves the window again */
	struct qp_list blocked; /* struct peer_share: FIFO */
};

/* A QP's part of it, embedded in the requester. */
struct peer_share {
	struct peer *peer; /* NULL: none yet */
	struct rnic_qp *qp;
	struct qp_list blocked; /* in peer->blocked, or alone */
	uint64_t used;
	uint32_t need; /* cost of the packet that waits */
	bool woken;    /* its turn has come: it does not queue behind others again */
};

/* Bytes of socket memory of a packet of len bytes (measured: the kernel's truesize). */
static inline uint32_t peer_packet_cost(uint32_t len)
{
	return 2 * len + 768;
}

void peer_share_init(struct peer_share *s, struct rnic_qp *qp);
/* 0 or -ENOMEM. Detaches first. */
int peer_attach(struct peer_share *s, const uint8_t gid[16]);
void peer_detach(struct peer_share *s);

/*
 * How many packets of this cost may be sent now, at most want; at least one if this QP has none in
 * flight. 0: the share waits in line, and its QP is activated when its turn comes.
 */
uint32_t peer_grant(struct peer_share *s, uint32_t want, uint32_t cost);
/* Would packets of that cost in all fit now? */
bool peer_has_room(const struct peer_share *s, uint64_t cost);
void peer_sent(struct peer_share *s, uint64_t cost);
void peer_acked(struct peer_share *s, uint64_t cost);
/* Nothing of this QP's is in flight any more: it goes back, or ends. */
void peer_forgotten(struct peer_share *s);
void peer_lost(struct peer_share *s);
/* Packets after which an acknowledgement should be asked for. */
uint32_t peer_ack_interval(const struct peer_share *s, uint32_t cost);

#endif
