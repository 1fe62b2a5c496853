/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of learning a peer's IP identifications, with made-up ICRCs. */
#include "config.h"

#include "bth/icrc.h"
#include "bth/ipid.h"
#include "bth_suites.h"

#define LEN 1044
#define MS UINT64_C(1000000)

static enum ipid_verdict id_arrives_at(struct ipid_peer *peer, uint64_t now, unsigned id)
{
	uint32_t computed = 0x9e3779b9u * (id + 1);

	return ipid_check_at(peer, now, computed, icrc_with_id(computed, (uint16_t)id, LEN), LEN);
}

static enum ipid_verdict id_arrives(struct ipid_peer *peer, unsigned id)
{
	return id_arrives_at(peer, 0, id);
}

static enum ipid_verdict noise_arrives(struct ipid_peer *peer, uint64_t *seed)
{
	return ipid_check_at(peer, 0, 0, (uint32_t)(test_random(seed) >> 16), LEN);
}

START_TEST(ipid_zero_and_run_indices_are_predicted)
{
	struct ipid_peer peer = {0};

	for (unsigned run = 0; run < 3; run++)
		for (unsigned i = 0; i < 64; i++)
			ck_assert_int_eq(id_arrives(&peer, i), IPID_PREDICTED);
	/* Two runs that mix, one that lost its head, single datagrams between. */
	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 40), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 64), IPID_WRONG);
}
END_TEST

START_TEST(ipid_run_that_lost_its_head_is_predicted)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 5), IPID_PREDICTED);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_int_eq(id_arrives(&peer, i), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
}
END_TEST

START_TEST(ipid_counter_is_solved_once_then_predicted)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 0xfff0), IPID_SOLVED);
	for (unsigned i = 1; i < 200; i++) /* over the wrap, 0 included */
		ck_assert_int_eq(id_arrives(&peer, (0xfff0 + i) & 0xffff), IPID_PREDICTED);
}
END_TEST

START_TEST(ipid_counter_may_begin_anywhere)
{
	for (unsigned first = 0; first < 300; first++) {
		struct ipid_peer peer = {0};
		unsigned lost = 0;

		for (unsigned i = 0; i < 300; i++)
			lost += id_arrives(&peer, first + i) == IPID_WRONG;
		/* From exactly 0 on it looks like a run of 64 until the 65th. */
		ck_assert_uint_eq(lost, first == 0 ? 1 : 0);
	}
}
END_TEST

START_TEST(ipid_constant_is_predicted)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 0x4242), IPID_SOLVED);
	for (unsigned i = 0; i < 100; i++)
		ck_assert_int_eq(id_arrives(&peer, 0x4242), IPID_PREDICTED);
}
END_TEST

START_TEST(ipid_loss_and_reordering_stay_predicted)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 1000), IPID_SOLVED);
	ck_assert_int_eq(id_arrives(&peer, 1064), IPID_PREDICTED);
	for (unsigned id = 1001; id < 1064; id++)
		ck_assert_int_eq(id_arrives(&peer, id), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1065), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1065), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1001), IPID_WRONG);
	ck_assert_int_eq(id_arrives(&peer, 1130), IPID_WRONG);
	ck_assert_int_eq(id_arrives(&peer, 1066), IPID_PREDICTED);
}
END_TEST

START_TEST(ipid_counter_that_jumped_in_a_pause_is_followed)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives_at(&peer, 5000 * MS, 1000), IPID_SOLVED);
	ck_assert_int_eq(id_arrives_at(&peer, 5300 * MS, 1000 + 300), IPID_SOLVED);
	ck_assert_int_eq(id_arrives_at(&peer, 5301 * MS, 1301), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives_at(&peer, 5401 * MS, 1302 + 164), IPID_WRONG);
	ck_assert_int_eq(id_arrives_at(&peer, 5401 * MS, 1302 + 163), IPID_SOLVED);
	ck_assert_int_eq(id_arrives_at(&peer, 100000 * MS, 12), IPID_SOLVED);
	ck_assert_int_eq(id_arrives_at(&peer, 1 * MS, 13), IPID_PREDICTED);
}
END_TEST

START_TEST(ipid_peer_that_restarts_loses_one_packet)
{
	struct ipid_peer peer = {0};

	for (unsigned i = 0; i < 10; i++)
		id_arrives(&peer, 1000 + i);
	ck_assert_int_eq(id_arrives(&peer, 40000), IPID_WRONG);
	ck_assert_int_eq(id_arrives(&peer, 40001), IPID_SOLVED);
	for (unsigned i = 2; i < 100; i++)
		ck_assert_int_eq(id_arrives(&peer, 40000 + i), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1010), IPID_WRONG);
}
END_TEST

START_TEST(ipid_peer_may_change_between_index_and_counter)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 30000), IPID_WRONG);
	ck_assert_int_eq(id_arrives(&peer, 30002), IPID_SOLVED);
	ck_assert_int_eq(id_arrives(&peer, 30003), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 0), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 1), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 30004), IPID_WRONG);
}
END_TEST

START_TEST(ipid_suspect_is_forgotten)
{
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 1000), IPID_SOLVED);
	ck_assert_int_eq(id_arrives(&peer, 40000), IPID_WRONG);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_int_eq(id_arrives(&peer, 1001 + i), IPID_PREDICTED);
	ck_assert_int_eq(id_arrives(&peer, 40001), IPID_WRONG);
}
END_TEST

START_TEST(ipid_random_numbering_never_passes_after_the_first)
{
	static const unsigned ids[] = {7000, 52000, 13000, 44000, 29000, 61000, 3000};
	struct ipid_peer peer = {0};

	ck_assert_int_eq(id_arrives(&peer, 20000), IPID_SOLVED);
	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		ck_assert_int_eq(id_arrives(&peer, ids[i]), IPID_WRONG);
}
END_TEST

START_TEST(ipid_noise_hardly_passes_and_never_blocks_the_peer)
{
	struct ipid_peer index = {0}, counter = {0};
	unsigned passed = 0, lost = 0;
	uint64_t seed = 5;

	id_arrives(&index, 0);
	id_arrives(&counter, 1000);
	for (unsigned i = 1; i < 4000000; i++) { /* 0.2 are expected to pass */
		passed += noise_arrives(&index, &seed) != IPID_WRONG;
		passed += noise_arrives(&counter, &seed) != IPID_WRONG;
		if (i % 16 != 0)
			continue;
		lost += id_arrives(&index, i / 16 % 64) != IPID_PREDICTED;
		lost += id_arrives(&counter, (1000 + i / 16) & 0xffff) != IPID_PREDICTED;
	}
	ck_assert_uint_le(passed, 2);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

TCase *bth_ipid_tcase(void)
{
	TCase *tc = tcase_create("ipid");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, ipid_zero_and_run_indices_are_predicted);
	tcase_add_test(tc, ipid_run_that_lost_its_head_is_predicted);
	tcase_add_test(tc, ipid_counter_is_solved_once_then_predicted);
	tcase_add_test(tc, ipid_counter_may_begin_anywhere);
	tcase_add_test(tc, ipid_constant_is_predicted);
	tcase_add_test(tc, ipid_loss_and_reordering_stay_predicted);
	tcase_add_test(tc, ipid_counter_that_jumped_in_a_pause_is_followed);
	tcase_add_test(tc, ipid_peer_that_restarts_loses_one_packet);
	tcase_add_test(tc, ipid_peer_may_change_between_index_and_counter);
	tcase_add_test(tc, ipid_suspect_is_forgotten);
	tcase_add_test(tc, ipid_random_numbering_never_passes_after_the_first);
	tcase_add_test(tc, ipid_noise_hardly_passes_and_never_blocks_the_peer);
	return tc;
}
