/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The one port of a device: its GID table and its state. */
#include "config.h"

#include <string.h>

#include "rnic/device_priv.h"

static const uint8_t no_gid[16];

static void raise_event(struct rnic_device *dev, enum rnic_event_type type)
{
	struct rnic_async event = {.type = type, .port = 1};

	dev->cfg.ops->async_event(dev->cfg.host, &event);
}

void rnic_gid_set(struct rnic_device *dev, uint16_t index, const uint8_t gid[16], uint32_t ifindex)
{
	struct gid_slot *slot;

	if (index >= RNIC_GID_TABLE_LEN)
		return;
	slot = &dev->gids[index];
	if (memcmp(slot->gid, gid, sizeof(slot->gid)) == 0 && slot->ifindex == ifindex)
		return;
	memcpy(slot->gid, gid, sizeof(slot->gid));
	slot->ifindex = ifindex;
	raise_event(dev, RNIC_EVENT_GID_CHANGE);
}

const uint8_t *rnic_gid_get(const struct rnic_device *dev, uint16_t index)
{
	if (index >= RNIC_GID_TABLE_LEN)
		return NULL;
	if (memcmp(dev->gids[index].gid, no_gid, sizeof(no_gid)) == 0)
		return NULL;
	return dev->gids[index].gid;
}

uint32_t rnic_gid_ifindex(const struct rnic_device *dev, uint16_t index)
{
	return index < RNIC_GID_TABLE_LEN ? dev->gids[index].ifindex : 0;
}

void rnic_port_set(struct rnic_device *dev, bool active, enum rnic_mtu active_mtu)
{
	bool was = dev->port_active;

	dev->port_active = active;
	dev->mtu = active_mtu;
	if (was && !active)
		dev->counters.link_downed++;
	if (was != active)
		raise_event(dev, active ? RNIC_EVENT_PORT_ACTIVE : RNIC_EVENT_PORT_ERR);
}

bool rnic_port_active(const struct rnic_device *dev)
{
	return dev->port_active;
}

enum rnic_mtu rnic_port_mtu(const struct rnic_device *dev)
{
	return dev->mtu;
}
