/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a test's host of the core does where it does nothing: for its struct rnic_ops. */
#ifndef TESTS_UNIT_NULL_HOST_H
#define TESTS_UNIT_NULL_HOST_H

#include "rnic/host.h"

/* Packets are lost. */
uint8_t *null_tx_alloc(void *host, uint32_t len);
void null_tx_send(void *host, const struct rnic_tx *tx);
void null_timer_set(void *host, uint64_t deadline);
/* No address is mapped. */
int null_mem_access(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *iov,
		    int n);
int null_mem_atomic(void *host, struct rnic_mem *mem, uint64_t addr, enum rnic_atomic_op op,
		    uint64_t swap_add, uint64_t compare, uint64_t *orig);
void null_async_event(void *host, const struct rnic_async *event);
uint32_t null_random(void *host); /* 4 */
void null_log(void *host, const char *line);

#endif
