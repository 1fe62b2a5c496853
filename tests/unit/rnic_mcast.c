/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast groups as the host sees them: joined once, left after the last QP, and limits. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/mcast.h"
#include "rnic_fixture.h"

static const uint8_t *group(uint32_t i)
{
	static uint8_t gid[16] = {0xff, 0x0e};

	gid[13] = (uint8_t)(i >> 8);
	gid[15] = (uint8_t)i;
	return gid;
}

START_TEST(gid_is_multicast_by_its_first_bits)
{
	static const struct {
		uint8_t gid[16];
		bool is;
	} gids[] = {
		{{0xff, 0x02, [15] = 1}, true},
		{{0xfe, 0x80, [15] = 1}, false},
		{{[10] = 0xff, [11] = 0xff, 224, 0, 0, 1}, true},
		{{[10] = 0xff, [11] = 0xff, 239, 255, 255, 255}, true},
		{{[10] = 0xff, [11] = 0xff, 223, 255, 255, 255}, false},
		{{[10] = 0xff, [11] = 0xff, 240, 0, 0, 0}, false},
		{{[12] = 224}, false},
	};

	for (size_t i = 0; i < sizeof(gids) / sizeof(gids[0]); i++)
		ck_assert_int_eq(rnic_gid_is_multicast(gids[i].gid), gids[i].is);
}
END_TEST

START_TEST(group_is_joined_for_its_first_qp_and_left_after_its_last)
{
	struct fixture_qp a, b;
	struct fixture f;

	fixture_begin(&f);
	fixture_qp_begin(&f, &a, RNIC_QPT_UD);
	fixture_qp_begin(&f, &b, RNIC_QPT_UD);
	ck_assert_int_eq(rnic_mcast_attach(a.qp, group(1)), 0);
	ck_assert_int_eq(rnic_mcast_attach(a.qp, group(1)), 0);
	ck_assert_int_eq(rnic_mcast_attach(b.qp, group(1)), 0);
	ck_assert_uint_eq(f.n_joined, 1);
	ck_assert_int_eq(rnic_mcast_detach(a.qp, group(1)), 0);
	ck_assert_uint_eq(f.n_left, 0);
	ck_assert_uint_eq(rnic_mcast_count(a.qp), 0);
	ck_assert_uint_eq(rnic_mcast_count(b.qp), 1);
	fixture_qp_end(&b); /* a QP that goes leaves its groups */
	ck_assert_uint_eq(f.n_left, 1);
	fixture_qp_end(&a);
	fixture_end(&f);
}
END_TEST

START_TEST(group_that_the_host_cannot_join_is_not_attached)
{
	struct fixture_qp q;
	struct fixture f;

	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_UD);
	f.join_ret = -ENODEV;
	ck_assert_int_eq(rnic_mcast_attach(q.qp, group(1)), -ENODEV);
	ck_assert_uint_eq(rnic_mcast_count(q.qp), 0);
	ck_assert_int_eq(rnic_mcast_detach(q.qp, group(1)), -EINVAL);
	f.join_ret = 0;
	ck_assert_int_eq(rnic_mcast_attach(q.qp, group(1)), 0);
	fixture_qp_end(&q);
	ck_assert_uint_eq(f.n_left, 1);
	fixture_end(&f);
}
END_TEST

START_TEST(groups_and_their_qps_are_limited)
{
	const struct rnic_limits *l;
	static struct fixture_qp q[57];
	struct fixture f;

	fixture_begin(&f);
	l = rnic_device_limits(f.dev);
	for (uint32_t i = 0; i <= l->max_mcast_qp_attach; i++) {
		fixture_qp_begin(&f, &q[i], RNIC_QPT_UD);
		ck_assert_int_eq(rnic_mcast_attach(q[i].qp, group(0)),
				 i < l->max_mcast_qp_attach ? 0 : -ENOMEM);
	}
	for (uint32_t i = 1; i <= l->max_mcast_grp; i++)
		ck_assert_int_eq(rnic_mcast_attach(q[0].qp, group(i)),
				 i < l->max_mcast_grp ? 0 : -ENOMEM);
	for (uint32_t i = 0; i <= l->max_mcast_qp_attach; i++)
		fixture_qp_end(&q[i]);
	ck_assert_uint_eq(f.n_left, f.n_joined);
	fixture_end(&f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		gid_is_multicast_by_its_first_bits,
		group_is_joined_for_its_first_qp_and_left_after_its_last,
		group_that_the_host_cannot_join_is_not_attached,
		groups_and_their_qps_are_limited,
	};

	return fixture_run("rnic mcast", tests, sizeof(tests) / sizeof(tests[0]));
}
