/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of bth/. */
#include "config.h"

#include "bth_suites.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("bth");

	suite_add_tcase(suite, bth_opcode_tcase());
	suite_add_tcase(suite, bth_packet_tcase());
	suite_add_tcase(suite, bth_print_tcase());
	suite_add_tcase(suite, bth_icrc_tcase());
	suite_add_tcase(suite, bth_ipid_tcase());
	suite_add_tcase(suite, bth_golden_tcase());
	suite_add_tcase(suite, bth_cm_tcase());
	return suite_run_all(srunner_create(suite));
}
