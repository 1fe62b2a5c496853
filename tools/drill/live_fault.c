/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs rnicctl, whose daemon is the device's. */
#include "config.h"

#include "live_fault.h"

#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_agent.h"

/* Its exit status; what it writes goes to `said`. */
static int ctl_run(const char *const argv[], char *said, size_t size)
{
	posix_spawn_file_actions_t actions;
	size_t len = 0;
	int ends[2], status = -1, failed;
	ssize_t n = 1;
	pid_t pid;

	if (pipe(ends))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	failed =
		posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (!failed && n > 0 && len < size - 1) {
		n = read(ends[0], said + len, size - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	said[len] = '\0';
	close(ends[0]);
	if (!failed)
		waitpid(pid, &status, 0);
	return status;
}

int live_fault(const char *verb, const char *device, const char *rule, struct args *reply)
{
	char path[PATH_MAX], said[512];
	const char *argv[] = {path, "fault", verb, device, rule, NULL};

	args_parse(reply, "");
	if (!device) {
		args_wrong(reply, "fault rules need an rnicd of this host, and --device");
		return -1;
	}
	live_program_path("rnicctl", DRILL_BINDIR, path, sizeof(path));
	if (ctl_run(argv, said, sizeof(said)) == 0)
		return 0;
	args_wrong(reply, "rnicctl fault %s: %s", verb, said);
	return -1;
}
