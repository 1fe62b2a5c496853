/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The simulator's only source of chance: one seed, one sequence. */
#ifndef TESTS_SIM_RNG_H
#define TESTS_SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 .. n-1; 0 for n 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return n ? (uint32_t)((rng_next(r) >> 32) * n >> 32) : 0;
}

static inline uint32_t rng_between(struct rng *r, uint32_t least, uint32_t most)
{
	return least + rng_below(r, most - least + 1);
}

/* True n times in 10000. */
static inline bool rng_chance(struct rng *r, uint32_t n)
{
	return n && rng_below(r, 10000) < n;
}

#endif
