/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finding or starting the daemon is done under an exclusive lock of DIR/lock. A daemon that
 * wants to end takes the same lock first and keeps it until it is gone; so whoever has
 * connected under the lock has a daemon that stays.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/ondemand.h"
#include "tools/rundir.h"
#include "verbs/abi/control.h"

#define START_MS 20000
#define LOG_TAIL 2000

static int complain(const char *what, const char *name)
{
	fprintf(stderr, "rnic-run: %s: %s: %s\n", name, what, strerror(errno));
	return -1;
}

/* ---- the folder ---- */

static bool uid_trusted(uid_t uid)
{
	const char *extra = getenv("RNIC_TRUST_UID");

	return uid == 0 || uid == geteuid() || (extra && *extra && uid == strtoul(extra, NULL, 10));
}

static int folder_open(const char *dir)
{
	struct stat st;
	int fd;

	fd = open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return complain("cannot open the daemon's folder", dir);
	if (uid_trusted(st.st_uid) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	fprintf(stderr, "rnic-run: %s belongs to another user, or others may write there\n", dir);
	return -1;
}

/* ---- a connection that says HELLO ---- */

static int address(int folder, struct sockaddr_un *sa)
{
	*sa = (struct sockaddr_un){.sun_family = AF_UNIX};
	return snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", folder,
			RNIC_CTL_SOCKET);
}

static int send_hello(int fd, const int mem[2])
{
	struct rnic_ctl_hello hello = {.version = RNIC_CTL_VERSION, .pid = getpid()};
	struct rnic_ctl_request req = {.op = RNIC_CTL_HELLO, .len = sizeof(hello)};
	union {
		char buf[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov[2] = {{&req, sizeof(req)}, {&hello, sizeof(hello)}};
	struct msghdr msg = {.msg_iov = iov,
			     .msg_iovlen = 2,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof(control.buf)};

	prctl(PR_GET_NAME, hello.comm);
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(&control.align), mem, 2 * sizeof(int));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* The daemon knows us; the capability to our memory ends with exec. 0 or -1. */
static int say_hello(int fd)
{
	struct rnic_ctl_answer answer = {.ret = -1};
	int mem[2] = {open("/proc/self/mem", O_RDWR | O_CLOEXEC),
		      open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	int ret = -1;

	if (mem[0] >= 0 && mem[1] >= 0 && send_hello(fd, mem) == 0 &&
	    recv(fd, &answer, sizeof(answer), 0) == sizeof(answer) && answer.ret >= 0)
		ret = 0;
	close(mem[0]);
	close(mem[1]);
	return ret;
}

/* -1 with errno ECONNREFUSED or ENOENT if there is no daemon. */
static int try_connect(int folder)
{
	struct sockaddr_un sa;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	address(folder, &sa);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* ---- starting ---- */

static int notify_socket(char *name, size_t size)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sa.sun_family);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len))
		return -1;
	len = sizeof(sa);
	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return -1;
	snprintf(name, size, "@%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path) - 1),
		 sa.sun_path + 1);
	return fd;
}

/* In the process that becomes the daemon: nothing of ours but `alive` and the log. */
static void __attribute__((noreturn))
become_daemon(const struct ondemand *o, int log, int alive, const char *notify)
{
	const char *argv[] = {
		o->rnicd, "--dir", o->dir, "--on-demand", o->private ? "--private" : NULL, NULL};
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	alive = fcntl(alive, F_DUPFD, 3);
	dup2(alive, 3);
	closefrom(4);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	unsetenv("LD_PRELOAD");
	unsetenv("RNIC_DIR");
	setenv("NOTIFY_SOCKET", notify, 1);
	if (chdir("/") == 0)
		execv(o->rnicd, (char **)argv);
	fprintf(stderr, "%s: %s\n", o->rnicd, strerror(errno));
	_exit(127);
}

/* The daemon is nobody's child, so that no program waits for it. Returns what ends with it. */
static int spawn(const struct ondemand *o, int log, const char *notify)
{
	int alive[2], status;
	pid_t pid;

	if (pipe2(alive, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			become_daemon(o, log, alive[1], notify);
		_exit(pid < 0);
	}
	close(alive[1]);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return alive[0];
	close(alive[0]);
	return -1;
}

static void show_log(int log)
{
	char buf[LOG_TAIL];
	off_t size = lseek(log, 0, SEEK_END);
	ssize_t n = pread(log, buf, sizeof(buf), size > LOG_TAIL ? size - LOG_TAIL : 0);

	if (n > 0 && write(STDERR_FILENO, buf, n) < 0)
		return;
}

/* Until the daemon is ready (0), or ended or silent (-1). */
static int wait_ready(int notify, int alive)
{
	struct pollfd p[2] = {{notify, POLLIN, 0}, {alive, POLLIN, 0}};
	int n;

	do
		n = poll(p, 2, START_MS);
	while (n < 0 && errno == EINTR);
	return n > 0 && (p[0].revents & POLLIN) ? 0 : -1;
}

/* Returns a connection to it, or to one that somebody else has started meanwhile. */
static int start(const struct ondemand *o, int folder)
{
	char name[128];
	int log =
		openat(folder, RUNDIR_LOG, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	int notify = notify_socket(name, sizeof(name)), alive = -1, fd = -1;

	if (log < 0 || notify < 0) {
		complain("cannot start a daemon there", o->dir);
		goto out;
	}
	alive = spawn(o, log, name);
	if (alive < 0) {
		complain("cannot be started", o->rnicd);
		goto out;
	}
	if (wait_ready(notify, alive) == 0) {
		fd = try_connect(folder);
		if (fd < 0)
			complain("the daemon does not answer", o->dir);
		goto out;
	}
	fd = try_connect(folder);
	if (fd < 0) {
		fprintf(stderr, "rnic-run: the daemon (%s) did not start:\n", o->rnicd);
		show_log(log);
	}
out:
	if (log >= 0)
		close(log);
	if (notify >= 0)
		close(notify);
	if (alive >= 0)
		close(alive);
	return fd;
}

/* Lock held. */
static int connect_or_start(const struct ondemand *o, int folder)
{
	int fd = try_connect(folder);

	if (fd < 0 && errno != ENOENT && errno != ECONNREFUSED)
		return complain("cannot connect to the daemon", o->dir);
	if (fd < 0)
		fd = start(o, folder);
	if (fd < 0 || say_hello(fd) == 0)
		return fd;
	complain("the daemon does not answer", o->dir);
	close(fd);
	return -1;
}

int ondemand_connect(const struct ondemand *o)
{
	int folder = folder_open(o->dir), lock, fd;

	if (folder < 0)
		return -1;
	lock = openat(folder, RUNDIR_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0 && errno != EACCES) {
		close(folder);
		return complain("cannot be locked", o->dir);
	}
	/* A daemon of another user, which does not end on demand, needs no lock. */
	while (lock >= 0 && flock(lock, LOCK_EX) && errno == EINTR)
		;
	fd = connect_or_start(o, folder);
	if (lock >= 0)
		close(lock);
	close(folder);
	return fd;
}
