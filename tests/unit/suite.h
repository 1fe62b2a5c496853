/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The end of each test program's main. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Runs all suites of the runner, and frees it; the program's exit status. */
static inline int suite_run_all(SRunner *runner)
{
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
