/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much of UC and UD leaves, by what the host knows of the receiver's room. */
#include "config.h"

#include <string.h>

#include "rnic/pace.h"
#include "rnic/qp_priv.h"
#include "rnic_fixture.h"

#define COST 1000
#define MS 1000000ull

struct pacing {
	struct fixture f;
	struct fixture_qp q;
	struct rnic_av av;
	uint64_t now;
};

static void pacing_begin(struct pacing *p, uint64_t room)
{
	memset(p, 0, sizeof(*p));
	fixture_begin(&p->f);
	fixture_qp_begin(&p->f, &p->q, RNIC_QPT_UC);
	rnic_window_set(p->f.dev, 50 * COST);
	p->f.room = room;
	p->now = MS;
	p->av.dgid[15] = 7;
}

static void pacing_end(struct pacing *p)
{
	fixture_qp_end(&p->q);
	fixture_end(&p->f);
}

static uint32_t grant(struct pacing *p, uint32_t want)
{
	uint32_t n = pace_grant(p->q.qp, &p->av, want, COST, p->now);

	pace_sent(p->q.qp, &p->av, (uint64_t)n * COST);
	return n;
}

START_TEST(sender_takes_half_of_the_receivers_room_at_a_time)
{
	struct pacing p;

	pacing_begin(&p, 20 * COST);
	ck_assert_uint_eq(grant(&p, 4), 4);
	ck_assert_uint_eq(grant(&p, 64), 6);
	ck_assert_uint_eq(p.f.n_rooms, 1);
	p.f.room = 6 * COST; /* asked again once it is used up */
	ck_assert_uint_eq(grant(&p, 64), 3);
	ck_assert_uint_eq(p.f.n_rooms, 2);
	pacing_end(&p);
}
END_TEST

START_TEST(sender_pauses_while_the_receiver_is_full)
{
	struct pacing p;

	pacing_begin(&p, COST);
	ck_assert_uint_eq(grant(&p, 4), 0);
	ck_assert_uint_gt(p.f.timer, p.now);
	ck_assert_uint_lt(p.f.timer, p.now + MS);
	p.now = p.f.timer;
	p.f.room = 100 * COST;
	rnic_timer_fired(p.f.dev, p.now);
	ck_assert_uint_eq(grant(&p, 4), 4);
	pacing_end(&p);
}
END_TEST

START_TEST(receiver_that_takes_nothing_is_not_waited_for)
{
	struct pacing p;

	pacing_begin(&p, 0);
	ck_assert_uint_eq(grant(&p, 4), 0);
	p.now += 90 * MS;
	ck_assert_uint_eq(grant(&p, 4), 0);
	p.now += 20 * MS;
	ck_assert_uint_eq(grant(&p, 4), 4);
	pacing_end(&p);
}
END_TEST

START_TEST(unknown_receiver_gets_a_window_in_the_time_that_it_takes)
{
	struct pacing p;

	pacing_begin(&p, RNIC_ROOM_UNKNOWN);
	ck_assert_uint_eq(grant(&p, 64), 50);
	ck_assert_uint_eq(grant(&p, 64), 0);
	p.now += 49 * COST;
	ck_assert_uint_eq(grant(&p, 64), 0);
	p.now += COST;
	ck_assert_uint_eq(grant(&p, 64), 50);
	pacing_end(&p);
}
END_TEST

START_TEST(receivers_have_rooms_of_their_own)
{
	struct pacing p;

	pacing_begin(&p, RNIC_ROOM_UNKNOWN);
	ck_assert_uint_eq(grant(&p, 64), 50);
	p.av.dgid[15] = 8;
	ck_assert_uint_eq(grant(&p, 64), 50);
	p.av.dgid[15] = 7;
	ck_assert_uint_eq(grant(&p, 64), 0);
	pacing_end(&p);
}
END_TEST

/* As a program does that has many peers and sends to each by turns. */
START_TEST(many_receivers_are_remembered)
{
	struct pacing p;

	pacing_begin(&p, 20 * COST);
	for (int turn = 0; turn < 4; turn++)
		for (uint32_t i = 0; i < 64; i++) {
			p.av.dgid[15] = (uint8_t)(16 * i);
			p.av.dgid[14] = (uint8_t)i;
			ck_assert_uint_eq(grant(&p, 1), 1);
		}
	ck_assert_uint_eq(p.f.n_rooms, 64);
	pacing_end(&p);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sender_takes_half_of_the_receivers_room_at_a_time,
		sender_pauses_while_the_receiver_is_full,
		receiver_that_takes_nothing_is_not_waited_for,
		unknown_receiver_gets_a_window_in_the_time_that_it_takes,
		receivers_have_rooms_of_their_own,
		many_receivers_are_remembered,
	};

	return fixture_run("rnic pace", tests, sizeof(tests) / sizeof(tests[0]));
}
