/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The host functions of a simulated device: memory, timer, link, log. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static uint8_t *tx_alloc(void *host, uint32_t len)
{
	struct sim_node *n = host;

	if (len > RNIC_TX_RUN_MAX)
		abort();
	memset(n->tx, 0xee, len);
	return n->tx;
}

static void tx_send(void *host, const struct rnic_tx *tx)
{
	struct sim_node *n = host;

	if (tx->data != n->tx || !tx->seg || tx->len > RNIC_TX_RUN_MAX)
		abort();
	for (uint32_t off = 0, len; off < tx->len; off += len) {
		len = rnic_tx_packet(tx, off);

		sim_send(n, tx, tx->data + off, len - BTH_ICRC_LEN);
	}
}

static void timer_set(void *host, uint64_t deadline)
{
	struct sim_node *n = host;

	n->timer = deadline;
}

/* Is [addr, addr+len) there, now? */
static int access_check(struct rnic_mem *m, uint64_t addr, uint64_t len)
{
	if (m->gone)
		return -ESRCH;
	if (m->broken || addr < m->start || addr - m->start > m->len ||
	    len > m->len - (addr - m->start))
		return -EFAULT;
	if (!m->busy && rng_chance(&m->world->rng, m->pending)) {
		m->busy = true;
		m->n_pended++;
		sim_resume_later(m);
	}
	return m->busy ? -EINPROGRESS : 0;
}

static uint64_t total(const struct iovec *iov, int n)
{
	uint64_t len = 0;

	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

static int mem_read(void *host, struct rnic_mem *m, uint64_t addr, const struct iovec *dst, int n)
{
	int ret = access_check(m, addr, total(dst, n));

	(void)host;
	if (ret < 0)
		return ret;
	for (int i = 0; i < n && !m->sparse; i++) {
		memcpy(dst[i].iov_base, m->bytes + (addr - m->start), dst[i].iov_len);
		addr += dst[i].iov_len;
	}
	return 0;
}

static int mem_write(void *host, struct rnic_mem *m, uint64_t addr, const struct iovec *src, int n)
{
	int ret = access_check(m, addr, total(src, n));

	(void)host;
	if (ret < 0)
		return ret;
	for (int i = 0; i < n && !m->sparse; i++) {
		memcpy(m->bytes + (addr - m->start), src[i].iov_base, src[i].iov_len);
		addr += src[i].iov_len;
	}
	return 0;
}

static int mem_atomic(void *host, struct rnic_mem *m, uint64_t addr, enum rnic_atomic_op op,
		      uint64_t swap_add, uint64_t compare, uint64_t *orig)
{
	int ret = access_check(m, addr, 8);
	uint64_t value;

	(void)host;
	if (ret < 0)
		return ret;
	if (addr % 8)
		abort();
	memcpy(&value, m->bytes + (addr - m->start), 8);
	*orig = value;
	switch (op) {
	case RNIC_ATOMIC_CMP_SWAP:
		value = value == compare ? swap_add : value;
		break;
	case RNIC_ATOMIC_FETCH_ADD:
		value += swap_add;
		break;
	}
	memcpy(m->bytes + (addr - m->start), &value, 8);
	return 0;
}

static void cq_notify(void *host, struct rnic_cq *cq)
{
	struct sim_node *n = host;

	(void)cq;
	n->n_notified++;
}

static void async_event(void *host, const struct rnic_async *event)
{
	struct sim_node *n = host;

	n->n_events[event->type & 31]++;
	n->last_event = *event;
}

static uint32_t random_number(void *host)
{
	struct sim_node *n = host;

	return (uint32_t)rng_next(&n->world->rng);
}

static void log_line(void *host, const char *line)
{
	struct sim_node *n = host;

	n->n_logs++;
	snprintf(n->last_log, sizeof(n->last_log), "%s", line);
	if (n->world->verbose)
		printf("%12.3f us  log: %s\n", (double)n->world->now / 1000, line);
}

const struct rnic_ops sim_ops = {
	.tx_alloc = tx_alloc,
	.tx_send = tx_send,
	.timer_set = timer_set,
	.mem_read = mem_read,
	.mem_write = mem_write,
	.mem_atomic = mem_atomic,
	.cq_notify = cq_notify,
	.async_event = async_event,
	.random = random_number,
	.log = log_line,
};

void sim_mem_begin(struct rnic_mem *m, struct sim_world *w, uint32_t node, uint64_t start,
		   uint64_t len)
{
	*m = (struct rnic_mem){.world = w, .node = node, .start = start, .len = len};
	m->bytes = calloc(1, len);
	if (!m->bytes)
		abort();
}

void sim_mem_end(struct rnic_mem *m)
{
	free(m->bytes);
}
