/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When memory is short: every allocation of the core fails once. Linked with --wrap. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/cm.h"
#include "rnic/mcast.h"
#include "rnic_fixture.h"

#define ALLOCATIONS_MAX 300

void *__real_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *p, size_t size);

static int until_failure; /* allocations that are given; < 0: all */

static bool fails(void)
{
	if (until_failure < 0)
		return false;
	return until_failure-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

static const uint8_t own[16] = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1};
static const uint8_t group[16] = {[10] = 0xff, [11] = 0xff, 224, 0, 0, 99};

struct all {
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_mr *mr;
	struct rnic_mw *mw;
	struct rnic_srq *srq;
	struct rnic_ah *ah;
	struct rnic_qp *rc, *ud;
	struct rnic_cm *cm;
};

static int qps_create(struct all *a)
{
	struct rnic_qp_init init = {.type = RNIC_QPT_RC,
				    .send_cq = a->cq,
				    .recv_cq = a->cq,
				    .srq = a->srq,
				    .max_send_wr = 4,
				    .max_send_sge = 1,
				    .ops = &fixture_personality};
	int ret = rnic_qp_create(a->pd, &init, &a->rc);

	if (ret)
		return ret;
	init.type = RNIC_QPT_UD;
	return rnic_qp_create(a->pd, &init, &a->ud);
}

/* A negative errno as soon as something cannot be had. */
static int all_create(struct rnic_device *dev, struct all *a)
{
	struct rnic_mr_attr mr = {.length = 10, .access = RNIC_ACCESS_LOCAL_WRITE};
	struct rnic_av av = {.grh = true, .port_num = 1, .hop_limit = 1};
	static const struct rnic_cm_host cm_host;
	int ret;

	memcpy(av.dgid, own, sizeof(own));
	(void)((ret = rnic_pd_create(dev, &a->pd)) ||
	       (ret = rnic_cq_create(dev, 10, &fixture_personality, NULL, &a->cq)) ||
	       (ret = rnic_mr_create(a->pd, &mr, &a->mr)) ||
	       (ret = rnic_mw_create(a->pd, RNIC_MW_TYPE_2, &a->mw)) ||
	       (ret = rnic_srq_create(a->pd, 1, 0, &fixture_personality, NULL, &a->srq)) ||
	       (ret = rnic_ah_create(a->pd, &av, &a->ah)) || (ret = qps_create(a)) ||
	       (ret = rnic_mcast_attach(a->ud, group)) ||
	       (ret = rnic_cm_start(dev, &cm_host, NULL, 1)));
	if (ret)
		return ret;
	a->cm = rnic_cm_create(dev, NULL);
	return a->cm ? 0 : -ENOMEM;
}

static void all_destroy(struct all *a)
{
	ck_assert(!a->ud || rnic_qp_destroy(a->ud) == 0);
	ck_assert(!a->rc || rnic_qp_destroy(a->rc) == 0);
	ck_assert(!a->ah || rnic_ah_destroy(a->ah) == 0);
	ck_assert(!a->srq || rnic_srq_destroy(a->srq) == 0);
	ck_assert(!a->mw || rnic_mw_destroy(a->mw) == 0);
	ck_assert(!a->mr || rnic_mr_destroy(a->mr) == 0);
	ck_assert(!a->cq || rnic_cq_destroy(a->cq) == 0);
	ck_assert(!a->pd || rnic_pd_destroy(a->pd) == 0);
	if (a->cm)
		rnic_cm_destroy(a->cm, 0);
}

START_TEST(objects_come_whole_or_not_at_all_when_memory_is_short)
{
	int failures = 0, ret;

	do {
		struct fixture f;
		struct all a = {0};

		until_failure = -1;
		fixture_begin(&f);
		rnic_gid_set(f.dev, 0, own, 1);
		f.n_events = 0;
		until_failure = failures;
		ret = all_create(f.dev, &a);
		until_failure = -1;
		ck_assert(ret == 0 || ret == -ENOMEM);
		all_destroy(&a);
		fixture_end(&f);
	} while (ret && ++failures < ALLOCATIONS_MAX);
	ck_assert_int_eq(ret, 0);
	ck_assert_int_gt(failures, 15);
}
END_TEST

START_TEST(device_is_not_made_when_memory_is_short)
{
	const struct rnic_device_config cfg = {.active_mtu = RNIC_MTU_1024};

	until_failure = 0;
	ck_assert_ptr_null(rnic_device_create(&cfg));
	until_failure = -1;
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		objects_come_whole_or_not_at_all_when_memory_is_short,
		device_is_not_made_when_memory_is_short,
	};

	until_failure = -1;
	return fixture_run("rnic memory", tests, 2);
}
