/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Protection domains: what MRs, QPs, SRQs and AHs must share to be used together. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/device_priv.h"

int rnic_pd_create(struct rnic_device *dev, struct rnic_pd **out)
{
	struct rnic_pd *pd;

	if (dev->n_pd >= dev->limits.max_pd) {
		dev_log(dev, "PD: all %" PRIu32 " are in use", dev->limits.max_pd);
		return -ENOMEM;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return -ENOMEM;
	pd->dev = dev;
	dev->n_pd++;
	*out = pd;
	return 0;
}

int rnic_pd_destroy(struct rnic_pd *pd)
{
	if (pd->users) {
		dev_log(pd->dev, "PD: %" PRIu32 " objects still use it", pd->users);
		return -EBUSY;
	}
	pd->dev->n_pd--;
	free(pd);
	return 0;
}

uint32_t rnic_pd_users(const struct rnic_pd *pd)
{
	return pd->users;
}
