/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Communication management when memory is short, when many ends wait, and when its device ends. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "cm_reach.h"
#include "rnic/cm_priv.h"
#include "rnic_fixture.h"

static struct cm_rig rig;

static void setup(void)
{
	cm_rig_begin(&rig);
}

static void hear(enum cm_type type)
{
	struct cm_msg msg = cm_reach_msg(&rig, NULL, type);

	cm_rig_hear(&rig, &msg);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool memory_short;

void *__wrap_calloc(size_t n, size_t size)
{
	return memory_short ? NULL : __real_calloc(n, size);
}

static bool growth_short;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return growth_short ? NULL : __real_realloc(old, size);
}

/* Whatever is short: the timers' room or the table's, nothing of the end that failed is left. */
START_TEST(end_that_has_no_room_leaves_nothing)
{
	struct rnic_cm *cm[100];
	int n = 0;

	growth_short = true;
	while (n < 100 && (cm[n] = rnic_cm_create(rig.dev, &rig)))
		n++;
	ck_assert_int_lt(n, 100);
	ck_assert_uint_eq(cm_rig_ends(&rig), (unsigned)n);
	growth_short = false;
	ck_assert_ptr_nonnull(cm[n] = rnic_cm_create(rig.dev, &rig));
	for (int i = 0; i <= n; i++)
		rnic_cm_destroy(cm[i], rig.now);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(request_without_memory_is_refused_and_the_next_is_taken)
{
	memory_short = true;
	ck_assert_ptr_null(rnic_cm_create(rig.dev, &rig));
	hear(CM_REQ);
	ck_assert_uint_eq(cm_rig_said(&rig, CM_REJ)->remote_id, CM_RIG_PEER_ID);
	hear(CM_SIDR_REQ);
	cm_rig_said(&rig, CM_SIDR_REP);
	memory_short = false;
	ck_assert_uint_eq(rig.n_requests, 0);
	hear(CM_REQ);
	ck_assert_uint_eq(rig.n_requests, 1);
	rnic_cm_destroy(rig.asked, rig.now);
	cm_rig_end(&rig);
}
END_TEST

static void refused_request(uint32_t number)
{
	struct cm_msg req = cm_reach_msg(&rig, NULL, CM_REQ);

	req.local_id = number;
	cm_rig_hear(&rig, &req);
	rnic_cm_destroy(rig.asked, rig.now);
	cm_rig_forget(&rig);
}

/* Else a peer that asks for one QP again and again makes each REQ look at all that went before. */
START_TEST(end_that_waits_is_not_found_by_its_qp)
{
	refused_request(1);
	ck_assert_uint_eq(cm_rig_ends(&rig), 1);
	ck_assert_int_eq(rnic_cm_state(rig.asked), RNIC_CM_TIMEWAIT);
	ck_assert_ptr_null(rig.asked->by_qp.back);
	ck_assert_ptr_nonnull(rig.asked->by_request.back);
	cm_rig_end(&rig);
}
END_TEST

/* What nobody owns any more waits to answer what is late; but not without end. */
START_TEST(ends_that_wait_have_a_limit)
{
	const uint32_t limit = 65536;

	for (uint32_t i = 1; i <= limit + 100; i++)
		refused_request(i);
	cm_rig_until(&rig, rig.now + 1);
	ck_assert_uint_eq(cm_rig_ends(&rig), limit);
	cm_rig_end(&rig);
}
END_TEST

START_TEST(device_ends_without_connections)
{
	const struct rnic_device_config cfg = {.active_mtu = RNIC_MTU_1024, .name = "rxe1"};
	static const struct rnic_cm_host nobody;
	struct rnic_device *dev = rnic_device_create(&cfg);

	ck_assert_ptr_nonnull(dev);
	memory_short = true;
	ck_assert_int_eq(rnic_cm_start(dev, &nobody, NULL, 1), -ENOMEM);
	memory_short = false;
	rnic_device_destroy(dev);
	cm_rig_end(&rig);
}
END_TEST

/* Ends that nobody owns any more go with it. */
START_TEST(device_ends_with_connections_that_still_wait)
{
	rnic_cm_destroy(cm_reach(&rig, AT_ESTABLISHED_PASSIVE), rig.now);
	rnic_cm_destroy(cm_reach(&rig, AT_REQ_SENT), rig.now);
	ck_assert_uint_eq(cm_rig_ends(&rig), 2);
	rnic_device_destroy(rig.dev);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		end_that_has_no_room_leaves_nothing,
		request_without_memory_is_refused_and_the_next_is_taken,
		end_that_waits_is_not_found_by_its_qp,
		ends_that_wait_have_a_limit,
		device_ends_without_connections,
		device_ends_with_connections_that_still_wait,
	};

	/* Tens of thousands of requests, on a machine that does something else. */
	setenv("CK_DEFAULT_TIMEOUT", "300", 0);
	return fixture_run_loops("rnic_cm_end", setup, tests, sizeof(tests) / sizeof(tests[0]),
				 &(struct fixture_loop){0});
}
