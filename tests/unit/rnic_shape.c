/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which packets make a run, and where in it they lie. */
#include "config.h"

#include "rnic/host.h"
#include "rnic/shape.h"
#include "rnic_fixture.h"

#define SIZES 6

/* Sizes as the packets of messages have them, and how many of them go into one run. */
static const struct {
	uint32_t len[SIZES]; /* 0: no more */
	uint32_t n;
} rows[] = {
	{{36}, 1},
	{{4112, 4112, 4112, 20}, 4},
	{{4128, 4112, 4112, 4112}, 4},	     /* WRITE */
	{{4128, 4112, 4112, 24}, 4},	     /* WRITE, not all of a packet at its end */
	{{4128, 20}, 2},		     /* WRITE of 4100 bytes */
	{{4112, 4112, 4116}, 3},	     /* SEND with immediate */
	{{4112, 4116}, 2},		     /* the same, of two packets */
	{{4116, 4112, 4112, 4116}, 4},	     /* READ responses */
	{{4116, 4112, 4112, 40}, 4},	     /* READ responses */
	{{4116, 4112, 4116, 4112}, 3},	     /* nothing follows a LAST */
	{{4112, 20, 4112}, 3},		     /* as a longer FIRST */
	{{4112, 4112, 20, 4112}, 3},	     /* nothing follows a shorter one */
	{{4128, 4112, 4128, 4112, 4112}, 3}, /* the next message's FIRST ends it */
};

START_TEST(a_run_takes_packets_of_one_message)
{
	struct tx_shape s = {0};
	struct rnic_tx tx = {0};
	uint32_t at = 0, i = 0;

	while (i < SIZES && rows[_i].len[i] && shape_add(&s, rows[_i].len[i]))
		i++;
	ck_assert_uint_eq(i, rows[_i].n);
	ck_assert_uint_eq(s.n, i);
	tx.len = s.len;
	tx.seg = s.seg;
	tx.head = s.head;
	tx.tail = s.tail;
	for (i = 0; i < s.n; i++) {
		ck_assert_uint_eq(shape_offset(&s, i), at);
		ck_assert_uint_eq(rnic_tx_packet(&tx, at), rows[_i].len[i]);
		at += rows[_i].len[i];
	}
	ck_assert_uint_eq(at, s.len);
}
END_TEST

START_TEST(a_run_ends_where_the_host_has_no_room)
{
	struct tx_shape s = {0}, t = {0};

	while (shape_add(&s, 4112))
		;
	ck_assert_uint_eq(s.n, RNIC_TX_RUN_MAX / 4112);
	while (shape_add(&t, 272))
		;
	ck_assert_uint_eq(t.n, RNIC_TX_SEGS_MAX);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_run_ends_where_the_host_has_no_room};
	const struct fixture_loop loops[] = {
		{a_run_takes_packets_of_one_message, 0, sizeof(rows) / sizeof(rows[0])},
		{NULL, 0, 0},
	};

	return fixture_run_loops("rnic_shape", NULL, tests, 1, loops);
}
