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

__attribute__((noinline)) static DIR *our_opendir(const char *path, bool *done)
{
	struct path p;
	DIR *d;

	*done = path_lookup(AT_FDCWD, path, &p);
	d = *done ? real()->opendir(p.tree) : NULL;
	if (d)
		fdtab_mark(dirfd(d), FDTAB_TREE);
	return d;
}

DIR *opendir(const char *path)
{
	bool done = false;
	DIR *d = path_maybe(AT_FDCWD, path) ? our_opendir(path, &done) : NULL;

	if (done)
		return d;
	d = real()->opendir(path);
	if (d && fdtab_hint(dirfd(d)) == FDTAB_TREE)
		fdtab_mark(dirfd(d), FDTAB_NONE); /* the number of one that closedir() closed */
	return d;
}

/* The tree's device nodes are files: who wants to know must ask stat(). */
struct dirent *readdir(DIR *d)
{
	struct dirent *e = real()->readdir(d);

	if (e && e->d_type == DT_REG && fdtab_hint(dirfd(d)) == FDTAB_TREE)
		e->d_type = DT_UNKNOWN;
	return e;
}

struct dirent64 *readdir64(DIR *d)
{
	return (struct dirent64 *)readdir(d);
}

typedef int dirent_filter(const struct dirent *);
typedef int dirent_compare(const struct dirent **, const struct dirent **);

/* -2: not ours. */
__attribute__((noinline)) static int our_scandir(int dirfd, const char *path, struct dirent ***list,
						 dirent_filter *filter, dirent_compare *compare)
{
	struct path p;

	if (!path_lookup(dirfd, path, &p))
		return -2;
	return real()->scandir(p.tree, list, filter, compare);
}

static int hooked_scandirat(int dirfd, const char *path, struct dirent ***list,
			    dirent_filter *filter, dirent_compare *compare)
{
	int ret = path_maybe(dirfd, path) ? our_scandir(dirfd, path, list, filter, compare) : -2;

	return ret != -2 ? ret : real()->scandirat(dirfd, path, list, filter, compare);
}

int scandir(const char *restrict path, struct dirent ***restrict list, dirent_filter *filter,
	    dirent_compare *compare)
{
	return hooked_scandirat(AT_FDCWD, path, list, filter, compare);
}

int scandirat(int dirfd, const char *restrict path, struct dirent ***restrict list,
	      dirent_filter *filter, dirent_compare *compare)
{
	return hooked_scandirat(dirfd, path, list, filter, compare);
}

int scandir64(const char *restrict path, struct dirent64 ***restrict list,
	      int (*filter)(const struct dirent64 *),
	      int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return hooked_scandirat(AT_FDCWD, path, (struct dirent ***)list, (dirent_filter *)filter,
				(dirent_compare *)compare);
}

int scandirat64(int dirfd, const char *restrict path, struct dirent64 ***restrict list,
		int (*filter)(const struct dirent64 *),
		int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return hooked_scandirat(dirfd, path, (struct dirent ***)list, (dirent_filter *)filter,
				(dirent_compare *)compare);
}

/* -2: not ours. Results lose the tree's folder again. */
__attribute__((noinline)) static int our_glob(const char *pattern, int flags,
					      int (*fail)(const char *, int), glob_t *g)
{
	size_t before = flags & GLOB_APPEND ? g->gl_pathc : 0;
	struct path p;
	int ret;

	if ((flags & GLOB_ALTDIRFUNC) || !path_lookup(AT_FDCWD, pattern, &p))
		return -2;
	ret = real()->glob(p.tree, flags, fail, g);
	if (ret && ret != GLOB_NOMATCH)
		return ret;
	for (size_t i = before; !ret && i < g->gl_pathc; i++)
		path_unmap(g->gl_pathv[(flags & GLOB_DOOFFS ? g->gl_offs : 0) + i]);
	return ret;
}

static int hooked_glob(const char *pattern, int flags, int (*fail)(const char *, int), glob_t *g)
{
	int ret = path_maybe(AT_FDCWD, pattern) ? our_glob(pattern, flags, fail, g) : -2;

	return ret != -2 ? ret : real()->glob(pattern, flags, fail, g);
}

int glob(const char *restrict pattern, int flags, int (*fail)(const char *, int),
	 glob_t *restrict g)
{
	return hooked_glob(pattern, flags, fail, g);
}

int glob64(const char *restrict pattern, int flags, int (*fail)(const char *, int),
	   glob64_t *restrict g)
{
	return hooked_glob(pattern, flags, fail, (glob_t *)g);
}

/* -2: not ours. */
__attribute__((noinline)) static int our_chdir(const char *path)
{
	struct path p;

	return path_lookup(AT_FDCWD, path, &p) ? real()->chdir(p.tree) : -2;
}

int chdir(const char *path)
{
	int ret = path_maybe(AT_FDCWD, path) ? our_chdir(path) : -2;

	if (ret == -2)
		ret = real()->chdir(path);
	else if (ret == 0)
		path_cwd_in_tree = true;
	if (ret == 0 && path_cwd_in_tree)
		path_cwd_in_tree = path_fd_in_tree(AT_FDCWD);
	return ret;
}

int fchdir(int fd)
{
	int ret = real()->fchdir(fd);

	if (ret == 0 && (path_cwd_in_tree || fdtab_hint(fd) == FDTAB_TREE))
		path_cwd_in_tree = path_fd_in_tree(AT_FDCWD);
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
