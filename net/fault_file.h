/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Files of fault rules: a rule a line, "# comments", empty lines. "seed N" seeds the rules below it
 * that have no seed of their own. A device's name may stand before a rule; else it is for all.
 */
#ifndef NET_FAULT_FILE_H
#define NET_FAULT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fault_line {
	unsigned number;    /* from 1 */
	const char *device; /* NULL: all */
	const char *rule;
	bool seeded;
	uint64_t seed;
};

/* Not 0 ends the reading, with a line in err. */
typedef int fault_line_fn(void *ctx, const struct fault_line *line, char *err, size_t err_size);

/* 0; what `each` returned; -EINVAL: a line is wrong. Then err begins with the line's number. */
int fault_file_read(FILE *from, fault_line_fn *each, void *ctx, char *err, size_t err_size);

#endif
