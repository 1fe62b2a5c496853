/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a device has only so many of, and what belongs to another device. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/device_priv.h"
#include "rnic_fixture.h"

static struct fixture f, other;
static struct fixture_qp q;

static void setup(void)
{
	fixture_begin(&f);
	fixture_qp_begin(&f, &q, RNIC_QPT_RC);
}

static void teardown(void)
{
	fixture_qp_end(&q);
	fixture_end(&f);
}

static struct rnic_qp_init init_of(enum rnic_qp_type type)
{
	return (struct rnic_qp_init){
		.type = type, .send_cq = q.cq, .recv_cq = q.cq, .ops = &fixture_personality};
}

static void refused(int ret, int expected, const char *what)
{
	ck_assert_msg(ret == expected, "%s: %d", f.log, ret);
	ck_assert_msg(strstr(f.log, what), "\"%s\" says nothing of %s", f.log, what);
}

START_TEST(no_more_objects_than_the_limits_say)
{
	struct rnic_mr_attr mr_attr = {.length = 1};
	struct rnic_av av = {.grh = true, .port_num = 1};
	struct rnic_qp_init init;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_mr *mr;
	struct rnic_mw *mw;
	struct rnic_ah *ah;
	struct rnic_qp *qp;
	struct rnic_srq *srq;

	setup();
	init = init_of(RNIC_QPT_UD);
	/* One of each is there, or none may be. */
	f.dev->limits.max_pd = f.dev->limits.max_cq = f.dev->limits.max_qp = 1;
	f.dev->limits.max_mr = f.dev->limits.max_mw = f.dev->limits.max_ah = 0;
	f.dev->limits.max_srq = 0;
	refused(rnic_pd_create(f.dev, &pd), -ENOMEM, "PD");
	refused(rnic_cq_create(f.dev, 1, &fixture_personality, NULL, &cq), -ENOMEM, "CQ");
	refused(rnic_mr_create(q.pd, &mr_attr, &mr), -ENOMEM, "MR");
	refused(rnic_mw_create(q.pd, RNIC_MW_TYPE_1, &mw), -ENOMEM, "MW");
	refused(rnic_ah_create(q.pd, &av, &ah), -ENOMEM, "AH");
	refused(rnic_qp_create(q.pd, &init, &qp), -ENOMEM, "QP");
	refused(rnic_srq_create(q.pd, 1, 0, &fixture_personality, NULL, &srq), -ENOMEM, "SRQ");
	teardown();
}
END_TEST

START_TEST(qp_takes_nothing_of_another_device)
{
	struct fixture_qp foreign;
	struct rnic_srq *srq;
	struct rnic_qp_init init;
	struct rnic_qp *qp;

	setup();
	fixture_begin(&other);
	fixture_qp_begin(&other, &foreign, RNIC_QPT_RC);
	ck_assert_int_eq(rnic_srq_create(foreign.pd, 1, 0, &fixture_personality, NULL, &srq), 0);
	init = init_of(RNIC_QPT_RC);
	init.send_cq = foreign.cq;
	refused(rnic_qp_create(q.pd, &init, &qp), -EINVAL, "another device");
	init = init_of(RNIC_QPT_RC);
	init.recv_cq = foreign.cq;
	refused(rnic_qp_create(q.pd, &init, &qp), -EINVAL, "another device");
	init = init_of(RNIC_QPT_RC);
	init.srq = srq;
	refused(rnic_qp_create(q.pd, &init, &qp), -EINVAL, "another device");
	ck_assert_int_eq(rnic_srq_destroy(srq), 0);
	fixture_qp_end(&foreign);
	fixture_end(&other);
	teardown();
}
END_TEST

START_TEST(qp_needs_a_cq_for_each_queue)
{
	struct rnic_qp_init init;
	struct rnic_qp *qp;

	setup();
	init = init_of(RNIC_QPT_RC);
	init.send_cq = NULL;
	refused(rnic_qp_create(q.pd, &init, &qp), -EINVAL, "needs a CQ");
	init = init_of(RNIC_QPT_RC);
	init.recv_cq = NULL;
	refused(rnic_qp_create(q.pd, &init, &qp), -EINVAL, "needs a CQ");
	teardown();
}
END_TEST

START_TEST(gsi_qp_is_one_and_has_number_1)
{
	struct rnic_qp_init init;
	struct rnic_qp *gsi, *second;

	setup();
	init = init_of(RNIC_QPT_GSI);
	ck_assert_int_eq(rnic_qp_create(q.pd, &init, &gsi), 0);
	ck_assert_uint_eq(rnic_qp_num(gsi), 1);
	refused(rnic_qp_create(q.pd, &init, &second), -EINVAL, "GSI");
	ck_assert_int_eq(rnic_qp_destroy(gsi), 0);
	teardown();
}
END_TEST

START_TEST(ah_stays_within_one_family)
{
	static const uint8_t v6[16] = {0xfd, 1, [15] = 2}, group[16] = {0xff, 2, [15] = 9};
	struct rnic_av av = {.grh = true, .port_num = 1};
	struct rnic_ah *ah;

	setup();
	memcpy(av.dgid, v6, sizeof(v6));
	refused(rnic_ah_create(q.pd, &av, &ah), -EINVAL, "IPv4");
	rnic_gid_set(f.dev, 1, v6, 1);
	av.sgid_index = 1;
	av.dgid[0] = 0;
	memcpy(av.dgid, (uint8_t[16]){[10] = 0xff, 0xff, 127, 0, 0, 1}, 16);
	refused(rnic_ah_create(q.pd, &av, &ah), -EINVAL, "IPv6");
	memcpy(av.dgid, group, sizeof(group));
	ck_assert_int_eq(rnic_ah_create(q.pd, &av, &ah), 0);
	ck_assert_int_eq(rnic_ah_destroy(ah), 0);
	teardown();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		no_more_objects_than_the_limits_say, qp_takes_nothing_of_another_device,
		qp_needs_a_cq_for_each_queue,	     gsi_qp_is_one_and_has_number_1,
		ah_stays_within_one_family,
	};

	return fixture_run("rnic limits", tests, (int)(sizeof(tests) / sizeof(tests[0])));
}
