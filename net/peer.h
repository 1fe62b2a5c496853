/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How peers number their datagrams, in a table of fixed size. */
#ifndef NET_PEER_H
#define NET_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "bth/ipid.h"

/* One for each pair of addresses: the kernel's counters are so. */
struct peer_table;

struct peer_table *peer_table_create(void);
void peer_table_destroy(struct peer_table *table);

/* Like ipid_check_at. A peer gets its place by a packet that passes, and may lose it to others. */
enum ipid_verdict peer_check(struct peer_table *table, const uint8_t src[16], const uint8_t dst[16],
			     uint64_t now, uint32_t computed, uint32_t received, size_t len);

#endif
