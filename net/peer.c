/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The table of peers: sets of a few places. A full set gives up the place used longest ago, so
 * that senders who come and go cannot make it grow.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "net/peer.h"

enum { SETS = 256, WAYS = 4 };

struct peer {
	uint8_t src[16], dst[16];
	uint64_t used; /* 0: free */
	struct ipid_peer ipid;
};

struct peer_table {
	uint64_t clock;
	struct peer peers[SETS][WAYS];
};

struct peer_table *peer_table_create(void)
{
	return calloc(1, sizeof(struct peer_table));
}

void peer_table_destroy(struct peer_table *table)
{
	free(table);
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static struct peer *set_of(struct peer_table *table, const uint8_t src[16], const uint8_t dst[16])
{
	uint64_t h = load64(src) ^ load64(src + 8) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	h ^= load64(dst) ^ load64(dst + 8);
	h = (h ^ h >> 32) * UINT64_C(0x94d049bb133111eb);
	return table->peers[h >> 56];
}

static struct peer *oldest(struct peer *set)
{
	struct peer *p = set;

	for (int i = 1; i < WAYS; i++)
		if (set[i].used < p->used)
			p = &set[i];
	return p;
}

enum ipid_verdict peer_check(struct peer_table *table, const uint8_t src[16], const uint8_t dst[16],
			     uint64_t now, uint32_t computed, uint32_t received, size_t len)
{
	struct peer *set = set_of(table, src, dst);
	struct ipid_peer fresh = {0};
	enum ipid_verdict verdict;
	struct peer *p;

	for (int i = 0; i < WAYS; i++) {
		p = &set[i];
		if (p->used && memcmp(p->src, src, 16) == 0 && memcmp(p->dst, dst, 16) == 0) {
			p->used = ++table->clock;
			return ipid_check_at(&p->ipid, now, computed, received, len);
		}
	}
	verdict = ipid_check_at(&fresh, now, computed, received, len);
	if (verdict == IPID_WRONG)
		return verdict;
	p = oldest(set);
	memcpy(p->src, src, 16);
	memcpy(p->dst, dst, 16);
	p->ipid = fresh;
	p->used = ++table->clock;
	return verdict;
}
