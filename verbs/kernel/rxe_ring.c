/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Making the rings of rdma/rdma_user_rxe.h in a context's memfd. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "verbs/kernel/rxe_ring.h"

#define ELEM_MIN 64 /* a cache line */

static_assert(sizeof(struct rxe_queue_buf) == 384, "ring header");
static_assert(offsetof(struct rxe_queue_buf, producer_index) == 128, "ring header");
static_assert(offsetof(struct rxe_queue_buf, consumer_index) == 256, "ring header");
static_assert(sizeof(struct mminfo) == 16, "mminfo");

static uint32_t log2_ceil(uint64_t n)
{
	uint32_t log = 0;

	while ((1ull << log) < n)
		log++;
	return log;
}

int rxe_ring_create(struct context *c, uint32_t entries, uint32_t elem_size, struct rxe_ring *ring)
{
	uint32_t log2_elem = log2_ceil(elem_size > ELEM_MIN ? elem_size : ELEM_MIN);
	uint32_t log2_slots = log2_ceil((uint64_t)entries + 1);
	uint64_t size = sizeof(struct rxe_queue_buf) + (1ull << (log2_slots + log2_elem));
	int rc;

	memset(ring, 0, sizeof(*ring));
	if (log2_slots > 31)
		return -ENOMEM;
	rc = context_ring_alloc(c, size, &ring->mem);
	if (rc)
		return rc;
	ring->buf = ring->mem.addr;
	ring->mask = (uint32_t)((1ull << log2_slots) - 1);
	ring->log2_elem = log2_elem;
	ring->buf->log2_elem_size = log2_elem;
	ring->buf->index_mask = ring->mask;
	return 0;
}

void rxe_ring_destroy(struct context *c, struct rxe_ring *ring)
{
	if (!ring->buf)
		return;
	context_ring_free(c, &ring->mem);
	memset(ring, 0, sizeof(*ring));
}

struct mminfo rxe_ring_mminfo(const struct rxe_ring *ring)
{
	return (struct mminfo){.offset = ring->mem.offset, .size = (uint32_t)ring->mem.size};
}
