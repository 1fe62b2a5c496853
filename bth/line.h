/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Text that grows piece by piece in a buffer, and is cut off where that ends. */
#ifndef BTH_LINE_H
#define BTH_LINE_H

#include <stddef.h>

struct line {
	char *buf;
	size_t size;
	size_t len; /* of the whole text, as snprintf would have it */
};

void line_add(struct line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
