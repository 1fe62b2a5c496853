/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The C library's own functions behind the ones that librnic interposes. Looked up once, by our
 * constructor or by the first call that is earlier; calls made while they are looked up (an
 * allocator of the program's own) go straight to the kernel.
 */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* off_t, struct stat and their 64 twins are the same on every 64-bit system; nothing else is
 * supported. */
_Static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "64-bit systems only");

#define REAL_CALLS(X)                                                                              \
	X(open)                                                                                    \
	X(openat)                                                                                  \
	X(close)                                                                                   \
	X(write)                                                                                   \
	X(ioctl)                                                                                   \
	X(fcntl)                                                                                   \
	X(dup)                                                                                     \
	X(dup2)                                                                                    \
	X(dup3)                                                                                    \
	X(stat)                                                                                    \
	X(lstat)                                                                                   \
	X(fstat)                                                                                   \
	X(fstatat)                                                                                 \
	X(statx)                                                                                   \
	X(access)                                                                                  \
	X(faccessat)                                                                               \
	X(euidaccess)                                                                              \
	X(readlink)                                                                                \
	X(readlinkat)                                                                              \
	X(realpath)                                                                                \
	X(opendir)                                                                                 \
	X(fdopendir)                                                                               \
	X(readdir)                                                                                 \
	X(rewinddir)                                                                               \
	X(seekdir)                                                                                 \
	X(closedir)                                                                                \
	X(scandir)                                                                                 \
	X(scandirat)                                                                               \
	X(glob)                                                                                    \
	X(nftw)                                                                                    \
	X(ftw)                                                                                     \
	X(fts_open)                                                                                \
	X(fts_read)                                                                                \
	X(fts_children)                                                                            \
	X(fts_close)                                                                               \
	X(chdir)                                                                                   \
	X(fchdir)                                                                                  \
	X(getcwd)                                                                                  \
	X(fopen)                                                                                   \
	X(freopen)                                                                                 \
	X(close_range)                                                                             \
	X(closefrom)                                                                               \
	X(socket)                                                                                  \
	X(bind)                                                                                    \
	X(getsockname)                                                                             \
	X(setsockopt)                                                                              \
	X(send)                                                                                    \
	X(sendto)                                                                                  \
	X(sendmsg)                                                                                 \
	X(recvfrom)                                                                                \
	X(recvmsg)                                                                                 \
	X(getxattr)                                                                                \
	X(lgetxattr)                                                                               \
	X(listxattr)                                                                               \
	X(llistxattr)                                                                              \
	X(inotify_add_watch)

#define REAL_MEMBER(name) __typeof__(name) *name;
struct real {
	REAL_CALLS(REAL_MEMBER)
};
#undef REAL_MEMBER

extern struct real real_calls;
extern bool real_resolved;

/* Cheap when all is resolved. Keeps errno. */
void real_resolve(void);

static inline const struct real *real(void)
{
	if (__builtin_expect(!real_resolved, 0))
		real_resolve();
	return &real_calls;
}

#endif
