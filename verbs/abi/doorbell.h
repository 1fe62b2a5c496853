/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The memory that a context's memfd begins with, and the daemon's wake page.
 *
 * Posting: the program's WQE is in the ring; librnic sets the QP's bit in kick[], then pending,
 * then a seq_cst fence, then looks at the wake page: only if the daemon sleeps it writes 1 to the
 * session's eventfd. The daemon sets sleeping, fences, looks at every pending, and only then
 * sleeps. Arming a CQ is a bit in arm[], set before the program looks at its CQ again; the
 * daemon looks at it, after a fence, behind every CQE that it publishes.
 * A handle that does not fit takes the slow way: the command goes to the daemon as any other; and
 * so does any when the wake page tells that the daemon is dead, to find out that there is none.
 */
#ifndef ABI_DOORBELL_H
#define ABI_DOORBELL_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RNIC_DB_HANDLES 65536u		/* QP and CQ handles below this have doorbells */
#define RNIC_DB_SIZE (512u * 1024)	/* bytes of the doorbell area, at offset 0 */
#define RNIC_DB_RINGS (1024u * 1024)	/* rings begin here */
#define RNIC_DB_FILE_SIZE (64ull << 30) /* the memfd's fixed size; sparse */

enum rnic_arm { RNIC_ARM_ANY = 1, RNIC_ARM_SOLICITED = 2 };

struct rnic_doorbell {
	_Atomic uint32_t pending; /* some bit of kick[] may be set */
	/* The device is, or is about to be: every doorbell is a command, to be told EIO. The
	 * program looks after a fence behind what it posted; the daemon fences before it flushes
	 * what was. */
	_Atomic uint32_t gone;
	uint8_t pad[4088];
	_Atomic uint64_t kick[RNIC_DB_HANDLES / 64]; /* by QP handle */
	/* By handle: POST_SEND is to be a command, since the answer is not simply yes: there is no
	 * such QP, or its state takes no sends. */
	_Atomic uint64_t slow[RNIC_DB_HANDLES / 64];
	uint8_t pad2[65536 - 4096 - 2 * (RNIC_DB_HANDLES / 8)];
	_Atomic uint32_t arm[RNIC_DB_HANDLES]; /* by CQ handle: enum rnic_arm, or-ed */
};

static_assert(sizeof(struct rnic_doorbell) <= RNIC_DB_SIZE, "doorbell area");
static_assert(offsetof(struct rnic_doorbell, arm) == 65536, "doorbell area");

/*
 * One page, mapped read-only by every session. The word at offset life_at holds the daemon's
 * thread number as long as it lives: the kernel itself clears it when it dies (a robust mutex).
 */
#define RNIC_WAKE_SIZE 4096u
#define RNIC_WAKE_OWNER 0x3fffffffu /* of the word; other bits are the kernel's */

struct rnic_wake {
	_Atomic uint32_t sleeping;
	uint32_t life_at; /* 0: cannot tell */
};

static inline bool wake_is_dead(const struct rnic_wake *page)
{
	uint32_t at = page->life_at;

	if (!at || at >= RNIC_WAKE_SIZE || at % 4)
		return false;
	return !(atomic_load_explicit(
			 (const _Atomic uint32_t *)(const void *)((const uint8_t *)page + at),
			 memory_order_relaxed) &
		 RNIC_WAKE_OWNER);
}

static inline void doorbell_kick(struct rnic_doorbell *db, uint32_t handle)
{
	atomic_fetch_or_explicit(&db->kick[handle / 64], 1ull << handle % 64, memory_order_release);
	atomic_store_explicit(&db->pending, 1, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
}

static inline bool doorbell_is_gone(struct rnic_doorbell *db)
{
	return atomic_load_explicit(&db->gone, memory_order_relaxed);
}

static inline bool doorbell_is_slow(struct rnic_doorbell *db, uint32_t handle)
{
	return atomic_load_explicit(&db->slow[handle / 64], memory_order_relaxed) >> handle % 64 &
	       1;
}

static inline void doorbell_set_slow(struct rnic_doorbell *db, uint32_t handle, bool slow)
{
	uint64_t bit = 1ull << handle % 64;

	if (slow)
		atomic_fetch_or_explicit(&db->slow[handle / 64], bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&db->slow[handle / 64], ~bit, memory_order_relaxed);
}

#endif
