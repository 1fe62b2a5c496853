/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client's process may do, as the kernel would decide it: by its capabilities. */
#ifndef KERNEL_CAPABILITY_H
#define KERNEL_CAPABILITY_H

#include <stdbool.h>
#include <sys/types.h>

#define CAPABILITY_NET_BIND_SERVICE 10

/*
 * Is this capability effective in the process, now, and one of this daemon's user namespace? uid:
 * the process's as its socket tells it, which decides where the process is not to be looked at.
 */
bool capability_has(pid_t pid, uid_t uid, unsigned int capability);

/* The same of the text of a /proc/PID/status; for tests. */
bool capability_in_status(const char *status, unsigned int capability);

#endif
