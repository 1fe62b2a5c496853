/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The equations and events of DCQCN's reaction point, each with numbers worked out by hand from
 * the paper's (Zhu et al., SIGCOMM 2015): g 1/256, timers 55 us, byte counter 10 MB, F 5, R_AI 40
 * Mbit/s, at 40 Gbit/s.
 */
#include "config.h"

#include "rnic/cc_params.h"
#include "rnic/cc_rp.h"
#include "rnic_fixture.h"

#define US 1000ull
#define MS 1000000ull
#define S 1000000000ull
#define GBIT 1000000000ull
#define MBIT 1000000ull
#define START (7 * S)

static struct cc_params p;
static struct cc_rp rp;

static void setup(void)
{
	p = cc_params_default;
	cc_rp_reset(&rp);
}

static void cnp(uint64_t at)
{
	cc_rp_cnp(&rp, &p, START + at);
}

static void update(uint64_t at)
{
	cc_rp_update(&rp, &p, START + at);
}

/* bit/s, but for rounding. */
static void rate_is(uint64_t rate, uint64_t target)
{
	ck_assert_uint_ge(rp.rate + 4, rate);
	ck_assert_uint_le(rp.rate, rate + 4);
	ck_assert_uint_eq(rp.target, target);
}

/* In parts of a thousand million. */
static void alpha_is(uint64_t want)
{
	uint64_t alpha = (uint64_t)rp.alpha * 1000000000 / CC_ALPHA_ONE;

	ck_assert_uint_ge(alpha + 10, want);
	ck_assert_uint_le(alpha, want + 10);
}

START_TEST(first_cnp_halves_the_rate)
{
	ck_assert(!rp.limited);
	cnp(0);
	ck_assert(rp.limited);
	rate_is(20 * GBIT, 40 * GBIT);
	alpha_is(1000000000);
}
END_TEST

START_TEST(each_cnp_makes_the_rate_the_target_and_cuts_it_by_half_of_alpha)
{
	cnp(0);
	cnp(50 * US);
	rate_is(10 * GBIT, 20 * GBIT);
	/* One period without a CNP, 255/256, and one event of the timer: (10 + 20) / 2. */
	cnp(105 * US);
	/* 15 (1 - 0.99609375 / 2) */
	rate_is(7529296875, 15 * GBIT);
	/* 0.99609375 * 255/256 + 1/256 */
	alpha_is(996109008);
}
END_TEST

START_TEST(alpha_decays_by_g_each_period_without_a_cnp)
{
	cnp(0);
	update(54 * US);
	alpha_is(1000000000);
	update(55 * US);
	alpha_is(996093750);
	update(110 * US);
	alpha_is(992202759);
	/* (255/256)^10 */
	update(550 * US);
	alpha_is(961617042);
}
END_TEST

START_TEST(alpha_is_the_same_however_often_it_is_asked_for)
{
	uint32_t alpha;

	p.rp_time_reset = 100000; /* or the limit would end */
	cnp(0);
	for (uint64_t t = 0; t <= 5500; t += 5)
		update(t * US);
	alpha = rp.alpha;
	setup();
	p.rp_time_reset = 100000; /* or the limit would end */
	cnp(0);
	update(5500 * US);
	ck_assert_uint_le(rp.alpha, alpha + 200);
	ck_assert_uint_ge(rp.alpha + 200, alpha);
	/* (255/256)^100 */
	alpha_is(676116465);
}
END_TEST

START_TEST(fast_recovery_halves_the_way_back_each_period_of_the_timer)
{
	static const uint64_t mbit[] = {15000, 17500, 18750, 19375};

	cnp(0);
	cnp(50 * US);
	for (uint32_t i = 0; i < 4; i++) {
		update((50 + 55 * (i + 1)) * US - 1);
		rate_is((i ? mbit[i - 1] : 10000) * MBIT, 20 * GBIT);
		update((50 + 55 * (i + 1)) * US);
		rate_is(mbit[i] * MBIT, 20 * GBIT);
	}
}
END_TEST

START_TEST(additive_increase_follows_after_f_periods)
{
	cnp(0);
	cnp(50 * US);
	update((50 + 55 * 5) * US);
	/* (19.375 + 20.04) / 2 */
	rate_is(19707500 * 1000ull, 20040 * MBIT);
	update((50 + 55 * 6) * US);
	rate_is(19893750 * 1000ull, 20080 * MBIT);
}
END_TEST

START_TEST(events_between_two_looks_are_all_made_up_for)
{
	cnp(0);
	cnp(50 * US);
	update((50 + 55 * 6) * US);
	rate_is(19893750 * 1000ull, 20080 * MBIT);
}
END_TEST

START_TEST(byte_counter_raises_the_rate_too)
{
	cnp(0);
	cnp(50 * US);
	cc_rp_sent(&rp, &p, 9999999, START + 50 * US);
	rate_is(10 * GBIT, 20 * GBIT);
	cc_rp_sent(&rp, &p, 1, START + 50 * US);
	rate_is(15 * GBIT, 20 * GBIT);
	cc_rp_sent(&rp, &p, 20000000, START + 50 * US);
	rate_is(18750 * MBIT, 20 * GBIT);
}
END_TEST

START_TEST(hyper_increase_follows_when_time_and_bytes_have_both_passed_f)
{
	cnp(0);
	cnp(50 * US);
	/* Four times half way, then 20.04 and 20.08. */
	cc_rp_sent(&rp, &p, 60000000, START + 50 * US);
	rate_is(19893750 * 1000ull, 20080 * MBIT);
	update((50 + 55 * 5) * US);
	rate_is(20235429687, 20280 * MBIT);
	/* i = 1, then 2 */
	update((50 + 55 * 6) * US);
	rate_is(20457714843, 20680 * MBIT);
	cc_rp_sent(&rp, &p, 10000000, START + (50 + 55 * 6) * US);
	rate_is(20768857421, 21080 * MBIT);
	update((50 + 55 * 7) * US);
	rate_is(21324428710, 21880 * MBIT);
}
END_TEST

START_TEST(cnp_begins_recovery_anew)
{
	cnp(0);
	cc_rp_sent(&rp, &p, 9000000, START);
	update(54 * US);
	cnp(54 * US);
	cc_rp_sent(&rp, &p, 9000000, START + 54 * US);
	update((54 + 54) * US);
	rate_is(10 * GBIT, 20 * GBIT);
	update((54 + 55) * US);
	rate_is(15 * GBIT, 20 * GBIT);
}
END_TEST

START_TEST(rate_has_a_minimum)
{
	for (int i = 0; i < 20; i++)
		cnp((uint64_t)i * 50 * US);
	rate_is(10 * MBIT, rp.target);
}
END_TEST

START_TEST(one_cut_keeps_min_dec_fac_of_the_rate)
{
	p.rp_min_dec_fac = 75;
	cnp(0);
	rate_is(30 * GBIT, 40 * GBIT);
}
END_TEST

START_TEST(gd_divides_alpha)
{
	p.rp_gd = 12;
	cnp(0);
	rate_is(30 * GBIT, 40 * GBIT);
}
END_TEST

START_TEST(first_cnp_sets_the_rate_that_is_asked_for)
{
	p.rp_rate_to_set_on_first_cnp = 5000;
	cnp(0);
	rate_is(5 * GBIT, 5 * GBIT);
	cnp(50 * US);
	rate_is(2500 * MBIT, 5 * GBIT);
}
END_TEST

START_TEST(initial_alpha_shapes_the_first_cut)
{
	p.rp_initial_alpha_value = 512;
	cnp(0);
	rate_is(30 * GBIT, 40 * GBIT);
	/* 0.5 * 255/256 + 1/256 */
	alpha_is(501953125);
}
END_TEST

START_TEST(cnps_within_the_monitor_period_are_one)
{
	cnp(0);
	cnp(3 * US);
	rate_is(20 * GBIT, 40 * GBIT);
	cnp(4 * US);
	rate_is(10 * GBIT, 20 * GBIT);
}
END_TEST

START_TEST(target_that_is_not_clamped_stays_until_the_rate_has_risen)
{
	p.rp_clamp_tgt_rate = 0;
	cnp(0);
	cnp(50 * US);
	rate_is(10 * GBIT, 40 * GBIT);
	cnp(105 * US); /* (10 + 40) / 2, by time */
	ck_assert_uint_eq(rp.target, 25 * GBIT);
}
END_TEST

START_TEST(time_alone_moves_no_target_without_ati)
{
	p.rp_clamp_tgt_rate = p.rp_clamp_tgt_rate_ati = 0;
	cnp(0);
	cnp(55 * US);
	ck_assert_uint_eq(rp.target, 40 * GBIT);
	cc_rp_sent(&rp, &p, 10000000, START + 55 * US);
	cnp(60 * US);
	ck_assert_uint_lt(rp.target, 40 * GBIT);
}
END_TEST

START_TEST(full_rate_ends_the_limit_and_forgets_alpha)
{
	cnp(0);
	update(S);
	ck_assert(!rp.limited);
	cnp(S);
	rate_is(20 * GBIT, 40 * GBIT);
	alpha_is(1000000000);
}
END_TEST

START_TEST(packets_leave_at_the_rate)
{
	cnp(0);
	/* 1000 bytes at 20 Gbit/s: 400 ns */
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START), 1);
	cc_rp_sent(&rp, &p, 1000, START);
	ck_assert_uint_eq(rp.next, START + 400);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START + 399), 0);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START + 400), 1);
	/* Too late for ten of them. */
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START + 4400), 11);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 5, 1000, START + 4400), 5);
	cc_rp_sent(&rp, &p, 11000, START + 4400);
	ck_assert_uint_eq(rp.next, START + 4800);
}
END_TEST

START_TEST(silence_is_not_made_up_for)
{
	p.rp_time_reset = 100000;
	cnp(0);
	cc_rp_sent(&rp, &p, 1000, START);
	/* 100 us of it at most */
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 1000, 1000, START + 50 * MS), 251);
	cc_rp_sent(&rp, &p, 251000, START + 50 * MS);
	ck_assert_uint_eq(rp.next, START + 50 * MS + 400);
}
END_TEST

START_TEST(time_that_goes_back_changes_nothing)
{
	cnp(0);
	cnp(50 * US);
	update(0);
	rate_is(10 * GBIT, 20 * GBIT);
	alpha_is(1000000000);
	cnp(49 * US);
	rate_is(10 * GBIT, 20 * GBIT);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START - 1), 0);
}
END_TEST

START_TEST(late_timer_is_made_up_for)
{
	p.rp_time_reset = 100000;
	cnp(0);
	cc_rp_sent(&rp, &p, 1000, START);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START + 1), 0);
	/* 399.6 us late: 999 packets; in two parts */
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 2000, 1000, START + 400 * US), 1000);
	cc_rp_sent(&rp, &p, 64000, START + 400 * US);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 2000, 1000, START + 400 * US), 936);
	cc_rp_sent(&rp, &p, 936000, START + 400 * US);
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 64, 1000, START + 400 * US), 0);
	/* But no more than 500 us. */
	ck_assert_uint_eq(cc_rp_grant(&rp, &p, 9000, 1000, START + 50 * MS), 1251);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		first_cnp_halves_the_rate,
		each_cnp_makes_the_rate_the_target_and_cuts_it_by_half_of_alpha,
		alpha_decays_by_g_each_period_without_a_cnp,
		alpha_is_the_same_however_often_it_is_asked_for,
		fast_recovery_halves_the_way_back_each_period_of_the_timer,
		additive_increase_follows_after_f_periods,
		events_between_two_looks_are_all_made_up_for,
		byte_counter_raises_the_rate_too,
		hyper_increase_follows_when_time_and_bytes_have_both_passed_f,
		cnp_begins_recovery_anew,
		rate_has_a_minimum,
		one_cut_keeps_min_dec_fac_of_the_rate,
		gd_divides_alpha,
		first_cnp_sets_the_rate_that_is_asked_for,
		initial_alpha_shapes_the_first_cut,
		cnps_within_the_monitor_period_are_one,
		target_that_is_not_clamped_stays_until_the_rate_has_risen,
		time_alone_moves_no_target_without_ati,
		full_rate_ends_the_limit_and_forgets_alpha,
		packets_leave_at_the_rate,
		silence_is_not_made_up_for,
		late_timer_is_made_up_for,
		time_that_goes_back_changes_nothing,
	};

	return fixture_run_loops("rnic_cc_rp", setup, tests, sizeof(tests) / sizeof(tests[0]),
				 &(struct fixture_loop){0});
}
