/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The host functions of the virtual side's device: memory, packets out, events, log. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/packet.h"
#include "data.h"
#include "virtual.h"
#include "virtual_fault.h"

#define PEEK_MAX 65536

static uint8_t *tx_alloc(void *host, uint32_t len)
{
	struct virtual_side *v = host;

	if (len > RNIC_TX_RUN_MAX)
		abort();
	memset(v->tx, 0xee, len);
	return v->tx;
}

void v_sent_add(struct virtual_side *v, const struct side_packet *pkt)
{
	struct v_sent *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->pkt = *pkt;
	*v->last = s;
	v->last = &s->next;
}

static void packet_sent(struct virtual_side *v, const struct rnic_tx *tx, const uint8_t *data,
			uint32_t len)
{
	static const uint8_t other[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 3};
	static struct side_packet pkt;

	if (len > SIDE_PACKET_MAX)
		abort();
	memset(&pkt, 0, offsetof(struct side_packet, data));
	pkt.time = v->now;
	pkt.len = len;
	pkt.tclass = tx->traffic_class;
	pkt.hops = tx->av->hop_limit;
	pkt.tclass_known = pkt.hops_known = true;
	pkt.to_other = memcmp(tx->av->dgid, other, sizeof(other)) == 0;
	memcpy(pkt.data, data, len);
	v_fault_out(v, tx->qpn, &pkt);
}

static void tx_send(void *host, const struct rnic_tx *tx)
{
	struct virtual_side *v = host;

	if (tx->data != v->tx || !tx->seg || tx->len > RNIC_TX_RUN_MAX)
		abort();
	for (uint32_t off = 0, len; off < tx->len; off += len) {
		len = rnic_tx_packet(tx, off);

		packet_sent(v, tx, tx->data + off, len - BTH_ICRC_LEN);
	}
}

static void timer_set(void *host, uint64_t deadline)
{
	((struct virtual_side *)host)->timer = deadline;
}

static uint64_t total(const struct iovec *iov, int n)
{
	uint64_t len = 0;

	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

static int access_check(const struct rnic_mem *m, uint64_t addr, uint64_t len)
{
	if (m->refusal)
		return m->refusal;
	if (addr < m->start || addr - m->start > m->len || len > m->len - (addr - m->start))
		return -EFAULT;
	return 0;
}

static int mem_read(void *host, struct rnic_mem *m, uint64_t addr, const struct iovec *dst, int n)
{
	int ret = access_check(m, addr, total(dst, n));

	(void)host;
	for (int i = 0; ret == 0 && i < n; i++) {
		memcpy(dst[i].iov_base, m->bytes + (addr - m->start), dst[i].iov_len);
		addr += dst[i].iov_len;
	}
	return ret;
}

static int mem_write(void *host, struct rnic_mem *m, uint64_t addr, const struct iovec *src, int n)
{
	int ret = access_check(m, addr, total(src, n));

	(void)host;
	for (int i = 0; ret == 0 && i < n; i++) {
		memcpy(m->bytes + (addr - m->start), src[i].iov_base, src[i].iov_len);
		addr += src[i].iov_len;
	}
	return ret;
}

static int mem_atomic(void *host, struct rnic_mem *m, uint64_t addr, enum rnic_atomic_op op,
		      uint64_t swap_add, uint64_t compare, uint64_t *orig)
{
	int ret = access_check(m, addr, sizeof(uint64_t));
	uint64_t value;

	(void)host;
	if (ret < 0)
		return ret;
	memcpy(&value, m->bytes + (addr - m->start), sizeof(value));
	*orig = value;
	switch (op) {
	case RNIC_ATOMIC_CMP_SWAP:
		value = value == compare ? swap_add : value;
		break;
	case RNIC_ATOMIC_FETCH_ADD:
		value += swap_add;
		break;
	}
	memcpy(m->bytes + (addr - m->start), &value, sizeof(value));
	return 0;
}

static void cq_notify(void *host, struct rnic_cq *cq)
{
	struct v_object *o = rnic_cq_user(cq);

	(void)host;
	o->ring.notified++;
}

static void async_event(void *host, const struct rnic_async *event)
{
	struct virtual_side *v = host;

	if (v->n_events - v->events_read < V_EVENTS)
		v->event[v->n_events++ % V_EVENTS] = *event;
}

static uint32_t random_number(void *host)
{
	struct virtual_side *v = host;

	v->rng = v->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(v->rng >> 32);
}

static void log_line(void *host, const char *line)
{
	struct virtual_side *v = host;

	snprintf(v->log, sizeof(v->log), "%s", line);
	if (v->verbose)
		printf("%12.3f us  log: %s\n", (double)v->now / 1000, line);
}

const struct rnic_ops v_ops = {
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

int v_peek(struct virtual_side *v, struct args *a, struct text *reply)
{
	uint64_t addr = args_num(a, "addr", 0), len = args_num(a, "len", 0);
	struct rnic_mem *m = v_mem_at(v, addr, len);

	if (!m || len > PEEK_MAX)
		return EFAULT;
	text_add(reply, "data=");
	text_hex(reply, m->bytes + (addr - m->start), len);
	return 0;
}

int v_poke(struct virtual_side *v, struct args *a, struct text *reply)
{
	uint64_t addr = args_num(a, "addr", 0), len = args_num(a, "len", 0);
	const char *data = args_str(a, "data", "");
	struct rnic_mem *m = v_mem_at(v, addr, len);
	char spec[2 * PEEK_MAX + 8];

	(void)reply;
	if (!m || len > PEEK_MAX)
		return EFAULT;
	snprintf(spec, sizeof(spec), "hex:%s", data);
	if (data_fill(spec, m->bytes + (addr - m->start), len, len) < 0)
		args_wrong(a, "these are not %" PRIu64 " bytes", len);
	return 0;
}

int v_memory(struct virtual_side *v, struct args *a, struct text *reply)
{
	static const struct {
		const char *word;
		int refusal;
	} states[] = {{"ok", 0}, {"busy", -EINPROGRESS}, {"gone", -ESRCH}, {"broken", -EFAULT}};
	struct rnic_mem *m = v_mem_at(v, args_num(a, "addr", 0), 0);
	const char *word = args_word(a);
	bool was_busy;

	(void)reply;
	if (!m)
		return EFAULT;
	for (size_t i = 0; word && i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(states[i].word, word) != 0)
			continue;
		was_busy = m->refusal == -EINPROGRESS;
		m->refusal = states[i].refusal;
		if (was_busy && m->refusal != -EINPROGRESS)
			rnic_mem_resume(v->dev, m, v->now);
		return 0;
	}
	args_wrong(a, "memory is ok, busy, gone or broken");
	return 0;
}

static const char *event_object(struct virtual_side *v, const struct rnic_async *e)
{
	if (e->qp)
		return v_name_of(v, V_QP, e->qp);
	if (e->cq)
		return v_name_of(v, V_CQ, e->cq);
	if (e->srq)
		return v_name_of(v, V_SRQ, e->srq);
	return "port";
}

static bool has_event(void *arg)
{
	struct virtual_side *v = arg;

	return v->n_events != v->events_read;
}

int v_event(struct virtual_side *v, struct args *a, struct text *reply)
{
	const struct rnic_async *e;

	v_until(v, v->now + args_time(a, "wait", 0), has_event, v);
	if (!has_event(v)) {
		text_add(reply, "none");
		return 0;
	}
	e = &v->event[v->events_read++ % V_EVENTS];
	text_add(reply, "event=%d of=%s", (int)e->type, event_object(v, e));
	return 0;
}

int v_log(struct virtual_side *v, struct args *a, struct text *reply)
{
	(void)a;
	text_add(reply, "log=\"%s\"", v->log);
	return 0;
}
