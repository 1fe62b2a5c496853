/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of rnic/table.h. */
#include "config.h"

#include <errno.h>

#include "rnic/table.h"
#include "rnic_fixture.h"

static int object;

START_TEST(table_gives_numbers_from_the_first_to_the_limit)
{
	struct rnic_table t;

	table_init(&t, 3, 6);
	for (int i = 3; i < 6; i++)
		ck_assert_int_eq(table_add(&t, &object), i);
	ck_assert_int_eq(table_add(&t, &object), -ENOMEM);
	table_remove(&t, 4);
	ck_assert_int_eq(table_add(&t, &object), 4);
	table_free(&t);
}
END_TEST

START_TEST(table_gives_a_freed_number_back_late)
{
	struct rnic_table t;
	int64_t first, number;
	int rounds = 0;

	table_init(&t, 1, 1 << 24);
	first = table_add(&t, &object);
	number = first;
	do {
		table_remove(&t, (uint32_t)number);
		number = table_add(&t, &object);
		rounds++;
	} while (number != first && rounds < 5000);
	ck_assert_int_ge(rounds, 1000);
	ck_assert_uint_le(t.room, 1024);
	table_free(&t);
}
END_TEST

START_TEST(table_knows_only_numbers_in_use)
{
	struct rnic_table t;
	uint32_t n = 0;

	table_init(&t, 2, 100000);
	ck_assert_ptr_null(table_get(&t, 2));
	table_remove(&t, 50);
	for (int i = 0; i < 3000; i++)
		ck_assert_int_ge(table_add(&t, &object), 2);
	ck_assert_uint_eq(t.used, 3000);
	ck_assert_ptr_eq(table_get(&t, 3001), &object);
	ck_assert_ptr_null(table_get(&t, 3002));
	ck_assert_ptr_null(table_get(&t, UINT32_MAX));
	table_remove(&t, 2);
	table_remove(&t, 2);
	ck_assert_uint_eq(t.used, 2999);
	ck_assert_ptr_eq(table_next(&t, &n), &object);
	ck_assert_uint_eq(n, 3);
	n = 3002;
	ck_assert_ptr_null(table_next(&t, &n));
	table_free(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		table_gives_numbers_from_the_first_to_the_limit,
		table_gives_a_freed_number_back_late,
		table_knows_only_numbers_in_use,
	};

	return fixture_run("rnic_table", tests, sizeof(tests) / sizeof(tests[0]));
}
