/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Address handles, and the check of an address vector that QPs share. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/device_priv.h"

#define MULTICAST 0xff /* first byte of an IPv6 multicast GID */

static bool gid_is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

int av_resolve(struct rnic_device *dev, const char *who, const struct rnic_av *av,
	       struct rnic_av *out)
{
	const uint8_t *sgid = rnic_gid_get(dev, av->sgid_index);

	if (!av->grh) {
		dev_log(dev, "%s: the address has no GRH, which RoCE needs: set is_global and grh",
			who);
		return -EINVAL;
	}
	if (av->port_num != 1) {
		dev_log(dev, "%s: the address names port %u, there is only port 1", who,
			av->port_num);
		return -EINVAL;
	}
	if (av->sgid_index >= RNIC_GID_TABLE_LEN) {
		dev_log(dev, "%s: GID index %u is above the table", who, av->sgid_index);
		return -EINVAL;
	}
	if (!sgid) {
		dev_log(dev, "%s: GID index %u is empty", who, av->sgid_index);
		return -ENODATA;
	}
	/* As the kernel, which finds no way there. */
	if (av->dgid[0] != MULTICAST && gid_is_ipv4(sgid) != gid_is_ipv4(av->dgid)) {
		dev_log(dev,
			"%s: GID index %u is IPv%c, the destination is not: take another GID index",
			who, av->sgid_index, gid_is_ipv4(sgid) ? '4' : '6');
		return -EINVAL;
	}
	*out = *av;
	memcpy(out->sgid, sgid, sizeof(out->sgid));
	return 0;
}

bool av_has_source(const struct rnic_device *dev, const struct rnic_av *av)
{
	if (memcmp(dev->gids[av->sgid_index].gid, av->sgid, sizeof(av->sgid)) == 0)
		return true;
	for (uint32_t i = 0; i < RNIC_GID_TABLE_LEN; i++)
		if (memcmp(dev->gids[i].gid, av->sgid, sizeof(av->sgid)) == 0)
			return true; /* it went, and came back to another slot */
	return false;
}

int rnic_ah_create(struct rnic_pd *pd, const struct rnic_av *av, struct rnic_ah **out)
{
	struct rnic_device *dev = pd->dev;
	struct rnic_ah *ah;
	int ret;

	if (dev->n_ah >= dev->limits.max_ah) {
		dev_log(dev, "AH: all %" PRIu32 " are in use", dev->limits.max_ah);
		return -ENOMEM;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return -ENOMEM;
	ret = av_resolve(dev, "AH", av, &ah->av);
	if (ret < 0) {
		free(ah);
		return ret;
	}
	ah->pd = pd;
	pd->users++;
	dev->n_ah++;
	*out = ah;
	return 0;
}

int rnic_ah_destroy(struct rnic_ah *ah)
{
	ah->pd->users--;
	ah->pd->dev->n_ah--;
	free(ah);
	return 0;
}

const struct rnic_av *rnic_ah_av(const struct rnic_ah *ah)
{
	return &ah->av;
}

struct rnic_pd *rnic_ah_pd(const struct rnic_ah *ah)
{
	return ah->pd;
}
