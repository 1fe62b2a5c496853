/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* sim: random traffic for ranges of seeds, and the named scenarios. */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "traffic.h"
#include "unreliable.h"

static const char usage[] = "usage: sim --seeds FROM-TO       random traffic, one run a seed\n"
			    "       sim --seed N [-v]         one of these runs (-v: packet by "
			    "packet), twice if not -v\n"
			    "       sim --unreliable ...      the same for UC and UD\n"
			    "       sim --scenario NAME [-v]  one scenario, or all\n"
			    "       sim --list                the scenarios\n";

/* Of RC, or of UC and UD. */
static void (*traffic)(uint64_t seed, bool verbose, struct sim_result *result) = sim_traffic;

static int seeds_run(const char *range)
{
	struct sim_result sum = {0}, one;
	uint64_t from, to;

	if (sscanf(range, "%" SCNu64 "-%" SCNu64, &from, &to) != 2) {
		fputs(usage, stderr);
		return 2;
	}
	for (uint64_t seed = from; seed <= to; seed++) {
		traffic(seed, false, &one);
		sum.packets += one.packets;
		sum.lost += one.lost;
		sum.operations += one.operations;
		sum.windows_ended += one.windows_ended;
		sum.shared += one.shared;
		sum.pended += one.pended;
		sum.duration += one.duration;
	}
	printf("seeds %s: %" PRIu64 " operations, %" PRIu64 " packets, %" PRIu64 " lost, %" PRIu64
	       " accesses pended, %" PRIu64 " windows ended, %" PRIu64
	       " receives of SRQs, %.1f s of virtual time\n",
	       range, sum.operations, sum.packets, sum.lost, sum.pended, sum.windows_ended,
	       sum.shared, (double)sum.duration / 1e9);
	return 0;
}

static int seed_run(const char *number, bool verbose)
{
	uint64_t seed = strtoull(number, NULL, 0);
	struct sim_result one, again;

	traffic(seed, verbose, &one);
	printf("seed %" PRIu64 ": %" PRIu64 " operations, %" PRIu64 " packets, %" PRIu64
	       " lost, %.3f ms, hash %016" PRIx64 "\n",
	       seed, one.operations, one.packets, one.lost, (double)one.duration / 1e6, one.hash);
	if (verbose)
		return 0;
	traffic(seed, false, &again);
	if (one.hash != again.hash) {
		fprintf(stderr, "seed %" PRIu64 " gave another run the second time\n", seed);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seeds", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 's'},
		{"scenario", required_argument, NULL, 'n'},
		{"list", no_argument, NULL, 'l'},
		{"verbose", no_argument, NULL, 'v'},
		{"unreliable", no_argument, NULL, 'u'},
		{NULL, 0, NULL, 0},
	};
	const char *range = NULL, *seed = NULL, *scenario = NULL;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			range = optarg;
			break;
		case 's':
			seed = optarg;
			break;
		case 'n':
			scenario = optarg;
			break;
		case 'l':
			scenarios_list();
			return 0;
		case 'u':
			traffic = sim_unreliable;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (seed)
		return seed_run(seed, verbose);
	if (scenario)
		return scenarios_run(scenario, verbose);
	if (range)
		return seeds_run(range);
	fputs(usage, stderr);
	return 2;
}
