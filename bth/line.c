/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Text that grows piece by piece. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "bth/line.h"

void line_add(struct line *line, const char *fmt, ...)
{
	size_t at = line->len < line->size ? line->len : line->size;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at < line->size ? line->buf + at : NULL, line->size - at, fmt, ap);
	va_end(ap);
	if (n > 0)
		line->len += (size_t)n;
}
