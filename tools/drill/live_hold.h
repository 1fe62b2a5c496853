/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device that is a process can be held while a burst is sent, so that it finds the burst whole:
 * over UDP its packets would come apart.
 */
#ifndef DRILL_LIVE_HOLD_H
#define DRILL_LIVE_HOLD_H

#include <sys/types.h>

/* Stops the process, and returns when it has stopped; -1 and errno where it cannot be. */
int live_hold(pid_t pid);
/* Lets it go on. */
void live_release(pid_t pid);

#endif
