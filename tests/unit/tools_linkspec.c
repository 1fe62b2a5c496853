/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words of rnicctl link add, del and set. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tools/linkspec.h"

#define WORDS_MAX 12
#define NAME_63 "rxe456789012345678901234567890123456789012345678901234567890123"

static char err[256];

static int parse(const char *line, struct link_request *r)
{
	char text[256], *argv[WORDS_MAX];
	int argc = 0;

	snprintf(text, sizeof(text), "%s", line);
	err[0] = 0;
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	return link_parse(argc, argv, r, err, sizeof(err));
}

START_TEST(add_takes_an_interface_or_an_address)
{
	static const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 9};
	static const uint8_t v6[16] = {0xfd, [15] = 1};
	struct link_request r;

	ck_assert_int_eq(parse("add rxe1 netdev eth0", &r), 0);
	ck_assert_int_eq(r.verb, LINK_ADD);
	ck_assert_str_eq(r.name, "rxe1");
	ck_assert(!r.where.plain);
	ck_assert_str_eq(r.where.netdev, "eth0");
	ck_assert_int_eq(parse("add rxe7 addr 127.0.0.9", &r), 0);
	ck_assert(r.where.plain);
	ck_assert_mem_eq(r.where.addr, v4, 16);
	ck_assert_int_eq(parse("add rxe7 type rxe addr fd00::1", &r), 0);
	ck_assert_mem_eq(r.where.addr, v6, 16);
}
END_TEST

START_TEST(set_takes_what_is_given)
{
	struct link_request r;

	ck_assert_int_eq(parse("set rxe0 mtu 1024", &r), 0);
	ck_assert_uint_eq(r.given, LINK_MTU);
	ck_assert_uint_eq(r.mtu, 1024);
	ck_assert_int_eq(parse("set rxe0 mtu auto gso off state down", &r), 0);
	ck_assert_uint_eq(r.given, LINK_MTU | LINK_GSO | LINK_STATE);
	ck_assert_uint_eq(r.mtu, 0);
	ck_assert_int_eq(r.gso, NET_GSO_OFF);
	ck_assert(!r.up);
	ck_assert_int_eq(parse("set rxe0 state up", &r), 0);
	ck_assert(r.up);
	ck_assert_int_eq(parse("del rxe0", &r), 0);
	ck_assert_int_eq(r.verb, LINK_DEL);
}
END_TEST

START_TEST(longest_name_has_63_characters)
{
	struct link_request r;

	ck_assert_int_eq(parse("del " NAME_63, &r), 0);
	ck_assert_str_eq(r.name, NAME_63);
	ck_assert_int_eq(parse("del " NAME_63 "4", &r), -EINVAL);
}
END_TEST

static const char *const wrong[] = {
	"",
	"frob rxe0",
	"add",
	"add rxe1",
	"add rxe1 netdev",
	"add rxe1 netdev name-of-16-chars",
	"add rxe1 netdev a/b",
	"add rxe1 addr 127.0.0.256",
	"add rxe1 addr lo",
	"add rxe1 netdev lo addr 127.0.0.9",
	"add rxe1 netdev lo netdev eth0",
	"add rxe1 type siw netdev lo",
	"add rxe1 netdev lo state down",
	"add a/b netdev lo",
	"add ../x netdev lo",
	"add . netdev lo",
	"add .. netdev lo",
	"add rxe%d netdev lo",
	"add r\txe netdev lo",
	"add r\x7fxe netdev lo",
	"add r\xc3\xa9 netdev lo",
	"del",
	"del rxe0 now",
	"set rxe0",
	"set rxe0 mtu",
	"set rxe0 mtu 0",
	"set rxe0 mtu 128",
	"set rxe0 mtu 1500",
	"set rxe0 mtu 8192",
	"set rxe0 mtu 1024x",
	"set rxe0 mtu -1024",
	"set rxe0 gso maybe",
	"set rxe0 state sideways",
	"set rxe0 addr 127.0.0.9",
};

START_TEST(wrong_words_are_refused_with_a_reason)
{
	struct link_request r;

	ck_assert_msg(parse(wrong[_i], &r) == -EINVAL, "%s", wrong[_i]);
	ck_assert_str_ne(err, "");
}
END_TEST

START_TEST(device_option_takes_either)
{
	struct link_where w;

	ck_assert(link_where_parse("127.0.0.9", &w) && w.plain);
	ck_assert(link_where_parse("::1", &w) && w.plain);
	ck_assert(link_where_parse("lo", &w) && !w.plain);
	ck_assert(!link_where_parse("", &w));
	ck_assert(!link_where_parse("name-of-16-chars", &w));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("linkspec");
	TCase *tc = tcase_create("linkspec");

	tcase_add_test(tc, add_takes_an_interface_or_an_address);
	tcase_add_test(tc, set_takes_what_is_given);
	tcase_add_test(tc, longest_name_has_63_characters);
	tcase_add_loop_test(tc, wrong_words_are_refused_with_a_reason, 0,
			    (int)(sizeof(wrong) / sizeof(wrong[0])));
	tcase_add_test(tc, device_option_takes_either);
	suite_add_tcase(suite, tc);
	return suite_run_all(srunner_create(suite));
}
