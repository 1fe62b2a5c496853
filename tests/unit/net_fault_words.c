/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the words of fault rules: what they match, what they do, and how often. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "bth/aeth.h"
#include "bth/opcode.h"
#include "bth/packet.h"
#include "net/fault.h"
#include "net_made.h"
#include "net_suites.h"

#define MS 1000000ull

static struct fault_rules *with(const char *text)
{
	struct fault_rules *rules = fault_rules_create();
	char err[FAULT_ERROR_MAX] = "";
	uint32_t id;

	ck_assert_msg(fault_rules_add(rules, 100 * MS, text, &id, err, sizeof(err)) == 0, "%s",
		      err);
	return rules;
}

/* ---- matching ---- */

static const struct {
	const char *words;
	const char *opcode;
	bool fires;
} opcode_rows[] = {
	{"opcode=rc-send-only", "RC SEND Only", true},
	{"opcode=rc-send-only", "RC SEND Only with Immediate", false},
	{"opcode=rc-send-only", "UC SEND Only", false},
	{"opcode=send-only", "UC SEND Only", true},
	{"opcode=send-only", "UD SEND Only", true},
	{"opcode=rc-send", "RC SEND Last with Invalidate", true},
	{"opcode=rc-send", "RC WRITE Only", false},
	{"opcode=rc", "RC FetchAdd", true},
	{"opcode=rc", "UC SEND Only", false},
	{"opcode=read-response", "RC READ Response Middle", true},
	{"opcode=read-response", "RC READ Request", false},
	{"opcode=RC-READ-Response-First", "RC READ Response First", true},
	{"opcode=ack", "RC Acknowledge", true},
	{"opcode=ack", "RC ATOMIC Acknowledge", false},
	{"opcode=rc-acknowledge", "RC Acknowledge", true},
	{"opcode=cnp", "CNP", true},
	{"opcode=0x81", "CNP", true},
	{"opcode=cnp,ud-send-only,0x11", "RC Acknowledge", true},
	{"opcode=cnp,ud-send-only,0x11", "UD SEND Only", true},
	{"opcode=cnp,ud-send-only,0x11", "RC SEND Only", false},
};

static uint8_t opcode_named(const char *name)
{
	for (unsigned i = 0; i < 256; i++) {
		const char *have = bth_opcode_info((uint8_t)i)->name;

		if (have && strcmp(have, name) == 0)
			return (uint8_t)i;
	}
	ck_abort_msg("there is no %s", name);
}

START_TEST(fault_matches_opcodes_by_name)
{
	struct fault_rules *rules;
	struct fault_verdict v;
	struct made m;
	char text[100];

	snprintf(text, sizeof(text), "ingress drop %s", opcode_rows[_i].words);
	rules = with(text);
	make(&m, FAULT_RX, opcode_named(opcode_rows[_i].opcode), 1, 1);
	ck_assert_int_eq(fault_decide(rules, &m.p, &v), opcode_rows[_i].fires);
	fault_rules_destroy(rules);
}
END_TEST

static const struct {
	const char *text;
	enum fault_dir dir;
	uint32_t dqpn, psn;
	uint64_t ms; /* since the rule was added */
	bool fires;
} match_rows[] = {
	{"ingress drop qp=5", FAULT_RX, 5, 0, 0, true},
	{"ingress drop qp=5", FAULT_RX, 69, 0, 0, false}, /* of the same bucket */
	{"ingress drop qp=5", FAULT_TX, 5, 0, 0, false},
	{"egress drop qp=5", FAULT_TX, 5, 0, 0, false},
	{"egress drop qp=0x77", FAULT_TX, 5, 0, 0, true},
	{"tx drop dqpn=5", FAULT_TX, 5, 0, 0, true},
	{"both drop dqpn=5", FAULT_RX, 5, 0, 0, true},
	{"both drop dqpn=5", FAULT_TX, 6, 0, 0, false},
	{"rx drop psn=7", FAULT_RX, 1, 7, 0, true},
	{"rx drop psn=7", FAULT_RX, 1, 8, 0, false},
	{"rx drop psn=7", FAULT_RX, 1, 71, 0, false},
	{"rx drop psn=7-9", FAULT_RX, 1, 9, 0, true},
	{"rx drop psn=7-9", FAULT_RX, 1, 10, 0, false},
	{"rx drop psn=7-1000", FAULT_RX, 1, 600, 0, true},
	{"rx drop psn=7-1000", FAULT_RX, 1, 6, 0, false},
	{"rx drop psn=0xfffffe-1", FAULT_RX, 1, 0xffffff, 0, true},
	{"rx drop psn=0xfffffe-1", FAULT_RX, 1, 1, 0, true},
	{"rx drop psn=0xfffffe-1", FAULT_RX, 1, 2, 0, false},
	{"rx drop psn=0-0xffffff", FAULT_RX, 1, 0xabcdef, 0, true},
	{"rx drop from=5ms", FAULT_RX, 1, 1, 4, false},
	{"rx drop from=5ms", FAULT_RX, 1, 1, 5, true},
	{"rx drop until=5ms", FAULT_RX, 1, 1, 4, true},
	{"rx drop until=5ms", FAULT_RX, 1, 1, 5, false},
	{"rx drop from=0.001s until=2000us", FAULT_RX, 1, 1, 1, true},
	{"rx drop qp=5 psn=7 from=1ms", FAULT_RX, 5, 7, 1, true},
	{"rx drop qp=5 psn=7 from=1ms", FAULT_RX, 5, 8, 1, false},
};

START_TEST(fault_matches_what_all_words_say)
{
	struct fault_rules *rules = with(match_rows[_i].text);
	struct fault_verdict v;
	struct made m;

	make(&m, match_rows[_i].dir, BTH_OPCODE(BTH_RC, BTH_SEND_ONLY), match_rows[_i].dqpn,
	     match_rows[_i].psn);
	m.p.now = (100 + match_rows[_i].ms) * MS;
	ck_assert_int_eq(fault_decide(rules, &m.p, &v), match_rows[_i].fires);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_counts_only_what_matches)
{
	struct fault_rules *rules = with("egress drop opcode=read-response nth=3");
	struct fault_verdict v;
	struct made response, other;

	make(&response, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_READ_RESPONSE_MIDDLE), 1, 1);
	make(&other, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_ACKNOWLEDGE), 1, 1);
	for (int i = 1; i <= 5; i++) {
		ck_assert(!fault_decide(rules, &other.p, &v));
		ck_assert_int_eq(fault_decide(rules, &response.p, &v), i == 3);
	}
	ck_assert_uint_eq(v.n_fired, 1);
	ck_assert_uint_eq(v.fired[0].match, 3);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_fires_no_more_often_than_count)
{
	struct fault_rules *rules = with("both drop every=2 count=3");
	struct fault_verdict v;
	struct made m;
	int fired = 0;

	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_SEND_ONLY), 1, 1);
	for (int i = 1; i <= 20; i++)
		fired += fault_decide(rules, &m.p, &v);
	ck_assert_int_eq(fired, 3);
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(fault_short_packets_match_nothing)
{
	struct fault_rules *rules = with("both corrupt=bits:32 p=1");
	struct fault_verdict v;
	struct made m;

	make(&m, FAULT_RX, 0, 1, 1);
	for (m.p.len = 0; m.p.len < BTH_LEN; m.p.len++)
		ck_assert(!fault_decide(rules, &m.p, &v));
	ck_assert(fault_decide(rules, &m.p, &v));
	fault_rules_destroy(rules);
}
END_TEST

/* ---- acting ---- */

static struct fault_verdict verdict_of(const char *text, struct made *m)
{
	struct fault_rules *rules = with(text);
	struct fault_verdict v;

	m->p.now = 100 * MS;
	ck_assert_msg(fault_decide(rules, &m->p, &v), "%s", text);
	fault_rules_destroy(rules);
	return v;
}

START_TEST(fault_verdict_is_what_the_action_says)
{
	struct fault_verdict v;
	struct made m;

	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_SEND_ONLY), 1, 1);
	ck_assert_uint_eq(verdict_of("both duplicate", &m).copies, 1);
	ck_assert_uint_eq(verdict_of("both duplicate=7", &m).copies, 7);
	ck_assert_uint_eq(verdict_of("both delay=1.5ms", &m).delay, 1500000);
	ck_assert(verdict_of("both mark=ce", &m).ce);
	v = verdict_of("both reorder", &m);
	ck_assert_uint_eq(v.overtake, 1);
	ck_assert_uint_eq(v.overtake_wait, 10 * MS);
	v = verdict_of("both reorder=5,2us", &m);
	ck_assert_uint_eq(v.overtake, 5);
	ck_assert_uint_eq(v.overtake_wait, 2000);
	ck_assert(!v.drop && !v.ce && !v.copies && !v.delay && !v.n_edits);
}
END_TEST

START_TEST(fault_verdict_adds_up)
{
	static const char *const words[] = {"both duplicate=2", "both delay=1ms",
					    "both drop nth=1",	"both duplicate p=1",
					    "both delay=2ms",	"both mark=ce"};
	struct fault_rules *rules = fault_rules_create();
	struct fault_verdict v;
	char text[300];
	struct made m;
	uint32_t id;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_int_eq(fault_rules_add(rules, 0, words[i], &id, text, sizeof(text)), 0);
	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_SEND_ONLY), 1, 1);
	ck_assert(fault_decide(rules, &m.p, &v));
	ck_assert(v.drop && v.ce);
	ck_assert_uint_eq(v.copies, 3);
	ck_assert_uint_eq(v.delay, 3 * MS);
	ck_assert_uint_eq(v.n_fired, 6);
	fault_verdict_print(&v, text, sizeof(text));
	ck_assert_str_eq(text,
			 "duplicated by rule 1, delayed 3.000 ms by rule 2, dropped by rule 3, "
			 "duplicated by rule 4, delayed 3.000 ms by rule 5, marked CE by "
			 "rule 6");
	fault_fired_print(&v, 2, text, sizeof(text));
	ck_assert_str_eq(text, "rule 3 drop, match 1");
	fault_rules_destroy(rules);
}
END_TEST

/* Mean and spread of ten thousand delays. */
START_TEST(fault_delays_are_distributed)
{
	struct fault_rules *even = with("both delay=1ms-3ms"),
			   *normal = with("both delay=2ms~100us");
	double mean = 0, square = 0;
	uint64_t least = UINT64_MAX, most = 0;
	struct fault_verdict v;
	struct made m;

	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_SEND_ONLY), 1, 1);
	for (int i = 0; i < 10000; i++) {
		ck_assert(fault_decide(even, &m.p, &v));
		least = v.delay < least ? v.delay : least;
		most = v.delay > most ? v.delay : most;
		ck_assert(fault_decide(normal, &m.p, &v));
		mean += (double)v.delay / 10000;
		square += ((double)v.delay - 2e6) * ((double)v.delay - 2e6) / 10000;
	}
	ck_assert(least >= 1 * MS && least < 1010000);
	ck_assert(most <= 3 * MS && most > 2990000);
	ck_assert(mean > 1.99e6 && mean < 2.01e6);
	ck_assert(square > 0.9e10 && square < 1.1e10);
	fault_rules_destroy(even);
	fault_rules_destroy(normal);
}
END_TEST

/* A field that is corrupted differs, and nothing else does. */
static const struct {
	const char *field, *opcode;
	uint32_t at, len;
	uint8_t mask; /* of the only byte */
} field_rows[] = {
	{"opcode", "RC SEND Only", 0, 1, 0xff},
	{"se", "RC SEND Only", 1, 1, 0x80},
	{"migreq", "RC SEND Only", 1, 1, 0x40},
	{"pad", "RC SEND Only", 1, 1, 0x30},
	{"tver", "RC SEND Only", 1, 1, 0x0f},
	{"pkey", "RC SEND Only", 2, 2, 0xff},
	{"fecn", "RC SEND Only", 4, 1, 0x80},
	{"becn", "RC SEND Only", 4, 1, 0x40},
	{"dqpn", "RC SEND Only", 5, 3, 0xff},
	{"ackreq", "RC SEND Only", 8, 1, 0x80},
	{"psn", "RC SEND Only", 9, 3, 0xff},
	{"qkey", "UD SEND Only", 12, 4, 0xff},
	{"sqpn", "UD SEND Only", 17, 3, 0xff},
	{"va", "RC WRITE Only", 12, 8, 0xff},
	{"rkey", "RC READ Request", 20, 4, 0xff},
	{"rkey", "RC CmpSwap", 20, 4, 0xff},
	{"rkey", "RC FLUSH", 24, 4, 0xff},
	{"dmalen", "RC READ Request", 24, 4, 0xff},
	{"swap", "RC FetchAdd", 24, 8, 0xff},
	{"compare", "RC CmpSwap", 32, 8, 0xff},
	{"syndrome", "RC Acknowledge", 12, 1, 0xff},
	{"msn", "RC READ Response Last", 13, 3, 0xff},
	{"orig", "RC ATOMIC Acknowledge", 16, 8, 0xff},
	{"imm", "RC SEND Last with Immediate", 12, 4, 0xff},
	{"imm", "UD SEND Only with Immediate", 20, 4, 0xff},
	{"imm", "RC WRITE Only with Immediate", 28, 4, 0xff},
	{"inv-rkey", "RC SEND Only with Invalidate", 12, 4, 0xff},
	{"payload", "RC WRITE Only", 28, 64, 0xff},
};

START_TEST(fault_corrupts_the_field_it_names)
{
	struct made m, before;
	struct fault_verdict v;
	uint32_t differ = 0;
	char text[100];

	make(&m, FAULT_TX, opcode_named(field_rows[_i].opcode), 5, 6);
	before = m;
	snprintf(text, sizeof(text), "both corrupt=%s icrc=right", field_rows[_i].field);
	v = verdict_of(text, &m);
	ck_assert(!fault_breaks_icrc(&v));
	fault_edit(&v, m.bytes, true);
	ck_assert_mem_eq(m.bytes, before.bytes, sizeof(m.bytes));
	fault_edit(&v, m.bytes, false);
	for (uint32_t i = 0; i < sizeof(m.bytes); i++) {
		uint8_t flip = m.bytes[i] ^ before.bytes[i];

		differ += flip != 0;
		if (i < field_rows[_i].at || i >= field_rows[_i].at + field_rows[_i].len)
			ck_assert_uint_eq(flip, 0);
		else if (field_rows[_i].len == 1)
			ck_assert_uint_eq(flip & ~field_rows[_i].mask, 0);
	}
	ck_assert_uint_gt(differ, 0);
}
END_TEST

START_TEST(fault_corrupts_to_the_value_it_names)
{
	struct bth_packet pkt;
	struct fault_verdict v;
	struct made m;

	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_WRITE_ONLY), 5, 6);
	v = verdict_of("both corrupt=rkey:0xabcd1234 icrc=right", &m);
	fault_edit(&v, m.bytes, false);
	v = verdict_of("both corrupt=va:0x123456789abcdef0 icrc=right", &m);
	fault_edit(&v, m.bytes, false);
	v = verdict_of("both corrupt=pkey:1 icrc=right", &m);
	fault_edit(&v, m.bytes, false);
	ck_assert_int_eq(bth_decode(m.bytes, m.p.len, &pkt), BTH_OK);
	ck_assert_uint_eq(pkt.rkey, 0xabcd1234);
	ck_assert_uint_eq(pkt.va, 0x123456789abcdef0);
	ck_assert_uint_eq(pkt.pkey, 1);
	v = verdict_of("both corrupt=pad:3 icrc=right", &m);
	fault_edit(&v, m.bytes, false);
	ck_assert_uint_eq(m.bytes[1], 0x30);
}
END_TEST

START_TEST(fault_makes_acks_naks)
{
	static const struct {
		const char *words;
		uint8_t syndrome;
	} rows[] = {
		{"nak=sequence", 0x60},	   {"nak=invalid", 0x61}, {"nak=access", 0x62},
		{"nak=operational", 0x63}, {"nak=rd", 0x64},	  {"nak=31", 0x7f},
		{"rnr=0", 0x20},	   {"rnr=31", 0x3f},
	};
	struct fault_verdict v;
	char text[100];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fault_rules *rules;
		struct made m;

		snprintf(text, sizeof(text), "both %s", rows[i].words);
		make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_ACKNOWLEDGE), 5, 6);
		v = verdict_of(text, &m);
		fault_edit(&v, m.bytes, false);
		ck_assert_uint_eq(m.bytes[BTH_LEN], rows[i].syndrome);
		/* It is no ACK now, nor is anything else one. */
		rules = with(text);
		ck_assert(!fault_decide(rules, &m.p, &v));
		make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_READ_RESPONSE_ONLY), 5, 6);
		ck_assert(!fault_decide(rules, &m.p, &v));
		fault_rules_destroy(rules);
	}
}
END_TEST

/* The same seed and the same packets, the same verdicts, whatever the action draws. */
START_TEST(fault_repeats_with_its_seed)
{
	static const char *const texts[] = {
		"both drop p=0.3 seed=9",	   "both corrupt=bits:5 seed=9 p=0.5",
		"both delay=1ms-9ms p=0.5 seed=9", "both delay=5ms~1ms seed=9",
		"both corrupt=payload seed=9",	   "both corrupt=dqpn seed=9",
	};
	struct fault_rules *one = with(texts[_i]), *same = with(texts[_i]);
	struct made m;

	make(&m, FAULT_TX, BTH_OPCODE(BTH_RC, BTH_WRITE_MIDDLE), 5, 6);
	for (int i = 0; i < 1000; i++) {
		struct fault_verdict v, w;
		bool fires = fault_decide(one, &m.p, &v);

		ck_assert_int_eq(fault_decide(same, &m.p, &w), fires);
		if (!fires)
			continue;
		ck_assert_uint_eq(v.delay, w.delay);
		ck_assert_uint_eq(v.n_edits, w.n_edits);
		for (uint32_t k = 0; k < v.n_edits; k++) {
			ck_assert_uint_eq(v.edits[k].at, w.edits[k].at);
			ck_assert_uint_eq(v.edits[k].flip, w.edits[k].flip);
		}
	}
	fault_rules_destroy(one);
	fault_rules_destroy(same);
}
END_TEST

#define ROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

Suite *net_fault_words_suite(void)
{
	Suite *s = suite_create("net_fault_words");
	TCase *t = tcase_create("words");

	tcase_add_loop_test(t, fault_matches_opcodes_by_name, 0, ROWS(opcode_rows));
	tcase_add_loop_test(t, fault_matches_what_all_words_say, 0, ROWS(match_rows));
	tcase_add_test(t, fault_counts_only_what_matches);
	tcase_add_test(t, fault_fires_no_more_often_than_count);
	tcase_add_test(t, fault_short_packets_match_nothing);
	tcase_add_test(t, fault_verdict_is_what_the_action_says);
	tcase_add_test(t, fault_verdict_adds_up);
	tcase_add_test(t, fault_delays_are_distributed);
	tcase_add_loop_test(t, fault_corrupts_the_field_it_names, 0, ROWS(field_rows));
	tcase_add_test(t, fault_corrupts_to_the_value_it_names);
	tcase_add_test(t, fault_makes_acks_naks);
	tcase_add_loop_test(t, fault_repeats_with_its_seed, 0, 6);
	suite_add_tcase(s, t);
	return s;
}
