/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A leaky bucket for lines of the log. */
#include "config.h"

#include "tools/loglimit.h"

#define LINE_NS (1000000000ull / LOG_LIMIT_A_SECOND)

bool log_limit_pass(struct log_limit *l, uint64_t now, uint32_t *dropped)
{
	if (l->spent < now)
		l->spent = now;
	if (l->spent - now > (LOG_LIMIT_BURST - 1) * LINE_NS) {
		l->dropped++;
		return false;
	}
	l->spent += LINE_NS;
	*dropped = l->dropped;
	l->dropped = 0;
	return true;
}
