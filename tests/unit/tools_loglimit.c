/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The log's limit. */
#include "config.h"

#include <check.h>

#include "suite.h"
#include "tools/loglimit.h"

#define S 1000000000ull

static uint32_t passing(struct log_limit *l, uint64_t now, uint32_t lines)
{
	uint32_t n = 0, dropped;

	while (lines--)
		n += log_limit_pass(l, now, &dropped);
	return n;
}

START_TEST(burst_passes_then_some_lines_a_second)
{
	struct log_limit l = {0};

	ck_assert_uint_eq(passing(&l, 5 * S, 100000), LOG_LIMIT_BURST);
	ck_assert_uint_eq(passing(&l, 6 * S, 100000), LOG_LIMIT_A_SECOND);
	ck_assert_uint_eq(passing(&l, 8 * S, 100000), 2 * LOG_LIMIT_A_SECOND);
	ck_assert_uint_eq(passing(&l, 8 * S, 100000), 0);
}
END_TEST

START_TEST(quiet_gives_the_burst_back)
{
	struct log_limit l = {0};

	passing(&l, 0, 100000);
	ck_assert_uint_eq(passing(&l, 1000 * S, 100000), LOG_LIMIT_BURST);
}
END_TEST

START_TEST(what_was_dropped_is_counted_once)
{
	struct log_limit l = {0};
	uint32_t dropped = 7;

	passing(&l, 0, LOG_LIMIT_BURST + 42);
	ck_assert(log_limit_pass(&l, S, &dropped));
	ck_assert_uint_eq(dropped, 42);
	ck_assert(log_limit_pass(&l, S, &dropped));
	ck_assert_uint_eq(dropped, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tools loglimit");
	TCase *c = tcase_create("loglimit");

	tcase_add_test(c, burst_passes_then_some_lines_a_second);
	tcase_add_test(c, quiet_gives_the_burst_back);
	tcase_add_test(c, what_was_dropped_is_counted_once);
	suite_add_tcase(s, c);
	return suite_run_all(srunner_create(s));
}
