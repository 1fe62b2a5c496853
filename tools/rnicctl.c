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
#include <sys/wait.h>
#include <unistd.h>

#include "tools/ask.h"
#include "tools/capturing.h"
#include "tools/explain.h"
#include "tools/ladder.h"
#include "tools/qpdot.h"

static void usage(FILE *to)
{
	fputs("Usage: rnicctl [--dir DIR] [--json] COMMAND\n\n"
	      "  link show [DEVICE]   devices, their interfaces, addresses and ways of sending\n"
	      "  link add DEVICE netdev INTERFACE | addr ADDRESS [mtu N] [gso MODE]\n"
	      "  link del DEVICE      its users are told that it fails\n"
	      "  link set DEVICE [mtu N] [gso MODE] [state up|down]\n"
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
	      "  capture start FILE [FILTER] [--device DEVICE]\n"
	      "                       write the packets that devices send, receive and drop to a\n"
	      "                       pcapng file, or to a pcap file (*.pcap); - is standard "
	      "output\n"
	      "  capture stop [ID]    end it; capture list shows what is under way\n"
	      "  ladder CAPTURE [--qp N] [-o FILE.svg|FILE.html|-] [--all]\n"
	      "                       the packets between two ends as a picture, or as text; no\n"
	      "                       daemon needed\n"
	      "  explain CAPTURE      a capture file in words, no daemon needed\n"
	      "  --help, --version\n\n"
	      "See rnicctl(8).\n",
	      to);
}

struct options {
	const char *dir;
	const char *qp, *type;	   /* of qp dot */
	const char *file, *device; /* of capture start */
	const char *out;	   /* of ladder */
	bool all;
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
		{"--json", NULL, &o->json},
		{"--dir", &o->dir, NULL},
		{"--svg", NULL, &o->svg},
		{"--qp", &o->qp, NULL},
		{"--type", &o->type, NULL},
		{"--help", NULL, &o->help},
		{"-o", &o->out, NULL},
		{"--all", NULL, &o->all},
		{"-w", &o->file, NULL},
		{"--device", &o->device, NULL},
		{"--version", NULL, &o->version},
	};
	int n = 0;

	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		if (argv[i][0] != '-' || !argv[i][1]) {
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
	const struct ask ask = {.dir = o->dir, .json = o->json};

	return ask_daemon(&ask, words, n, to);
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

static bool is_ladder(int n, char **words)
{
	return n == 2 && !strcmp(words[0], "ladder");
}

static bool is_capture(int n, char **words, const char *what)
{
	return n >= 2 && !strcmp(words[0], "capture") && !strcmp(words[1], what);
}

/* Do the options go together with the command? */
static bool options_fit(const struct options *o, int n, char **words)
{
	if (is_capture(n, words, "start"))
		return !o->qp && !o->type && !o->svg && !o->json && (n > 2 || o->file);
	if (o->file || o->device)
		return false;
	if (is_ladder(n, words))
		return !o->type && !o->svg && !(o->json && o->out);
	if (o->out || o->all)
		return false;
	if (!is_dot(n, words))
		return n > 0 && !o->qp && !o->type && !o->svg;
	return !o->json && !(o->qp && o->type) && (n == 2 || o->qp);
}

/* capture start FILE [FILTER...], or FILE by -w as of tcpdump. */
static int capture_start(const struct options *o, int n, char **words)
{
	const struct ask ask = {.dir = o->dir};
	int used = o->file ? 2 : 3;

	return capturing_start(&ask, o->file ? o->file : words[2], o->device, words + used,
			       n - used);
}

static int ladder_draw(const struct options *o, const char *capture)
{
	const struct ladder_options l = {
		.capture = capture, .qp = o->qp, .out = o->out, .all = o->all, .json = o->json};

	return ladder_command(&l);
}

static int command_run(const struct options *o, int n, char **words)
{
	const struct ask ask = {.dir = o->dir, .json = o->json};

	if (is_ladder(n, words))
		return ladder_draw(o, words[1]);
	if (n == 2 && !strcmp(words[0], "explain"))
		return explain_capture(words[1]);
	if (is_dot(n, words))
		return dot_print(o, n == 3 ? words[2] : NULL);
	if (is_capture(n, words, "start"))
		return capture_start(o, n, words);
	if (n <= 3 && is_capture(n, words, "stop"))
		return capturing_stop(&ask, n == 3 ? words[2] : NULL);
	return ask_daemon(&ask, words, n, stdout);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	int n = arguments(argc, argv, &o);

	if (o.version && !o.help && n == 0) {
		puts(PACKAGE_STRING);
		return EXIT_SUCCESS;
	}
	if (o.help || n < 0 || !options_fit(&o, n, argv)) {
		usage(o.help ? stdout : stderr);
		return o.help ? EXIT_SUCCESS : 2;
	}
	return command_run(&o, n, argv) ? EXIT_FAILURE : EXIT_SUCCESS;
}
