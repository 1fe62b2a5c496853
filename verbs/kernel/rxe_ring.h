/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rings of rdma/rdma_user_rxe.h, and all the ordering between their two sides.
 *
 * One side owns the producer, the other the consumer. What the client owns is loaded with acquire
 * and masked; what is ours has a copy here that is never read back from the ring, so that a client
 * may write anything anywhere at any time and still no access leaves the ring.
 */
#ifndef KERNEL_RXE_RING_H
#define KERNEL_RXE_RING_H

#include <rdma/rdma_user_rxe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "verbs/kernel/context.h"

struct rxe_ring {
	struct ring_mem mem;
	struct rxe_queue_buf *buf; /* the head of mem */
	uint32_t mask;
	uint32_t log2_elem;
	uint32_t mine; /* the index that this side owns */
};

/* Room for `entries` elements of at least elem_size bytes. 0 or -ENOMEM. */
int rxe_ring_create(struct context *c, uint32_t entries, uint32_t elem_size, struct rxe_ring *ring);
/* Idempotent. */
void rxe_ring_destroy(struct context *c, struct rxe_ring *ring);
/* What the provider maps. */
struct mminfo rxe_ring_mminfo(const struct rxe_ring *ring);

/* How many elements it can hold: one slot stays empty. */
static inline uint32_t rxe_ring_entries(const struct rxe_ring *ring)
{
	return ring->mask;
}

static inline uint8_t *rxe_ring_slot(const struct rxe_ring *ring, uint32_t index)
{
	return ring->buf->data + ((size_t)(index & ring->mask) << ring->log2_elem);
}

static inline uint32_t rxe_ring_after(const struct rxe_ring *ring, uint32_t index)
{
	return (index + 1) & ring->mask;
}

/* Elements from index `from` up to, not including, `to`. */
static inline uint32_t rxe_ring_distance(const struct rxe_ring *ring, uint32_t from, uint32_t to)
{
	return (to - from) & ring->mask;
}

/* A copy of what the client may write at any time. A compiler may take a plain copy's source for
 * the copy, and look at it again later: not behind this. */
static inline void rxe_ring_copy(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Acquire: what the client wrote before it moved its index is seen. */
static inline uint32_t rxe_ring_producer(const struct rxe_ring *ring)
{
	return __atomic_load_n(&ring->buf->producer_index, __ATOMIC_ACQUIRE) & ring->mask;
}

/* A client keeps its index within the mask; another one means that the ring is corrupt. */
static inline bool rxe_ring_producer_sane(const struct rxe_ring *ring)
{
	return __atomic_load_n(&ring->buf->producer_index, __ATOMIC_RELAXED) <= ring->mask;
}

/* Acquire: the client has read the slots that it gave back. */
static inline uint32_t rxe_ring_consumer(const struct rxe_ring *ring)
{
	return __atomic_load_n(&ring->buf->consumer_index, __ATOMIC_ACQUIRE) & ring->mask;
}

/* Release: our reads, or writes, of the slots come before. */
static inline void rxe_ring_publish_consumer(struct rxe_ring *ring, uint32_t index)
{
	ring->mine = index & ring->mask;
	__atomic_store_n(&ring->buf->consumer_index, ring->mine, __ATOMIC_RELEASE);
}

static inline void rxe_ring_publish_producer(struct rxe_ring *ring, uint32_t index)
{
	ring->mine = index & ring->mask;
	__atomic_store_n(&ring->buf->producer_index, ring->mine, __ATOMIC_RELEASE);
}

#endif
