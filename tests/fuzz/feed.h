/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fuzzer's input, taken from the front; zeros when it is used up. */
#ifndef TESTS_FUZZ_FEED_H
#define TESTS_FUZZ_FEED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct feed {
	const uint8_t *p;
	size_t left;
};

/* The next n bytes, little-endian. */
static inline uint64_t feed_take(struct feed *f, size_t n)
{
	uint64_t value = 0;

	if (n > f->left)
		n = f->left;
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)f->p[i] << 8 * i;
	f->p += n;
	f->left -= n;
	return value;
}

static inline uint8_t feed_u8(struct feed *f)
{
	return (uint8_t)feed_take(f, 1);
}

static inline uint16_t feed_u16(struct feed *f)
{
	return (uint16_t)feed_take(f, 2);
}

static inline uint32_t feed_u32(struct feed *f)
{
	return (uint32_t)feed_take(f, 4);
}

static inline uint64_t feed_u64(struct feed *f)
{
	return feed_take(f, 8);
}

/* As many of n bytes as there are. */
static inline size_t feed_bytes(struct feed *f, uint8_t *buf, size_t n)
{
	if (n > f->left)
		n = f->left;
	if (n)
		memcpy(buf, f->p, n);
	f->p += n;
	f->left -= n;
	return n;
}

#endif
