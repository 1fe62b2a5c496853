/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Translates paths to the daemon's tree and back. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "verbs/abi/control.h"
#include "verbs/preload/client.h"
#include "verbs/preload/path.h"

bool path_cwd_in_tree;

/* `open`: any name that begins so (infiniband_verbs); else this name or below. */
static const struct {
	const char *name;
	bool open;
} prefixes[] = {
	{"/sys/class/infiniband", true},
	{"/dev/infiniband", false},
	{"/sys/devices/virtual/infiniband", true},
	{"/sys/class/misc/rdma_cm", false},
	{"/sys/devices/virtual/misc/rdma_cm", false},
	{"/sys/module/rdma_rxe", false},
};

/* Folders of the system that have ours among their own, or theirs; but for the root. */
static struct {
	const char *name;
	dev_t dev;
	ino_t ino;
} above[] = {
	{.name = "/dev"},
	{.name = "/sys"},
	{.name = "/sys/class"},
	{.name = "/sys/class/misc"},
	{.name = "/sys/devices"},
	{.name = "/sys/devices/virtual"},
	{.name = "/sys/devices/virtual/misc"},
	{.name = "/sys/module"},
};
#define N_ABOVE (sizeof(above) / sizeof(above[0]))

static void above_find(void)
{
	struct stat st;

	for (size_t i = 0; i < N_ABOVE; i++)
		if (!syscall(SYS_newfstatat, AT_FDCWD, above[i].name, &st, 0)) {
			above[i].dev = st.st_dev;
			above[i].ino = st.st_ino;
		}
}

const char *path_above(dev_t dev, ino_t ino)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int saved = errno;

	pthread_once(&once, above_find);
	errno = saved;
	for (size_t i = 0; i < N_ABOVE; i++)
		if (above[i].ino == ino && above[i].dev == dev)
			return above[i].name;
	return NULL;
}

static bool is_above(const char *path)
{
	for (size_t i = 0; i < N_ABOVE; i++)
		if (!strcmp(above[i].name, path))
			return true;
	return false;
}

/* Like strncmp() == 0 of a prefix, but any number of slashes is one. Returns what follows, or NULL.
 */
static const char *skip_prefix(const char *path, const char *prefix)
{
	while (*prefix) {
		if (*path != *prefix)
			return NULL;
		path++;
		if (*prefix++ == '/') {
			while (*path == '/')
				path++;
		}
	}
	return path;
}

bool path_absolute_is_ours(const char *path)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *rest = skip_prefix(path, prefixes[i].name);

		if (rest && (prefixes[i].open || *rest == '/' || *rest == '\0'))
			return true;
	}
	return false;
}

/* A child of a program whose working folder is in the tree, or above. */
__attribute__((constructor)) static void inherit_cwd(void)
{
	const char *dir = getenv("RNIC_DIR");
	char cwd[PATH_MAX];
	size_t n = dir ? strlen(dir) : 0;
	int saved = errno;

	if (n && syscall(SYS_getcwd, cwd, sizeof(cwd)) > 0)
		path_cwd_in_tree = is_above(cwd) || (!strncmp(cwd, dir, n) &&
						     !strncmp(cwd + n, "/" RNIC_CTL_TREE "/",
							      strlen(RNIC_CTL_TREE) + 2));
	errno = saved;
}

static size_t tree_prefix(const char *dir, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%s", dir, RNIC_CTL_TREE);

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

bool path_unmap(char *path)
{
	const char *dirs[] = {client_real_dir(), client_dir()};
	char prefix[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		size_t n = dirs[i][0] ? tree_prefix(dirs[i], prefix, sizeof(prefix)) : 0;

		if (!n || strncmp(path, prefix, n) || (path[n] != '/' && path[n] != '\0'))
			continue;
		if (path[n] == '\0')
			strcpy(path, "/");
		else
			memmove(path, path + n, strlen(path + n) + 1);
		return true;
	}
	return false;
}

static bool fd_path(int fd, char *out, size_t size)
{
	char link[64];
	long n;

	if (fd == AT_FDCWD)
		strcpy(link, "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, out, size - 1);
	if (n <= 0)
		return false;
	out[n] = '\0';
	return true;
}

bool path_fd_in_tree(int fd)
{
	char buf[PATH_MAX];

	return fd_path(fd, buf, sizeof(buf)) && (path_unmap(buf) || is_above(buf));
}

/* A relative path in a folder of the tree, absolute as the program sees it. */
static bool relative(int dirfd, const char *path, char *out, size_t size)
{
	size_t n;

	if (!fd_path(dirfd, out, size))
		return false;
	if (!path_unmap(out) && !is_above(out)) {
		if (dirfd != AT_FDCWD)
			fdtab_mark(dirfd, FDTAB_NONE);
		return false;
	}
	n = strlen(out);
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (!strcmp(path, ".") || !*path)
		return true;
	return (size_t)snprintf(out + n, size - n, "%s%s", n > 1 ? "/" : "", path) < size - n;
}

bool path_lookup(int dirfd, const char *path, struct path *out)
{
	int saved = errno;
	bool ok = client_ready();
	size_t n;

	if (ok && path[0] != '/')
		ok = relative(dirfd, path, out->seen, sizeof(out->seen)) &&
		     path_absolute_is_ours(out->seen);
	else if (ok)
		ok = strlen(path) < sizeof(out->seen) && strcpy(out->seen, path);
	n = ok ? tree_prefix(client_dir(), out->tree, sizeof(out->tree)) : 0;
	if (n && n + strlen(out->seen) < sizeof(out->tree))
		strcpy(out->tree + n, out->seen);
	else
		ok = false;
	errno = saved;
	return ok;
}

bool path_node(const struct path *p, struct node *node)
{
	unsigned int major_nr, minor_nr, mode;
	int saved = errno, fd;
	char text[64];
	long n;

	if (!skip_prefix(p->seen, "/dev/"))
		return false;
	fd = syscall(SYS_openat, AT_FDCWD, p->tree, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	n = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = saved;
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "c %u %u %o", &major_nr, &minor_nr, &mode) != 3)
		return false;
	node->rdev = makedev(major_nr, minor_nr);
	node->mode = mode & 0777;
	return true;
}
