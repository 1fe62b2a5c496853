/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the question where packets would come from. */
#include "config.h"

#include <errno.h>

#include "net/route.h"
#include "net_suites.h"

START_TEST(loopback_answers_from_its_first_address)
{
	static const uint8_t to[16] = {[10] = 0xff, 0xff, 127, 9, 8, 7};
	static const uint8_t first[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};
	uint8_t from[16];

	ck_assert_int_eq(net_route_source(to, 0, from), 0);
	ck_assert_mem_eq(from, first, 16);
}
END_TEST

START_TEST(broadcast_is_refused)
{
	static const uint8_t to[16] = {[10] = 0xff, 0xff, 127, 255, 255, 255};
	uint8_t from[16];

	ck_assert_int_eq(net_route_source(to, 0, from), -EACCES);
}
END_TEST

START_TEST(link_local_needs_an_interface)
{
	static const uint8_t to[16] = {0xfe, 0x80, [15] = 9};
	uint8_t from[16];

	ck_assert_int_lt(net_route_source(to, 0, from), 0);
}
END_TEST

Suite *net_route_suite(void)
{
	Suite *suite = suite_create("net_route");
	TCase *tc = tcase_create("route");

	tcase_add_test(tc, loopback_answers_from_its_first_address);
	tcase_add_test(tc, broadcast_is_refused);
	tcase_add_test(tc, link_local_needs_an_interface);
	suite_add_tcase(suite, tc);
	return suite;
}
