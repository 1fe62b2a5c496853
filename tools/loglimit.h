/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How many lines clients and peers can make the daemon write: so many at once, then a few a
 * second. Else one that fails on purpose would fill the disk.
 */
#ifndef TOOLS_LOGLIMIT_H
#define TOOLS_LOGLIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_BURST 1000
#define LOG_LIMIT_A_SECOND 20

struct log_limit {
	uint64_t spent;	  /* ns: until when the lines written so far are paid for */
	uint32_t dropped; /* lines since the last one that passed */
};

/* May a line be written at `now` (ns)? If so *dropped says how many were not before it. */
bool log_limit_pass(struct log_limit *l, uint64_t now, uint32_t *dropped);

#endif
