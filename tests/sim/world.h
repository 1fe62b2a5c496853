/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two devices or more, a virtual clock and a link that loses, doubles, delays and reorders packets,
 * all by one seed. Nothing here reads a clock or the system's randomness.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "bth/packet.h"
#include "rng.h"
#include "rnic/device.h"
#include "rnic/host.h"

#define SIM_NODES 2 /* unless said otherwise */
#define SIM_NODES_MAX 17
#define SIM_US 1000ull
#define SIM_MS 1000000ull
#define SIM_S 1000000000ull

struct sim_world;

/* Chances in 10000, times in ns. */
struct sim_faults {
	uint32_t loss, corrupt, duplicate, reorder;
	uint64_t delay, jitter;
	uint32_t loss_run_max; /* packets lost in a row, each way; 0: no limit */
};

/* An address space: bytes from start on. */
struct rnic_mem {
	struct sim_world *world;
	uint32_t node;
	uint8_t *bytes;
	uint64_t start, len;
	uint32_t pending; /* chance that an access is not possible now */
	bool busy;	  /* nor will be until the resume event */
	bool broken;	  /* every access faults */
	bool gone;	  /* its process is */
	bool sparse;	  /* nothing is kept: for lengths that would take long to copy */
	uint32_t n_pended;
};

/* A READ request that was sent. */
struct sim_read {
	uint32_t dqpn, psn;
	uint64_t va, va_end;
};

#define SIM_READS 512 /* that are remembered */

struct sim_node {
	struct sim_world *world;
	uint32_t index;
	struct rnic_device *dev;
	uint8_t gid[16];
	uint64_t timer;
	uint32_t patience; /* steps that acknowledgements have waited for a reply */
	bool unplugged;	   /* packets from and to it vanish */
	uint32_t losses_in_a_row;
	uint32_t n_events[32]; /* by enum rnic_event_type */
	struct rnic_async last_event;
	uint32_t n_logs, n_notified;
	char last_log[300];
	uint64_t link_free; /* when the last packet sent has left */
	uint8_t *tx;
	uint8_t sent_class; /* traffic class of the packet sent last */
	struct sim_read reads[SIM_READS];
	uint32_t n_reads;
};

struct sim_packet { /* in the air */
	uint32_t from, to;
	uint32_t len;
	uint8_t traffic_class, hop_limit;
	uint16_t sport;
	bool before_line, past_gate;
	uint8_t data[]; /* without ICRC */
};

struct sim_event {
	uint64_t at, order;
	struct sim_packet *packet; /* or */
	struct rnic_mem *resume;   /* or neither: a gate's wake */
};

/* Sees every packet that is sent; true drops it. */
typedef bool sim_filter(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now);

/*
 * A packet arrives before the line to its node, which may mark it, and says when it has left;
 * false: it is lost.
 */
typedef bool sim_line(void *arg, uint32_t to, uint32_t len, uint8_t *traffic_class, uint64_t now,
		      uint64_t *leaves);

/* Every packet that leaves or comes to a node goes through it, and is passed on at some time, or
 * never, or often. */
struct sim_gate {
	void (*leaves)(void *arg, uint32_t qpn, const struct sim_packet *p);
	void (*arrives)(void *arg, const struct sim_packet *p);
	void (*due)(void *arg); /* as sim_gate_wake has asked */
	void *arg;
};

struct sim_world {
	uint64_t now;
	struct rng rng;
	struct sim_faults faults;
	uint32_t n_nodes;
	/* Hosts are never late, and each sends as fast as its own line of so many bit/s takes it;
	 * 0: at some time or other. */
	uint64_t rate;
	sim_line *line; /* or NULL: all packets that leave arrive */
	void *line_arg;
	struct sim_event *events; /* binary heap */
	uint32_t n_events, room;
	uint64_t order;
	uint64_t n_steps;
	uint64_t hash; /* of all packets that arrived, with their times */
	uint64_t n_sent, n_lost;
	bool verbose;
	bool looks_at_reads; /* no QP begins anew without sim_connect */
	sim_filter *filter;
	void *filter_arg;
	const struct sim_gate *gate;	     /* or NULL: always open */
	struct sim_node node[SIM_NODES_MAX]; /* the last: those that are not there stay unset */
};

/* What a gate lets pass: a copy of the packet, now. */
void sim_pass_out(struct sim_world *w, const struct sim_packet *p);
void sim_pass_in(struct sim_world *w, const struct sim_packet *p);
void sim_gate_wake(struct sim_world *w, uint64_t at);

/* With so many nodes. */
void sim_world_begin_nodes(struct sim_world *w, uint64_t seed, enum rnic_mtu mtu,
			   uint32_t window_bytes, uint32_t n_nodes);
void sim_world_begin(struct sim_world *w, uint64_t seed, enum rnic_mtu mtu, uint32_t window_bytes);
/* Destroys the devices; false if an object was still there. */
bool sim_world_end(struct sim_world *w);

/* From now on acknowledgements may wait for replies, for a few steps. */
void sim_world_hold_acks(struct sim_world *w);

/* Let the devices work, then let the next thing happen. False when nothing will ever happen. */
bool sim_world_step(struct sim_world *w);

/* An access vector from one node to the other. */
struct rnic_av sim_av(const struct sim_world *w, uint32_t from, uint32_t to);

/* len bytes of zeros at `start`. */
void sim_mem_begin(struct rnic_mem *m, struct sim_world *w, uint32_t node, uint64_t start,
		   uint64_t len);
void sim_mem_end(struct rnic_mem *m);

/* One line about a packet on standard output. */
void sim_packet_print(uint64_t now, const char *what, uint32_t from, const struct bth_packet *pkt);

#endif
