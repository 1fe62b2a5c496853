/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which folder the daemon of this user and network namespace has its socket. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/rundir.h"
#include "verbs/abi/control.h"

static bool has_socket(const char *dir)
{
	char path[RUNDIR_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/" RNIC_CTL_SOCKET, dir) < (int)sizeof(path) &&
	       !stat(path, &st) && S_ISSOCK(st.st_mode);
}

void rundir_find(char *dir)
{
	const char *env = getenv("RNIC_DIR"), *run = getenv("XDG_RUNTIME_DIR");
	struct stat ns = {0};

	if (env && *env) {
		snprintf(dir, RUNDIR_MAX, "%s", env);
		return;
	}
	if (has_socket(RUNDIR_SYSTEM)) {
		snprintf(dir, RUNDIR_MAX, "%s", RUNDIR_SYSTEM);
		return;
	}
	if (stat("/proc/self/ns/net", &ns))
		ns.st_ino = 0;
	if (run && *run == '/' && !access(run, W_OK))
		snprintf(dir, RUNDIR_MAX, "%s/rnic-%lu", run, (unsigned long)ns.st_ino);
	else
		snprintf(dir, RUNDIR_MAX, "/tmp/rnic-%u-%lu", geteuid(), (unsigned long)ns.st_ino);
}
