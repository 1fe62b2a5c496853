/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Client processes. The server accepts connections, reads requests and answers them; a session is
 * one process, with the capability to its memory. A request runs to its end in one go, or stops
 * at a memory access that is pending and is run again from its beginning: commands therefore read
 * all their input (umem_read) before they change anything, and what they write (umem_write) is kept
 * and done at the end.
 */
#ifndef KERNEL_SESSION_H
#define KERNEL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/abi/control.h"

struct channel;
struct context;
struct kernel;
struct session;
struct ucma_file;
struct umem;

/* One request under way. */
struct call {
	struct session *session;
	struct kernel *kernel;
	const struct rnic_ctl_request *req;
	const uint8_t *data;
	/* What goes back beside ret; fds are closed here after the answer is sent. */
	uint32_t n_fds;
	int fds[RNIC_CTL_FDS_MAX];
	struct rnic_ctl_fd fd_info[RNIC_CTL_FDS_MAX];
	/* private to session.c and umem.c */
	struct call_io *io;
};

/*
 * Copy from and to the calling process, as copy_from_user and copy_to_user do. 0, -EFAULT, or
 * -EINPROGRESS: return at once with this value; the whole command will be run again.
 */
int call_read(struct call *call, void *dst, uint64_t addr, size_t len);
/* Kept until the command is over; fails the call with -EFAULT then if it cannot be written. Ranges
 * are checked for being writable at once. */
int call_write(struct call *call, uint64_t addr, const void *src, size_t len);

/*
 * Is this memory mapped, and writable if `write`? 0, -EFAULT, or -EINPROGRESS as above; what it has
 * answered once with 0 it answers again when the command is run again, in the same order.
 */
int call_check(struct call *call, struct umem *u, uint64_t addr, uint64_t len, bool write);

/*
 * The completion channel or async descriptor that the process has under this number; no reference
 * is taken. -EBADF if it is none of ours; -EINPROGRESS while the process is asked for it
 * (RNIC_CTL_NEED_FD).
 */
int call_channel(struct call *call, int32_t fd, struct channel **ch);

/* Likewise an event channel of rdma_cm; -EINVAL if it is none. */
int call_ucma(struct call *call, int32_t fd, struct ucma_file **file);

/* A descriptor goes with the answer. Takes fd, also on error (-ENOSPC). */
int call_pass_fd(struct call *call, int fd, const struct rnic_ctl_fd *info);

/* Does the process run as root? It may then do what needs CAP_NET_RAW. */
bool session_is_root(const struct session *s);
/* The process's number as it sees itself: for display only. */
uint32_t session_pid(const struct session *s);
/* Has the process this capability now? See capability.h. */
bool session_has(const struct session *s, unsigned int capability);
/* The process's memory; MRs hold a reference. */
struct umem *session_umem(struct session *s);
const char *session_name(const struct session *s); /* "ib_write_bw[1234]" for log lines */

#endif
