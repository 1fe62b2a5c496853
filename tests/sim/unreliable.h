/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random UC and UD traffic between two devices, and the rules that it must keep. */
#ifndef TESTS_SIM_UNRELIABLE_H
#define TESTS_SIM_UNRELIABLE_H

#include "traffic.h"

/*
 * As sim_traffic. Every request completes with success. A message that arrives is whole, its data
 * is right, and it was sent; it arrives no oftener than the link delivered it. On a link that
 * neither doubles nor overtakes, messages come in order; on a clean one, all of them come.
 */
void sim_unreliable(uint64_t seed, bool verbose, struct sim_result *result);

#endif
