/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries calls on open devices to the daemon and keeps the table of their numbers. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs/abi/control.h"
#include "verbs/abi/doorbell.h"
#include "verbs/preload/client.h"
#include "verbs/preload/device.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)

static void doorbell_map(int fd, struct file *f)
{
	void *db;

	if (f->db || f->kind != RNIC_FD_CONTEXT)
		return;
	db = mmap(NULL, RNIC_DB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (db != MAP_FAILED)
		f->db = db; /* without one every doorbell goes to the daemon */
}

static bool kind_is_tracked(uint32_t kind)
{
	return kind == RNIC_FD_CONTEXT || kind == RNIC_FD_UCMA || kind == RNIC_FD_NETLINK;
}

static void track(int fd, const struct rnic_ctl_fd *info, uint32_t gen)
{
	struct stat st;
	struct file *f;

	if (!kind_is_tracked(info->kind) || syscall(SYS_fstat, fd, &st) < 0)
		return;
	f = fdtab_add(fd, st.st_dev, st.st_ino);
	if (!f)
		return;
	f->kind = info->kind;
	f->rdev = info->rdev;
	f->id = info->id;
	atomic_store(&f->gen, gen);
	doorbell_map(fd, f);
}

/* Descriptors of an answer go where it says. Returns the one that the call returns, or -1. */
static int install(const struct rnic_ctl_answer *answer, const int fds[RNIC_CTL_FDS_MAX])
{
	uint32_t gen = client_generation();
	int returned = -1;

	for (uint32_t i = 0; i < answer->n_fds && i < RNIC_CTL_FDS_MAX; i++) {
		const struct rnic_ctl_fd *info = &answer->fd[i];
		uint32_t number = fds[i];

		track(fds[i], info, gen);
		if (!info->where)
			returned = fds[i];
		else if (info->width == sizeof(uint64_t))
			*(uint64_t *)info->where = number;
		else
			*(uint32_t *)info->where = number;
	}
	return returned;
}

int device_open(const char *path, int flags)
{
	struct rnic_ctl_answer answer;
	uint64_t arg[4] = {(unsigned int)flags};
	int fds[RNIC_CTL_FDS_MAX];
	int64_t ret = client_call(RNIC_CTL_OPEN, arg, path, strlen(path), -1, &answer, fds);
	int fd;

	if (ret == -ENOTCONN) /* a daemon that was restarted */
		ret = client_call(RNIC_CTL_OPEN, arg, path, strlen(path), -1, &answer, fds);
	if (ret < 0)
		return ret;
	fd = install(&answer, fds);
	if (fd < 0)
		return -EIO;
	if (!(flags & O_CLOEXEC))
		syscall(SYS_fcntl, fd, F_SETFD, 0);
	if (flags & O_NONBLOCK) /* who waits for events of rdma_cm looks at it */
		syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
	return fd;
}

int device_netlink(int type)
{
	static const uint64_t arg[4];
	struct rnic_ctl_answer answer;
	int fds[RNIC_CTL_FDS_MAX];
	int64_t ret = client_call(RNIC_CTL_NETLINK, arg, NULL, 0, -1, &answer, fds);
	int fd;

	if (ret < 0)
		return ret == -ENOTCONN ? -EPROTONOSUPPORT : (int)ret;
	fd = install(&answer, fds);
	if (fd < 0)
		return -EPROTONOSUPPORT;
	if (!(type & SOCK_CLOEXEC))
		syscall(SYS_fcntl, fd, F_SETFD, 0);
	if (type & SOCK_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
	return fd;
}

/* Make f->id valid in this session. 0 or -errno. */
static int attach(int fd, struct file *f)
{
	struct rnic_ctl_answer answer;
	static const uint64_t arg[4];
	int fds[RNIC_CTL_FDS_MAX];
	int64_t ret;

	if (!client_ready())
		return -EIO;
	if (atomic_load(&f->gen) == client_generation())
		return 0;
	ret = client_call(RNIC_CTL_ATTACH, arg, NULL, 0, fd, &answer, fds);
	if (ret < 0)
		return -EIO;
	f->id = ret;
	f->kind = answer.fd[0].kind;
	f->rdev = answer.fd[0].rdev;
	doorbell_map(fd, f);
	atomic_store(&f->gen, client_generation());
	return 0;
}

struct file *device_get(int fd)
{
	struct file *f = fdtab_file(fdtab_hint(fd));
	int saved = errno;
	struct stat st;

	if (!f)
		return NULL;
	if (syscall(SYS_fstat, fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino)
		return f;
	errno = saved;
	device_closed(fd);
	return NULL;
}

struct file *device_netlink_get(int fd)
{
	struct file *f = fdtab_file(fdtab_hint(fd));

	return f && f->kind == RNIC_FD_NETLINK ? device_get(fd) : NULL;
}

static bool is_context_memfd(int fd)
{
	char link[64], name[16] = "";

	if (syscall(SYS_fcntl, fd, F_GET_SEALS) != SEALS)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof(name)) > 0 &&
	       strncmp(name, "/memfd:rnic-", 12) == 0;
}

struct file *device_adopt(int fd)
{
	int saved = errno;
	struct stat st;
	struct file *f = NULL;

	if (!is_context_memfd(fd) || syscall(SYS_fstat, fd, &st) < 0)
		goto out;
	f = fdtab_add(fd, st.st_dev, st.st_ino);
	if (f && attach(fd, f)) {
		device_closed(fd);
		f = NULL;
	}
out:
	errno = saved;
	return f;
}

static int64_t command(enum rnic_ctl_op op, int fd, struct file *f, uint64_t arg[4],
		       struct rnic_ctl_answer *answer)
{
	int fds[RNIC_CTL_FDS_MAX];
	int64_t ret = attach(fd, f);

	if (ret)
		return ret;
	arg[0] = f->id;
	ret = client_call(op, arg, NULL, 0, -1, answer, fds);
	if (ret == -ENOTCONN)
		return -EIO;
	if (ret >= 0)
		install(answer, fds);
	return ret;
}

int64_t device_port(int fd, struct file *f, uint64_t wanted)
{
	struct rnic_ctl_answer answer;
	uint64_t arg[4] = {0, wanted};

	return command(RNIC_CTL_PORT, fd, f, arg, &answer);
}

/* Events of rdma_cm that do not wait any more: see RNIC_CTL_WAIT. */
static void records_take(int fd, const struct rnic_ctl_answer *answer)
{
	int from = answer->fd[0].rdev ? (int)answer->fd[0].rdev - 1 : fd;
	int saved = errno;
	char record;

	if (answer->fd[0].kind != RNIC_FD_UCMA)
		return;
	for (uint64_t n = answer->fd[0].where; n; n--)
		syscall(SYS_recvfrom, from, &record, sizeof(record), MSG_DONTWAIT, NULL, NULL);
	errno = saved;
}

static void held_close(void *held)
{
	device_closed(*(int *)held);
	syscall(SYS_close, *(int *)held);
}

/* 0 when an event is there; the errors are those of a read that the program could have made. */
static int64_t event_look(int fd)
{
	int saved = errno;
	char record;
	ssize_t n = recv(fd, &record, sizeof(record), MSG_PEEK);
	int64_t ret = n > 0 ? 0 : n < 0 ? -errno : -EIO;

	errno = saved;
	return ret;
}

/* Like a write that waits it is a cancellation point. */
static int64_t event_await(int held)
{
	int64_t ret;

	pthread_cleanup_push(held_close, &held);
	ret = event_look(held);
	pthread_cleanup_pop(0);
	return ret;
}

/* Like the kernel's it goes on if another thread closes the descriptor meanwhile: held is another
 * number of the same file. */
static int64_t channel_write(int fd, uint64_t arg[4])
{
	int held = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
	struct rnic_ctl_answer answer;
	struct file *f;
	int64_t ret;

	if (held < 0)
		return -errno;
	device_dupped(fd, held);
	f = device_get(held);
	ret = f ? 0 : -EBADF; /* it was closed first */
	while (!ret) {
		answer.fd[0] = (struct rnic_ctl_fd){0};
		ret = command(RNIC_CTL_WRITE, held, f, arg, &answer);
		records_take(held, &answer);
		if (ret != RNIC_CTL_WAIT)
			break;
		ret = event_await(held);
	}
	held_close(&held);
	return ret;
}

int64_t device_write(int fd, struct file *f, const void *buf, size_t len)
{
	struct rnic_ctl_answer answer;
	uint64_t arg[4] = {0, (uintptr_t)buf, len};

	if (f->kind == RNIC_FD_UCMA)
		return channel_write(fd, arg);
	return command(RNIC_CTL_WRITE, fd, f, arg, &answer);
}

int64_t device_ioctl(int fd, struct file *f, unsigned long request, void *argp)
{
	struct rnic_ctl_answer answer;
	uint64_t arg[4] = {0, request, (uintptr_t)argp};

	return command(RNIC_CTL_IOCTL, fd, f, arg, &answer);
}

void device_closed(int fd)
{
	struct rnic_ctl_answer answer;
	int fds[RNIC_CTL_FDS_MAX];
	struct file last;
	uint64_t arg[4] = {0};

	if (client_is_vfork_child() || !fdtab_clear(fd, &last))
		return;
	if (last.db)
		munmap(last.db, RNIC_DB_SIZE);
	arg[0] = last.id;
	if (last.gen && last.gen == client_generation())
		client_call(RNIC_CTL_CLOSED, arg, NULL, 0, -1, &answer, fds);
}

void device_dupped(int from, int to)
{
	uint16_t hint = fdtab_hint(from);

	if (from == to || client_is_vfork_child())
		return;
	if (fdtab_hint(to))
		device_closed(to);
	if (hint == FDTAB_TREE)
		fdtab_mark(to, hint);
	else if (fdtab_file(hint))
		fdtab_set(to, hint);
}

/* A device may have come from another process, in a message or through an exec. */
bool device_stat(int fd, struct stat *st)
{
	struct file *f = fdtab_file(fdtab_hint(fd));

	if (f && (f->dev != st->st_dev || f->ino != st->st_ino))
		return false;
	if ((!f || !f->rdev) && client_is_vfork_child())
		return false;
	if (!f && device_like(st))
		f = device_adopt(fd);
	if (!f || (!f->rdev && attach(fd, f)) || !f->rdev)
		return false;
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = f->rdev;
	st->st_size = 0;
	st->st_blocks = 0;
	return true;
}

/* Devices that a program before exec left open. Costs 60 ns a number. */
__attribute__((constructor)) static void inherit(void)
{
	int saved = errno;

	for (int fd = 3; fd < 64; fd++) {
		struct stat st;

		if (is_context_memfd(fd) && !fdtab_hint(fd) && syscall(SYS_fstat, fd, &st) == 0)
			fdtab_add(fd, st.st_dev, st.st_ino);
	}
	errno = saved;
}
