/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Copying between a command and the process that gave it.
 *
 * Reads are remembered, so that a command that is run again because a later read was pending finds
 * them; writes are kept until the command has succeeded, as what the kernel does last. So each
 * access is an operation of its own: none is made again once it is done. Likewise checks of ranges
 * are counted, and what was found right is not looked at again.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/kernel/context.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/umem.h"
#include "verbs/kernel/umem_slow.h"

#define CALL_BYTES_MAX (1u << 20) /* of all copies of one command */

struct copy {
	struct copy *next;
	uint64_t addr;
	size_t len;
	uint8_t data[];
};

#define CALL_FDS_MAX 8

/* A descriptor number of the process that the command has named. */
struct named_fd {
	int32_t number;
	bool known;
	uint64_t id; /* of the channel; 0: none of ours */
};

struct call_io {
	struct named_fd fd[CALL_FDS_MAX];
	uint32_t n_fds;
	struct copy *reads, *writes, **writes_tail;
	size_t bytes;
	struct umem *awaited;	   /* memory that it waits for beside its session's; or NULL */
	uint32_t checks, n_checks; /* of this run; that were found right */
	uint32_t looks;		   /* left to this run, at mappings */
};

struct call_io *call_io_create(void)
{
	struct call_io *io = calloc(1, sizeof(*io));

	if (io)
		io->writes_tail = &io->writes;
	return io;
}

static void copies_free(struct copy **list)
{
	while (*list) {
		struct copy *c = *list;

		*list = c->next;
		free(c);
	}
}

void call_io_destroy(struct call_io *io)
{
	if (!io)
		return;
	umem_put(io->awaited);
	copies_free(&io->reads);
	copies_free(&io->writes);
	free(io);
}

void call_io_begin(struct call_io *io)
{
	copies_free(&io->writes);
	io->writes_tail = &io->writes;
	io->checks = 0;
	io->looks = UMEM_LOOKS;
}

static struct copy *copy_new(struct call_io *io, uint64_t addr, size_t len)
{
	struct copy *c;

	if (len > CALL_BYTES_MAX - io->bytes)
		return NULL;
	c = malloc(sizeof(*c) + len);
	if (!c)
		return NULL;
	c->next = NULL;
	c->addr = addr;
	c->len = len;
	io->bytes += len;
	return c;
}

int call_read(struct call *call, void *dst, uint64_t addr, size_t len)
{
	struct call_io *io = call->io;
	struct iovec iov = {.iov_base = dst, .iov_len = len};
	struct copy *c;
	int rc;

	if (!len)
		return 0;
	for (c = io->reads; c; c = c->next)
		if (c->addr == addr && c->len == len) {
			memcpy(dst, c->data, len);
			return 0;
		}
	c = copy_new(io, addr, len);
	if (!c)
		return -ENOMEM;
	umem_operation_begin();
	rc = umem_look(session_umem(call->session), addr, len, &io->looks) ? 0 : -EINPROGRESS;
	if (!rc) {
		umem_operation_begin();
		rc = umem_readv(session_umem(call->session), addr, &iov, 1);
	}
	if (rc) {
		io->bytes -= len;
		free(c);
		return rc;
	}
	memcpy(c->data, dst, len);
	c->next = io->reads;
	io->reads = c;
	return 0;
}

int call_write(struct call *call, uint64_t addr, const void *src, size_t len)
{
	struct call_io *io = call->io;
	struct copy *c;
	int rc;

	if (!len)
		return 0;
	rc = umem_check_output(session_umem(call->session), addr, len);
	if (rc)
		return rc;
	c = copy_new(io, addr, len);
	if (!c)
		return -ENOMEM;
	memcpy(c->data, src, len);
	*io->writes_tail = c;
	io->writes_tail = &c->next;
	return 0;
}

int call_check(struct call *call, struct umem *u, uint64_t addr, uint64_t len, bool write)
{
	struct call_io *io = call->io;
	bool slow;
	int rc;

	u = umem_base(u);
	if (io->checks++ < io->n_checks)
		return 0;
	umem_operation_begin();
	rc = umem_check(u, addr, len, write, &io->looks, &slow);
	if (!rc)
		io->n_checks++;
	if (rc == -EINPROGRESS && io->awaited != u) {
		umem_put(io->awaited);
		io->awaited = umem_get(u);
	}
	return rc;
}

bool call_awaits(const struct call *call, const struct umem *u)
{
	return u == session_umem(call->session) || call->io->awaited == u;
}

/* The id of what the process has under this number, 0 for what is none of ours. */
static int call_named_fd(struct call *call, int32_t fd, uint64_t *id)
{
	struct call_io *io = call->io;
	uint32_t i;

	for (i = 0; i < io->n_fds && io->fd[i].number != fd; i++)
		;
	if (i == CALL_FDS_MAX)
		return -EBADF;
	if (i == io->n_fds)
		io->fd[io->n_fds++] = (struct named_fd){.number = fd};
	if (!io->fd[i].known)
		return -EINPROGRESS;
	*id = io->fd[i].id;
	return 0;
}

int call_channel(struct call *call, int32_t fd, struct channel **ch)
{
	uint64_t id;
	int rc = call_named_fd(call, fd, &id);

	if (rc)
		return rc;
	*ch = id ? channel_find(id) : NULL;
	return *ch ? 0 : -EBADF;
}

int call_ucma(struct call *call, int32_t fd, struct ucma_file **file)
{
	uint64_t id;
	int rc = call_named_fd(call, fd, &id);

	if (rc)
		return rc;
	*file = id ? ucma_find(call->kernel, id) : NULL;
	return *file ? 0 : -EINVAL;
}

bool call_needs_fd(const struct call *call, int32_t *number)
{
	for (uint32_t i = 0; i < call->io->n_fds; i++)
		if (!call->io->fd[i].known) {
			*number = call->io->fd[i].number;
			return true;
		}
	return false;
}

void call_fd_came(struct call *call, uint64_t id)
{
	for (uint32_t i = 0; i < call->io->n_fds; i++)
		if (!call->io->fd[i].known) {
			call->io->fd[i].known = true;
			call->io->fd[i].id = id;
			return;
		}
}

int call_io_finish(struct call *call)
{
	struct call_io *io = call->io;

	while (io->writes) {
		struct copy *c = io->writes;
		struct iovec iov = {.iov_base = c->data, .iov_len = c->len};
		int rc;

		umem_operation_begin();
		rc = umem_writev(session_umem(call->session), c->addr, &iov, 1);

		if (rc)
			return rc;
		io->writes = c->next;
		free(c);
	}
	io->writes_tail = &io->writes;
	return 0;
}

int call_pass_fd(struct call *call, int fd, const struct rnic_ctl_fd *info)
{
	if (call->n_fds == RNIC_CTL_FDS_MAX) {
		close(fd);
		return -ENOSPC;
	}
	call->fds[call->n_fds] = fd;
	call->fd_info[call->n_fds++] = *info;
	return 0;
}
