/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of fault rules that are wrong, too many or hostile, and of files of them. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "net/fault.h"
#include "net/fault_file.h"
#include "net_made.h"
#include "net_suites.h"

static const struct {
	const char *text, *why;
} refused[] = {
	{"egress drop opcode=rc-foo", "fault: unknown opcode 'rc-foo' in "},
	{"egress drop opcode=send-onl", "unknown opcode 'send-onl'"},
	{"egress drop opcode=", "opcode wants a name"},
	{"egress drop opcode=cnp,", "opcode wants a name"},
	{"egress drop opcode=256", "unknown opcode '256'"},
	{"egress drop opcode", "opcode wants a value"},
	{"sideways drop p=1", "a rule begins with ingress (rx), egress (tx) or both"},
	{"egress", "no action"},
	{"egress p=0.5", "no action"},
	{"egress explode", "unknown word 'explode'"},
	{"egress drop=1 p=1", "drop takes no value"},
	{"egress drop duplicate", "drop and duplicate: a rule has one action"},
	{"egress drop p=1 p=1", "p is given twice"},
	{"egress drop p=1 nth=1", "p, nth and every exclude each other"},
	{"egress drop p=0x1p-2", "unknown"},
	{"egress drop qp=0x1000000", "qp is 0 to 16777215, not '0x1000000'"},
	{"egress drop qp=-1", "qp is"},
	{"egress drop psn=0x1000000", "psn is 0 to 0xffffff, or FIRST-LAST"},
	{"egress drop psn=5-", "psn is"},
	{"egress drop psn=-5", "psn is"},
	{"egress drop psn=5-6-7", "psn is"},
	{"egress drop psn=00000000000000000000000000000000005-6", "psn is"},
	{"egress drop from=5", "from is a time such as 500us, 1.5ms or 2s, not '5'"},
	{"egress drop from=5ms until=5ms", "from is before until"},
	{"egress drop from=-5ms", "from is a time"},
	{"egress drop from=1e300s", "from is a time"},
	{"egress drop from=infs", "from is a time"},
	{"egress drop from=0x5ms", "from is a time"},
	{"egress drop from=3601s", "from is a time"},
	{"egress drop count=0 p=1", "count is a number from 1 on"},
	{"egress duplicate=17", "duplicate is 1 to 16, not '17'"},
	{"egress duplicate=0", "duplicate is"},
	{"egress delay=1ms-", "delay is a time"},
	{"egress delay=2ms-1ms", "delay is MIN-MAX"},
	{"egress delay=1ms~x", "delay is a time"},
	{"egress reorder=0", "reorder is 1 to 1000"},
	{"egress reorder=1,", "reorder is a time"},
	{"egress reorder=,1ms", "reorder is 1 to 1000"},
	{"egress corrupt=nose", "unknown field 'nose'"},
	{"egress corrupt=", "unknown field ''"},
	{"egress corrupt=psn:0x1000000", "psn cannot be '0x1000000'"},
	{"egress corrupt=payload:5", "payload cannot be '5'"},
	{"egress corrupt=bits:33", "corrupt=bits is 1 to 32"},
	{"egress corrupt=bits:", "corrupt=bits is"},
	{"egress corrupt=icrc icrc=right", "an ICRC cannot be corrupt and right"},
	{"egress corrupt=syndrome opcode=rc-write", "no packet of that opcode has the field"},
	{"egress drop p=1 icrc=right", "icrc is for corrupt"},
	{"egress corrupt=psn icrc=left", "icrc is right or wrong, not 'left'"},
	{"egress mark=me", "mark is ce, not 'me'"},
	{"egress nak=32", "unknown NAK '32'"},
	{"egress nak=no", "unknown NAK 'no'"},
	{"egress nak=access opcode=rc-send", "only an acknowledge becomes a NAK"},
	{"egress rnr=32", "rnr is 0 to 31"},
	{"egress duplicate seed=1", "seed is for p and what else is random"},
	{"egress drop p=1\nrxe0: all is well", "?rxe0"},
};

START_TEST(fault_says_what_is_wrong)
{
	struct fault_rules *rules = fault_rules_create();
	char err[FAULT_ERROR_MAX] = "";
	uint32_t id;

	ck_assert_int_eq(fault_rules_add(rules, 0, refused[_i].text, &id, err, sizeof(err)),
			 -EINVAL);
	if (strcmp(refused[_i].why, "unknown"))
		ck_assert_msg(strstr(err, refused[_i].why), "%s", err);
	ck_assert_int_eq(strncmp(err, "fault: ", 7), 0);
	ck_assert_ptr_null(strchr(err, '\n'));
	fault_rules_destroy(rules);
}
END_TEST

/* Whatever the bytes and however little room: no harm, and what is refused is told. */
START_TEST(fault_hostile_rules_do_no_harm)
{
	static const char *const pieces[] = {
		"ingress",    "both",  "drop",	  "p=",	       "0.5",	  "nth=3",    "opcode=",
		"rc-",	      "send",  ",",	  "=",	       "psn=",	  "5-7",      "delay=",
		"1ms",	      "~",     "corrupt", "=bits",     ":",	  "99999999", "qp=1",
		"\x01\xff",   "%s%n",  " ",	  " ",	       "reorder", "seed=0x7", "\t",
		"icrc=right", "=rkey", "mark=ce", "nak=access"};
	struct fault_rules *rules = fault_rules_create();
	unsigned state = (unsigned)_i + 1;
	struct made m;

	make(&m, FAULT_RX, BTH_OPCODE(BTH_RC, BTH_ACKNOWLEDGE), 1, 5);
	for (int i = 0; i < 20000; i++) {
		char text[700] = "ingress ", err[FAULT_ERROR_MAX];
		size_t room = (size_t)rand_r(&state) % sizeof(err) + 1;
		struct fault_verdict v;
		uint32_t id;

		for (int n = rand_r(&state) % 30; n > 0; n--)
			strcat(text, pieces[(size_t)rand_r(&state) %
					    (sizeof(pieces) / sizeof(pieces[0]))]);
		memset(err, 0x55, sizeof(err));
		if (fault_rules_add(rules, 0, text, &id, err, room) < 0) {
			ck_assert_ptr_nonnull(memchr(err, '\0', room));
			continue;
		}
		fault_decide(rules, &m.p, &v);
		ck_assert_int_eq(fault_rules_del(rules, id), 0);
	}
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_rules_have_an_end)
{
	struct fault_rules *rules = fault_rules_create();
	char err[FAULT_ERROR_MAX] = "";
	struct fault_verdict v;
	struct made m;
	uint32_t id;

	for (int i = 0; i < FAULT_RULES_MAX; i++)
		ck_assert_int_eq(fault_rules_add(rules, 0, "both duplicate", &id, err, sizeof(err)),
				 0);
	ck_assert_int_eq(fault_rules_add(rules, 0, "both duplicate", &id, err, sizeof(err)),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err, "64 rules already"));
	make(&m, FAULT_RX, 0, 1, 1);
	ck_assert(fault_decide(rules, &m.p, &v));
	ck_assert_uint_eq(v.copies, FAULT_RULES_MAX);
	ck_assert_uint_eq(v.n_fired, FAULT_FIRED_MAX);
	ck_assert(fault_rules_concern(rules, FAULT_RX) && fault_rules_concern(rules, FAULT_TX));
	fault_rules_clear(rules);
	ck_assert(fault_rules_empty(rules) && !fault_rules_concern(rules, FAULT_RX));
	ck_assert(!fault_decide(rules, &m.p, &v));
	fault_rules_destroy(rules);
}
END_TEST

/* ---- files ---- */

struct heard {
	char text[1000];
};

static int hear(void *ctx, const struct fault_line *line, char *err, size_t err_size)
{
	struct heard *h = ctx;
	size_t len = strlen(h->text);

	snprintf(h->text + len, sizeof(h->text) - len, "%u %s [%s]%s%d;", line->number,
		 line->device ? line->device : "-", line->rule, line->seeded ? " seed " : " ",
		 (int)line->seed);
	if (strstr(line->rule, "refuse")) {
		snprintf(err, err_size, "fault: refused");
		return -ENOSPC;
	}
	return 0;
}

static int file_heard(const char *bytes, size_t len, struct heard *h, char *err, size_t size)
{
	FILE *from = fmemopen((char *)(uintptr_t)bytes, len, "r");
	int rc;

	ck_assert_ptr_nonnull(from);
	h->text[0] = '\0';
	rc = fault_file_read(from, hear, h, err, size);
	fclose(from);
	return rc;
}

START_TEST(fault_file_has_a_rule_a_line)
{
	static const char file[] = "# losses\n\n  ingress drop p=1  # all\r\nseed 7\n"
				   "rxe1\tegress  drop nth=1\nseed 0x10\nboth mark=ce";
	struct heard h;
	char err[200];

	ck_assert_int_eq(file_heard(file, strlen(file), &h, err, sizeof(err)), 0);
	ck_assert_str_eq(h.text, "3 - [ingress drop p=1] 0;5 rxe1 [egress  drop nth=1] seed 7;"
				 "7 - [both mark=ce] seed 16;");
}
END_TEST

START_TEST(fault_file_names_the_line_that_is_wrong)
{
	static const struct {
		const char *file;
		size_t len;
		int rc;
		const char *err;
	} rows[] = {
		{"\n\nseed x\n", 9, -EINVAL, "line 3: fault: seed is a number, not 'x'"},
		{"seed\n", 5, -EINVAL, "line 1: fault: seed is a number, not ''"},
		{"both\nboth refuse\nboth", 21, -ENOSPC, "line 2: fault: refused"},
		{"both dr\0op", 10, -EINVAL, "line 1: fault: a NUL byte"},
	};
	struct heard h;
	char err[200];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(file_heard(rows[i].file, rows[i].len, &h, err, sizeof(err)),
				 rows[i].rc);
		ck_assert_str_eq(err, rows[i].err);
	}
}
END_TEST

START_TEST(fault_seed_of_a_file_is_of_each_rule_its_own)
{
	struct fault_rules *one = fault_rules_create(), *other = fault_rules_create();
	struct fault_verdict v, w;
	char err[FAULT_ERROR_MAX];
	unsigned differ[2] = {0};
	struct made m;
	uint32_t id;

	make(&m, FAULT_RX, 0, 1, 1);
	fault_rules_seed(one, 1);
	fault_rules_seed(other, 2);
	for (int i = 0; i < 2; i++) {
		fault_rules_add(one, 0, "rx delay=0s-1s", &id, err, sizeof(err));
		fault_rules_add(other, 0, "rx delay=0s-1s", &id, err, sizeof(err));
		for (int k = 0; k < 100; k++) {
			ck_assert(fault_decide(one, &m.p, &v) && fault_decide(other, &m.p, &w));
			differ[i] += v.delay != w.delay;
		}
	}
	ck_assert_uint_ge(differ[0], 99);
	ck_assert_uint_ge(differ[1], 99);
	fault_rules_destroy(one);
	fault_rules_destroy(other);
}
END_TEST

Suite *net_fault_refused_suite(void)
{
	Suite *s = suite_create("net_fault_refused");
	TCase *t = tcase_create("refused");

	tcase_add_loop_test(t, fault_says_what_is_wrong, 0,
			    (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_loop_test(t, fault_hostile_rules_do_no_harm, 0, 2);
	tcase_add_test(t, fault_rules_have_an_end);
	tcase_add_test(t, fault_file_has_a_rule_a_line);
	tcase_add_test(t, fault_file_names_the_line_that_is_wrong);
	tcase_add_test(t, fault_seed_of_a_file_is_of_each_rule_its_own);
	suite_add_tcase(s, t);
	return s;
}
