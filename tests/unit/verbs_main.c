/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of the uverbs commands and the rxe rings. */
#include "config.h"

#include <stdlib.h>

#include "verbs_rig.h"

int main(void)
{
	Suite *suite = suite_create("verbs");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, verbs_device_tcase());
	suite_add_tcase(suite, verbs_objects_tcase());
	suite_add_tcase(suite, verbs_memory_tcase());
	suite_add_tcase(suite, verbs_ioctl_tcase());
	suite_add_tcase(suite, verbs_qp_tcase());
	suite_add_tcase(suite, verbs_ring_tcase());
	suite_add_tcase(suite, verbs_netlink_tcase());
	suite_add_tcase(suite, verbs_fuzz_tcase());
	suite_add_tcase(suite, verbs_gone_tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
