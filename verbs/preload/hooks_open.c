/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* open() and its kin. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "verbs/preload/device.h"
#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

static bool takes_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* A number that the kernel has just given out is not what we may remember of it. */
static int fresh(int fd)
{
	if (fd >= 0 && fdtab_hint(fd))
		device_closed(fd);
	return fd;
}

int hooks_folder_opened(int fd, int flags)
{
	struct stat st;

	fresh(fd);
	if (fd >= 0 && (flags & (O_DIRECTORY | O_PATH)) && !real()->fstat(fd, &st) &&
	    path_above(st.st_dev, st.st_ino))
		fdtab_mark(fd, FDTAB_TREE);
	return fd;
}

static int tree_open(const struct path *p, int flags, mode_t mode)
{
	int fd = fresh(real()->open(p->tree, flags & ~(O_CREAT | O_EXCL | O_TRUNC), mode));

	if (fd >= 0 && (flags & (O_DIRECTORY | O_PATH)))
		fdtab_mark(fd, FDTAB_TREE);
	return fd;
}

__attribute__((noinline)) int hooks_open_ours(int dirfd, const char *path, int flags, mode_t mode)
{
	struct path p;
	int fd;

	if (!path_lookup(dirfd, path, &p))
		return -2;
	if (flags & (O_DIRECTORY | O_PATH))
		return tree_open(&p, flags, mode);
	fd = device_open(p.seen, flags);
	if (fd == -EXDEV)
		return tree_open(&p, flags, mode);
	if (fd == -ENOTCONN)
		return -2;
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

static int hooked_open(const char *path, int flags, mode_t mode)
{
	int fd = path_maybe(AT_FDCWD, path) ? hooks_open_ours(AT_FDCWD, path, flags, mode) : -2;

	return fd != -2 ? fd : hooks_folder_opened(real()->open(path, flags, mode), flags);
}

static int hooked_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	int fd = path_maybe(dirfd, path) ? hooks_open_ours(dirfd, path, flags, mode) : -2;

	return fd != -2 ? fd : hooks_folder_opened(real()->openat(dirfd, path, flags, mode), flags);
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (takes_mode(flags))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return hooked_open(path, flags, mode);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (takes_mode(flags))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return hooked_openat(dirfd, path, flags, mode);
}

/* What fortified programs call when there is no mode. */
int __open_2(const char *path, int flags)
{
	return hooked_open(path, flags, 0);
}

int __openat_2(int dirfd, const char *path, int flags)
{
	return hooked_openat(dirfd, path, flags, 0);
}

/* The open flags of a stdio mode. */
static int stdio_flags(const char *mode)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;

	if (mode[0] == 'w')
		flags |= O_CREAT | O_TRUNC;
	else if (mode[0] == 'a')
		flags |= O_CREAT | O_APPEND;
	if (strchr(mode, 'x'))
		flags |= O_EXCL;
	if (strchr(mode, 'e'))
		flags |= O_CLOEXEC;
	return flags;
}

__attribute__((noinline)) static FILE *our_fopen(const char *path, const char *mode, bool *done)
{
	int fd = hooks_open_ours(AT_FDCWD, path, stdio_flags(mode), 0666);
	FILE *f;

	*done = fd != -2;
	if (fd < 0)
		return NULL;
	f = fdopen(fd, mode);
	if (!f)
		close(fd);
	return f;
}

FILE *fopen(const char *path, const char *mode)
{
	bool done;
	FILE *f;

	if (!path_maybe(AT_FDCWD, path))
		return real()->fopen(path, mode);
	f = our_fopen(path, mode, &done);
	return done ? f : real()->fopen(path, mode);
}

/* A file of ours is opened through its number: the stream, and stdout's 1, stay what they are. */
__attribute__((noinline)) static FILE *our_freopen(const char *path, const char *mode, FILE *f)
{
	int fd = hooks_open_ours(AT_FDCWD, path, stdio_flags(mode), 0666);
	char number[32];
	FILE *ret;

	if (fd == -2)
		return real()->freopen(path, mode, f);
	if (fd < 0) {
		fclose(f);
		return NULL;
	}
	snprintf(number, sizeof(number), "/proc/self/fd/%d", fd);
	ret = real()->freopen(number, mode, f);
	close(fd);
	return ret;
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	return path_maybe(AT_FDCWD, path) ? our_freopen(path, mode, f)
					  : real()->freopen(path, mode, f);
}

/* Large files are nothing special on 64-bit systems (see real.h): the same under other names. */
__typeof__(open) open64 __attribute__((alias("open")));
__typeof__(openat) openat64 __attribute__((alias("openat")));
__typeof__(__open_2) __open64_2 __attribute__((alias("__open_2")));
__typeof__(__openat_2) __openat64_2 __attribute__((alias("__openat_2")));
__typeof__(fopen) fopen64 __attribute__((alias("fopen")));
__typeof__(freopen) freopen64 __attribute__((alias("freopen")));
