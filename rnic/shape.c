/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets of unequal sizes in one run: see shape.h. */
#include "config.h"

#include "rnic/shape.h"

#include "rnic/host.h"

bool shape_add(struct tx_shape *s, uint32_t len)
{
	if (s->closed || s->n == RNIC_TX_SEGS_MAX || s->len + len > RNIC_TX_RUN_MAX)
		return false;
	if (s->n == 0) {
		s->seg = len;
	} else if (s->n == 1 && len < s->seg) {
		s->head = s->seg - len;
		s->seg = len;
	} else if (len != s->seg) {
		s->tail = len > s->seg ? len - s->seg : 0;
		s->closed = true;
	}
	s->n++;
	s->len += len;
	return true;
}
