/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which folder the daemon of this user and network namespace has its socket, and what else is
 * there. */
#include "config.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/rundir.h"
#include "verbs/abi/control.h"

/* Is the process in our network namespace? Yes if we may not know. */
static bool same_namespace(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat("/proc/self/ns/net", &own) || stat(path, &other) || own.st_ino == other.st_ino;
}

/* Does a daemon answer there, for the network that we are in? */
static bool answers(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct ucred cred;
	socklen_t len = sizeof(cred);
	bool ok;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, dir);
	ok = fd >= 0 && !connect(fd, (struct sockaddr *)&sa, sizeof(sa)) &&
	     !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && same_namespace(cred.pid);
	if (fd >= 0)
		close(fd);
	return ok;
}

void rundir_find(char *dir)
{
	const char *env = getenv("RNIC_DIR"), *run = getenv("XDG_RUNTIME_DIR");
	struct stat ns = {0}, st;

	if (env && *env) {
		snprintf(dir, RUNDIR_MAX, "%s", env);
		return;
	}
	if (answers(RUNDIR_SYSTEM)) {
		snprintf(dir, RUNDIR_MAX, "%s", RUNDIR_SYSTEM);
		return;
	}
	if (stat("/proc/self/ns/net", &ns))
		ns.st_ino = 0;
	if (run && *run == '/' && !stat(run, &st) && st.st_uid == geteuid())
		snprintf(dir, RUNDIR_MAX, "%s/rnic-%lu", run, (unsigned long)ns.st_ino);
	else
		snprintf(dir, RUNDIR_MAX, "/tmp/rnic-%u-%lu", geteuid(), (unsigned long)ns.st_ino);
}

void rundir_remove(const char *dir)
{
	static const char *const names[] = {RUNDIR_LOG, RUNDIR_LOCK, RUNDIR_CLAIM};
	int fd = open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(fd, names[i], 0);
	if (fd >= 0)
		close(fd);
	rmdir(dir);
}
