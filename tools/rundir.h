/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which folder the daemon of this user and network namespace has its socket. */
#ifndef TOOLS_RUNDIR_H
#define TOOLS_RUNDIR_H

#include <limits.h>

#define RUNDIR_MAX PATH_MAX
#define RUNDIR_SYSTEM "/run/rnic"

/*
 * $RNIC_DIR; else /run/rnic if a daemon of this network namespace answers there; else a folder
 * of this user and network namespace under $XDG_RUNTIME_DIR or /tmp, which need not exist. dir has
 * RUNDIR_MAX bytes.
 */
void rundir_find(char *dir);

#endif
