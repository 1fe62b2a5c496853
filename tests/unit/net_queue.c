/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the bottleneck. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "net/fault.h"
#include "net/queue.h"
#include "net_suites.h"

#define START 5000000000ull
#define US 1000ull

static struct net_queue q;

static void begin(uint64_t rate, uint64_t limit, uint64_t red_min, uint64_t red_max, double p)
{
	const struct net_queue_config cfg = {.rate = rate,
					     .limit = limit,
					     .red_min = red_min,
					     .red_max = red_max,
					     .red_p = p,
					     .seed = 1};

	net_queue_init(&q, &cfg);
}

/* When it has left, after START; UINT64_MAX: dropped. */
static uint64_t put(uint64_t at, uint32_t bytes, bool *mark)
{
	uint64_t leaves = 0;
	enum net_queue_verdict v = net_queue_put(&q, START + at, bytes, true, &leaves);

	*mark = v == NET_QUEUE_MARK;
	return v == NET_QUEUE_DROP ? UINT64_MAX : leaves - START;
}

START_TEST(queue_lets_packets_leave_one_after_another)
{
	bool mark;

	/* 1000 bytes at 1 Gbit/s: 8 us */
	begin(1000000000, 10000, 0, 0, 0);
	ck_assert_uint_eq(put(0, 1000, &mark), 8 * US);
	ck_assert_uint_eq(put(0, 1000, &mark), 16 * US);
	ck_assert_uint_eq(net_queue_length(&q, START), 2000);
	ck_assert_uint_eq(net_queue_length(&q, START + 12 * US), 500);
	ck_assert_uint_eq(put(12 * US, 500, &mark), 20 * US);
	ck_assert_uint_eq(put(100 * US, 1000, &mark), 108 * US);
}
END_TEST

START_TEST(queue_drops_what_does_not_fit)
{
	bool mark;

	begin(1000000000, 2500, 0, 0, 0);
	put(0, 1000, &mark);
	put(0, 1000, &mark);
	ck_assert_uint_eq(put(0, 501, &mark), UINT64_MAX);
	ck_assert_uint_eq(put(0, 500, &mark), 20 * US);
	ck_assert_uint_eq(put(8 * US, 1000, &mark), 28 * US);
	ck_assert_uint_eq(q.dropped, 1);
	ck_assert_uint_eq(q.passed, 4);
	ck_assert_uint_eq(q.bytes, 3500);
}
END_TEST

START_TEST(queue_loses_no_time_to_rounding)
{
	uint64_t last = 0;
	bool mark;

	/* 3 bytes take 8/3 ns each of 3 Gbit/s. */
	begin(3000000000, 1u << 20, 0, 0, 0);
	for (int i = 0; i < 3000; i++)
		last = put(0, 1, &mark);
	ck_assert_uint_eq(last, 8 * US);
}
END_TEST

/* Of 10000 packets that meet a queue of so many bytes. */
static uint32_t marked_at(uint64_t length)
{
	uint32_t n = 0;
	bool mark;

	for (uint32_t i = 0; i < 10000; i++) {
		q.free_at = START + length * 8;
		put(0, 0, &mark);
		n += mark;
	}
	return n;
}

START_TEST(queue_marks_by_its_length)
{
	begin(1000000000, 1000000, 5000, 205000, 0.1);
	ck_assert_uint_eq(marked_at(0), 0);
	ck_assert_uint_eq(marked_at(5000), 0);
	/* Half way: 0.05 of 10000, 3 standard deviations (22) to either side. */
	ck_assert_uint_ge(marked_at(105000), 434);
	ck_assert_uint_le(marked_at(105000), 566);
	/* Just below: 0.1 */
	ck_assert_uint_ge(marked_at(204999), 910);
	ck_assert_uint_le(marked_at(204999), 1090);
	ck_assert_uint_eq(marked_at(205000), 10000);
	ck_assert_uint_eq(marked_at(500000), 10000);
}
END_TEST

START_TEST(queue_marks_only_what_may_be_marked)
{
	uint64_t leaves;

	begin(1000000000, 1000000, 5000, 10000, 1);
	q.free_at = START + 20000 * 8;
	ck_assert_int_eq(net_queue_put(&q, START, 1000, false, &leaves), NET_QUEUE_PASS);
	ck_assert_int_eq(net_queue_put(&q, START, 1000, true, &leaves), NET_QUEUE_MARK);
	ck_assert_uint_eq(q.marked, 1);
}
END_TEST

START_TEST(queue_of_one_seed_marks_the_same_packets)
{
	bool marks[2][1000];

	for (int run = 0; run < 2; run++) {
		begin(1000000000, 1000000, 0, 10000, 0.5);
		for (uint64_t i = 0; i < 1000; i++)
			put(i * 7900, 1000, &marks[run][i]);
	}
	ck_assert_mem_eq(marks[0], marks[1], sizeof(marks[0]));
	ck_assert_uint_gt(q.marked, 0);
	ck_assert_uint_lt(q.marked, 1000);
}
END_TEST

START_TEST(queue_is_described_by_words)
{
	struct net_queue_config c = {0};
	char err[200];

	ck_assert_int_eq(net_queue_check(&c, err, sizeof(err)), -EINVAL);
	ck_assert_int_eq(net_queue_set(&c, "rate", "1gbit", err, sizeof(err)), 0);
	ck_assert_int_eq(net_queue_check(&c, err, sizeof(err)), -EINVAL);
	ck_assert_int_eq(net_queue_set(&c, "queue", "256k", err, sizeof(err)), 0);
	ck_assert_int_eq(net_queue_check(&c, err, sizeof(err)), 0);
	ck_assert_int_eq(net_queue_set(&c, "red", "5k,200k,0.01", err, sizeof(err)), 0);
	ck_assert_uint_eq(c.rate, 1000000000);
	ck_assert_uint_eq(c.limit, 256 * 1024);
	ck_assert_uint_eq(c.red_min, 5 * 1024);
	ck_assert_uint_eq(c.red_max, 200 * 1024);
	ck_assert(c.red_p == 0.01);
	ck_assert_int_eq(net_queue_set(&c, "rate", "2.5mbit", err, sizeof(err)), 0);
	ck_assert_uint_eq(c.rate, 2500000);
	ck_assert_int_eq(net_queue_set(&c, "queue", "1m", err, sizeof(err)), 0);
	ck_assert_uint_eq(c.limit, 1 << 20);
}
END_TEST

START_TEST(queue_refuses_words_that_make_no_sense)
{
	static const char *const wrong[][2] = {
		{"rate", ""},	      {"rate", "1"},
		{"rate", "1gb"},      {"rate", "-1gbit"},
		{"rate", "0bit"},     {"rate", "500gbit"},
		{"rate", "nan"},      {"queue", ""},
		{"queue", "1x"},      {"queue", "9999999m"},
		{"red", "5k"},	      {"red", "5k,200k"},
		{"red", "200k,5k,1"}, {"red", "5k,200k,1.1"},
		{"red", "5k,200k,"},  {"red", "5k,200k,-0.1"},
		{"red", ",,"},	      {"red", "5k,200k,1,2"},
		{"red", "5k,5k,0.1"}, {"red", "5k,200k,nan"},
	};
	struct net_queue_config c = {0};
	char err[200];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		err[0] = '\0';
		ck_assert_msg(net_queue_set(&c, wrong[i][0], wrong[i][1], err, sizeof(err)) ==
				      -EINVAL,
			      "%s=%s", wrong[i][0], wrong[i][1]);
		ck_assert_msg(strstr(err, ", not '"), "%s", err);
	}
	ck_assert_int_eq(net_queue_set(&c, "drop", "1", err, sizeof(err)), -ENOENT);
}
END_TEST

/* What a rule says of a packet of 954 bytes on the line, 12 us at 636 Mbit/s. */
static bool decide(struct fault_rules *rules, uint64_t at, struct fault_verdict *v)
{
	static const uint8_t bth[954 - NET_QUEUE_OVERHEAD_V4 - 4] = {0x04};
	const struct fault_packet p = {
		.dir = FAULT_TX, .now = START + at, .bth = bth, .len = sizeof(bth), .ect = true};

	return fault_decide(rules, &p, v);
}

START_TEST(bottleneck_rule_lets_packets_wait_and_marks_and_drops_them)
{
	struct fault_rules *rules = fault_rules_create();
	struct fault_verdict v;
	struct fault_info info;
	char err[FAULT_ERROR_MAX], text[100];
	uint32_t id;

	ck_assert_int_eq(fault_rules_add(rules, START,
					 "egress rate=636mbit queue=2900 red=900,1800,0", &id, err,
					 sizeof(err)),
			 0);
	for (uint64_t i = 0; i < 2; i++) {
		ck_assert(decide(rules, 0, &v));
		ck_assert_uint_eq(v.delay, (i + 1) * 12 * US);
		ck_assert(!v.ce && !v.drop);
		ck_assert_uint_eq(v.n_fired, 0);
	}
	ck_assert(decide(rules, 0, &v));
	ck_assert(v.ce && !v.drop);
	ck_assert_uint_eq(v.delay, 36 * US);
	fault_verdict_print(&v, text, sizeof(text));
	ck_assert_str_eq(text, "marked CE by rule 1");
	ck_assert(decide(rules, 0, &v));
	ck_assert(v.drop);
	fault_verdict_print(&v, text, sizeof(text));
	ck_assert_str_eq(text, "dropped by rule 1");
	ck_assert(decide(rules, 40 * US, &v));
	ck_assert(!v.ce && !v.drop);
	ck_assert_int_eq(fault_rules_info(rules, 0, &info), 0);
	ck_assert_uint_eq(info.seen, 5);
	ck_assert_uint_eq(info.fired, 2);
	ck_assert_str_eq(info.action, "bottleneck");
	fault_rules_destroy(rules);
}
END_TEST

START_TEST(bottleneck_rule_needs_rate_and_queue)
{
	static const char *const wrong[][2] = {
		{"egress rate=1gbit", "a bottleneck needs queue="},
		{"egress queue=1k drop p=1", "queue and red go with rate"},
		{"egress red=1k,2k,1 delay=1ms", "queue and red go with rate"},
		{"egress queue=1k", "no action"},
		{"egress rate=1gbit queue=1k drop", "a rule has one action"},
		{"egress rate=1gbit queue=1k seed=1", "seed is for p"},
		{"egress rate=1gbt queue=1k", "rate is 8kbit to 400gbit, not '1gbt'"},
	};
	struct fault_rules *rules = fault_rules_create();
	char err[FAULT_ERROR_MAX];
	uint32_t id;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(fault_rules_add(rules, 0, wrong[i][0], &id, err, sizeof(err)),
				 -EINVAL);
		ck_assert_msg(strstr(err, wrong[i][1]), "%s", err);
	}
	fault_rules_destroy(rules);
}
END_TEST

Suite *net_queue_suite(void)
{
	Suite *s = suite_create("net_queue");
	TCase *c = tcase_create("net_queue");

	tcase_add_test(c, queue_lets_packets_leave_one_after_another);
	tcase_add_test(c, queue_drops_what_does_not_fit);
	tcase_add_test(c, queue_loses_no_time_to_rounding);
	tcase_add_test(c, queue_marks_by_its_length);
	tcase_add_test(c, queue_marks_only_what_may_be_marked);
	tcase_add_test(c, queue_of_one_seed_marks_the_same_packets);
	tcase_add_test(c, queue_is_described_by_words);
	tcase_add_test(c, queue_refuses_words_that_make_no_sense);
	tcase_add_test(c, bottleneck_rule_lets_packets_wait_and_marks_and_drops_them);
	tcase_add_test(c, bottleneck_rule_needs_rate_and_queue);
	suite_add_tcase(s, c);
	return s;
}
