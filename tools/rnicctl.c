/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends one command to the daemon and prints what it answers. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/explain.h"
#include "tools/qpdot.h"
#include "tools/rundir.h"
#include "verbs/abi/control.h"

static void usage(FILE *to)
{
	fputs("Usage: rnicctl [--dir DIR] [--json] COMMAND\n\n"
	      "  link show [DEVICE]   devices, their interfaces, addresses and ways of sending\n"
	      "  stat [DEVICE]        counters and numbers of objects\n"
	      "  cc show [DEVICE]     parameters of congestion control\n"
	      "  cc set DEVICE NAME=VALUE...\n"
	      "  qp [DEVICE]          queue pairs: state, peer, PSNs, outstanding requests\n"
	      "  cm [DEVICE]          IDs of rdma_cm: who listens, who is connected to whom\n"
	      "  fault add DEVICE RULE | list [DEVICE] | del DEVICE ID | clear [DEVICE]\n"
	      "                       accidents of packets, as rnicctl(8) tells\n"
	      "  qp dot [--type TYPE | --qp N [DEVICE]] [--svg]\n"
	      "                       the state machine of RC, UC, UD or GSI queue pairs, or of "
	      "one\n"
	      "                       with the way that it took: Graphviz text, or a picture\n"
	      "  explain CAPTURE      a capture file in words, no daemon needed\n"
	      "  --help, --version\n\n"
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

/* The answer goes to `to`, an error's line to stderr. */
static int answer_print(int fd, FILE *to)
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
		fwrite(buf + sizeof(a), 1, (size_t)n - sizeof(a), a.ret < 0 ? stderr : to);
	}
}

struct options {
	const char *dir;
	const char *qp, *type; /* of qp dot */
	bool json, svg, help, version;
};

/* Options may stand anywhere; argv keeps the command's words. Their number, or -1: wrong use. */
static int arguments(int argc, char **argv, struct options *o)
{
	const struct {
		const char *name;
		const char **value;
		bool *flag;
	} known[] = {
		{"--json", NULL, &o->json},	  {"--dir", &o->dir, NULL},
		{"--svg", NULL, &o->svg},	  {"--qp", &o->qp, NULL},
		{"--type", &o->type, NULL},	  {"--help", NULL, &o->help},
		{"--version", NULL, &o->version},
	};
	int n = 0;

	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		if (argv[i][0] != '-') {
			argv[n++] = argv[i];
			continue;
		}
		while (k < sizeof(known) / sizeof(known[0]) && strcmp(argv[i], known[k].name))
			k++;
		if (k == sizeof(known) / sizeof(known[0]) || (known[k].value && ++i == argc))
			return -1;
		if (known[k].value)
			*known[k].value = argv[i];
		else
			*known[k].flag = true;
	}
	return n;
}

static int daemon_ask(const struct options *o, char **words, int n, FILE *to)
{
	const char *dir = o->dir;
	char found[RUNDIR_MAX];
	int fd, rc;

	if (!dir) {
		rundir_find(found);
		dir = found;
	}
	fd = daemon_connect(dir);
	if (fd < 0) {
		fprintf(stderr, "rnicctl: no rnicd answers in %s: %s\n", dir, strerror(-fd));
		return fd;
	}
	rc = command_send(fd, words, n, o->json);
	if (!rc)
		rc = answer_print(fd, to);
	close(fd);
	return rc;
}

/* Graphviz text into a picture on stdout, by the program dot. */
static int svg_print(const char *text, size_t len)
{
	char *const argv[] = {"dot", "-Tsvg", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], rc, status;
	FILE *to;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	to = rc ? NULL : fdopen(ends[1], "w");
	if (!to) {
		close(ends[1]);
		fprintf(stderr,
			"rnicctl: --svg needs the program dot (package graphviz): %s. Without "
			"--svg the picture comes as Graphviz text.\n",
			strerror(rc ? rc : errno));
		return -ENOENT;
	}
	signal(SIGPIPE, SIG_IGN); /* dot's status tells */
	fwrite(text, 1, len, to);
	fclose(to);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* qp dot [DEVICE]: of a type without a daemon, of a QP by the daemon. */
static int dot_text(const struct options *o, const char *device, FILE *to)
{
	char *words[] = {"qp", "dot", (char *)o->qp, (char *)device};
	enum rnic_qp_type type = RNIC_QPT_RC;

	if (o->qp)
		return daemon_ask(o, words, device ? 4 : 3, to);
	if (o->type && !qpdot_type_find(o->type, &type)) {
		fprintf(stderr, "rnicctl: --type %s: RC, UC, UD or GSI is wanted\n", o->type);
		return -EINVAL;
	}
	qpdot_draw_type(to, type);
	return 0;
}

static int dot_print(const struct options *o, const char *device)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	int rc;

	if (!to)
		return -ENOMEM;
	rc = dot_text(o, device, to);
	fclose(to);
	if (!rc && o->svg)
		rc = svg_print(text, len);
	else if (!rc)
		fwrite(text, 1, len, stdout);
	free(text);
	return rc;
}

static bool is_dot(int n, char **words)
{
	return (n == 2 || n == 3) && !strcmp(words[0], "qp") && !strcmp(words[1], "dot");
}

/* Do the options go together with the command? */
static bool options_fit(const struct options *o, int n, char **words)
{
	if (!is_dot(n, words))
		return n > 0 && !o->qp && !o->type && !o->svg;
	return !o->json && !(o->qp && o->type) && (n == 2 || o->qp);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	int rc, n = arguments(argc, argv, &o);

	if (o.version && !o.help && n == 0) {
		puts(PACKAGE_STRING);
		return EXIT_SUCCESS;
	}
	if (o.help || n < 0 || !options_fit(&o, n, argv)) {
		usage(o.help ? stdout : stderr);
		return o.help ? EXIT_SUCCESS : 2;
	}
	if (n == 2 && !strcmp(argv[0], "explain"))
		rc = explain_capture(argv[1]);
	else if (is_dot(n, argv))
		rc = dot_print(&o, n == 3 ? argv[2] : NULL);
	else
		rc = daemon_ask(&o, argv, n, stdout);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
