/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parameters of congestion control by name. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rnic/cc_params.h"
#include "rnic_fixture.h"

static char err[200];

START_TEST(parameters_have_the_names_of_mlx5)
{
	/* Linux, drivers/infiniband/hw/mlx5/cong.c: the files of cc_params */
	static const char *const names[] = {
		"rp_clamp_tgt_rate",
		"rp_clamp_tgt_rate_ati",
		"rp_time_reset",
		"rp_byte_reset",
		"rp_threshold",
		"rp_ai_rate",
		"rp_max_rate",
		"rp_hai_rate",
		"rp_min_dec_fac",
		"rp_min_rate",
		"rp_rate_to_set_on_first_cnp",
		"rp_dce_tcp_g",
		"rp_dce_tcp_rtt",
		"rp_rate_reduce_monitor_period",
		"rp_initial_alpha_value",
		"rp_gd",
		"np_min_time_between_cnps",
		"np_cnp_dscp",
		"np_cnp_prio_mode",
		"np_cnp_prio",
	};
	struct cc_params p = cc_params_default;
	const char *name;
	uint32_t value, i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert(cc_params_get(&p, i, &name, &value));
		ck_assert_str_eq(name, names[i]);
	}
	ck_assert(!cc_params_get(&p, i, &name, &value));
}
END_TEST

START_TEST(defaults_are_the_published_ones)
{
	const struct cc_params *p = &cc_params_default;

	ck_assert_int_eq(p->mode, CC_DCQCN);
	ck_assert_uint_eq(p->rp_dce_tcp_g, 1024 - 1024 / 256); /* g = 1/256 */
	ck_assert_uint_eq(p->np_min_time_between_cnps, 50);
	ck_assert_uint_eq(p->rp_dce_tcp_rtt, 55);
	ck_assert_uint_eq(p->rp_time_reset, 55);
	ck_assert_uint_eq(p->rp_byte_reset, 10000000);
	ck_assert_uint_eq(p->rp_threshold, 5);
	ck_assert_uint_eq(p->rp_ai_rate, 40);
	ck_assert_uint_eq(p->rp_max_rate, 40000);
}
END_TEST

START_TEST(each_is_set_by_its_name)
{
	struct cc_params p = cc_params_default;
	const char *name, *again;
	uint32_t value, got;
	char text[20];

	for (uint32_t i = 0; cc_params_get(&p, i, &name, &value); i++) {
		snprintf(text, sizeof(text), "%u", value ? value - (value > 10) : 1);
		ck_assert_int_eq(cc_params_set(&p, name, text, err, sizeof(err)), 0);
		ck_assert(cc_params_get(&p, i, &again, &got));
		ck_assert_uint_eq(got, value ? value - (value > 10) : 1);
	}
}
END_TEST

START_TEST(profile_sets_all_but_the_mode)
{
	struct cc_params p = cc_params_default;

	ck_assert_int_eq(cc_params_set(&p, "mode", "window", err, sizeof(err)), 0);
	ck_assert_int_eq(cc_params_set(&p, "np_cnp_dscp", "1", err, sizeof(err)), 0);
	ck_assert_int_eq(cc_params_set(&p, "profile", "1g", err, sizeof(err)), 0);
	ck_assert_int_eq(p.mode, CC_WINDOW);
	ck_assert_uint_eq(p.rp_max_rate, 1000);
	ck_assert_uint_eq(p.np_cnp_dscp, 48);
	ck_assert_int_eq(cc_params_set(&p, "profile", "10g", err, sizeof(err)), 0);
	ck_assert_uint_eq(p.rp_max_rate, 10000);
}
END_TEST

START_TEST(nonsense_is_refused_and_named)
{
	static const char *const wrong[][3] = {
		{"rp_ai_rat", "1", "no parameter of congestion control is called rp_ai_rat"},
		{"rp_ai_rate", "0", "rp_ai_rate is a number from 1 to 400000, not 0"},
		{"rp_ai_rate", "400001", "rp_ai_rate is a number from 1 to 400000, not 400001"},
		{"rp_ai_rate", "-1", "rp_ai_rate is a number from 1 to 400000, not -1"},
		{"rp_ai_rate", "", "rp_ai_rate is a number from 1 to 400000, not "},
		{"rp_ai_rate", "5x", "rp_ai_rate is a number from 1 to 400000, not 5x"},
		{"rp_ai_rate", "99999999999999999999",
		 "rp_ai_rate is a number from 1 to 400000, not 99999999999999999999"},
		{"mode", "on", "mode is none, window or dcqcn, not on"},
		{"profile", "2g", "profile is 40g, 10g or 1g, not 2g"},
	};

	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct cc_params p = cc_params_default;

		ck_assert_int_eq(cc_params_set(&p, wrong[i][0], wrong[i][1], err, sizeof(err)),
				 -EINVAL);
		ck_assert_str_eq(err, wrong[i][2]);
		ck_assert_mem_eq(&p, &cc_params_default, sizeof(p));
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		parameters_have_the_names_of_mlx5, defaults_are_the_published_ones,
		each_is_set_by_its_name,	   profile_sets_all_but_the_mode,
		nonsense_is_refused_and_named,
	};

	return fixture_run("rnic_cc_params", tests, sizeof(tests) / sizeof(tests[0]));
}
