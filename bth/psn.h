/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Arithmetic on 24-bit packet sequence numbers (IBA vol. 1, 9.7). */
#ifndef BTH_PSN_H
#define BTH_PSN_H

#include <stdint.h>

#define BTH_PSN_MASK 0xffffffu

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & BTH_PSN_MASK;
}

/* a - b as a signed distance in -2^23 .. 2^23-1: negative if a comes before b. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
