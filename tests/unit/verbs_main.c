/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of the uverbs commands and the rxe rings. */
#include "config.h"

#include "suite.h"
#include "verbs_rig.h"

int main(void)
{
	Suite *suite = suite_create("verbs");

	suite_add_tcase(suite, verbs_device_tcase());
	suite_add_tcase(suite, verbs_objects_tcase());
	suite_add_tcase(suite, verbs_memory_tcase());
	suite_add_tcase(suite, verbs_ioctl_tcase());
	suite_add_tcase(suite, verbs_qp_tcase());
	suite_add_tcase(suite, verbs_ring_tcase());
	suite_add_tcase(suite, verbs_netlink_tcase());
	suite_add_tcase(suite, verbs_fuzz_tcase());
	suite_add_tcase(suite, verbs_gone_tcase());
	return suite_run_all(srunner_create(suite));
}
