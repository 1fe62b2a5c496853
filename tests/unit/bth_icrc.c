/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the ICRC against a plain one, bit by bit over a pseudo header written out. */
#include "config.h"

#include <string.h>

#include "bth/icrc.h"
#include "bth/wire.h"
#include "bth_suites.h"

static uint32_t plain_crc32(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;

	for (; n > 0; n--, p++) {
		crc ^= *p;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static uint32_t plain_icrc(const struct icrc_flow *flow, const uint8_t *bth, size_t len,
			   uint16_t id)
{
	uint8_t buf[8 + 40 + 8 + 512];
	size_t ip = 8, udp = ip + (flow->ipv6 ? 40 : 20);

	memset(buf, 0xff, sizeof(buf));
	if (flow->ipv6) {
		buf[ip] = 0x6f;
		wire_put16(buf + ip + 4, (uint16_t)(len + 8));
		buf[ip + 6] = 17;
		memcpy(buf + ip + 8, flow->src, 16);
		memcpy(buf + ip + 24, flow->dst, 16);
	} else {
		buf[ip] = 0x45;
		wire_put16(buf + ip + 2, (uint16_t)(len + 28));
		wire_put16(buf + ip + 4, id);
		wire_put16(buf + ip + 6, 0x4000);
		buf[ip + 9] = 17;
		memcpy(buf + ip + 12, flow->src, 4);
		memcpy(buf + ip + 16, flow->dst, 4);
	}
	wire_put16(buf + udp, flow->sport);
	wire_put16(buf + udp + 2, flow->dport);
	wire_put16(buf + udp + 4, (uint16_t)(len + 8));
	memcpy(buf + udp + 8, bth, len - 4);
	buf[udp + 8 + 4] = 0xff;
	return plain_crc32(buf, udp + 8 + len - 4);
}

static void random_fill(uint64_t *seed, void *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)test_random(seed);
}

START_TEST(icrc_equals_the_plain_one)
{
	uint64_t seed = 1;
	uint8_t bth[512];

	for (size_t len = 16; len <= sizeof(bth); len++) {
		struct icrc_flow flow = {.ipv6 = len & 1 || len % 8 == 0, .dport = 4791};
		uint16_t id = (uint16_t)test_random(&seed);
		struct icrc_base base;
		uint32_t want;

		random_fill(&seed, bth, sizeof(bth));
		random_fill(&seed, flow.src, 16);
		random_fill(&seed, flow.dst, 16);
		flow.sport = (uint16_t)test_random(&seed);
		want = plain_icrc(&flow, bth, len, id);
		base = icrc_flow_base(&flow);
		ck_assert_uint_eq(icrc_finish(icrc_begin(&flow, len, id), bth, len - 4), want);
		ck_assert_uint_eq(icrc_finish(icrc_base_begin(&base, len, id), bth, len - 4), want);
	}
}
END_TEST

START_TEST(icrc_ignores_ecn_bits_of_the_bth)
{
	struct icrc_flow flow = {.dport = 4791};
	uint8_t bth[12] = {4};
	uint32_t state = icrc_begin(&flow, 16, 0), want = icrc_finish(state, bth, 12);

	bth[4] = 0xc0;
	ck_assert_uint_eq(icrc_finish(state, bth, 12), want);
	bth[5] = 1;
	ck_assert_uint_ne(icrc_finish(state, bth, 12), want);
}
END_TEST

START_TEST(icrc_of_the_longest_datagram_takes_its_length)
{
	static uint8_t bth[65507];
	struct icrc_flow flow = {.dport = 4791};
	uint32_t a = icrc_finish(icrc_begin(&flow, 65507, 0), bth, 65503);

	ck_assert_uint_eq(icrc_finish(icrc_begin(&flow, 65507, 9), bth, 65503),
			  icrc_with_id(a, 9, 65507));
	ck_assert_int_eq(icrc_solve_id(a, icrc_with_id(a, 9, 65507), 65507), 9);
}
END_TEST

START_TEST(icrc_every_identification_is_solved)
{
	static const size_t lens[] = {16, 17, 20, 64, 1042, 1044, 4156, 4352, 4400, 65507};
	uint64_t seed = 2;

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		bool slow = lens[i] % 4 != 0 || lens[i] > 4200; /* not by table */
		uint32_t computed = (uint32_t)test_random(&seed);
		uint32_t step = slow ? 97 : 1;

		for (uint32_t id = 0; id < 65536; id += step) {
			uint32_t received = icrc_with_id(computed, (uint16_t)id, lens[i]);

			ck_assert_int_eq(icrc_solve_id(computed, received, lens[i]), (int32_t)id);
		}
	}
}
END_TEST

START_TEST(icrc_of_noise_is_solved_once_in_65536)
{
	unsigned solved = 0;
	uint64_t seed = 3;

	for (unsigned i = 0; i < 16 * 65536; i++)
		solved += icrc_solve_id(0, (uint32_t)(test_random(&seed) >> 16), 1044) >= 0;
	ck_assert_uint_le(solved, 40);
}
END_TEST

START_TEST(icrc_stands_little_endian_on_the_wire)
{
	uint8_t p[4];

	icrc_store(p, 0x11223344);
	ck_assert_uint_eq(p[0], 0x44);
	ck_assert_uint_eq(p[3], 0x11);
	ck_assert_uint_eq(icrc_load(p), 0x11223344);
}
END_TEST

START_TEST(icrc_crc32_has_the_known_check_value)
{
	ck_assert_uint_eq(icrc_crc32(0, "123456789", 9), 0xcbf43926);
	ck_assert_uint_eq(icrc_crc32(icrc_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}
END_TEST

TCase *bth_icrc_tcase(void)
{
	TCase *tc = tcase_create("icrc");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, icrc_equals_the_plain_one);
	tcase_add_test(tc, icrc_ignores_ecn_bits_of_the_bth);
	tcase_add_test(tc, icrc_of_the_longest_datagram_takes_its_length);
	tcase_add_test(tc, icrc_every_identification_is_solved);
	tcase_add_test(tc, icrc_of_noise_is_solved_once_in_65536);
	tcase_add_test(tc, icrc_stands_little_endian_on_the_wire);
	tcase_add_test(tc, icrc_crc32_has_the_known_check_value);
	return tc;
}
