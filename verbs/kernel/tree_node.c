/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree's character devices and their classes, rdma_cm, and the module: all but IB devices. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/nodes.h"
#include "verbs/kernel/tree_priv.h"
#include "verbs/kernel/ucma.h"

#define VIRTUAL "sys/devices/virtual"
#define CM_DIR VIRTUAL "/misc/rdma_cm"
#define MODULE_DIR "sys/module/rdma_rxe"
#define UNREADABLE "/power/autosuspend_delay_ms"
#define WRITE_ONLY "/" MODULE_DIR "/uevent"

struct file {
	const char *name, *text;
	mode_t mode;
};

static int files_make(int at, const char *dir, const struct file *files, size_t n)
{
	char path[256];
	int rc = tree_dirs_make(at, dir);

	for (size_t i = 0; !rc && i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
		rc = tree_file_make(at, path, files[i].text, files[i].mode);
	}
	return rc;
}

int tree_power_make(int at, const char *dir)
{
	static const struct file files[] = {
		{"async", "disabled\n", 0644},
		{"autosuspend_delay_ms", "", 0644},
		{"control", "auto\n", 0644},
		{"runtime_active_kids", "0\n", 0444},
		{"runtime_active_time", "0\n", 0444},
		{"runtime_enabled", "disabled\n", 0444},
		{"runtime_status", "unsupported\n", 0444},
		{"runtime_suspended_time", "0\n", 0444},
		{"runtime_usage", "0\n", 0444},
	};
	char power[256];

	snprintf(power, sizeof(power), "%s/power", dir);
	return files_make(at, power, files, sizeof(files) / sizeof(files[0]));
}

int tree_unreadable(const char *path)
{
	size_t len = strlen(path), tail = strlen(UNREADABLE);

	if (len >= tail && !strcmp(path + len - tail, UNREADABLE))
		return -EIO;
	return strcmp(path, WRITE_ONLY) ? 0 : -EACCES;
}

/* The files that any character device has: numbers, name, power, its place. */
static int device_make(struct kernel *k, const char *dir, unsigned int major, unsigned int minor,
		       const char *node, mode_t mode, const char *class)
{
	char numbers[32], uevent[160], shown[64] = "", text[64], path[256];
	const struct file files[] = {{"dev", numbers, 0444}, {"uevent", uevent, 0644}};
	int rc;

	snprintf(numbers, sizeof(numbers), "%u:%u\n", major, minor);
	if (mode != 0600)
		snprintf(shown, sizeof(shown), "DEVMODE=0%o\n", (unsigned int)mode);
	snprintf(uevent, sizeof(uevent), "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s\n%s", major,
		 minor, node, shown);
	rc = files_make(k->tree_fd, dir, files, 2);
	if (!rc)
		rc = tree_power_make(k->tree_fd, dir);
	snprintf(text, sizeof(text), "c %u %u %04o\n", major, minor, (unsigned int)mode);
	snprintf(path, sizeof(path), "dev/infiniband/%s", node);
	if (!rc)
		rc = tree_file_make(k->tree_fd, path, text, 0444);
	snprintf(text, sizeof(text), "../../../../class/%s", class);
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	return rc ? rc : tree_link_make(k, text, path);
}

static void node_names(const struct node_kind *kind, const struct kdevice *dev, char node[32],
		       char dir[128])
{
	snprintf(node, 32, "%s%u", kind->type, dev->index);
	snprintf(dir, 128, VIRTUAL "/%s/%s", kind->folder, node);
}

static int node_add(struct kernel *k, const struct kdevice *dev, const struct node_kind *kind)
{
	char node[32], dir[128], ibdev[80], abi[16], text[160], path[160];
	const struct file files[] = {{"ibdev", ibdev, 0444},
				     {kind->per_port ? "port" : "abi_version", abi, 0444}};
	int rc;

	node_names(kind, dev, node, dir);
	snprintf(ibdev, sizeof(ibdev), "%s\n", dev->name);
	snprintf(abi, sizeof(abi), "%u\n", kind->per_port ? 1 : kind->abi);
	rc = device_make(k, dir, NODES_MAJOR, kind->minor + dev->index, node, kind->mode,
			 kind->folder);
	if (!rc)
		rc = files_make(k->tree_fd, dir, files, 2);
	/* Not what rxe has, but by its modalias libibverbs tells whose it is without netlink. */
	snprintf(text, sizeof(text), "../../infiniband/%s/device", dev->name);
	snprintf(path, sizeof(path), "%s/device", dir);
	if (!rc && !kind->per_port)
		rc = tree_link_make(k, text, path);
	snprintf(text, sizeof(text), "../../devices/virtual/%s/%s", kind->folder, node);
	snprintf(path, sizeof(path), "sys/class/%s/%s", kind->folder, node);
	return rc ? rc : tree_link_make(k, text, path);
}

int tree_nodes_add(struct kernel *k, const struct kdevice *dev)
{
	int rc = 0;

	for (int i = 0; !rc && i < NODE_KINDS; i++)
		rc = node_add(k, dev, &node_kinds[i]);
	return rc;
}

void tree_nodes_del(struct kernel *k, const struct kdevice *dev)
{
	char node[32], dir[128], path[128];

	for (int i = 0; i < NODE_KINDS; i++) {
		node_names(&node_kinds[i], dev, node, dir);
		snprintf(path, sizeof(path), "sys/class/%s/%s", node_kinds[i].folder, node);
		unlinkat(k->tree_fd, path, 0);
		snprintf(path, sizeof(path), "dev/infiniband/%s", node);
		unlinkat(k->tree_fd, path, 0);
		tree_remove(k, dir);
	}
}

static int rdma_cm_make(struct kernel *k)
{
	static const struct file abi = {"abi_version", "4\n", 0444};
	int rc = files_make(k->tree_fd, CM_DIR, &abi, 1);

	if (!rc)
		rc = device_make(k, CM_DIR, UCMA_MAJOR, UCMA_MINOR, "rdma_cm", 0666, "misc");
	return rc ? rc
		  : tree_link_make(k, "../../devices/virtual/misc/rdma_cm",
				   "sys/class/misc/rdma_cm");
}

int tree_fixed_make(struct kernel *k)
{
	static const struct file verbs = {"abi_version", "6\n", 0444};
	static const struct file mad = {"abi_version", "5\n", 0444};
	static const struct file module[] = {
		{"coresize", "135168\n", 0444}, {"initsize", "0\n", 0444},
		{"initstate", "live\n", 0444},	{"refcnt", "0\n", 0444},
		{"taint", "\n", 0444},		{"uevent", "", 0200},
	};
	static const char *const dirs[] = {
		"sys/class/infiniband",	   VIRTUAL "/infiniband", VIRTUAL "/infiniband_verbs",
		VIRTUAL "/infiniband_mad", "sys/class/misc",	  "dev/infiniband",
		MODULE_DIR "/holders",	   MODULE_DIR "/notes",	  MODULE_DIR "/sections"};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		rc = tree_dirs_make(k->tree_fd, dirs[i]);
	if (!rc)
		rc = files_make(k->tree_fd, "sys/class/infiniband_verbs", &verbs, 1);
	if (!rc)
		rc = files_make(k->tree_fd, "sys/class/infiniband_mad", &mad, 1);
	if (!rc)
		rc = files_make(k->tree_fd, MODULE_DIR, module, sizeof(module) / sizeof(module[0]));
	return rc ? rc : rdma_cm_make(k);
}
