/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the heap of deadlines. */
#include "config.h"

#include <stdlib.h>

#include "rnic/device_priv.h"
#include "rnic_fixture.h"

#define N 500

START_TEST(timers_fire_in_order_of_deadline)
{
	struct fixture f;
	struct rnic_timer t[N] = {0};
	struct rnic_timer *due;
	uint32_t seed = 1, left = 0;
	uint64_t last = 0;

	fixture_begin(&f);
	ck_assert_int_eq(timers_reserve(f.dev, N), 0);
	for (int i = 0; i < 20 * N; i++) {
		struct rnic_timer *any;

		seed = seed * 1664525 + 1013904223;
		any = &t[(seed >> 8) % N];
		if (seed >> 30 == 0)
			timer_disarm(f.dev, any);
		else
			timer_arm(f.dev, any, seed >> 12 & 0xffff);
	}
	for (int i = 0; i < N; i++)
		left += t[i].pos != 0;
	while ((due = timer_take_due(f.dev, UINT64_MAX - 1))) {
		ck_assert_uint_ge(due->deadline, last);
		ck_assert_uint_eq(due->pos, 0);
		last = due->deadline;
		left--;
	}
	timer_tell(f.dev);
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(f.timer, UINT64_MAX);
	timers_release(f.dev, N);
	fixture_end(&f);
}
END_TEST

START_TEST(timer_tells_the_host_only_of_an_earlier_deadline)
{
	struct fixture f;
	struct rnic_timer a = {0}, b = {0};

	fixture_begin(&f);
	timers_reserve(f.dev, 2);
	timer_arm(f.dev, &a, 100);
	ck_assert_uint_eq(f.timer, 100);
	timer_arm(f.dev, &b, 150);
	timer_arm(f.dev, &a, 200);
	ck_assert_uint_eq(f.n_timer_sets, 1);
	ck_assert_ptr_null(timer_take_due(f.dev, 100));
	timer_tell(f.dev);
	ck_assert_uint_eq(f.timer, 150);
	ck_assert_ptr_eq(timer_take_due(f.dev, 150), &b);
	ck_assert_ptr_null(timer_take_due(f.dev, 150));
	timer_tell(f.dev);
	ck_assert_uint_eq(f.timer, 200);
	timer_disarm(f.dev, &a);
	ck_assert_ptr_null(timer_take_due(f.dev, 200));
	timer_tell(f.dev);
	ck_assert_uint_eq(f.timer, UINT64_MAX);
	fixture_end(&f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		timers_fire_in_order_of_deadline,
		timer_tells_the_host_only_of_an_earlier_deadline,
	};

	return fixture_run("rnic_timer", tests, sizeof(tests) / sizeof(tests[0]));
}
