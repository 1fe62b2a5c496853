/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of bth/. */
#include "config.h"

#include <stdlib.h>

#include "bth_suites.h"

int main(void)
{
	Suite *suite = suite_create("bth");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, bth_opcode_tcase());
	suite_add_tcase(suite, bth_packet_tcase());
	suite_add_tcase(suite, bth_print_tcase());
	suite_add_tcase(suite, bth_icrc_tcase());
	suite_add_tcase(suite, bth_ipid_tcase());
	suite_add_tcase(suite, bth_golden_tcase());
	suite_add_tcase(suite, bth_cm_tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
