/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Contents of memory and payloads, as a script names them. */
#ifndef DRILL_DATA_H
#define DRILL_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * "text"	its bytes
 * hex:0a1b	these bytes
 * fill:0x5a	one byte again and again
 * mr:OFF	what memory holds at first, from offset OFF (mr alone: 0)
 * peer:OFF	what the peer's payloads hold, from offset OFF of the message
 * u64:N	a 64-bit number, of this host's byte order
 * zero		zeros
 * The latter repeat to any length; the former must have len bytes, or len 0 takes theirs.
 * Writes len bytes (at most room) to buf. Returns the length or -1: not understood.
 */
long data_fill(const char *spec, uint8_t *buf, size_t len, size_t room);

#endif
