/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The world of one device that hears what it says: its QPs are connected to one another, its
 * memory is that of tests/unit's verbs_rig, its time is the test's.
 */
#ifndef TESTS_FUZZ_LOOP_H
#define TESTS_FUZZ_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "rnic/host.h"

struct loop {
	uint64_t now, timer;
	uint32_t n_air;
	bool waits; /* the next access of memory is to wait */
	bool waiting;
};

extern struct loop loop;
extern const struct rnic_ops loop_ops;

void loop_begin(void);
/* The device works, and packets arrive, until there is nothing to do, or for so many turns. */
void loop_run(uint32_t turns);
/* And its timers fire; what waits for memory goes on. */
void loop_until(uint64_t time);

#endif
