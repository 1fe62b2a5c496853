/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the fault rules. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "net/fault.h"
#include "net_suites.h"

static uint32_t add(struct fault_rules *rules, const char *text)
{
	char err[200] = "";
	uint32_t id = 0;

	ck_assert_msg(fault_rules_add(rules, 0, text, &id, err, sizeof(err)) == 0, "%s", err);
	return id;
}

static bool drops(struct fault_rules *rules, enum fault_dir dir)
{
	static const uint8_t packet[16];
	const struct fault_packet p = {.dir = dir, .bth = packet, .len = sizeof(packet)};
	struct fault_verdict v;

	return fault_decide(rules, &p, &v) && v.drop;
}

START_TEST(fault_nth_drops_once)
{
	struct fault_rules *rules = fault_rules_create();

	add(rules, "rx drop nth=3");
	for (int i = 1; i <= 10; i++)
		ck_assert_int_eq(drops(rules, FAULT_RX), i == 3);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_every_drops_again_and_again)
{
	struct fault_rules *rules = fault_rules_create();

	add(rules, "both drop every=4");
	for (int i = 1; i <= 20; i++)
		ck_assert_int_eq(drops(rules, i % 2 ? FAULT_RX : FAULT_TX), i % 4 == 0);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_counts_its_own_direction_only)
{
	struct fault_rules *rules = fault_rules_create();

	add(rules, "tx drop nth=2");
	ck_assert(!drops(rules, FAULT_TX));
	for (int i = 0; i < 5; i++)
		ck_assert(!drops(rules, FAULT_RX));
	ck_assert(drops(rules, FAULT_TX));
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_probability_repeats_with_its_seed)
{
	struct fault_rules *one = fault_rules_create(), *same = fault_rules_create();
	struct fault_rules *other = fault_rules_create();
	unsigned fired = 0, differ = 0;

	add(one, "rx drop p=0.01 seed=7");
	add(same, "rx drop p=1e-2 seed=7");
	add(other, "rx drop p=0.01 seed=8");
	for (int i = 0; i < 100000; i++) {
		bool lost = drops(one, FAULT_RX);

		ck_assert_int_eq(drops(same, FAULT_RX), lost);
		differ += drops(other, FAULT_RX) != lost;
		fired += lost;
	}
	ck_assert_uint_gt(fired, 900);
	ck_assert_uint_lt(fired, 1100);
	ck_assert_uint_gt(differ, 1000);
	fault_rules_destroy(one);
	fault_rules_destroy(same);
	fault_rules_destroy(other);
}
END_TEST

START_TEST(fault_probability_keeps_its_bounds)
{
	struct fault_rules *never = fault_rules_create(), *always = fault_rules_create();

	add(never, "rx drop p=0");
	add(always, "rx drop p=1");
	for (int i = 0; i < 1000; i++) {
		ck_assert(!drops(never, FAULT_RX));
		ck_assert(drops(always, FAULT_RX));
	}
	fault_rules_destroy(never);
	fault_rules_destroy(always);
}
END_TEST

START_TEST(fault_rules_do_not_disturb_each_other)
{
	struct fault_rules *rules = fault_rules_create();

	add(rules, "rx drop every=2");
	add(rules, "rx drop nth=4");
	for (int i = 1; i <= 6; i++)
		ck_assert_int_eq(drops(rules, FAULT_RX), i % 2 == 0);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_rules_go_by_their_number)
{
	struct fault_rules *rules = fault_rules_create();
	char line[200];
	uint32_t first, second;

	ck_assert(fault_rules_empty(rules));
	first = add(rules, "rx drop p=1");
	second = add(rules, "tx drop nth=1");
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 2);
	ck_assert(drops(rules, FAULT_RX));
	ck_assert_int_eq(fault_rules_print(rules, 0, line, sizeof(line)), 0);
	ck_assert_str_eq(line, "1: rx drop p=1 (seen 1, fired 1)");
	ck_assert_int_eq(fault_rules_del(rules, first), 0);
	ck_assert_int_eq(fault_rules_del(rules, first), -ENOENT);
	ck_assert_int_eq(fault_rules_print(rules, 0, line, sizeof(line)), 0);
	ck_assert_str_eq(line, "2: tx drop nth=1 (seen 0, fired 0)");
	ck_assert_int_eq(fault_rules_print(rules, 1, line, sizeof(line)), -ENOENT);
	ck_assert(!fault_rules_empty(rules));
	ck_assert_uint_eq(add(rules, "rx drop p=0"), 3);
	fault_rules_destroy(rules);
}
END_TEST

static const char *const wrong_rules[] = {
	"",
	"drop p=1",
	"up drop p=1",
	"rx",
	"rx lose p=1",
	"rx drop",
	"rx drop p=",
	"rx drop p=1.1",
	"rx drop p=-0.1",
	"rx drop p=nan",
	"rx drop p=1 seed=",
	"rx drop p=1 seed=x",
	"rx drop nth=0",
	"rx drop nth=-1",
	"rx drop every=0",
	"rx drop nth=1 seed=1",
	"rx drop nth=99999999999999999999999",
	"rx drop p=0.5 seed=1 more",
	/* too long */
	("rx drop p=0.50000000000000000000000000000000000000000000000000000000"
	 "00000000000000000000000000000000000000000000000000000000"),
};

START_TEST(fault_wrong_rules_are_refused)
{
	struct fault_rules *rules = fault_rules_create();
	char err[300] = "";
	uint32_t id;

	ck_assert_int_eq(fault_rules_add(rules, 0, wrong_rules[_i], &id, err, sizeof(err)),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err, wrong_rules[_i]));
	ck_assert(fault_rules_empty(rules));
	fault_rules_destroy(rules);
}
END_TEST

Suite *net_fault_suite(void)
{
	Suite *s = suite_create("net_fault");
	TCase *t = tcase_create("rules");

	tcase_add_test(t, fault_nth_drops_once);
	tcase_add_test(t, fault_every_drops_again_and_again);
	tcase_add_test(t, fault_counts_its_own_direction_only);
	tcase_add_test(t, fault_probability_repeats_with_its_seed);
	tcase_add_test(t, fault_probability_keeps_its_bounds);
	tcase_add_test(t, fault_rules_do_not_disturb_each_other);
	tcase_add_test(t, fault_rules_go_by_their_number);
	tcase_add_loop_test(t, fault_wrong_rules_are_refused, 0,
			    sizeof(wrong_rules) / sizeof(wrong_rules[0]));
	suite_add_tcase(s, t);
	return s;
}
