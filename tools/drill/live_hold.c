/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stops a process and lets it go on. */
#include "config.h"

#include "live_hold.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The letter of its state, behind a name that may have any letters; 0: there is no such process. */
static char state_of(pid_t pid)
{
	char path[40], line[512];
	const char *end;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "re");
	if (!f)
		return '\0';
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

int live_hold(pid_t pid)
{
	char state;

	if (kill(pid, SIGSTOP) < 0)
		return -1;
	while ((state = state_of(pid)) != 'T') {
		if (state == '\0' || state == 'Z') {
			errno = ESRCH;
			return -1;
		}
		sched_yield();
	}
	return 0;
}

void live_release(pid_t pid)
{
	kill(pid, SIGCONT);
}
