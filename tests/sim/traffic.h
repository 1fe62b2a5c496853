/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random RC traffic between two devices, and the rules that it must keep. */
#ifndef TESTS_SIM_TRAFFIC_H
#define TESTS_SIM_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct sim_result {
	uint64_t hash; /* of the packets that arrived, with their times */
	uint64_t packets, lost, operations, pended;
	uint64_t windows_ended; /* by LOCAL_INV and by SENDs with invalidate */
	uint64_t shared;	/* receives from SRQs */
	uint64_t duration;	/* virtual, ns */
};

/* Everything, the faults of the link too, follows from the seed. A rule that does not hold ends
 * the program. */
void sim_traffic(uint64_t seed, bool verbose, struct sim_result *result);

#endif
