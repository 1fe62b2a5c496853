/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends one command to the daemon and prints what it answers. */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/explain.h"
#include "tools/rundir.h"
#include "verbs/abi/control.h"

static void usage(FILE *to)
{
	fputs("Usage: rnicctl [--dir DIR] [--json] COMMAND\n\n"
	      "  link show [DEVICE]   devices, their interfaces, addresses and ways of sending\n"
	      "  stat [DEVICE]        counters and numbers of objects\n"
	      "  qp [DEVICE]          queue pairs: state, peer, PSNs, outstanding requests\n"
	      "  explain CAPTURE      a capture file in words, no daemon needed\n\n"
	      "See rnicctl(8).\n",
	      to);
}

static int daemon_connect(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, dir) >=
		    (int)sizeof(sa.sun_path) ||
	    connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		int rc = errno ? -errno : -ENAMETOOLONG;

		close(fd);
		return rc;
	}
	return fd;
}

static int command_send(int fd, char **words, int n, bool json)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_ADMIN, .arg = {json}};
	char data[RNIC_CTL_DATA_MAX];
	struct iovec iov[2] = {{&req, sizeof(req)}, {data, 0}};

	for (int i = 0; i < n; i++) {
		size_t len = strlen(words[i]) + 1;

		if (len > sizeof(data) - req.len)
			return -E2BIG;
		memcpy(data + req.len, words[i], len);
		req.len += (uint32_t)len;
	}
	iov[1].iov_len = req.len;
	return writev(fd, iov, 2) < 0 ? -errno : 0;
}

static int answer_print(int fd)
{
	char buf[sizeof(struct rnic_ctl_answer) + RNIC_CTL_DATA_MAX];
	struct rnic_ctl_answer a;

	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n < (ssize_t)sizeof(a))
			return -EPROTO;
		memcpy(&a, buf, sizeof(a));
		if (!a.len)
			return (int)a.ret;
		fwrite(buf + sizeof(a), 1, (size_t)n - sizeof(a), a.ret < 0 ? stderr : stdout);
	}
}

/* Options may stand anywhere; argv keeps the command's words. Their number; 0: wrong use; -1: help.
 */
static int arguments(int argc, char **argv, const char **dir, bool *json)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			*json = true;
		else if (!strcmp(argv[i], "--dir") && i + 1 < argc)
			*dir = argv[++i];
		else if (!strcmp(argv[i], "--help"))
			return -1;
		else if (argv[i][0] == '-')
			return 0;
		else
			argv[n++] = argv[i];
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *dir = NULL;
	char found[RUNDIR_MAX];
	bool json = false;
	int fd, rc, n = arguments(argc, argv, &dir, &json);

	if (n <= 0) {
		usage(n ? stdout : stderr);
		return n ? EXIT_SUCCESS : 2;
	}
	if (n == 2 && !strcmp(argv[0], "explain"))
		return explain_capture(argv[1]) ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!dir) {
		rundir_find(found);
		dir = found;
	}
	fd = daemon_connect(dir);
	if (fd < 0) {
		fprintf(stderr, "rnicctl: no rnicd answers in %s: %s\n", dir, strerror(-fd));
		return EXIT_FAILURE;
	}
	rc = command_send(fd, argv, n, json);
	if (!rc)
		rc = answer_print(fd);
	close(fd);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
