/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a program with librnic.so before it and a daemon behind it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/ondemand.h"
#include "tools/rundir.h"
#include "tools/unserved.h"

/* As env(1) and timeout(1). */
enum { EXIT_OURS = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define HOLD_FD 950 /* above what programs use, below FD_SETSIZE */

struct options {
	const char *dir;
	bool private;
};

static void usage(FILE *to)
{
	fputs("Usage: rnic-run [OPTION]... PROGRAM [ARGUMENT]...\n"
	      "Runs PROGRAM with a RoCEv2 adapter in user space; see rnic-run(1).\n\n"
	      "  --dir DIR   the daemon's folder, instead of the first that is found\n"
	      "  --private   a daemon for this program and its children only\n"
	      "  --help, --version\n",
	      to);
}

static void __attribute__((noreturn)) fail(const char *name, const char *what)
{
	fprintf(stderr, "rnic-run: %s: %s\n", name, what);
	exit(EXIT_OURS);
}

/* The folder of this program. */
static void own_folder(char *out)
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
	char *slash;

	out[n > 0 ? n : 0] = '\0';
	slash = strrchr(out, '/');
	if (slash)
		*slash = '\0';
}

/*
 * The first that exists: what the variable says, a place relative to this program (build
 * folder, or an installation that was moved), the place of installation.
 */
static void find_part(char *out, const char *variable, const char *const relative[],
		      const char *installed)
{
	const char *env = getenv(variable);
	char folder[PATH_MAX], path[2 * PATH_MAX];

	if (env && *env) {
		if (!realpath(env, out))
			fail(env, strerror(errno));
		return;
	}
	own_folder(folder);
	for (int i = 0; relative[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, relative[i]);
		if (access(path, R_OK) == 0 && realpath(path, out))
			return;
	}
	if (!realpath(installed, out))
		fail(installed, strerror(errno));
}

static void find_library(char *out)
{
	static const char *const relative[] = {
		"verbs/preload/.libs/librnic.so",
		"../verbs/preload/.libs/librnic.so",
		"../lib/" PACKAGE "/librnic.so",
		NULL,
	};

	find_part(out, "RNIC_LIBRARY", relative, RNIC_PKGLIBDIR "/librnic.so");
	if (strpbrk(out, " :"))
		fail(out, "the dynamic linker takes no path with a space or colon");
}

static void find_daemon(char *out)
{
	static const char *const relative[] = {"rnicd", "tools/rnicd", "../sbin/rnicd", NULL};

	find_part(out, "RNIC_DAEMON", relative, RNIC_SBINDIR "/rnicd");
}

static void private_folder(char *dir)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!base || stat(base, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		base = "/tmp";
	snprintf(dir, RUNDIR_MAX, "%s/rnic-private-XXXXXX", base);
	if (!mkdtemp(dir))
		fail(dir, strerror(errno));
}

/* Which daemon; its folder, absolute and there. */
static void daemon_folder(const struct options *o, char *out)
{
	char dir[RUNDIR_MAX];

	if (o->private)
		private_folder(dir);
	else if (o->dir)
		snprintf(dir, sizeof(dir), "%s", o->dir);
	else
		rundir_find(dir);
	if ((mkdir(dir, 0700) && errno != EEXIST) || !realpath(dir, out))
		fail(dir, strerror(errno));
}

/* The program and its children keep it open: the daemon stays while any of them lives. */
static void hold(int fd)
{
	struct rlimit limit;
	int base = HOLD_FD, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HOLD_FD)
		base = limit.rlim_cur / 2;
	high = fcntl(fd, F_DUPFD, base);
	if (high < 0)
		fail("the connection to the daemon", strerror(errno));
	close(fd);
}

static void preload(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *all;

	if (!old || !*old) {
		setenv("LD_PRELOAD", library, 1);
		return;
	}
	if (!strncmp(old, library, strlen(library)))
		return; /* rnic-run under rnic-run */
	if (asprintf(&all, "%s:%s", library, old) < 0)
		fail("LD_PRELOAD", strerror(ENOMEM));
	setenv("LD_PRELOAD", all, 1);
	free(all);
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"dir", required_argument, NULL, 'd'},
		{"private", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int code;

	while ((code = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		switch (code) {
		case 'd':
			o->dir = optarg;
			break;
		case 'p':
			o->private = true;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_SUCCESS);
		case 'v':
			puts(PACKAGE_STRING);
			exit(EXIT_SUCCESS);
		default:
			usage(stderr);
			exit(EXIT_OURS);
		}
	}
	if (optind < argc && !(o->dir && o->private))
		return;
	usage(stderr);
	exit(EXIT_OURS);
}

int main(int argc, char **argv)
{
	char dir[PATH_MAX], library[PATH_MAX], rnicd[PATH_MAX];
	struct options o = {NULL, false};
	struct ondemand demand = {.dir = dir, .rnicd = rnicd};
	const char *why;
	int fd;

	parse(argc, argv, &o);
	find_library(library);
	find_daemon(rnicd);
	daemon_folder(&o, dir);
	demand.private = o.private;
	fd = ondemand_connect(&demand);
	if (fd < 0 && o.private) /* else the daemon does it */
		rundir_remove(dir);
	if (fd < 0)
		return EXIT_OURS;
	hold(fd);
	setenv("RNIC_DIR", dir, 1);
	preload(library);
	why = unserved(argv[optind]);
	if (why)
		fprintf(stderr, "rnic-run: %s %s: it runs, but sees no device\n", argv[optind],
			why);
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "rnic-run: %s: %s\n", argv[optind], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}
