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
#include "verbs/kernel/nodes.h"
#include "verbs/kernel/tree_priv.h"

#define IB_DIR "sys/devices/virtual/infiniband"
#define CM_NODE "dev/infiniband/rdma_cm"
#define ATTR_FILE ".attr"
#define ATTR_FILE_RW ".attr-rw"

int tree_dirs_make(int at, const char *path)
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

int tree_file_make(int at, const char *path, const char *text, mode_t mode)
{
	int fd = openat(at, path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	size_t len = text ? strlen(text) : 0;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (text ? write(fd, text, len) != (ssize_t)len : ftruncate(fd, 4096))
		rc = -errno;
	if (!rc && fchmod(fd, mode))
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

void tree_remove(struct kernel *k, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s/" RNIC_CTL_TREE "%s%s", k->cfg.dir, *path ? "/" : "",
		     path) < (int)sizeof(full))
		nftw(full, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int tree_link_make(struct kernel *k, const char *target, const char *name)
{
	return symlinkat(target, k->tree_fd, name) ? -errno : 0;
}

int tree_create(struct kernel *k)
{
	int rc;

	tree_remove(k, "");
	if (mkdirat(k->dir_fd, RNIC_CTL_TREE, 0755))
		return -errno;
	k->tree_fd = openat(k->dir_fd, RNIC_CTL_TREE, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (k->tree_fd < 0)
		return -errno;
	rc = tree_file_make(k->tree_fd, ATTR_FILE, NULL, 0444);
	if (!rc)
		rc = tree_file_make(k->tree_fd, ATTR_FILE_RW, NULL, 0644);
	return rc ? rc : tree_fixed_make(k);
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

static int attr_add(void *arg, const char *name, bool writable)
{
	const char *file = writable ? ATTR_FILE_RW : ATTR_FILE;
	struct adding *a = arg;
	const char *slash = strrchr(name, '/');
	char dir[128];
	int rc;

	if (!linkat(a->root, file, a->at, name, 0))
		return 0;
	if (errno == ENOENT && slash) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
		rc = tree_dirs_make(a->at, dir);
		return rc ? rc : linkat(a->root, file, a->at, name, 0) ? -errno : 0;
	}
	/* A file system without links: a file each. */
	return tree_file_make(a->at, name, NULL, writable ? 0644 : 0444);
}

static int ib_add(struct kernel *k, struct kdevice *dev)
{
	char path[256], target[256];
	struct adding a = {.root = k->tree_fd};
	int rc;

	snprintf(path, sizeof(path), IB_DIR "/%s", dev->name);
	rc = tree_dirs_make(k->tree_fd, path);
	if (rc)
		return rc;
	a.at = openat(k->tree_fd, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (a.at < 0)
		return -errno;
	rc = tree_attr_each(dev, attr_add, &a);
	snprintf(path, sizeof(path), "device/net/%s", dev->netdev);
	if (!rc)
		rc = tree_dirs_make(a.at, dev->netdev[0] ? path : "device/net");
	if (!rc)
		rc = tree_power_make(a.at, ".");
	if (!rc && symlinkat("../../../../class/infiniband", a.at, "subsystem"))
		rc = -errno;
	close(a.at);
	snprintf(target, sizeof(target), "../../devices/virtual/infiniband/%s", dev->name);
	snprintf(path, sizeof(path), "sys/class/infiniband/%s", dev->name);
	return rc ? rc : tree_link_make(k, target, path);
}

int tree_device_add(struct kernel *k, struct kdevice *dev)
{
	int rc = ib_add(k, dev);

	return rc ? rc : tree_nodes_add(k, dev);
}

void tree_device_del(struct kernel *k, struct kdevice *dev)
{
	char path[128];

	tree_nodes_del(k, dev);
	snprintf(path, sizeof(path), "sys/class/infiniband/%s", dev->name);
	unlinkat(k->tree_fd, path, 0);
	snprintf(path, sizeof(path), IB_DIR "/%s", dev->name);
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

/* The device and kind that a path is of; NULL for other paths. */
static struct kdevice *node_find(struct kernel *k, const char *rel, const struct node_kind **kind)
{
	char path[64];

	for (struct kdevice *d = k->devices; d; d = d->next)
		for (int i = 0; i < NODE_KINDS; i++) {
			snprintf(path, sizeof(path), "/dev/infiniband/%s%u", node_kinds[i].type,
				 d->index);
			*kind = &node_kinds[i];
			if (!strcmp(path, rel))
				return d;
		}
	return NULL;
}

int tree_open(struct kernel *k, const char *path, int flags, struct tree_node *node)
{
	char full[2 * PATH_MAX], root[PATH_MAX], real[PATH_MAX];
	const struct node_kind *kind;
	size_t len;
	int rc;

	snprintf(full, sizeof(full), "%s/" RNIC_CTL_TREE, k->cfg.dir);
	if (path[0] != '/' || !realpath(full, root))
		return -ENOENT;
	len = strlen(root);
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (!realpath(full, real))
		return -errno;
	if (strncmp(real, root, len) || real[len] != '/')
		return -ENOENT;
	node->dev = node_find(k, real + len, &kind);
	if (node->dev && kind->per_port) {
		kernel_log(k, "%s: programs cannot send management datagrams here", path);
		node->dev = NULL;
		return -EOPNOTSUPP;
	}
	node->rdma_cm = !strcmp(real + len, "/" CM_NODE);
	if (node->dev || node->rdma_cm)
		return 0;
	if ((flags & O_ACCMODE) != O_RDONLY)
		return -EACCES;
	rc = tree_unreadable(real + len);
	return rc ? rc : attr_open(k, real + len);
}
