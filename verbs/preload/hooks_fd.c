/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Calls that take a descriptor. For one that is not ours each costs a look into the table. */
#include "config.h"

#include <errno.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>

#include "verbs/preload/client.h"
#include "verbs/preload/device.h"
#include "verbs/preload/doorbells.h"
#include "verbs/preload/hooks.h"
#include "verbs/preload/path.h"
#include "verbs/preload/real.h"

static int64_t result(int64_t ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

static ssize_t tracked_write(int fd, uint16_t hint, const void *buf, size_t len)
{
	struct file *f = fdtab_file(hint);

	if (!f)
		return real()->write(fd, buf, len);
	if (doorbell_write(f, buf, len))
		return len;
	f = device_get(fd);
	if (f && f->kind == RNIC_FD_NETLINK)
		return real()->send(fd, buf, len, MSG_NOSIGNAL);
	return f ? result(device_write(fd, f, buf, len)) : real()->write(fd, buf, len);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	uint16_t hint = fdtab_hint(fd);

	if (__builtin_expect(hint != FDTAB_NONE, 0))
		return tracked_write(fd, hint, buf, len);
	return real()->write(fd, buf, len);
}

static int tracked_ioctl(int fd, unsigned long request, void *arg)
{
	struct file *f = device_get(fd);

	if (f && f->kind == RNIC_FD_NETLINK)
		return real()->ioctl(fd, request, arg);
	if (!f && request == RDMA_VERBS_IOCTL && !fdtab_hint(fd))
		f = device_adopt(fd);
	if (!f)
		return real()->ioctl(fd, request, arg);
	if (request == RDMA_VERBS_IOCTL && doorbell_ioctl(f, arg))
		return 0;
	return result(device_ioctl(fd, f, request, arg));
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (__builtin_expect(fdtab_hint(fd) || request == RDMA_VERBS_IOCTL, 0))
		return tracked_ioctl(fd, request, arg);
	return real()->ioctl(fd, request, arg);
}

/* librnic's own descriptors do not exist for the program. */
static int close_tracked(int fd, uint16_t hint)
{
	int ret, saved;

	if (hint == FDTAB_INTERNAL) {
		errno = EBADF;
		return -1;
	}
	ret = real()->close(fd);
	saved = errno;
	if (hint == FDTAB_TREE && !client_is_vfork_child())
		fdtab_mark(fd, FDTAB_NONE);
	else
		device_closed(fd);
	errno = saved;
	return ret;
}

int close(int fd)
{
	uint16_t hint = fdtab_hint(fd);

	if (__builtin_expect(hint != FDTAB_NONE, 0))
		return close_tracked(fd, hint);
	return real()->close(fd);
}

/* `to` is now what `from` is, or nothing that we know. */
static int dupped(int from, int to)
{
	if (to >= 0 && (fdtab_hint(from) || fdtab_hint(to))) {
		int saved = errno;

		device_dupped(from, to);
		errno = saved;
	}
	return to;
}

int dup(int fd)
{
	return dupped(fd, real()->dup(fd));
}

static void evade(int from, int to)
{
	if (from != to && fdtab_hint(to) == FDTAB_INTERNAL && !client_is_vfork_child())
		client_evade(to);
}

int dup2(int from, int to)
{
	evade(from, to);
	return dupped(from, real()->dup2(from, to));
}

int dup3(int from, int to, int flags)
{
	evade(from, to);
	return dupped(from, real()->dup3(from, to, flags));
}

static int hooked_fcntl(int fd, int cmd, void *arg)
{
	int ret = real()->fcntl(fd, cmd, arg);

	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? dupped(fd, ret) : ret;
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return hooked_fcntl(fd, cmd, arg);
}

int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return hooked_fcntl(fd, cmd, arg);
}

/* The range without our own descriptors, piece by piece. */
static int close_pieces(unsigned int first, unsigned int last, int flags)
{
	while (first <= last) {
		int ours = fdtab_next(FDTAB_INTERNAL, first, last);
		unsigned int end = ours < 0 ? last : (unsigned int)ours - 1;

		if (ours < 0 || (unsigned int)ours > first) {
			int ret = real()->close_range(first, end, flags);

			if (ret)
				return ret;
		}
		if (ours < 0)
			break;
		first = ours + 1;
	}
	return 0;
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	int ret, saved, fd;

	if (fdtab_next_any(first, last) < 0)
		return real()->close_range(first, last, flags);
	ret = close_pieces(first, last, flags);
	if (ret || (flags & CLOSE_RANGE_CLOEXEC) || client_is_vfork_child())
		return ret;
	saved = errno;
	for (fd = first; (fd = fdtab_next_any(fd, last)) >= 0; fd++) {
		if (fdtab_hint(fd) == FDTAB_TREE)
			fdtab_mark(fd, FDTAB_NONE);
		else if (fdtab_hint(fd) != FDTAB_INTERNAL)
			device_closed(fd);
	}
	errno = saved;
	return ret;
}

void closefrom(int low)
{
	unsigned int first = low < 0 ? 0 : low;

	if (fdtab_next_any(first, FDTAB_SIZE) < 0 || close_range(first, ~0u, 0))
		real()->closefrom(low);
}
