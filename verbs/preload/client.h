/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * This process's session with the daemon: trust, HELLO, and calls over a pool of connections.
 * Everything here uses raw system calls, allocates nothing and keeps errno, so that it can run
 * under any program. A fork child begins a session of its own; a vfork child uses its parent's,
 * whose memory it shares.
 */
#ifndef PRELOAD_CLIENT_H
#define PRELOAD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/abi/control.h"

/* Is a daemon there? Begins the session if there is none yet. */
bool client_ready(void);
/* The daemon's folder as given, and without symbolic links; valid once client_ready(). */
const char *client_dir(void);
const char *client_real_dir(void);
/* Names the session; another number after fork or a new daemon. 0: none. */
uint32_t client_generation(void);
/* Are we a vfork child, whose descriptors are its own but whose memory is the parent's? */
bool client_is_vfork_child(void);

/*
 * One call. -errno or what the daemon returned; fds (of answer->fd) are close-on-exec and the
 * caller's. -ENOTCONN: no daemon, or it went away during the call.
 */
int64_t client_call(enum rnic_ctl_op op, const uint64_t arg[4], const void *data, size_t len,
		    int pass_fd, struct rnic_ctl_answer *answer, int fds[RNIC_CTL_FDS_MAX]);

/* The daemon of this session is dead: found without a system call. */
bool client_daemon_died(void);

/* Wake the daemon if it sleeps: after doorbell_kick(). */
void client_wake(void);

/* Move a descriptor of ours out of the program's way: dup2() wants its number. */
void client_evade(int fd);

/* One line on stderr, if RNIC_DEBUG is set or `always`. */
void client_say(bool always, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
