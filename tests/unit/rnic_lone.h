/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One RC QP whose peer is the test itself: it writes every packet that comes, and sees every
 * packet that leaves. Built on node 0 of the simulator's world; the link to node 1 is cut.
 */
#ifndef TESTS_UNIT_RNIC_LONE_H
#define TESTS_UNIT_RNIC_LONE_H

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "endpoint.h"
#include "rnic_fixture.h"

#define LONE_PEER_QPN 0x99u
#define LONE_QKEY 0x11111111u
#define LONE_RQ_PSN 0x000500u /* the first that the QP expects */
#define LONE_SQ_PSN 0xfffffeu /* the first that it sends: it wraps soon */
#define LONE_SENT_MAX 1024

struct lone_sent {
	struct bth_packet pkt; /* its payload pointer is not valid any more */
	uint64_t at;
	uint8_t first; /* byte of the payload */
	uint8_t traffic_class;
};

struct lone {
	struct sim_world world;
	struct sim_end end;
	struct lone_sent sent[LONE_SENT_MAX];
	uint8_t traffic_class;	 /* of packets to the QP */
	uint32_t n_sent, n_seen; /* lone_next has given n_seen of them */
};

/* RTS unless state says RTR. */
void lone_begin(struct lone *l, const struct sim_end_config *cfg, enum rnic_qp_state state);
/* With so many bytes of socket memory at a receiver; without, that knows no limit. */
void lone_begin_window(struct lone *l, const struct sim_end_config *cfg, enum rnic_qp_state state,
		       uint32_t window);
void lone_end(struct lone *l);
/* A QP of node 0, from RESET to that state, its peer being the test. */
void lone_connect(struct sim_end *e, enum rnic_qp_state last);

/* A packet to the QP: opcode and PSN; dqpn, P_Key, pad are filled in by lone_inject. */
struct bth_packet lone_packet(enum bth_op op, uint32_t psn);
/* A request with RETH or AtomicETH for the QP's own MR. */
struct bth_packet lone_request(const struct lone *l, enum bth_op op, uint32_t psn, uint32_t dmalen);
/* Payload bytes count up from `first`. */
void lone_inject_bytes(struct lone *l, const struct bth_packet *pkt, uint8_t first);
void lone_inject(struct lone *l, const struct bth_packet *pkt);
/* In one batch. */
void lone_inject_two(struct lone *l, const struct bth_packet pkt[2]);
void lone_ack(struct lone *l, uint32_t psn, enum aeth_kind kind, uint8_t value);

/* Let the device work without any time going by. */
void lone_work(struct lone *l);
/* Let time go by until then; all timers that are due fire in time. */
void lone_until(struct lone *l, uint64_t time);
/* Until the next timer. A device may be called too early, then until it has done something. */
void lone_until_timer(struct lone *l);

/* The next packet that it sent is this one; it is returned. */
const struct lone_sent *lone_next(struct lone *l, enum bth_op op, uint32_t psn);
void lone_silent(const struct lone *l);
void lone_forget(struct lone *l); /* whatever it has sent so far */
void lone_state(const struct lone *l, enum rnic_qp_state state);
/* How many events of this kind there were, all for this QP or its CQs. */
uint32_t lone_events(const struct lone *l, enum rnic_event_type type);
/* The next completion is this one; lone_done: there is none. */
const struct rnic_cqe *lone_completion(struct sim_cq *cq, uint64_t slot,
				       enum rnic_wc_status status);
void lone_done(struct sim_cq *cq);

/* A signaled request of len bytes, posted; its wr may be changed before lone_kick. */
struct rnic_send_wr *lone_post(struct lone *l, enum rnic_wr_op op, uint32_t len);
void lone_kick(struct lone *l);
void lone_receive(struct lone *l, uint32_t len);

#endif
