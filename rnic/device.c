/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A device: creation, limits, counts, and its line in the log. */
#include "config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rnic/mw.h"
#include "rnic/cm_priv.h"
#include "rnic/qp_priv.h"

#define QPN_FIRST 0x11	   /* 0 and 1 are the management QPs */
#define QPN_LIMIT 0xffffff /* which is multicast's */
/* A key is the index and 8 more bits; the highest bit of the index tells MWs from MRs. */
#define MR_INDEX_LIMIT MW_INDEX_FLAG

const struct rnic_limits rnic_limits_default = {
	.max_qp = 1048560,
	.max_qp_wr = 1048576,
	.max_sge = RNIC_MAX_SGE,
	.max_inline = RNIC_MAX_INLINE,
	.max_cq = 1048576,
	.max_cqe = 32767,
	.max_mr = 524287,
	.max_pd = 1048576,
	.max_ah = 32767,
	.max_srq = 917503,
	.max_srq_wr = 1048576,
	.max_srq_sge = 27,
	.max_qp_rd_atom = 128,
	.max_mw = 524287,
	.max_mcast_grp = 8192,
	.max_mcast_qp_attach = 56,
	.max_msg_size = 1u << 31, /* IBA unverified; rxe's 8 MiB is not the model */
};

struct rnic_device *rnic_device_create(const struct rnic_device_config *cfg)
{
	struct rnic_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->cfg = *cfg;
	dev->limits = cfg->limits ? *cfg->limits : rnic_limits_default;
	dev->cc = cc_params_default;
	dev->cc.mode = CC_WINDOW;
	dev->port_active = true;
	dev->mtu = cfg->active_mtu;
	dev->timer_told = UINT64_MAX;
	table_init(&dev->qps, QPN_FIRST, QPN_LIMIT);
	table_init(&dev->mrs, 1, MR_INDEX_LIMIT);
	table_init(&dev->mws, 1, MR_INDEX_LIMIT);
	qp_list_init(&dev->active);
	qp_list_init(&dev->waiting);
	qp_list_init(&dev->held);
	return dev;
}

void rnic_device_destroy(struct rnic_device *dev)
{
	assert(!dev->qps.used && !dev->gsi && !dev->mrs.used && !dev->mws.used);
	assert(!dev->n_pd && !dev->n_cq && !dev->n_srq && !dev->n_ah);
	cm_stop(dev);
	peers_free(dev);
	table_free(&dev->qps);
	table_free(&dev->mrs);
	table_free(&dev->mws);
	free(dev->timers.heap);
	free(dev);
}

const struct rnic_limits *rnic_device_limits(const struct rnic_device *dev)
{
	return &dev->limits;
}

struct rnic_counters *rnic_device_counters(struct rnic_device *dev)
{
	return &dev->counters;
}

void rnic_device_counts(const struct rnic_device *dev, struct rnic_counts *counts)
{
	counts->pd = dev->n_pd;
	counts->mr = dev->mrs.used;
	counts->mw = dev->mws.used;
	counts->cq = dev->n_cq;
	counts->srq = dev->n_srq;
	counts->qp = dev->qps.used + (dev->gsi ? 1 : 0);
	counts->ah = dev->n_ah;
}

struct rnic_qp *rnic_device_qp_after(const struct rnic_device *dev, uint32_t qpn)
{
	uint32_t number = qpn + 1;

	if (qpn < 1 && dev->gsi)
		return dev->gsi;
	return number ? table_next(&dev->qps, &number) : NULL;
}

void dev_log(struct rnic_device *dev, const char *fmt, ...)
{
	char text[640], line[680];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%.15s: %s", dev->cfg.name, text);
	dev->cfg.ops->log(dev->cfg.host, line);
}

void rnic_credits_set(struct rnic_device *dev, bool on)
{
	dev->credits = on;
}

void rnic_window_set(struct rnic_device *dev, uint32_t bytes)
{
	dev->cfg.window_bytes = bytes;
}
