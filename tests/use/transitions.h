/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The page transitions.txt, which knows the QP state table without the device's help. */
#ifndef USE_TRANSITIONS_H
#define USE_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRANSITION_TYPES = 4, TRANSITION_STATES = 7, TRANSITION_BITS = 26 };

/* Masks are those of enum ibv_qp_attr_mask. */
struct transition {
	bool legal;
	uint32_t need, may;
};

/* By type (GSI, RC, UC, UD: the ABI's less one), from, to. Ends the program if it cannot be read.
 */
void transitions_read(const char *path,
		      struct transition t[TRANSITION_TYPES][TRANSITION_STATES][TRANSITION_STATES]);

extern const char *const transition_type_names[TRANSITION_TYPES];
extern const char *const transition_state_names[TRANSITION_STATES];
/* By bit: "PORT"; NULL for those that have no name. */
extern const char *const transition_attr_names[TRANSITION_BITS];

#endif
