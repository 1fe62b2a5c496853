/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rules of librnic.so, each checked in a process of its own under LD_PRELOAD against a fake
 * daemon: `face` runs all, `face RULE` is what the process runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/fake_daemon.h"
#include "tests/preload/face.h"

static char dir[64];

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fs/%s", dir, name);
	f = fopen(path, "w");
	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	REQUIRE(mkdir(path, 0755) == 0);
}

static void tree_make(void)
{
	static const char *const folders[] = {
		"fs",
		"fs/sys",
		"fs/sys/class",
		"fs/sys/class/infiniband",
		"fs/sys/class/infiniband_verbs",
		"fs/sys/devices",
		"fs/sys/devices/virtual",
		"fs/sys/devices/virtual/infiniband",
		"fs/sys/devices/virtual/infiniband/rxe0",
		"fs/dev",
		"fs/dev/infiniband",
	};
	char path[256];

	strcpy(dir, "/tmp/rnic-face-XXXXXX");
	REQUIRE(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(folders[i]);
	put("sys/devices/virtual/infiniband/rxe0/node_type", "1: CA\n");
	put("dev/infiniband/uverbs0", "c 231 192 666\n");
	snprintf(path, sizeof(path), "%s/fs/sys/class/infiniband/rxe0", dir);
	REQUIRE(symlink("../../devices/virtual/infiniband/rxe0", path) == 0);
}

static void tree_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	REQUIRE(system(command) == 0);
}

static pid_t daemon_start(int *stop)
{
	int pipe_fds[2], listener = fake_daemon_listen(dir);
	pid_t pid;

	REQUIRE(pipe2(pipe_fds, O_CLOEXEC) == 0);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		close(pipe_fds[1]);
		fake_daemon_run(listener, pipe_fds[0]);
	}
	close(pipe_fds[0]);
	close(listener);
	*stop = pipe_fds[1];
	return pid;
}

static int run_client(const char *self, const char *rule, const char *lib)
{
	pid_t pid = fork();
	int status;

	REQUIRE(pid >= 0);
	if (pid == 0) {
		setenv("RNIC_DIR", dir, 1);
		setenv("LD_PRELOAD", lib, 1);
		alarm(300);
		execl(self, self, rule, (char *)NULL);
		_exit(127);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	return status;
}

static bool rule_holds(const char *self, const struct rule *rule, const char *lib)
{
	int stop, status, ended;
	pid_t pid;

	tree_make();
	pid = daemon_start(&stop);
	status = run_client(self, rule->name, lib);
	close(stop);
	REQUIRE(waitpid(pid, &ended, 0) == pid);
	tree_remove();
	printf("%s %s\n", status || ended ? "not ok" : "ok", rule->name);
	return !status && !ended;
}

int device_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	REQUIRE(fd >= 0);
	return fd;
}

uint64_t ask(int fd, uint32_t op, uint64_t value)
{
	uint64_t out = 0xdead;
	struct fake_command cmd = {op, 0, value, (uintptr_t)&out};

	REQUIRE(write(fd, &cmd, sizeof(cmd)) == sizeof(cmd));
	return out;
}

int main(int argc, char **argv)
{
	const struct rule *const lists[] = {tree_rules, rules};
	bool ok = true, client = argc == 2 && getenv("LD_PRELOAD");

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 2; i++)
		for (const struct rule *r = lists[i]; r->name; r++) {
			if (argc == 2 && strcmp(argv[1], r->name))
				continue;
			if (client) {
				r->check();
				return 0;
			}
			ok &= rule_holds("/proc/self/exe", r, LIBRNIC);
		}
	return !ok;
}
