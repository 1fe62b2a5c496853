/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the opcode, RNR timer and timeout tables, and of PSN arithmetic. */
#include "config.h"

#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/psn.h"
#include "bth_suites.h"

/* Header bytes after the BTH, by hand; the opcodes not listed do not exist. */
static const struct {
	uint8_t opcode, ext;
} expected[] = {
	{0x00, 0},  {0x01, 0},	{0x02, 0},  {0x03, 4},	{0x04, 0},  {0x05, 4},	{0x06, 16},
	{0x07, 0},  {0x08, 0},	{0x09, 4},  {0x0a, 16}, {0x0b, 20}, {0x0c, 16}, {0x0d, 4},
	{0x0e, 0},  {0x0f, 4},	{0x10, 4},  {0x11, 4},	{0x12, 12}, {0x13, 28}, {0x14, 28},
	{0x16, 4},  {0x17, 4},	{0x1c, 20}, {0x1d, 16}, {0x20, 0},  {0x21, 0},	{0x22, 0},
	{0x23, 4},  {0x24, 0},	{0x25, 4},  {0x26, 16}, {0x27, 0},  {0x28, 0},	{0x29, 4},
	{0x2a, 16}, {0x2b, 20}, {0x64, 8},  {0x65, 12}, {0x81, 16},
};

START_TEST(opcode_table_has_these_and_no_others)
{
	size_t next = 0;

	for (unsigned op = 0; op < 256; op++) {
		const struct bth_opcode_info *info = bth_opcode_info((uint8_t)op);

		if (next == sizeof(expected) / sizeof(expected[0]) || expected[next].opcode != op) {
			ck_assert_msg(!info->name, "0x%02x should not exist", op);
			ck_assert_uint_eq(info->flags, 0);
			continue;
		}
		ck_assert_msg(info->name, "0x%02x is missing", op);
		ck_assert_msg(info->headers_len == BTH_LEN + expected[next].ext, "0x%02x: %u", op,
			      info->headers_len);
		ck_assert_uint_le(info->headers_len, BTH_HEADERS_MAX);
		next++;
	}
	ck_assert_uint_eq(next, sizeof(expected) / sizeof(expected[0]));
}
END_TEST

static bool one_of(uint32_t flags, uint32_t set)
{
	flags &= set;
	return flags != 0 && (flags & (flags - 1)) == 0;
}

START_TEST(opcode_flags_agree_with_names)
{
	static const struct {
		const char *word;
		uint32_t flags, mask;
	} rules[] = {
		{" First", BTH_F_FIRST, BTH_F_FIRST | BTH_F_MIDDLE | BTH_F_LAST},
		{" Middle", BTH_F_MIDDLE, BTH_F_FIRST | BTH_F_MIDDLE | BTH_F_LAST},
		{" Last", BTH_F_LAST, BTH_F_FIRST | BTH_F_MIDDLE | BTH_F_LAST},
		{" Only", BTH_F_FIRST | BTH_F_LAST, BTH_F_FIRST | BTH_F_MIDDLE | BTH_F_LAST},
		{"SEND", BTH_F_SEND | BTH_F_REQUEST, BTH_F_SEND | BTH_F_REQUEST},
		{"RC WRITE", BTH_F_WRITE | BTH_F_REQUEST, BTH_F_WRITE | BTH_F_REQUEST},
		{"UC WRITE", BTH_F_WRITE | BTH_F_REQUEST, BTH_F_WRITE | BTH_F_REQUEST},
		{"READ Request", BTH_F_READ | BTH_F_REQUEST, BTH_F_READ | BTH_F_REQUEST},
		{"READ Response", BTH_F_READ | BTH_F_RESPONSE, BTH_F_READ | BTH_F_RESPONSE},
		{"Acknowledge", BTH_F_AETH | BTH_F_RESPONSE, BTH_F_AETH | BTH_F_RESPONSE},
		{"Immediate", BTH_F_IMM, BTH_F_IMM | BTH_F_IETH},
		{"Invalidate", BTH_F_IETH, BTH_F_IMM | BTH_F_IETH},
		{"UD ", BTH_F_DETH, BTH_F_DETH},
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct bth_opcode_info *info = bth_opcode_info(expected[i].opcode);

		ck_assert(info->flags & BTH_F_CNP ||
			  one_of(info->flags, BTH_F_REQUEST | BTH_F_RESPONSE));
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
			ck_assert_msg(!strstr(info->name, rules[r].word) ||
					      (info->flags & rules[r].mask) == rules[r].flags,
				      "%s", info->name);
	}
}
END_TEST

START_TEST(rnr_timer_codes_are_the_specified_times)
{
	static const double ms[32] = {
		655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,   0.32,
		0.48,	0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24,  15.36,
		20.48,	30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
	};

	for (unsigned code = 0; code < 32; code++)
		ck_assert_uint_eq(aeth_rnr_timer_ns((uint8_t)code),
				  (uint64_t)(ms[code] * 1000000 + 0.5));
	ck_assert_uint_eq(aeth_rnr_timer_ns(33), 10000);
}
END_TEST

START_TEST(ib_timeouts_are_powers_of_two_and_zero_is_never)
{
	ck_assert_uint_eq(ib_timeout_ns(0), 0);
	ck_assert_uint_eq(ib_timeout_ns(1), 8192);
	ck_assert_uint_eq(ib_timeout_ns(14), 67108864);
	ck_assert_uint_eq(ib_timeout_ns(31), UINT64_C(8796093022208));
}
END_TEST

START_TEST(aeth_syndromes_split_into_kind_and_value)
{
	ck_assert_uint_eq(aeth_syndrome(AETH_ACK, AETH_CREDITS_INVALID), 0x1f);
	ck_assert_uint_eq(aeth_syndrome(AETH_RNR_NAK, 26), 0x3a);
	ck_assert_uint_eq(aeth_syndrome(AETH_NAK, AETH_NAK_REMOTE_ACCESS), 0x62);
	ck_assert_uint_eq(aeth_kind(0x62), AETH_NAK);
	ck_assert_uint_eq(aeth_kind(0xe2), AETH_NAK);
	ck_assert_uint_eq(aeth_value(0x3a), 26);
}
END_TEST

START_TEST(psn_differences_wrap)
{
	ck_assert_uint_eq(psn_add(0xffffff, 1), 0);
	ck_assert_int_eq(psn_diff(0, 0xffffff), 1);
	ck_assert_int_eq(psn_diff(0xffffff, 0), -1);
	ck_assert_int_eq(psn_diff(0x800000, 0), -0x800000);
	ck_assert_int_eq(psn_diff(0x7fffff, 0), 0x7fffff);
	ck_assert_int_eq(psn_diff(5, 5), 0);
}
END_TEST

TCase *bth_opcode_tcase(void)
{
	TCase *tc = tcase_create("opcode");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, opcode_table_has_these_and_no_others);
	tcase_add_test(tc, opcode_flags_agree_with_names);
	tcase_add_test(tc, rnr_timer_codes_are_the_specified_times);
	tcase_add_test(tc, ib_timeouts_are_powers_of_two_and_zero_is_never);
	tcase_add_test(tc, aeth_syndromes_split_into_kind_and_value);
	tcase_add_test(tc, psn_differences_wrap);
	return tc;
}
