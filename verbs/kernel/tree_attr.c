/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* sysfs attributes of a device and what they say at the moment when they are opened. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cm.h"
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

static int counter_get(struct kdevice *dev, const char *name, uint64_t *value)
{
	const struct rnic_counters *c = rnic_device_counters(dev->rnic);

#define X(counter)                                                                                 \
	if (!strcmp(name, #counter)) {                                                             \
		*value = c->counter;                                                               \
		return 0;                                                                          \
	}
	RNIC_COUNTERS(X)
#undef X
	return -ENOENT;
}

static int show_counter(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	uint64_t value;
	int rc = counter_get(dev, arg, &value);

	return rc ? rc : snprintf(buf, size, "%llu\n", (unsigned long long)value);
}

/* Bytes as PortCounters have them: in units of 4. */
static int show_words(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	uint64_t value;
	int rc = counter_get(dev, arg, &value);

	return rc ? rc : snprintf(buf, size, "%llu\n", (unsigned long long)value / 4);
}

static int show_modalias(struct kdevice *dev, const char *arg, char *buf, size_t size)
{
	(void)arg;
	/* The rxe provider looks for its name; another name would hide the device from it. */
	return snprintf(buf, size, "rdma_device:N%s%sS\n",
			strncmp(dev->name, "rxe", 3) ? "rxe_" : "", dev->name);
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

/* ---- messages of communication management ---- */

static const char *const cm_folders[] = {"cm_tx_msgs", "cm_tx_retries", "cm_rx_msgs",
					 "cm_rx_duplicates"};
static const char *const cm_names[RNIC_CM_TYPES] = {
	[CM_REQ - CM_TYPE_FIRST] = "req",	    [CM_MRA - CM_TYPE_FIRST] = "mra",
	[CM_REJ - CM_TYPE_FIRST] = "rej",	    [CM_REP - CM_TYPE_FIRST] = "rep",
	[CM_RTU - CM_TYPE_FIRST] = "rtu",	    [CM_DREQ - CM_TYPE_FIRST] = "dreq",
	[CM_DREP - CM_TYPE_FIRST] = "drep",	    [CM_SIDR_REQ - CM_TYPE_FIRST] = "sidr_req",
	[CM_SIDR_REP - CM_TYPE_FIRST] = "sidr_rep", [CM_LAP - CM_TYPE_FIRST] = "lap",
	[CM_APR - CM_TYPE_FIRST] = "apr",
};
#define CM_FOLDERS (sizeof(cm_folders) / sizeof(cm_folders[0]))

static void cm_attr_name(char name[64], size_t folder, size_t type)
{
	snprintf(name, 64, "ports/1/%s/%s", cm_folders[folder], cm_names[type]);
}

static int cm_attr_read(struct kdevice *dev, const char *name, char *buf, size_t size)
{
	const struct rnic_cm_counts *c = rnic_cm_counts(dev->rnic);
	const uint64_t *by_folder[CM_FOLDERS] = {c->sent, c->repeated, c->rcvd, c->known};
	char each[64];

	for (size_t f = 0; f < CM_FOLDERS; f++)
		for (size_t t = 0; t < RNIC_CM_TYPES; t++) {
			cm_attr_name(each, f, t);
			if (!strcmp(each, name))
				return snprintf(buf, size, "%llu\n",
						(unsigned long long)by_folder[f][t]);
		}
	return -ENOENT;
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
	     {"device/numa_node", show_text, "-1"},
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
	     {"ports/1/counters/port_xmit_data", show_words, "sent_bytes"},
	     {"ports/1/counters/port_rcv_data", show_words, "rcvd_bytes"},
	     {"ports/1/counters/port_xmit_packets", show_counter, "sent_pkts"},
	     {"ports/1/counters/port_rcv_packets", show_counter, "rcvd_pkts"},
	     {"ports/1/counters/link_downed", show_counter, "link_downed"},
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
	return cm_attr_read(dev, name, buf, size);
}

/* By its mode, as rxe's; nothing is written. */
static bool is_writable(const char *name)
{
	return !strcmp(name, "node_desc") || !strcmp(name, "uevent") ||
	       !strcmp(name, "ports/1/hw_counters/lifespan");
}

int tree_attr_each(struct kdevice *dev, int (*fn)(void *arg, const char *name, bool writable),
		   void *arg)
{
	static const char *const tables[] = {"gids", "gid_attrs/types", "gid_attrs/ndevs"};
	char name[64];
	int rc = 0;

	for (size_t a = 0; !rc && a < sizeof(attrs) / sizeof(attrs[0]); a++)
		if (dev->netdev[0] || strcmp(attrs[a].name, "parent"))
			rc = fn(arg, attrs[a].name, is_writable(attrs[a].name));
	for (size_t i = 0; !rc && i < CM_FOLDERS * RNIC_CM_TYPES; i++) {
		cm_attr_name(name, i / RNIC_CM_TYPES, i % RNIC_CM_TYPES);
		rc = fn(arg, name, false);
	}
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (unsigned int i = 0; !rc && i < RNIC_GID_TABLE_LEN; i++) {
			snprintf(name, sizeof(name), "ports/1/%s/%u", tables[t], i);
			rc = fn(arg, name, false);
		}
	return rc;
}
