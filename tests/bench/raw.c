/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Clock, sockets and child of the raw measurements; see raw.h. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

#define BUFFER_BYTES (4 << 20)

uint64_t raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void raw_die(const char *what)
{
	perror(what);
	exit(1);
}

static int socket_bind(const char *address, struct sockaddr_in *bound)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int size = BUFFER_BYTES;
	socklen_t len = sizeof(*bound);

	*bound = (struct sockaddr_in){.sin_family = AF_INET};
	if (fd < 0 || inet_pton(AF_INET, address, &bound->sin_addr) != 1)
		raw_die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		raw_die("setsockopt");
	if (bind(fd, (struct sockaddr *)bound, len) ||
	    getsockname(fd, (struct sockaddr *)bound, &len))
		raw_die("bind");
	return fd;
}

void raw_socketpair(int fds[2])
{
	struct sockaddr_in a, b;

	fds[0] = socket_bind(RAW_ADDRESS_A, &a);
	fds[1] = socket_bind(RAW_ADDRESS_B, &b);
	if (connect(fds[0], (struct sockaddr *)&b, sizeof(b)) ||
	    connect(fds[1], (struct sockaddr *)&a, sizeof(a)))
		raw_die("connect");
}

pid_t raw_fork(void)
{
	pid_t child = fork();

	if (child < 0)
		raw_die("fork");
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(RAW_LIMIT_SECONDS);
	return child;
}

void raw_join(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		raw_die("waitpid");
	if (status != 0) {
		fprintf(stderr, "the other process failed (status %#x)\n", (unsigned int)status);
		exit(1);
	}
}
