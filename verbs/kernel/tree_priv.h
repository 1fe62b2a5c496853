/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the files of the tree are made, for those that make some. 0 or -errno. */
#ifndef KERNEL_TREE_PRIV_H
#define KERNEL_TREE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct kdevice;
struct kernel;

/* With all folders above. */
int tree_dirs_make(int at, const char *path);
/* text NULL: one page of nothing. */
int tree_file_make(int at, const char *path, const char *text, mode_t mode);
int tree_link_make(struct kernel *k, const char *target, const char *name);
/* Below DIR/fs only; links are not followed. */
void tree_remove(struct kernel *k, const char *path);

/* ---- tree_node.c ---- */
/* What any device has in its folder, relative to `at`. */
int tree_power_make(int at, const char *dir);
/* Of uverbsN, umadN and issmN. */
int tree_nodes_add(struct kernel *k, const struct kdevice *dev);
void tree_nodes_del(struct kernel *k, const struct kdevice *dev);
/* What is there without any device: rdma_cm, the classes, the module. */
int tree_fixed_make(struct kernel *k);
/* Files that cannot be read, as the kernel has some: the error, or 0. path: resolved, in the tree.
 */
int tree_unreadable(const char *path);

#endif
