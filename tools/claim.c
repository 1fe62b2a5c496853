/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One daemon serves in a folder: whoever has its lock. The socket alone would not do, as it comes
 * after the other files of the folder, and a socket that nobody listens at stays after a crash.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tools/claim.h"
#include "tools/daemon.h"
#include "tools/rundir.h"
#include "verbs/abi/control.h"

enum { PAUSE_MS = 20, PATIENCE_MS = 10000 };

/* Does a daemon listen in this folder? */
static bool daemon_listens(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;
	bool listens;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, dir) >=
	    (int)sizeof(sa.sun_path))
		return false;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* EAGAIN: others wait there already */
	listens = fd >= 0 && (!connect(fd, (struct sockaddr *)&sa, sizeof(sa)) || errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	return listens;
}

/* Another holds the lock: it serves, or will soon, or ends and gives the lock away. */
static int lock_wait(int fd, const char *dir)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};

	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += PAUSE_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (waited >= PATIENCE_MS || daemon_listens(dir))
			return -EADDRINUSE;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int claim_folder(const char *dir)
{
	char path[PATH_MAX + sizeof("/" RUNDIR_CLAIM)];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/" RUNDIR_CLAIM, dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	rc = fd < 0 ? -errno : lock_wait(fd, dir);
	if (rc == -EADDRINUSE)
		daemon_logf("%s: another rnicd serves here", dir);
	else if (rc)
		daemon_logf("%s: %s", path, strerror(-rc));
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}
