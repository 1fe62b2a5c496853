/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Named scripts of what must happen when something is wrong. */
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include <stdbool.h>

struct scenario {
	const char *name; /* NULL at the end of a table */
	void (*run)(void);
};

#define SCENARIO(name)                                                                             \
	{                                                                                          \
#name, name                                                                        \
	}

extern const struct scenario scenarios_refuse[], scenarios_retry[], scenarios_local[],
	scenarios_windows[], scenarios_srq[];

/* One by its name, or "all". 0, or 1 for a name that does not exist; a rule that does not hold ends
 * the program. */
int scenarios_run(const char *name, bool verbose);
void scenarios_list(void);

#endif
