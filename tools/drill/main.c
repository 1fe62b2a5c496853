/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rnic-drill: runs scripts of verbs and packets. See rnic-drill(1). */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_agent.h"
#include "run.h"
#include "side_live.h"

struct options {
	bool verbose, live;
	const char *serve, *free;
	struct live_options how;
};

static void usage(FILE *f)
{
	fputs("Usage: rnic-drill [-v] FILE...                          in virtual time, in "
	      "process\n"
	      "       rnic-drill --live [--device D] [-v] FILE...      on a device of this host\n"
	      "       rnic-drill --peer HOST:PORT [-v] FILE...         on a device of another\n"
	      "       rnic-drill --serve PORT [--device D]             the other's half of that\n"
	      "  -v, --verbose  each line with its time, and the device's log\n"
	      "  --address A    the address of the peer that the script plays\n"
	      "  --other A      its second address\n"
	      "  --hold PID     the device's process, to be stopped while a burst is sent\n"
	      "  --free F,...   packet fields that need not be as usual, events that need not be\n"
	      "  --help, --version\n",
	      f);
}

static const struct option options[] = {
	{"verbose", no_argument, NULL, 'v'},	   {"help", no_argument, NULL, 'h'},
	{"live", no_argument, NULL, 'l'},	   {"device", required_argument, NULL, 'd'},
	{"peer", required_argument, NULL, 'p'},	   {"serve", required_argument, NULL, 's'},
	{"address", required_argument, NULL, 'a'}, {"other", required_argument, NULL, 'o'},
	{"free", required_argument, NULL, 'f'},	   {"hold", required_argument, NULL, 'H'},
	{"version", no_argument, NULL, 'V'},	   {NULL, 0, NULL, 0},
};

/* Negative: go on. */
static int options_read(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "vhld:p:s:a:o:f:H:", options, NULL)) != -1) {
		switch (opt) {
		case 'v':
			o->verbose = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			puts(PACKAGE_STRING);
			return 0;
		case 'l':
			o->live = true;
			break;
		case 'd':
			o->how.device = optarg;
			break;
		case 'p':
			o->how.peer = optarg;
			o->live = true;
			break;
		case 's':
			o->serve = optarg;
			break;
		case 'a':
			o->how.address = optarg;
			break;
		case 'o':
			o->how.other = optarg;
			break;
		case 'f':
			o->free = optarg;
			break;
		case 'H':
			o->how.hold = (pid_t)atoi(optarg);
			break;
		default:
			usage(stderr);
			return 2;
		}
	}
	if ((optind == argc) == !o->serve) {
		usage(stderr);
		return 2;
	}
	return -1;
}

/* "# Needs: virtual" in the head of a script; told to the caller's line, "" if not there. */
static void needs_read(const char *file, char *why, size_t size)
{
	static const char needs[] = "# Needs:";
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t room = 0;

	why[0] = '\0';
	while (f && getline(&line, &room, f) >= 0 && line[0] == '#') {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, needs, strlen(needs)))
			snprintf(why, size, "%s", line + strlen(needs));
	}
	free(line);
	if (f)
		fclose(f);
}

static bool file_run(struct side *side, const struct options *o, const char *file)
{
	static struct run run;
	char why[200];
	bool held;

	needs_read(file, why, sizeof(why));
	if (o->live && (strstr(why, "virtual") || (o->how.peer && strstr(why, "rnicd")))) {
		printf("skip %s #%s\n", file, why);
		return true;
	}
	held = run_file(&run, side, file, o->verbose);
	printf("%s %s\n", held ? "ok" : "not ok", file);
	if (!held)
		printf("%s\n", run.failure);
	fflush(stdout);
	return held;
}

/* In a process of its own, so that a core which aborts costs this script and not the others. */
static bool file_run_virtual(const struct options *o, const char *file)
{
	struct side *side;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		bool held;

		/* A core that never ends ends with whoever waits for it no more. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		side = side_virtual(o->verbose);
		side->free = o->free;
		held = file_run(side, o, file);
		side->end(side);
		exit(held ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		printf("not ok %s\n%s\n", file, strerror(errno));
		return false;
	}
	if (WIFSIGNALED(status))
		printf("not ok %s\n%s: the core ended with signal %d\n", file, file,
		       WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	unsigned int failed = 0;
	struct side *side = NULL;
	int ret = options_read(&o, argc, argv);

	if (ret >= 0)
		return ret;
	if (o.serve)
		return live_agent_exec(o.serve, o.how.device);
	if (o.live) {
		side = side_live(&o.how);
		if (!side)
			return 2;
		side->free = o.free;
	}
	for (int i = optind; i < argc; i++)
		failed += !(side ? file_run(side, &o, argv[i]) : file_run_virtual(&o, argv[i]));
	if (side)
		side->end(side);
	return failed ? 1 : 0;
}
