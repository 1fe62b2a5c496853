/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the C library's functions. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "verbs/preload/real.h"

static int raw_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int raw_openat(int dirfd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return syscall(SYS_openat, dirfd, path, flags, mode);
}

static int raw_close(int fd)
{
	return syscall(SYS_close, fd);
}

static ssize_t raw_write(int fd, const void *buf, size_t n)
{
	return syscall(SYS_write, fd, buf, n);
}

static int raw_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return syscall(SYS_ioctl, fd, request, arg);
}

static int raw_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return syscall(SYS_fcntl, fd, cmd, arg);
}

static int raw_dup(int fd)
{
	return syscall(SYS_dup, fd);
}

static int raw_dup3(int from, int to, int flags)
{
	return syscall(SYS_dup3, from, to, flags);
}

static int raw_dup2(int from, int to)
{
	if (from == to)
		return syscall(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
	return raw_dup3(from, to, 0);
}

static int raw_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	return syscall(SYS_newfstatat, dirfd, path, st, flags);
}

static int raw_stat(const char *path, struct stat *st)
{
	return raw_fstatat(AT_FDCWD, path, st, 0);
}

static int raw_lstat(const char *path, struct stat *st)
{
	return raw_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

static int raw_fstat(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st);
}

static int raw_access(const char *path, int mode)
{
	return syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static ssize_t raw_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	return syscall(SYS_readlinkat, dirfd, path, buf, size);
}

static ssize_t raw_readlink(const char *path, char *buf, size_t size)
{
	return raw_readlinkat(AT_FDCWD, path, buf, size);
}

static int raw_close_range(unsigned int first, unsigned int last, int flags)
{
	return syscall(SYS_close_range, first, last, flags);
}

static int raw_socket(int domain, int type, int protocol)
{
	return syscall(SYS_socket, domain, type, protocol);
}

static int raw_bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	return syscall(SYS_bind, fd, addr.__sockaddr__, len);
}

static int raw_getsockname(int fd, __SOCKADDR_ARG addr, socklen_t *restrict len)
{
	return syscall(SYS_getsockname, fd, addr.__sockaddr__, len);
}

static int raw_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	return syscall(SYS_setsockopt, fd, level, name, value, len);
}

static ssize_t raw_sendto(int fd, const void *buf, size_t n, int flags, __CONST_SOCKADDR_ARG addr,
			  socklen_t len)
{
	return syscall(SYS_sendto, fd, buf, n, flags, addr.__sockaddr__, len);
}

static ssize_t raw_send(int fd, const void *buf, size_t n, int flags)
{
	return syscall(SYS_sendto, fd, buf, n, flags, NULL, 0);
}

static ssize_t raw_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return syscall(SYS_sendmsg, fd, msg, flags);
}

static ssize_t raw_recvfrom(int fd, void *restrict buf, size_t n, int flags, __SOCKADDR_ARG addr,
			    socklen_t *restrict len)
{
	return syscall(SYS_recvfrom, fd, buf, n, flags, addr.__sockaddr__, len);
}

static ssize_t raw_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return syscall(SYS_recvmsg, fd, msg, flags);
}

/* Those that an allocator or an early constructor may need; and those that old C libraries lack. */
struct real real_calls = {
	.open = raw_open,
	.openat = raw_openat,
	.close = raw_close,
	.write = raw_write,
	.ioctl = raw_ioctl,
	.fcntl = raw_fcntl,
	.dup = raw_dup,
	.dup2 = raw_dup2,
	.dup3 = raw_dup3,
	.stat = raw_stat,
	.lstat = raw_lstat,
	.fstat = raw_fstat,
	.fstatat = raw_fstatat,
	.access = raw_access,
	.readlink = raw_readlink,
	.readlinkat = raw_readlinkat,
	.close_range = raw_close_range,
	.socket = raw_socket,
	.bind = raw_bind,
	.getsockname = raw_getsockname,
	.setsockopt = raw_setsockopt,
	.send = raw_send,
	.sendto = raw_sendto,
	.sendmsg = raw_sendmsg,
	.recvfrom = raw_recvfrom,
	.recvmsg = raw_recvmsg,
};

#define REAL_NAME(name) {#name, offsetof(struct real, name)},
static const struct {
	const char *name;
	size_t offset;
} names[] = {REAL_CALLS(REAL_NAME)};
#undef REAL_NAME

bool real_resolved;

void real_resolve(void)
{
	static _Atomic int resolving;
	int saved = errno;

	/* Another thread, or ourselves from within dlsym(): what is there must do. */
	if (atomic_exchange(&resolving, 1))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *symbol = dlsym(RTLD_NEXT, names[i].name);

		if (symbol)
			memcpy((char *)&real_calls + names[i].offset, &symbol, sizeof(symbol));
	}
	__atomic_store_n(&real_resolved, true, __ATOMIC_RELEASE);
	errno = saved;
}

__attribute__((constructor)) static void real_init(void)
{
	real();
}
