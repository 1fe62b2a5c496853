/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * `rdma statistic`: a port's counters, by the names of the files in hw_counters. Counters of a QP's
 * own are not offered, as by rxe.
 */
#include "config.h"

#include <errno.h>

#include "rnic/counters.h"
#include "verbs/kernel/nldev_priv.h"

static const char *const names[] = {
#define X(name) #name,
	RNIC_COUNTERS(X)
#undef X
};

#define COUNTERS (sizeof(names) / sizeof(names[0]))

static void values_get(struct kdevice *dev, uint64_t value[COUNTERS])
{
	const struct rnic_counters *c = rnic_device_counters(dev->rnic);
	size_t i = 0;

#define X(name) value[i++] = c->name;
	RNIC_COUNTERS(X)
#undef X
}

/* The device whose port the request names; NULL unless it names both. */
static struct kdevice *port_asked(const struct nl_call *call)
{
	if (!call->attrs.at[RDMA_NLDEV_ATTR_PORT_INDEX] || !nl_call_port_is_good(call))
		return NULL;
	return nl_call_device(call);
}

static size_t port_begin(const struct nl_call *call, const struct kdevice *dev, struct nl_buf *b)
{
	size_t at = nl_answer_begin(call, b, false);

	nl_put_device(b, dev);
	nl_put_u32(b, RDMA_NLDEV_ATTR_PORT_INDEX, NLDEV_PORT);
	return at;
}

static int counters_answer(struct nl_call *call)
{
	struct kdevice *dev = port_asked(call);
	uint64_t value[COUNTERS];
	size_t at, table, entry;
	struct nl_buf b;

	if (!dev)
		return -EINVAL;
	values_get(dev, value);
	at = port_begin(call, dev, &b);
	table = nl_nest_begin(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (size_t i = 0; i < COUNTERS; i++) {
		entry = nl_nest_begin(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		nl_put_text(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, names[i]);
		nl_put_u64(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value[i]);
		nl_nest_end(&b, entry);
	}
	nl_nest_end(&b, table);
	return nl_answer_end(call, &b, at);
}

/* How QPs are bound to counters of their own: they are not. */
static int mode_answer(struct nl_call *call)
{
	struct kdevice *dev = port_asked(call);
	struct nl_buf b;
	size_t at;

	if (!dev)
		return -EINVAL;
	at = port_begin(call, dev, &b);
	nl_put_u32(&b, RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_NONE);
	return nl_answer_end(call, &b, at);
}

int nldev_stat_get(struct nl_call *call, bool dump)
{
	const struct nlattr *of = call->attrs.at[RDMA_NLDEV_ATTR_STAT_RES];

	if (!of)
		return dump ? -EINVAL : counters_answer(call);
	if (nl_u32(of) != RDMA_NLDEV_ATTR_RES_QP && nl_u32(of) != RDMA_NLDEV_ATTR_RES_MR)
		return -EINVAL;
	if (dump)
		return nl_call_device(call) ? 0 : -EINVAL;
	if (nl_u32(of) == RDMA_NLDEV_ATTR_RES_QP && call->attrs.at[RDMA_NLDEV_ATTR_STAT_MODE])
		return mode_answer(call);
	return port_asked(call) ? -ENOENT : -EINVAL;
}

int nldev_stat_set(struct nl_call *call, bool dump)
{
	(void)dump;
	return port_asked(call) ? -EOPNOTSUPP : -EINVAL;
}

int nldev_stat_status(struct nl_call *call, bool dump)
{
	struct kdevice *dev = port_asked(call);
	size_t at, table, entry;
	struct nl_buf b;

	(void)dump;
	if (!dev)
		return -EINVAL;
	at = port_begin(call, dev, &b);
	table = nl_nest_begin(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (size_t i = 0; i < COUNTERS; i++) {
		entry = nl_nest_begin(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		nl_put_text(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, names[i]);
		nl_put_u32(&b, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, (uint32_t)i);
		nl_nest_end(&b, entry);
	}
	nl_nest_end(&b, table);
	return nl_answer_end(call, &b, at);
}
