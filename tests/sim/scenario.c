/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs scenarios by name. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "scenario.h"
#include "scenario_rig.h"

static const struct scenario *const groups[] = {
	scenarios_refuse, scenarios_retry, scenarios_local, scenarios_windows, scenarios_srq,
};

#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

static void scenario_run(const struct scenario *s)
{
	sim_fail_context("again, packet by packet: tests/sim/sim --scenario %s -v", s->name);
	s->run();
	printf("ok %s\n", s->name);
}

int scenarios_run(const char *name, bool verbose)
{
	bool all = strcmp(name, "all") == 0, found = false;

	rig_verbose = verbose;
	for (size_t i = 0; i < N_GROUPS; i++) {
		for (const struct scenario *s = groups[i]; s->name; s++) {
			if (!all && strcmp(name, s->name) != 0)
				continue;
			found = true;
			scenario_run(s);
		}
	}
	if (!found)
		fprintf(stderr, "sim: there is no scenario %s\n", name);
	return !found;
}

void scenarios_list(void)
{
	for (size_t i = 0; i < N_GROUPS; i++)
		for (const struct scenario *s = groups[i]; s->name; s++)
			puts(s->name);
}
