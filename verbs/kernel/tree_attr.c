/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* sysfs attributes of a device and what they say at the moment when they are opened. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/counters.h"
#include "verbs/kernel/kernel_priv.h"

typedef int (*attr_fn)(struct kdevice *dev, const char *arg, char *buf, size_t size);

static int show_text(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)dev;
	return snprintf(buf, size, "%s\n", arg);
}

static int show_empty(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)dev;
	(void)arg;
	return snprintf(buf, size, "%s", "");
}

static int show_guid(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	const uint8_t *g = dev->guid;

	(void)arg;
	return snprintf(buf, size, "%02x%02x:%02x%02x:%02x%02x:%02x%02x\n", g[0], g[1], g[2], g[3],
			g[4], g[5], g[6], g[7]);
}

static int show_netdev(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	return snprintf(buf, size, "%s\n", dev->netdev);
}

static int show_state(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	return snprintf(buf, size, "%s\n", rnic_port_active(dev->rnic) ? "4: ACTIVE" : "1: DOWN");
}

static int show_phys_state(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	return snprintf(buf, size, "%s\n",
			rnic_port_active(dev->rnic) ? "5: LinkUp"
			: dev->netdev_up	    ? "2: Polling"
						    : "3: Disabled");
}

static int show_counter(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	const struct rnic_counters *c = rnic_device_counters(dev->rnic);

#define X(name)                                                                                    \
	if (!strcmp(arg, #name))                                                                   \
		return snprintf(buf, size, "%llu\n", (unsigned long long)c->name);
	RNIC_COUNTERS(X)
#undef X
	return -ENOENT;
}

static int show_modalias(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	return snprintf(buf, size, "rdma_device:N%sS\n", dev->name);
}

static int show_uevent(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	return snprintf(buf, size, "NAME=%s\n", dev->name);
}

static int show_gid(struct kdevice *dev, uint32_t i, char *buf, size_t size)
{
	static const uint8_t none[16];
	const uint8_t *g = rnic_gid_get(dev->rnic, (uint16_t)i);
	int n = 0;

	if (!g)
		g = none;
	for (int w = 0; w < 16; w += 2)
		n += snprintf(buf + n, size - (size_t)n, "%02x%02x%c", g[w], g[w + 1],
			      w == 14 ? '\n' : ':');
	return n;
}

/* The kernel gives EINVAL for an empty entry when it is read. */
static int show_gid_attr(struct kdevice *dev, uint32_t i, bool type, char *buf, size_t size)
{
	if (!rnic_gid_get(dev->rnic, (uint16_t)i))
		return -EINVAL;
	if (type)
		return snprintf(buf, size, "RoCE v2\n");
	return dev->netdev[0] ? snprintf(buf, size, "%s\n", dev->netdev) : -EINVAL;
}

static const struct attr {
	const char *name;
	attr_fn show;
	const char *arg;
} attrs[] = {{"node_type", show_text, "1: CA"},
	     {"node_guid", show_guid, NULL},
	     {"sys_image_guid", show_guid, NULL},
	     {"node_desc", show_text, "rxe"},
	     {"fw_ver", show_empty, NULL},
	     {"parent", show_netdev, NULL},
	     {"uevent", show_uevent, NULL},
	     {"device/modalias", show_modalias, NULL},
	     {"ports/1/state", show_state, NULL},
	     {"ports/1/phys_state", show_phys_state, NULL},
	     {"ports/1/rate", show_text, "2.5 Gb/sec (1X SDR)"},
	     {"ports/1/link_layer", show_text, "Ethernet"},
	     {"ports/1/lid", show_text, "0x0"},
	     {"ports/1/lid_mask_count", show_text, "0"},
	     {"ports/1/sm_lid", show_text, "0x0"},
	     {"ports/1/sm_sl", show_text, "0"},
	     {"ports/1/cap_mask", show_text, "0x00010000"},
	     {"ports/1/pkeys/0", show_text, "0xffff"},
	     {"ports/1/hw_counters/lifespan", show_text, "12"},
#define X(name) {"ports/1/hw_counters/" #name, show_counter, #name},
	     RNIC_COUNTERS(X)
#undef X
};

/* "PREFIX" then a number below the GID table's length. */
static bool numbered(const char *name, const char *prefix, uint32_t *number)
{
	size_t len = strlen(prefix);
	unsigned long n;
	char *end;

	if (strncmp(name, prefix, len) || name[len] < '0' || name[len] > '9')
		return false;
	n = strtoul(name + len, &end, 10);
	*number = (uint32_t)n;
	return !*end && n < RNIC_GID_TABLE_LEN;
}

int tree_attr_read(struct kdevice *dev, const char *name, char *buf, size_t size)
{
	uint32_t i;

	for (size_t a = 0; a < sizeof(attrs) / sizeof(attrs[0]); a++)
		if (!strcmp(attrs[a].name, name))
			return attrs[a].show(dev, attrs[a].arg, buf, size);
	if (numbered(name, "ports/1/gids/", &i))
		return show_gid(dev, i, buf, size);
	if (numbered(name, "ports/1/gid_attrs/types/", &i))
		return show_gid_attr(dev, i, true, buf, size);
	if (numbered(name, "ports/1/gid_attrs/ndevs/", &i))
		return show_gid_attr(dev, i, false, buf, size);
	return -ENOENT;
}

int tree_attr_each(struct kdevice *dev, int (*fn)(void *arg, const char *name), void *arg)
{
	static const char *const tables[] = {"gids", "gid_attrs/types", "gid_attrs/ndevs"};
	char name[64];
	int rc = 0;

	for (size_t a = 0; !rc && a < sizeof(attrs) / sizeof(attrs[0]); a++)
		if (dev->netdev[0] || strcmp(attrs[a].name, "parent"))
			rc = fn(arg, attrs[a].name);
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (unsigned int i = 0; !rc && i < RNIC_GID_TABLE_LEN; i++) {
			snprintf(name, sizeof(name), "ports/1/%s/%u", tables[t], i);
			rc = fn(arg, name);
		}
	return rc;
}
