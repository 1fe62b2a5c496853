/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which paths are the daemon's, and where they are in its tree: /sys/class/infiniband/rxe0 is
 * DIR/fs/sys/class/infiniband/rxe0. A path of ours that the tree does not have does not exist,
 * so that real devices are hidden. Relative paths are looked at only in a folder of the tree.
 */
#ifndef PRELOAD_PATH_H
#define PRELOAD_PATH_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "verbs/preload/fdtab.h"

struct path {
	char seen[PATH_MAX];		    /* absolute, as the program sees it */
	char tree[PATH_MAX + PATH_MAX / 2]; /* where it is */
};

/* A device node of the tree: a file that says "c MAJOR MINOR MODE". */
struct node {
	uint64_t rdev;
	mode_t mode; /* permission bits */
};

/* Is the working folder in the tree, or above? (By what chdir hooks saw; confirmed when used.) */
extern bool path_cwd_in_tree;

bool path_absolute_is_ours(const char *path);
bool path_lookup(int dirfd, const char *path, struct path *out);

/* Quick: can it be ours at all? */
static inline bool path_maybe(int dirfd, const char *path)
{
	if (!path)
		return false;
	if (path[0] == '/')
		return (path[1] == 's' || path[1] == 'd' || path[1] == '/') &&
		       path_absolute_is_ours(path);
	return dirfd == AT_FDCWD ? path_cwd_in_tree : fdtab_hint(dirfd) == FDTAB_TREE;
}

/* Is it a device node? It is where a file lies, not what it says, that decides. */
bool path_node(const struct path *p, struct node *node);

/* Turn a path of the tree into what the program may see, in place. False: it is none. */
bool path_unmap(char *path);
/* Is this descriptor in the tree, or a folder of the system that has parts of the tree? */
bool path_fd_in_tree(int fd);
/* The name of such a folder of the system ("/sys/class"), or NULL. */
const char *path_above(dev_t dev, ino_t ino);

#endif
