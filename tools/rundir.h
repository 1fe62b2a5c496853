/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which folder the daemon of this user and network namespace has its socket, and what else is
 * there. */
#ifndef TOOLS_RUNDIR_H
#define TOOLS_RUNDIR_H

#include <limits.h>

#define RUNDIR_MAX PATH_MAX
#define RUNDIR_SYSTEM "/run/rnic"

#define RUNDIR_LOG "log"	  /* of a daemon that rnic-run has started */
#define RUNDIR_LOCK "lock"	  /* held while one is looked for, started, or ends on demand */
#define RUNDIR_CLAIM "rnicd.lock" /* held by the daemon that serves there */

/*
 * $RNIC_DIR; else /run/rnic if a daemon of this network namespace answers there; else a folder
 * of this user and network namespace under $XDG_RUNTIME_DIR or /tmp, which need not exist. dir has
 * RUNDIR_MAX bytes.
 */
void rundir_find(char *dir);

/* A folder that was made for one daemon, which is gone, or as good as. */
void rundir_remove(const char *dir);

#endif
