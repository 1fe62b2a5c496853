/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The host that loop.h describes. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bth/packet.h"
#include "loop.h"
#include "rnic/device.h"
#include "tests/unit/null_host.h"
#include "tests/unit/verbs_rig.h"

#define AIR_MAX 64
#define PACKET_MAX 1200 /* MTU 1024 */
#define TIMERS_MAX 64

struct air {
	struct rnic_rx rx;
	uint8_t data[PACKET_MAX];
};

struct loop loop;
static struct air air[AIR_MAX];

/* ---- packets ---- */

static void packet_send(const struct rnic_tx *tx, const uint8_t *data, uint32_t len)
{
	struct air *a = &air[loop.n_air];

	ck_assert_uint_gt(len, BTH_ICRC_LEN);
	ck_assert_uint_le(len, PACKET_MAX);
	if (loop.n_air == AIR_MAX)
		return;
	loop.n_air++;
	memcpy(a->data, data, len - BTH_ICRC_LEN);
	a->rx = (struct rnic_rx){.len = len - BTH_ICRC_LEN, .hop_limit = 64, .sport = 0xc000};
	memcpy(a->rx.sgid, tx->av->sgid, 16);
	memcpy(a->rx.dgid, tx->av->sgid, 16); /* wherever it was sent */
}

static void tx_send(void *host, const struct rnic_tx *tx)
{
	(void)host;
	for (uint32_t at = 0; at < tx->len; at += rnic_tx_packet(tx, at))
		packet_send(tx, tx->data + at, rnic_tx_packet(tx, at));
}

static void timer_set(void *host, uint64_t deadline)
{
	(void)host;
	loop.timer = deadline;
}

/* ---- memory ---- */

static int access_check(uint64_t addr, const struct iovec *iov, int n, bool write)
{
	uint64_t base = (uintptr_t)rig.user, size = write ? USER_READONLY : USER_SIZE, len = 0;

	if (loop.waits || loop.waiting) {
		loop.waits = false;
		loop.waiting = true;
		return -EINPROGRESS;
	}
	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (addr < base || addr - base > size || len > size - (addr - base))
		return -EFAULT;
	return 0;
}

static int mem_read(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *iov, int n)
{
	int rc = access_check(addr, iov, n, false);

	(void)host;
	(void)mem;
	for (int i = 0; !rc && i < n; addr += iov[i++].iov_len)
		memcpy(iov[i].iov_base, user_at(addr), iov[i].iov_len);
	return rc;
}

static int mem_write(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *iov,
		     int n)
{
	int rc = access_check(addr, iov, n, true);

	(void)host;
	(void)mem;
	for (int i = 0; !rc && i < n; addr += iov[i++].iov_len)
		memcpy(user_at(addr), iov[i].iov_base, iov[i].iov_len);
	return rc;
}

static int mem_atomic(void *host, struct rnic_mem *mem, uint64_t addr, enum rnic_atomic_op op,
		      uint64_t swap_add, uint64_t compare, uint64_t *orig)
{
	struct iovec iov = {orig, sizeof(*orig)};
	uint64_t value;
	int rc = access_check(addr, &iov, 1, true);

	(void)host;
	(void)mem;
	if (rc)
		return rc;
	memcpy(orig, user_at(addr), sizeof(*orig));
	value = op == RNIC_ATOMIC_FETCH_ADD ? *orig + swap_add
		: *orig == compare	    ? swap_add
					    : *orig;
	memcpy(user_at(addr), &value, sizeof(value));
	return 0;
}

static void cq_notify(void *host, struct rnic_cq *cq)
{
	(void)host;
	uverbs_cq_notify(cq);
}

static void async_event(void *host, const struct rnic_async *event)
{
	(void)host;
	uverbs_async_event(event);
}

const struct rnic_ops loop_ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = tx_send,
	.timer_set = timer_set,
	.mem_read = mem_read,
	.mem_write = mem_write,
	.mem_atomic = mem_atomic,
	.cq_notify = cq_notify,
	.async_event = async_event,
	.random = null_random,
	.log = null_log,
};

void loop_begin(void)
{
	loop = (struct loop){.now = 1, .timer = UINT64_MAX};
}

static void air_arrives(void)
{
	for (uint32_t n = 0; loop.n_air && n < AIR_MAX; n++) {
		struct air a = air[0];

		memmove(&air[0], &air[1], --loop.n_air * sizeof(a));
		a.rx.data = a.data;
		rnic_rx(rig.dev.rnic, loop.now, &a.rx, 1);
	}
}

void loop_run(uint32_t turns)
{
	bool more = true;

	while (turns-- && (more || loop.n_air)) {
		more = rnic_run(rig.dev.rnic, loop.now);
		air_arrives();
	}
}

void loop_until(uint64_t time)
{
	if (loop.waiting) {
		loop.waiting = false;
		rnic_mem_resume(rig.dev.rnic, (struct rnic_mem *)&rig.session, loop.now);
	}
	for (int i = 0; i < TIMERS_MAX && loop.timer <= time; i++) {
		if (loop.now < loop.timer)
			loop.now = loop.timer;
		loop.timer = UINT64_MAX;
		rnic_timer_fired(rig.dev.rnic, loop.now);
	}
	loop.now = time;
}
