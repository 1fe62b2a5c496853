/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test cases of bth/, one maker a file. */
#ifndef TESTS_UNIT_BTH_SUITES_H
#define TESTS_UNIT_BTH_SUITES_H

#include <check.h>
#include <stdint.h>

TCase *bth_opcode_tcase(void);
TCase *bth_packet_tcase(void);
TCase *bth_print_tcase(void);
TCase *bth_icrc_tcase(void);
TCase *bth_ipid_tcase(void);
TCase *bth_golden_tcase(void);
TCase *bth_cm_tcase(void);

/* A fixed sequence of numbers; state is any number but 0. */
static inline uint64_t test_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
