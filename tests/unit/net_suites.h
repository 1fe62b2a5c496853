/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The suites of net_test. */
#ifndef NET_SUITES_H
#define NET_SUITES_H

#include <check.h>

Suite *net_fault_suite(void);
Suite *net_fault_refused_suite(void);
Suite *net_fault_words_suite(void);
Suite *net_faulty_suite(void);
Suite *net_late_suite(void);
Suite *net_group_suite(void);
Suite *net_ifaddr_suite(void);
Suite *net_queue_suite(void);
Suite *net_record_suite(void);
Suite *net_route_suite(void);
Suite *net_mode_suite(void);
Suite *net_port_suite(void);
Suite *net_self_suite(void);
Suite *net_tap_suite(void);
Suite *net_wire_suite(void);

#endif
