/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fault rules in the simulator: a gate that does to packets what a port of rnicd would do. */
#ifndef TESTS_SIM_FAULTY_H
#define TESTS_SIM_FAULTY_H

#include "net/fault.h"
#include "net/late.h"
#include "world.h"

/* All that left or arrived, with its time, as it was then: bytes, so that runs can be compared. */
struct sim_trace {
	uint8_t *bytes;
	size_t len, room;
};

struct sim_faulty {
	struct sim_world *world;
	struct sim_gate gate;
	struct {
		struct fault_rules *rules;
		struct late_queue in, out;
	} node[SIM_NODES];
	struct sim_trace trace;
	uint64_t n_fired;
};

/* file: as of rnicd --faults; the nodes are the devices sim0 and sim1. The world's gate is set. */
void sim_faulty_begin(struct sim_faulty *f, struct sim_world *w, const char *file);
void sim_faulty_end(struct sim_faulty *f);

#endif
