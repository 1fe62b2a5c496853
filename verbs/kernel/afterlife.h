/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is left of a session that ended while an access to its memory sleeps. */
#ifndef KERNEL_AFTERLIFE_H
#define KERNEL_AFTERLIFE_H

#include <stdint.h>

struct kernel;
struct umem;

/* The session has ended. Takes its reference of the memory and the ids that it knew. */
void afterlife_begin(struct kernel *k, struct umem *umem, uint64_t *ids, uint32_t n_ids);
/* Ends all of them: the kernel goes. */
void afterlives_end(struct kernel *k);

#endif
