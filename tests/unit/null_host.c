/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The host that null_host.h describes. */
#include "config.h"

#include <errno.h>

#include "null_host.h"

uint8_t *null_tx_alloc(void *host, uint32_t len)
{
	static uint8_t room[RNIC_TX_RUN_MAX];

	(void)host;
	(void)len;
	return room;
}

void null_tx_send(void *host, const struct rnic_tx *tx)
{
	(void)host;
	(void)tx;
}

void null_timer_set(void *host, uint64_t deadline)
{
	(void)host;
	(void)deadline;
}

int null_mem_access(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *iov, int n)
{
	(void)host;
	(void)mem;
	(void)addr;
	(void)iov;
	(void)n;
	return -EFAULT;
}

int null_mem_atomic(void *host, struct rnic_mem *mem, uint64_t addr, enum rnic_atomic_op op,
		    uint64_t swap_add, uint64_t compare, uint64_t *orig)
{
	(void)host;
	(void)mem;
	(void)addr;
	(void)op;
	(void)swap_add;
	(void)compare;
	(void)orig;
	return -EFAULT;
}

void null_async_event(void *host, const struct rnic_async *event)
{
	(void)host;
	(void)event;
}

uint32_t null_random(void *host)
{
	(void)host;
	return 4;
}

void null_log(void *host, const char *line)
{
	(void)host;
	(void)line;
}
