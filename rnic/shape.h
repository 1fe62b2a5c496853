/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Where the packets of a run lie: all have one size but for the first, which may be longer, and
 * the last, which may be longer or shorter (the headers of a WRITE FIRST are longer than those of a
 * MIDDLE, those of a READ RESPONSE FIRST and LAST and of a LAST with immediate too).
 */
#ifndef RNIC_SHAPE_H
#define RNIC_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

struct tx_shape {
	uint32_t n, len; /* packets and their bytes */
	uint32_t seg;	 /* bytes of each, with these exceptions: */
	uint32_t head;	 /* so much longer is the first */
	uint32_t tail;	 /* so much longer is the last */
	bool closed;	 /* the last packet is one that only the last can be */
};

/* One more packet of so many bytes; false if it cannot be of this run. Begin with {0}. */
bool shape_add(struct tx_shape *s, uint32_t len);

/* Where packet i begins. */
static inline uint32_t shape_offset(const struct tx_shape *s, uint32_t i)
{
	return i ? s->head + i * s->seg : 0;
}

#endif
