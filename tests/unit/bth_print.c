/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the one-line printing. */
#include "config.h"

#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth/print.h"
#include "bth_suites.h"

START_TEST(print_tells_opcode_and_fields)
{
	struct bth_packet pkt = {
		.opcode = BTH_WRITE_ONLY_IMM,
		.pkey = 0xffff,
		.dqpn = 0x11,
		.psn = 0x1000,
		.ackreq = true,
		.va = 0x7f0000001000,
		.rkey = 0x1234,
		.dmalen = 5,
		.imm = 7,
		.payload_len = 5,
	};
	char line[256];

	bth_print(line, sizeof(line), &pkt);
	ck_assert_str_eq(line, "RC WRITE Only with Immediate qp 0x000011 psn 0x001000 ackreq "
			       "va 0x7f0000001000 rkey 0x00001234 dmalen 5 imm 0x00000007 "
			       "payload 5");
}
END_TEST

START_TEST(print_tells_marks_and_keys_that_go)
{
	struct bth_packet pkt = {.opcode = BTH_SEND_ONLY_INV,
				 .pkey = 0xffff,
				 .dqpn = 0x11,
				 .fecn = true,
				 .becn = true,
				 .inv_rkey = 0x1234};
	char text[256];

	bth_print(text, sizeof(text), &pkt);
	ck_assert_msg(strstr(text, " fecn becn invalidate 0x00001234 payload 0"), "%s", text);
	pkt = (struct bth_packet){.opcode = BTH_FLUSH, .pkey = 0xffff, .flush_type = 5};
	bth_print(text, sizeof(text), &pkt);
	ck_assert_msg(strstr(text, " flush 0x00000005"), "%s", text);
	pkt = (struct bth_packet){.opcode = 0xff, .pkey = 0xffff, .dqpn = 0x11};
	bth_print(text, sizeof(text), &pkt);
	ck_assert_str_eq(text, "opcode 0xff qp 0x000011 psn 0x000000");
}
END_TEST

START_TEST(print_cuts_like_snprintf)
{
	struct bth_packet pkt = {.opcode = BTH_ACKNOWLEDGE, .pkey = 1, .syndrome = 0x1f};
	char whole[256], cut[256];
	int len = bth_print(whole, sizeof(whole), &pkt);

	ck_assert_uint_eq(strlen(whole), (size_t)len);
	for (size_t size = 0; size < (size_t)len + 2; size++) {
		memset(cut, '#', sizeof(cut));
		ck_assert_int_eq(bth_print(cut, size, &pkt), len);
		ck_assert_int_eq(cut[size], '#');
		if (size == 0)
			continue;
		ck_assert_uint_eq(strlen(cut), size - 1 < (size_t)len ? size - 1 : (size_t)len);
		ck_assert(strncmp(cut, whole, strlen(cut)) == 0);
	}
}
END_TEST

START_TEST(print_names_every_syndrome)
{
	static const struct {
		uint8_t syndrome;
		const char *text;
	} cases[] = {
		{0x1f, "ACK"},
		{0x0c, "ACK credits 12"},
		{0x20, "RNR 655.36 ms"},
		{0x21, "RNR 0.01 ms"},
		{0x2c, "RNR 0.64 ms"},
		{0x40, "reserved syndrome 0x40"},
		{0x60, "NAK PSN sequence error"},
		{0x61, "NAK invalid request"},
		{0x62, "NAK remote access error"},
		{0x63, "NAK remote operational error"},
		{0x64, "NAK invalid RD request"},
		{0x65, "NAK reserved 5"},
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		aeth_print(text, sizeof(text), cases[i].syndrome);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

TCase *bth_print_tcase(void)
{
	TCase *tc = tcase_create("print");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, print_tells_opcode_and_fields);
	tcase_add_test(tc, print_tells_marks_and_keys_that_go);
	tcase_add_test(tc, print_cuts_like_snprintf);
	tcase_add_test(tc, print_names_every_syndrome);
	return tc;
}
