/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of verbs/kernel's own side: sessions, memory, contexts, channels. */
#include "config.h"

#include <signal.h>

#include "kernel_suites.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("kernel");

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
	return suite_run_all(srunner_create(suite));
}
