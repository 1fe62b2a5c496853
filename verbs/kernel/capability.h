/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client's process may do, as the kernel would decide it: by its capabilities. */
#ifndef KERNEL_CAPABILITY_H
#define KERNEL_CAPABILITY_H

#include <stdbool.h>
#include <sys/types.h>

#define CAPABILITY_NET_BIND_SERVICE 10

/* A process as it was when it connected. */
struct capability_holder {
	pid_t pid;
	uid_t uid;     /* the effective one, as its socket tells it */
	dev_t exe_dev; /* its program; 0 and 0 if it is not to be looked at */
	ino_t exe_ino;
};

void capability_holder_get(struct capability_holder *h, pid_t pid, uid_t uid);

/*
 * Is this capability effective in the process, now, and one of this daemon's user namespace? Not if
 * it has become another program or another user since, or its pid another process's: by a set-uid
 * program a client would get what is not its own, while another process goes on with its memory and
 * its connection. Where the process is not to be looked at its uid decides.
 */
bool capability_has(const struct capability_holder *h, unsigned int capability);

/* The same of the text of a /proc/PID/status; for tests. */
bool capability_in_status(const char *status, uid_t euid, unsigned int capability);

#endif
