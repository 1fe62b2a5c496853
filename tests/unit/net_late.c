/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of the queue of late packets. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "net/late.h"
#include "net_suites.h"

static void put(struct late_queue *q, uint64_t due, uint32_t overtake, uint32_t number)
{
	const struct late_item like = {.due = due, .overtake = overtake, .dqpn = 5};
	uint8_t data[3] = {(uint8_t)number, 2, 3};

	ck_assert(late_put(q, &like, &number, data, sizeof(data)));
}

/* The number of the next one, or -1. */
static int take(struct late_queue *q, uint64_t now)
{
	struct late_item *item = late_take(q, now);
	int number;

	if (!item)
		return -1;
	ck_assert_uint_eq(item->len, 3);
	ck_assert_uint_eq(item->data[2], 3);
	number = *(uint32_t *)item->head;
	ck_assert_uint_eq(item->data[0], (uint32_t)number & 0xff);
	free(item);
	return number;
}

START_TEST(late_packets_come_when_they_are_due)
{
	struct late_queue q;

	late_begin(&q, sizeof(uint32_t), 1 << 20);
	ck_assert_uint_eq(late_due(&q), UINT64_MAX);
	put(&q, 30, 0, 1);
	put(&q, 10, 0, 2);
	put(&q, 20, 0, 3);
	ck_assert_uint_eq(late_due(&q), 10);
	ck_assert_int_eq(take(&q, 9), -1);
	ck_assert_int_eq(take(&q, 20), 2);
	ck_assert_int_eq(take(&q, 20), 3);
	ck_assert_int_eq(take(&q, 20), -1);
	ck_assert_int_eq(take(&q, 30), 1);
	ck_assert_uint_eq(q.bytes, 0);
	late_end(&q);
}
END_TEST

START_TEST(late_packets_of_one_time_keep_their_order)
{
	struct late_queue q;

	late_begin(&q, sizeof(uint32_t), 1 << 20);
	for (uint32_t i = 0; i < 200; i++)
		put(&q, 7, 0, i);
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(take(&q, 7), i);
	late_end(&q);
}
END_TEST

START_TEST(late_packets_are_due_when_overtaken)
{
	struct late_queue q;

	late_begin(&q, sizeof(uint32_t), 1 << 20);
	put(&q, 100, 2, 1);
	put(&q, 100, 1, 2);
	put(&q, 100, 0, 3);
	put(&q, 90, 9, 4);
	late_passed(&q, 6); /* of another QP */
	ck_assert_int_eq(take(&q, 1), -1);
	late_passed(&q, 5);
	ck_assert_int_eq(take(&q, 1), 2);
	ck_assert_int_eq(take(&q, 1), -1);
	late_passed(&q, 5);
	ck_assert_int_eq(take(&q, 1), 1);
	ck_assert_int_eq(take(&q, 99), 4);
	ck_assert_uint_eq(q.n_overtaken, 0);
	ck_assert_int_eq(take(&q, 100), 3);
	late_end(&q);
}
END_TEST

static bool is_odd(const void *head, const void *arg)
{
	(void)arg;
	return *(const uint32_t *)head & 1;
}

START_TEST(late_packets_can_be_forgotten)
{
	struct late_queue q;

	late_begin(&q, sizeof(uint32_t), 1 << 20);
	for (uint32_t i = 0; i < 50; i++)
		put(&q, 100 - i, i % 4, i);
	late_forget(&q, is_odd, NULL);
	for (int i = 48; i >= 0; i -= 2)
		ck_assert_int_eq(take(&q, 100), i);
	ck_assert_int_eq(take(&q, 100), -1);
	ck_assert_uint_eq(q.n_overtaken, 0);
	ck_assert_uint_eq(q.bytes, 0);
	late_end(&q);
}
END_TEST

START_TEST(late_packets_have_a_limit)
{
	const struct late_item like = {.due = 1};
	struct late_queue q;
	uint8_t data[1000] = {0};
	uint32_t n = 0;

	late_begin(&q, sizeof(uint32_t), 100000);
	while (late_put(&q, &like, &n, data, sizeof(data)))
		n++;
	ck_assert_uint_gt(n, 80);
	ck_assert_uint_lt(n, 101);
	free(late_take(&q, 1));
	ck_assert(late_put(&q, &like, &n, data, sizeof(data)));
	late_end(&q); /* what waits is freed: a sanitizer looks */
}
END_TEST

Suite *net_late_suite(void)
{
	Suite *s = suite_create("net_late");
	TCase *t = tcase_create("queue");

	tcase_add_test(t, late_packets_come_when_they_are_due);
	tcase_add_test(t, late_packets_of_one_time_keep_their_order);
	tcase_add_test(t, late_packets_are_due_when_overtaken);
	tcase_add_test(t, late_packets_can_be_forgotten);
	tcase_add_test(t, late_packets_have_a_limit);
	suite_add_tcase(s, t);
	return s;
}
