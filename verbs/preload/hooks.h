/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Symbols of the C library that its headers do not declare, or only for fortified programs. */
#ifndef PRELOAD_HOOKS_H
#define PRELOAD_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

int __xstat(int ver, const char *path, struct stat *st);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);
int __fxstatat(int ver, int dirfd, const char *path, struct stat *st, int flags);
int __fxstatat64(int ver, int dirfd, const char *path, struct stat64 *st, int flags);

char *__realpath_chk(const char *path, char *buf, size_t size);
char *__getcwd_chk(char *buf, size_t size, size_t buflen);
ssize_t __readlink_chk(const char *path, char *buf, size_t size, size_t buflen);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf, size_t size, size_t buflen);

ssize_t __recvfrom_chk(int fd, void *restrict buf, size_t n, size_t buflen, int flags,
		       __SOCKADDR_ARG addr, socklen_t *restrict len);

/* open() of a path that may be ours: a descriptor, -1 with errno, or -2: there is no daemon, take
 * the real path. */
int hooks_open_ours(int dirfd, const char *path, int flags, mode_t mode)
	__attribute__((visibility("hidden")));
/* A folder, perhaps one above the tree, so that names relative to it may be ours. Returns fd. */
int hooks_folder_opened(int fd, int flags) __attribute__((visibility("hidden")));

/* Does a walk that begins there see folders of the tree? */
bool hooks_walk_is_ours(const char *path) __attribute__((visibility("hidden")));

void __chk_fail(void) __attribute__((noreturn));

#endif
