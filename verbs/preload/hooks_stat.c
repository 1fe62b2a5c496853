/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The stat family: the tree for paths, and character devices where the tree has node files. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "verbs/preload/device.h"
#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

static void node_stat(const struct path *p, struct stat *st)
{
	struct node node;

	if (!S_ISREG(st->st_mode) || !path_node(p, &node))
		return;
	st->st_mode = S_IFCHR | node.mode;
	st->st_rdev = node.rdev;
	st->st_size = 0;
	st->st_blocks = 0;
}

/* -2: not ours. */
__attribute__((noinline)) static int our_stat(int dirfd, const char *path, struct stat *st,
					      int flags)
{
	struct path p;
	int ret;

	if (!path_lookup(dirfd, path, &p))
		return -2;
	ret = real()->fstatat(AT_FDCWD, p.tree, st, flags & ~AT_EMPTY_PATH);
	if (!ret)
		node_stat(&p, st);
	return ret;
}

static int hooked_stat(const char *path, struct stat *st)
{
	int ret = path_maybe(AT_FDCWD, path) ? our_stat(AT_FDCWD, path, st, 0) : -2;

	return ret != -2 ? ret : real()->stat(path, st);
}

static int hooked_lstat(const char *path, struct stat *st)
{
	int ret =
		path_maybe(AT_FDCWD, path) ? our_stat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW) : -2;

	return ret != -2 ? ret : real()->lstat(path, st);
}

static int hooked_fstat(int fd, struct stat *st)
{
	int ret = real()->fstat(fd, st);

	if (!ret && (fdtab_hint(fd) || device_like(st)))
		device_stat(fd, st);
	return ret;
}

static int hooked_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	int ret = path_maybe(dirfd, path) ? our_stat(dirfd, path, st, flags) : -2;

	if (ret != -2)
		return ret;
	ret = real()->fstatat(dirfd, path, st, flags);
	if (!ret && (flags & AT_EMPTY_PATH) && (!path || !*path) &&
	    (fdtab_hint(dirfd) || device_like(st)))
		device_stat(dirfd, st);
	return ret;
}

int stat(const char *path, struct stat *st)
{
	return hooked_stat(path, st);
}

int lstat(const char *path, struct stat *st)
{
	return hooked_lstat(path, st);
}

int fstat(int fd, struct stat *st)
{
	return hooked_fstat(fd, st);
}

int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	return hooked_fstatat(dirfd, path, st, flags);
}

int stat64(const char *path, struct stat64 *st)
{
	return hooked_stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
	return hooked_lstat(path, (struct stat *)st);
}

int fstat64(int fd, struct stat64 *st)
{
	return hooked_fstat(fd, (struct stat *)st);
}

int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	return hooked_fstatat(dirfd, path, (struct stat *)st, flags);
}

/* What programs call that were built against a C library before 2.33. */
int __xstat(int ver, const char *path, struct stat *st)
{
	(void)ver;
	return hooked_stat(path, st);
}

int __xstat64(int ver, const char *path, struct stat64 *st)
{
	(void)ver;
	return hooked_stat(path, (struct stat *)st);
}

int __lxstat(int ver, const char *path, struct stat *st)
{
	(void)ver;
	return hooked_lstat(path, st);
}

int __lxstat64(int ver, const char *path, struct stat64 *st)
{
	(void)ver;
	return hooked_lstat(path, (struct stat *)st);
}

int __fxstat(int ver, int fd, struct stat *st)
{
	(void)ver;
	return hooked_fstat(fd, st);
}

int __fxstat64(int ver, int fd, struct stat64 *st)
{
	(void)ver;
	return hooked_fstat(fd, (struct stat *)st);
}

int __fxstatat(int ver, int dirfd, const char *path, struct stat *st, int flags)
{
	(void)ver;
	return hooked_fstatat(dirfd, path, st, flags);
}

int __fxstatat64(int ver, int dirfd, const char *path, struct stat64 *st, int flags)
{
	(void)ver;
	return hooked_fstatat(dirfd, path, (struct stat *)st, flags);
}

static void statx_device(struct statx *stx, mode_t mode, uint64_t rdev)
{
	stx->stx_mode = S_IFCHR | mode;
	stx->stx_rdev_major = major(rdev);
	stx->stx_rdev_minor = minor(rdev);
	stx->stx_size = 0;
	stx->stx_blocks = 0;
}

/* -2: not ours. */
__attribute__((noinline)) static int our_statx(int dirfd, const char *path, int flags,
					       unsigned int mask, struct statx *stx)
{
	struct node node;
	struct path p;
	int ret;

	if (!path_lookup(dirfd, path, &p))
		return -2;
	ret = real()->statx(AT_FDCWD, p.tree, flags & ~AT_EMPTY_PATH, mask, stx);
	if (!ret && S_ISREG(stx->stx_mode) && path_node(&p, &node))
		statx_device(stx, node.mode, node.rdev);
	return ret;
}

int statx(int dirfd, const char *path, int flags, unsigned int mask, struct statx *stx)
{
	int ret = path_maybe(dirfd, path) ? our_statx(dirfd, path, flags, mask, stx) : -2;
	struct file *f;

	if (ret != -2)
		return ret;
	ret = real()->statx(dirfd, path, flags, mask, stx);
	if (ret || !(flags & AT_EMPTY_PATH) || (path && *path) || !fdtab_hint(dirfd))
		return ret;
	f = device_get(dirfd);
	if (f && f->rdev)
		statx_device(stx, 0666, f->rdev);
	return ret;
}
