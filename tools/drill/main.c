/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rnic-drill: runs scripts of verbs and packets. See rnic-drill(1). */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static void usage(FILE *f)
{
	fputs("Usage: rnic-drill [-v] FILE...\n", f);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static struct run run;
	bool verbose = false;
	unsigned int failed = 0;
	struct side *side;
	int opt;

	while ((opt = getopt_long(argc, argv, "vh", options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt != 'v') {
			usage(stderr);
			return 2;
		}
		verbose = true;
	}
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	side = side_virtual(verbose);
	for (int i = optind; i < argc; i++) {
		bool held = run_file(&run, side, argv[i], verbose);

		printf("%s %s\n", held ? "ok" : "not ok", argv[i]);
		if (!held)
			printf("%s\n", run.failure);
		fflush(stdout);
		failed += !held;
	}
	side->end(side);
	return failed ? 1 : 0;
}
