/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * DIR/fs: folders, links and names as sysfs and /dev have them.
 *
 * librnic.so sends every path of ours that is listed, looked at or resolved there, so that
 * opendir, stat, readlink and glob are the system's own. Attributes stand there as empty files of
 * one page, all links to one; what they say is asked of the daemon when they are opened. Names and
 * times do not change while a device lives (a touched device is a new one to libibverbs).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/ucma.h"

#define IB_DIR "sys/devices/virtual/infiniband"
#define VERBS_DIR "sys/devices/virtual/infiniband_verbs"
#define CM_DIR "sys/devices/virtual/misc/rdma_cm"
#define CM_NODE "dev/infiniband/rdma_cm"
#define ATTR_FILE ".attr"

static int dirs_make(int at, const char *path)
{
	char part[PATH_MAX];

	for (const char *p = path; *p; p++) {
		if (*p != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (mkdirat(at, part, 0755) && errno != EEXIST)
			return -errno;
	}
	return mkdirat(at, path, 0755) && errno != EEXIST ? -errno : 0;
}

static int file_make(int at, const char *path, const char *text)
{
	int fd = openat(at, path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0444);
	size_t len = text ? strlen(text) : 0;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (text ? write(fd, text, len) != (ssize_t)len : ftruncate(fd, 4096))
		rc = -errno;
	close(fd);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Removes below DIR/fs only; links are not followed. */
static void tree_remove(struct kernel *k, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s/" RNIC_CTL_TREE "%s%s", k->cfg.dir, *path ? "/" : "",
		     path) < (int)sizeof(full))
		nftw(full, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int link_add(struct kernel *k, const char *target, const char *name)
{
	return symlinkat(target, k->tree_fd, name) ? -errno : 0;
}

static int rdma_cm_add(struct kernel *k)
{
	char text[128];
	int rc = file_make(k->tree_fd, CM_DIR "/abi_version", "4\n");

	snprintf(text, sizeof(text), "%u:%u\n", UCMA_MAJOR, UCMA_MINOR);
	if (!rc)
		rc = file_make(k->tree_fd, CM_DIR "/dev", text);
	snprintf(text, sizeof(text),
		 "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/rdma_cm\nDEVMODE=0666\n", UCMA_MAJOR,
		 UCMA_MINOR);
	if (!rc)
		rc = file_make(k->tree_fd, CM_DIR "/uevent", text);
	snprintf(text, sizeof(text), "c %u %u 0666\n", UCMA_MAJOR, UCMA_MINOR);
	if (!rc)
		rc = file_make(k->tree_fd, CM_NODE, text);
	return rc ? rc
		  : link_add(k, "../../devices/virtual/misc/rdma_cm", "sys/class/misc/rdma_cm");
}

int tree_create(struct kernel *k)
{
	static const char *const dirs[] = {"sys/class/infiniband",
					   "sys/class/infiniband_verbs",
					   IB_DIR,
					   VERBS_DIR,
					   CM_DIR,
					   "sys/class/misc",
					   "dev/infiniband"};
	int rc = 0;

	tree_remove(k, "");
	if (mkdirat(k->dir_fd, RNIC_CTL_TREE, 0755))
		return -errno;
	k->tree_fd = openat(k->dir_fd, RNIC_CTL_TREE, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (k->tree_fd < 0)
		return -errno;
	for (size_t i = 0; !rc && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		rc = dirs_make(k->tree_fd, dirs[i]);
	if (!rc)
		rc = file_make(k->tree_fd, ATTR_FILE, NULL);
	if (!rc)
		rc = file_make(k->tree_fd, "sys/class/infiniband_verbs/abi_version", "6\n");
	return rc ? rc : rdma_cm_add(k);
}

void tree_destroy(struct kernel *k)
{
	if (k->tree_fd < 0)
		return;
	tree_remove(k, "");
	close(k->tree_fd);
	k->tree_fd = -1;
}

struct adding {
	int at; /* the device's folder */
	int root;
};

static int attr_add(void *arg, const char *name)
{
	struct adding *a = arg;
	const char *slash = strrchr(name, '/');
	char dir[128];
	int rc;

	if (!linkat(a->root, ATTR_FILE, a->at, name, 0))
		return 0;
	if (errno == ENOENT && slash) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
		rc = dirs_make(a->at, dir);
		return rc ? rc : linkat(a->root, ATTR_FILE, a->at, name, 0) ? -errno : 0;
	}
	/* A file system without links: a file each. */
	return file_make(a->at, name, NULL);
}

static int ib_add(struct kernel *k, struct kdevice *dev)
{
	char path[256], target[256];
	struct adding a = {.root = k->tree_fd};
	int rc;

	snprintf(path, sizeof(path), IB_DIR "/%s", dev->name);
	rc = dirs_make(k->tree_fd, path);
	if (rc)
		return rc;
	a.at = openat(k->tree_fd, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (a.at < 0)
		return -errno;
	rc = tree_attr_each(dev, attr_add, &a);
	snprintf(path, sizeof(path), "device/net/%s", dev->netdev);
	if (!rc)
		rc = dirs_make(a.at, dev->netdev[0] ? path : "device/net");
	if (!rc && symlinkat("../../../../class/infiniband", a.at, "subsystem"))
		rc = -errno;
	close(a.at);
	snprintf(target, sizeof(target), "../../devices/virtual/infiniband/%s", dev->name);
	snprintf(path, sizeof(path), "sys/class/infiniband/%s", dev->name);
	return rc ? rc : link_add(k, target, path);
}

static int verbs_add(struct kernel *k, struct kdevice *dev)
{
	unsigned int minor = TREE_UVERBS_MINOR + dev->index;
	char dir[128], path[256], text[160];
	int rc;

	snprintf(dir, sizeof(dir), VERBS_DIR "/uverbs%u", dev->index);
	rc = dirs_make(k->tree_fd, dir);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/abi_version", dir);
	rc = file_make(k->tree_fd, path, "2\n");
	snprintf(path, sizeof(path), "%s/dev", dir);
	snprintf(text, sizeof(text), "%u:%u\n", TREE_UVERBS_MAJOR, minor);
	if (!rc)
		rc = file_make(k->tree_fd, path, text);
	snprintf(path, sizeof(path), "%s/ibdev", dir);
	snprintf(text, sizeof(text), "%s\n", dev->name);
	if (!rc)
		rc = file_make(k->tree_fd, path, text);
	snprintf(path, sizeof(path), "%s/uevent", dir);
	snprintf(text, sizeof(text),
		 "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/uverbs%u\nDEVMODE=0666\n",
		 TREE_UVERBS_MAJOR, minor, dev->index);
	if (!rc)
		rc = file_make(k->tree_fd, path, text);
	snprintf(path, sizeof(path), "%s/device", dir);
	snprintf(text, sizeof(text), "../../infiniband/%s/device", dev->name);
	if (!rc)
		rc = link_add(k, text, path);
	snprintf(path, sizeof(path), "%s/subsystem", dir);
	return rc ? rc : link_add(k, "../../../../class/infiniband_verbs", path);
}

int tree_device_add(struct kernel *k, struct kdevice *dev)
{
	char path[128], text[128];
	int rc;

	rc = ib_add(k, dev);
	if (!rc)
		rc = verbs_add(k, dev);
	snprintf(path, sizeof(path), "dev/infiniband/uverbs%u", dev->index);
	snprintf(text, sizeof(text), "c %u %u 0666\n", TREE_UVERBS_MAJOR,
		 TREE_UVERBS_MINOR + dev->index);
	if (!rc)
		rc = file_make(k->tree_fd, path, text);
	snprintf(path, sizeof(path), "sys/class/infiniband_verbs/uverbs%u", dev->index);
	snprintf(text, sizeof(text), "../../devices/virtual/infiniband_verbs/uverbs%u", dev->index);
	return rc ? rc : link_add(k, text, path);
}

void tree_device_del(struct kernel *k, struct kdevice *dev)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/infiniband_verbs/uverbs%u", dev->index);
	unlinkat(k->tree_fd, path, 0);
	snprintf(path, sizeof(path), "sys/class/infiniband/%s", dev->name);
	unlinkat(k->tree_fd, path, 0);
	snprintf(path, sizeof(path), "dev/infiniband/uverbs%u", dev->index);
	unlinkat(k->tree_fd, path, 0);
	snprintf(path, sizeof(path), IB_DIR "/%s", dev->name);
	tree_remove(k, path);
	snprintf(path, sizeof(path), VERBS_DIR "/uverbs%u", dev->index);
	tree_remove(k, path);
}

void tree_netdev_rename(struct kernel *k, struct kdevice *dev, const char *netdev)
{
	char from[256], to[256];

	snprintf(from, sizeof(from), IB_DIR "/%s/device/net/%s", dev->name, dev->netdev);
	snprintf(to, sizeof(to), IB_DIR "/%s/device/net/%s", dev->name, netdev);
	if (renameat(k->tree_fd, from, k->tree_fd, to))
		kernel_log(k, "%s: %s: %s", dev->name, from, strerror(errno));
}

/* A read-only descriptor whose content is text. */
static int text_open(const char *text, size_t len)
{
	int fd = memfd_create("rnic-attr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char path[64];
	int ro = -1;

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, text, len) == (ssize_t)len)
		ro = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return ro < 0 ? -EIO : ro;
}

/* rel: a resolved path below the tree. */
static int attr_open(struct kernel *k, const char *rel)
{
	const size_t prefix = strlen("/" IB_DIR "/");
	char buf[4096];

	for (struct kdevice *d = k->devices; d; d = d->next) {
		size_t len = strlen(d->name);
		int n;

		if (strncmp(rel, "/" IB_DIR "/", prefix) || strncmp(rel + prefix, d->name, len) ||
		    rel[prefix + len] != '/')
			continue;
		n = tree_attr_read(d, rel + prefix + len + 1, buf, sizeof(buf));
		return n == -ENOENT ? -EXDEV : n < 0 ? n : text_open(buf, (size_t)n);
	}
	return -EXDEV;
}

static struct kdevice *node_find(struct kernel *k, const char *rel)
{
	char path[64];

	for (struct kdevice *d = k->devices; d; d = d->next) {
		snprintf(path, sizeof(path), "/dev/infiniband/uverbs%u", d->index);
		if (!strcmp(path, rel))
			return d;
	}
	return NULL;
}

int tree_open(struct kernel *k, const char *path, int flags, struct tree_node *node)
{
	char full[2 * PATH_MAX], root[PATH_MAX], real[PATH_MAX];
	size_t len;

	snprintf(full, sizeof(full), "%s/" RNIC_CTL_TREE, k->cfg.dir);
	if (path[0] != '/' || !realpath(full, root))
		return -ENOENT;
	len = strlen(root);
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (!realpath(full, real))
		return -errno;
	if (strncmp(real, root, len) || real[len] != '/')
		return -ENOENT;
	node->dev = node_find(k, real + len);
	node->rdma_cm = !strcmp(real + len, "/" CM_NODE);
	if (node->dev || node->rdma_cm)
		return 0;
	if ((flags & O_ACCMODE) != O_RDONLY)
		return -EACCES;
	return attr_open(k, real + len);
}
