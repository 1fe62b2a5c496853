/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Calls that take a path, other than open and stat. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs/preload/client.h"
#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

/* What the node's mode allows, as the kernel decides for a file that root owns. */
static int node_access(const struct node *node, int mode)
{
	mode_t have = node->mode & 7;

	if (geteuid() == 0)
		have = 6 | (node->mode & 0111 ? 1 : 0);
	if ((mode & ~have) == 0)
		return 0;
	errno = EACCES;
	return -1;
}

/* -2: not ours. */
__attribute__((noinline)) static int our_access(int dirfd, const char *path, int mode, int flags)
{
	struct node node;
	struct path p;

	if (!path_lookup(dirfd, path, &p))
		return -2;
	if (path_node(&p, &node))
		return node_access(&node, mode);
	return real()->faccessat(AT_FDCWD, p.tree, mode, flags & ~AT_EMPTY_PATH);
}

int access(const char *path, int mode)
{
	int ret = path_maybe(AT_FDCWD, path) ? our_access(AT_FDCWD, path, mode, 0) : -2;

	return ret != -2 ? ret : real()->access(path, mode);
}

int faccessat(int dirfd, const char *path, int mode, int flags)
{
	int ret = path_maybe(dirfd, path) ? our_access(dirfd, path, mode, flags) : -2;

	return ret != -2 ? ret : real()->faccessat(dirfd, path, mode, flags);
}

static int hooked_euidaccess(const char *path, int mode)
{
	int ret = path_maybe(AT_FDCWD, path) ? our_access(AT_FDCWD, path, mode, AT_EACCESS) : -2;

	return ret != -2 ? ret : real()->euidaccess(path, mode);
}

int euidaccess(const char *path, int mode)
{
	return hooked_euidaccess(path, mode);
}

int eaccess(const char *path, int mode)
{
	return hooked_euidaccess(path, mode);
}

/* -2: not ours. */
__attribute__((noinline)) static ssize_t our_readlink(int dirfd, const char *path, char *buf,
						      size_t size)
{
	struct path p;

	return path_lookup(dirfd, path, &p) ? real()->readlink(p.tree, buf, size) : -2;
}

static ssize_t hooked_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t ret = path_maybe(dirfd, path) ? our_readlink(dirfd, path, buf, size) : -2;

	return ret != -2 ? ret : real()->readlinkat(dirfd, path, buf, size);
}

static ssize_t hooked_readlink(const char *path, char *buf, size_t size)
{
	ssize_t ret = path_maybe(AT_FDCWD, path) ? our_readlink(AT_FDCWD, path, buf, size) : -2;

	return ret != -2 ? ret : real()->readlink(path, buf, size);
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
	return hooked_readlink(path, buf, size);
}

ssize_t readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	return hooked_readlinkat(dirfd, path, buf, size);
}

ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t buflen)
{
	if (size > buflen)
		__chk_fail();
	return hooked_readlink(path, buf, size);
}

ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t size, size_t buflen)
{
	if (size > buflen)
		__chk_fail();
	return hooked_readlinkat(dirfd, path, buf, size);
}

__attribute__((noinline)) static char *our_realpath(const char *path, char *buf, bool *done)
{
	struct path p;
	char *ret;

	*done = path_lookup(AT_FDCWD, path, &p);
	ret = *done ? real()->realpath(p.tree, buf) : NULL;
	if (ret)
		path_unmap(ret);
	return ret;
}

static char *hooked_realpath(const char *path, char *buf)
{
	bool done = false;
	char *ret = path_maybe(AT_FDCWD, path) ? our_realpath(path, buf, &done) : NULL;

	return done ? ret : real()->realpath(path, buf);
}

char *realpath(const char *restrict path, char *restrict buf)
{
	return hooked_realpath(path, buf);
}

char *__realpath_chk(const char *path, char *buf, size_t size)
{
	if (size < PATH_MAX)
		__chk_fail();
	return hooked_realpath(path, buf);
}

char *canonicalize_file_name(const char *path)
{
	return hooked_realpath(path, NULL);
}

/* -2: not ours. */
__attribute__((noinline)) static int our_chdir(const char *path)
{
	struct path p;

	return path_lookup(AT_FDCWD, path, &p) ? real()->chdir(p.tree) : -2;
}

/* A vfork child has a working folder of its own, but its parent's memory. */
static void cwd_changed(void)
{
	int saved = errno;
	bool in_tree = path_fd_in_tree(AT_FDCWD);

	if (in_tree || !client_is_vfork_child())
		path_cwd_in_tree = in_tree;
	errno = saved;
}

int chdir(const char *path)
{
	int ret = path_maybe(AT_FDCWD, path) ? our_chdir(path) : -2;

	if (ret == -2)
		ret = real()->chdir(path);
	if (ret == 0)
		cwd_changed();
	return ret;
}

int fchdir(int fd)
{
	int ret = real()->fchdir(fd);

	if (ret == 0)
		cwd_changed();
	return ret;
}

static char *hooked_getcwd(char *buf, size_t size)
{
	char *ret = real()->getcwd(buf, size);

	if (ret && path_cwd_in_tree)
		path_unmap(ret);
	return ret;
}

char *getcwd(char *buf, size_t size)
{
	return hooked_getcwd(buf, size);
}

char *__getcwd_chk(char *buf, size_t size, size_t buflen)
{
	if (size > buflen)
		__chk_fail();
	return hooked_getcwd(buf, size);
}

/* The attributes of a file of the tree: as of sysfs, none that matter; but no ENOENT. */
static const char *our_path(const char *path, struct path *p)
{
	return path_maybe(AT_FDCWD, path) && path_lookup(AT_FDCWD, path, p) ? p->tree : path;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	struct path p;

	return real()->getxattr(our_path(path, &p), name, value, size);
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	struct path p;

	return real()->lgetxattr(our_path(path, &p), name, value, size);
}

ssize_t listxattr(const char *path, char *list, size_t size)
{
	struct path p;

	return real()->listxattr(our_path(path, &p), list, size);
}

ssize_t llistxattr(const char *path, char *list, size_t size)
{
	struct path p;

	return real()->llistxattr(our_path(path, &p), list, size);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	struct path p;

	return real()->inotify_add_watch(fd, our_path(path, &p), mask);
}
