/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of verbs/kernel's own side: sessions, memory, contexts, channels. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>

#include "kernel_suites.h"

int main(void)
{
	Suite *suite = suite_create("kernel");
	SRunner *runner;
	int failed;

	signal(SIGPIPE, SIG_IGN);
	suite_add_tcase(suite, kernel_umem_tcase());
	suite_add_tcase(suite, kernel_bulk_tcase());
	suite_add_tcase(suite, kernel_channel_tcase());
	suite_add_tcase(suite, kernel_cm_tcase());
	suite_add_tcase(suite, kernel_cm_rules_tcase());
	suite_add_tcase(suite, kernel_context_tcase());
	suite_add_tcase(suite, kernel_netlink_tcase());
	suite_add_tcase(suite, kernel_server_tcase());
	suite_add_tcase(suite, kernel_command_tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
