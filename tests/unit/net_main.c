/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the tests of net/. */
#include "config.h"

#include "net_suites.h"
#include "suite.h"

int main(void)
{
	SRunner *runner = srunner_create(net_fault_suite());

	srunner_add_suite(runner, net_fault_words_suite());
	srunner_add_suite(runner, net_fault_refused_suite());
	srunner_add_suite(runner, net_late_suite());
	srunner_add_suite(runner, net_faulty_suite());
	srunner_add_suite(runner, net_port_suite());
	srunner_add_suite(runner, net_self_suite());
	srunner_add_suite(runner, net_group_suite());
	srunner_add_suite(runner, net_wire_suite());
	srunner_add_suite(runner, net_mode_suite());
	srunner_add_suite(runner, net_ifaddr_suite());
	srunner_add_suite(runner, net_queue_suite());
	srunner_add_suite(runner, net_record_suite());
	srunner_add_suite(runner, net_tap_suite());
	srunner_add_suite(runner, net_route_suite());
	return suite_run_all(runner);
}
