/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory regions that change, and memory windows. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "rnic/objects.h"
#include "verbs_rig.h"

#define RW (RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE)

enum { TRANS = 1, PD = 2, ACCESS = 4 };

static struct ib_uverbs_rereg_mr rereg_request(uint32_t mr, uint32_t flags)
{
	return (struct ib_uverbs_rereg_mr){.mr_handle = mr,
					   .flags = flags,
					   .start = (uintptr_t)rig.user + 8192,
					   .length = 4096,
					   .hca_va = 0x10000,
					   .access_flags = RW};
}

static int64_t rereg(const struct ib_uverbs_rereg_mr *req, struct ib_uverbs_rereg_mr_resp *resp)
{
	int64_t rc = do_write(IB_USER_VERBS_CMD_REREG_MR, req, sizeof(*req), resp, sizeof(*resp));

	return rc == sizeof(*req) + 8 ? 0 : rc;
}

static int64_t alloc_mw(uint32_t pd, uint8_t type, struct ib_uverbs_alloc_mw_resp *resp)
{
	struct ib_uverbs_alloc_mw req = {.pd_handle = pd, .mw_type = type};

	return do_invoke(IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), resp, sizeof(*resp), NULL,
			 0);
}

START_TEST(rereg_mr_changes_what_it_is_asked_to)
{
	uint32_t flags = (uint32_t)_i, pd, other;
	struct ib_uverbs_reg_mr_resp r;
	struct ib_uverbs_rereg_mr_resp rr;
	struct ib_uverbs_rereg_mr req;
	const struct uverbs_mr *mr;
	struct rnic_mr_attr attr;
	uint64_t a;

	rig_start_context();
	a = (uintptr_t)rig.user;
	pd = make_pd();
	other = make_pd();
	ck_assert_int_eq(make_mr(pd, a, 100, RNIC_ACCESS_REMOTE_READ, &r), 0);
	mr = object_of(UOBJ_MR, r.mr_handle);
	req = rereg_request(r.mr_handle, flags);
	req.pd_handle = other;
	ck_assert_int_eq(rereg(&req, &rr), 0);
	ck_assert_uint_eq(rr.lkey, r.lkey);
	ck_assert_uint_eq(rr.rkey, r.rkey);
	attr = *rnic_mr_attr_get(mr->mr);
	ck_assert_ptr_eq(rnic_mr_pd(mr->mr), object_of(UOBJ_PD, flags & PD ? other : pd));
	ck_assert_uint_eq(attr.access, flags & ACCESS ? RW : RNIC_ACCESS_REMOTE_READ);
	ck_assert_uint_eq(attr.start, flags & TRANS ? a + 8192 : a);
	ck_assert_uint_eq(attr.length, flags & TRANS ? 4096 : 100);
	ck_assert_uint_eq(attr.iova, flags & TRANS ? 0x10000 : a);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, flags & PD ? pd : other), 0);
	ck_assert_uint_eq(rig.session.umem_refs, 1);
	rig_stop();
}
END_TEST

START_TEST(rereg_mr_refuses_what_the_kernel_refuses_and_changes_nothing)
{
	struct ib_uverbs_reg_mr_resp r;
	struct ib_uverbs_rereg_mr_resp rr;
	struct ib_uverbs_rereg_mr req;
	const struct uverbs_mr *mr;
	struct rnic_mr_attr before;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(make_mr(pd, (uintptr_t)rig.user + USER_READONLY, 100, 0, &r), 0);
	mr = object_of(UOBJ_MR, r.mr_handle);
	before = *rnic_mr_attr_get(mr->mr);
	req = rereg_request(r.mr_handle, 0);
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	req = rereg_request(r.mr_handle, 8 | ACCESS);
	ck_assert_int_eq(rereg(&req, &rr), -EOPNOTSUPP);
	req = rereg_request(r.mr_handle + 100, ACCESS);
	ck_assert_int_eq(rereg(&req, &rr), -ENOENT);
	req = rereg_request(pd, ACCESS);
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	req = rereg_request(r.mr_handle, PD);
	req.pd_handle = r.mr_handle;
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	req = rereg_request(r.mr_handle, ACCESS);
	req.access_flags = RNIC_ACCESS_REMOTE_WRITE;
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	req = rereg_request(r.mr_handle, ACCESS); /* its memory cannot be written */
	ck_assert_int_eq(rereg(&req, &rr), -EFAULT);
	req = rereg_request(r.mr_handle, TRANS);
	req.hca_va++;
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	req = rereg_request(r.mr_handle, TRANS);
	req.length = USER_SIZE;
	ck_assert_int_eq(rereg(&req, &rr), -EFAULT);
	req = rereg_request(r.mr_handle, TRANS);
	req.length = UINT64_MAX - 4095;
	ck_assert_int_eq(rereg(&req, &rr), -EINVAL);
	ck_assert_mem_eq(rnic_mr_attr_get(mr->mr), &before, sizeof(before));
	rig_stop();
}
END_TEST

#define ON_DEMAND IB_UVERBS_ACCESS_ON_DEMAND

static bool is_paged(uint32_t handle)
{
	const struct uverbs_mr *mr = object_of(UOBJ_MR, handle);

	return (void *)mr->umem == &rig.paged &&
	       (void *)rnic_mr_attr_get(mr->mr)->mem == &rig.paged;
}

START_TEST(on_demand_mr_may_be_of_what_is_not_mapped)
{
	struct ib_uverbs_reg_mr_resp r;
	uint32_t pd;
	uint64_t a;

	rig_start_context();
	a = (uintptr_t)rig.user;
	pd = make_pd();
	ck_assert_int_eq(make_mr(pd, a + USER_SIZE, 4096, RW, &r), -EFAULT);
	ck_assert_int_eq(make_mr(pd, a + USER_SIZE, 4096, RW | ON_DEMAND, &r), 0);
	ck_assert(is_paged(r.mr_handle));
	ck_assert_int_eq(make_mr(pd, a, 100, RNIC_ACCESS_REMOTE_WRITE | ON_DEMAND, &r), -EINVAL);
	ck_assert_int_eq(make_mr(pd, a, UINT64_MAX, RW | ON_DEMAND, &r), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(whole_memory_is_an_mr_on_demand_alone)
{
	struct ib_uverbs_reg_mr req = {.length = UINT64_MAX, .access_flags = RW | ON_DEMAND};
	struct ib_uverbs_reg_mr_resp r;

	rig_start_context();
	req.pd_handle = make_pd();
	ck_assert_int_eq(make_mr(req.pd_handle, 0, UINT64_MAX, RW, &r), -EFAULT);
	req.hca_va = 4096;
	ck_assert_int_lt(do_write(IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &r, sizeof(r)), 0);
	ck_assert_int_eq(make_mr(req.pd_handle, 0, UINT64_MAX, RW | ON_DEMAND, &r), 0);
	ck_assert(is_paged(r.mr_handle));
	rig_stop();
}
END_TEST

START_TEST(rereg_mr_begins_and_ends_paging)
{
	struct ib_uverbs_reg_mr_resp r;
	struct ib_uverbs_rereg_mr_resp rr;
	struct ib_uverbs_rereg_mr req;

	rig_start_context();
	ck_assert_int_eq(make_mr(make_pd(), (uintptr_t)rig.user, 100, RW, &r), 0);
	ck_assert(!is_paged(r.mr_handle));
	req = rereg_request(r.mr_handle, ACCESS);
	req.access_flags |= ON_DEMAND;
	ck_assert_int_eq(rereg(&req, &rr), 0);
	ck_assert(is_paged(r.mr_handle));
	req = rereg_request(r.mr_handle, TRANS);
	req.start = (uintptr_t)rig.user + USER_SIZE;
	ck_assert_int_eq(rereg(&req, &rr), 0); /* still on demand */
	ck_assert(is_paged(r.mr_handle));
	req = rereg_request(r.mr_handle, ACCESS);
	ck_assert_int_eq(rereg(&req, &rr), -EFAULT);
	ck_assert(is_paged(r.mr_handle));
	req = rereg_request(r.mr_handle, ACCESS | TRANS);
	ck_assert_int_eq(rereg(&req, &rr), 0);
	ck_assert(!is_paged(r.mr_handle));
	rig_stop();
}
END_TEST

static int64_t advise(uint32_t pd, uint64_t advice, uint32_t flags, uint32_t lkey, uint64_t addr)
{
	struct ib_uverbs_sge sge[2] = {{addr, 100, lkey}, {addr, 8, lkey}};
	struct ib_uverbs_attr a[] = {
		attr_object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd),
		attr_in(UVERBS_ATTR_ADVISE_MR_ADVICE, advice, 8),
		attr_in(UVERBS_ATTR_ADVISE_MR_FLAGS, flags, 4),
		attr_ptr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, user_put(sge, sizeof(sge)), sizeof(sge)),
	};

	return do_ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, a, ARRAY_SIZE(a));
}

START_TEST(advice_is_judged_as_rxe_does)
{
	struct ib_uverbs_reg_mr_resp mr, readonly, plain;
	uint64_t a;
	uint32_t pd, flush = IB_UVERBS_ADVISE_MR_FLAG_FLUSH;

	rig_start_context();
	a = (uintptr_t)rig.user + USER_READONLY;
	pd = make_pd();
	ck_assert_int_eq(make_mr(pd, a, 8192, RW | ON_DEMAND, &mr), 0);
	ck_assert_int_eq(make_mr(pd, a, 4096, ON_DEMAND, &readonly), 0);
	ck_assert_int_eq(make_mr(pd, a, 4096, 0, &plain), 0);
	for (uint64_t advice = 0; advice < 3; advice++) {
		int64_t write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
		int64_t quiet = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;

		ck_assert_int_eq(advise(pd, advice, flush, mr.lkey, a), write ? -EFAULT : 0);
		ck_assert_int_eq(advise(pd, advice, 0, mr.lkey, a), 0);
		ck_assert_int_eq(advise(pd, advice, flush, readonly.lkey, a), write ? -EPERM : 0);
		ck_assert_int_eq(advise(pd, advice, flush, mr.lkey, a + 4096), quiet ? 0 : -EFAULT);
		ck_assert_int_eq(advise(pd, advice, 0, mr.lkey, a + 4096), 0);
		ck_assert_int_eq(advise(pd, advice, flush, mr.lkey, a + 8100), -EFAULT);
		ck_assert_int_eq(advise(pd, advice, flush, mr.lkey, a - 1), -EFAULT);
		ck_assert_int_eq(advise(pd, advice, 0, plain.lkey, a), -EINVAL);
		ck_assert_int_eq(advise(pd, advice, 0, mr.lkey + 1, a), -EINVAL);
		ck_assert_int_eq(advise(make_pd(), advice, 0, mr.lkey, a), -EINVAL);
	}
	ck_assert_int_eq(advise(pd, 3, flush, mr.lkey, a), -EOPNOTSUPP);
	ck_assert_int_eq(advise(pd, 0, 2, mr.lkey, a), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(mw_is_made_in_a_pd_and_of_a_type_that_exists)
{
	struct ib_uverbs_alloc_mw_resp one, two;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	ck_assert_int_eq(alloc_mw(pd + 1, 1, &one), -EINVAL);
	ck_assert_int_eq(alloc_mw(pd, 0, &one), -EINVAL);
	ck_assert_int_eq(alloc_mw(pd, 3, &one), -EINVAL);
	ck_assert_int_eq(alloc_mw(pd, 1, &one), 0);
	ck_assert_int_eq(alloc_mw(pd, 2, &two), 0);
	ck_assert_uint_ne(one.rkey >> 8, two.rkey >> 8);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_PD, pd), -EBUSY);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_MW, one.mw_handle), 0);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_MW, one.mw_handle), -ENOENT);
	ck_assert_int_eq(destroy(IB_USER_VERBS_CMD_DEALLOC_MW, pd), -EINVAL);
	rig_stop(); /* which leaves the other one to the end of the context */
}
END_TEST

START_TEST(mw_is_destroyed_by_its_method)
{
	struct ib_uverbs_alloc_mw_resp r;
	struct ib_uverbs_attr a[1];

	rig_start_context();
	ck_assert_int_eq(alloc_mw(make_pd(), 2, &r), 0);
	a[0] = attr_object(UVERBS_ATTR_DESTROY_MW_HANDLE, r.mw_handle);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, a, 1), 0);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, a, 1), -ENOENT);
	rig_stop();
}
END_TEST

TCase *verbs_memory_tcase(void)
{
	TCase *tc = tcase_create("memory");

	tcase_add_loop_test(tc, rereg_mr_changes_what_it_is_asked_to, 1, 8);
	tcase_add_test(tc, rereg_mr_refuses_what_the_kernel_refuses_and_changes_nothing);
	tcase_add_test(tc, on_demand_mr_may_be_of_what_is_not_mapped);
	tcase_add_test(tc, whole_memory_is_an_mr_on_demand_alone);
	tcase_add_test(tc, rereg_mr_begins_and_ends_paging);
	tcase_add_test(tc, advice_is_judged_as_rxe_does);
	tcase_add_test(tc, mw_is_made_in_a_pd_and_of_a_type_that_exists);
	tcase_add_test(tc, mw_is_destroyed_by_its_method);
	return tc;
}
