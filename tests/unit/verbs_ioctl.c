/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* RDMA_VERBS_IOCTL: its header, its attributes, and methods that only it has. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "verbs_rig.h"

static int64_t raw_ioctl(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return uverbs_ioctl(&rig.call, &rig.context, RDMA_VERBS_IOCTL, user_put(hdr, sizeof(*hdr)));
}

START_TEST(ioctl_header_is_judged_as_the_kernel_does)
{
	struct ib_uverbs_ioctl_hdr good = {.length = 24,
					   .method_id = UVERBS_METHOD_GET_CONTEXT,
					   .driver_id = RDMA_DRIVER_RXE},
				   h;

	rig_start();
	h = good;
	h.length = 25;
	ck_assert_int_eq(raw_ioctl(&h), -EINVAL);
	h = good;
	h.num_attrs = 1;
	ck_assert_int_eq(raw_ioctl(&h), -EINVAL);
	h = good;
	h.length = 24 + 16 * 300;
	h.num_attrs = 300;
	ck_assert_int_eq(raw_ioctl(&h), -EINVAL);
	h = good;
	h.reserved2 = 1;
	ck_assert_int_eq(raw_ioctl(&h), -EPROTONOSUPPORT);
	h = good;
	h.driver_id = RDMA_DRIVER_SIW;
	ck_assert_int_eq(raw_ioctl(&h), -EINVAL);
	h = good;
	h.object_id = UVERBS_OBJECT_DM;
	ck_assert_int_eq(raw_ioctl(&h), -EPROTONOSUPPORT);
	ck_assert_int_eq(raw_ioctl(&good), 0);
	rig_stop();
}
END_TEST

START_TEST(unknown_attributes_matter_only_if_mandatory)
{
	struct ib_uverbs_attr a = attr_in(0x77, 0, 0);

	rig_start();
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_GET_CONTEXT, &a, 1), -EPROTONOSUPPORT);
	a.flags = 0;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_GET_CONTEXT, &a, 1), 0);
	rig_stop();
}
END_TEST

START_TEST(get_context_and_async_alloc_write_back)
{
	struct ib_uverbs_attr a[2], async = attr_object(0, 0);

	rig_start();
	a[0] = attr_ptr(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, user_alloc(4), 4);
	a[1] = attr_ptr(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, user_alloc(8), 8);
	ck_assert_int_eq(
		do_ioctl(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &async, 1),
		-EINVAL);
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_GET_CONTEXT, a, 2), 0);
	ck_assert_uint_eq(*(uint32_t *)user_at(a[0].data), 2);
	ck_assert_uint_eq(*(uint64_t *)user_at(a[1].data), 1);
	ck_assert_uint_ne(a[0].flags & UVERBS_ATTR_F_VALID_OUTPUT, 0);
	ck_assert_int_eq(
		do_ioctl(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &async, 1), 0);
	ck_assert_ptr_nonnull(channel_of_fd((int32_t)async.data));
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_GET_CONTEXT, a, 2), -EINVAL);
	rig_stop();
}
END_TEST

static void port_attrs(struct ib_uverbs_attr a[2])
{
	a[0] = attr_in(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8);
	a[1] = attr_ptr(UVERBS_ATTR_QUERY_PORT_RESP, user_alloc(64), 48);
}

START_TEST(attribute_lengths_are_judged_as_the_kernel_does)
{
	struct ib_uverbs_attr a[3];

	rig_start_context();
	port_attrs(a);
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), 0);
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 1), -EINVAL);
	a[2] = a[0];
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 3), -EINVAL);
	a[0].len = 4;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), -EINVAL);
	port_attrs(a);
	a[0].attr_data.reserved = 1;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), -EINVAL);
	port_attrs(a);
	a[1].len = 47;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), -EINVAL);
	port_attrs(a);
	memset(user_at(a[1].data), 0xff, 64);
	a[1].len = 64;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), 0);
	ck_assert(ucmd_is_zero(user_at(a[1].data + 48), 16));
	port_attrs(a);
	a[1].data = (uintptr_t)rig.user + USER_READONLY;
	ck_assert_int_eq(do_ioctl(0, UVERBS_METHOD_QUERY_PORT, a, 2), -EFAULT);
	rig_stop();
}
END_TEST

static int64_t gid_entry(uint64_t port, uint64_t index, struct ib_uverbs_gid_entry *e)
{
	struct ib_uverbs_attr a[] = {
		attr_in(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port, 8),
		attr_in(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index, 8),
		attr_in(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, 4),
		attr_ptr(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, user_alloc(32), 32),
	};
	int64_t ret = do_ioctl(0, UVERBS_METHOD_QUERY_GID_ENTRY, a, ARRAY_SIZE(a));

	memcpy(e, user_at(a[3].data), sizeof(*e));
	return ret;
}

START_TEST(gid_entry_says_enodata_for_an_empty_slot)
{
	struct ib_uverbs_gid_entry e;

	rig_start_context();
	ck_assert_int_eq(gid_entry(1, 1, &e), 0);
	ck_assert_uint_eq(e.gid_type, IB_UVERBS_GID_TYPE_ROCE_V2);
	ck_assert_uint_eq(e.netdev_ifindex, 7);
	ck_assert_uint_eq(e.gid_index, 1);
	ck_assert_mem_eq(e.gid, rnic_gid_get(rig.dev.rnic, 1), 16);
	ck_assert_int_eq(gid_entry(1, 0, &e), -ENODATA);
	ck_assert_int_eq(gid_entry(1, 1024, &e), -EINVAL);
	ck_assert_int_eq(gid_entry(2, 1, &e), -EINVAL);
	rig_stop();
}
END_TEST

static int64_t gid_table(uint64_t entry_size, uint16_t len, uint64_t *n)
{
	struct ib_uverbs_attr a[] = {
		attr_in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_size, 8),
		attr_in(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, 4),
		attr_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, user_alloc(len), len),
		attr_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, user_alloc(8), 8),
	};
	int64_t ret = do_ioctl(0, UVERBS_METHOD_QUERY_GID_TABLE, a, ARRAY_SIZE(a));

	*n = *(uint64_t *)user_at(a[3].data);
	return ret;
}

START_TEST(gid_table_fills_entries_of_any_size)
{
	uint64_t n;
	uint8_t gid[16] = {0xfe, 0x80, [15] = 1};

	rig_start_context();
	ck_assert_int_eq(gid_table(32, 3200, &n), 0);
	ck_assert_uint_eq(n, 1);
	rnic_gid_set(rig.dev.rnic, 1023, gid, 7);
	ck_assert_int_eq(gid_table(40, 80, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(gid_table(32, 32, &n), -EINVAL);
	ck_assert_int_eq(gid_table(0, 32, &n), -EINVAL);
	ck_assert_int_eq(gid_table(32, 33, &n), -EINVAL);
	ck_assert_int_eq(gid_table(1ull << 40, 32, &n), -EINVAL);
	rig_stop();
}
END_TEST

START_TEST(objects_in_attributes_must_be_of_their_kind)
{
	struct ib_uverbs_attr pd = attr_object(UVERBS_ATTR_DESTROY_PD_HANDLE, 40), cq;
	uint32_t handle;

	rig_start_context();
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, &pd, 1), -ENOENT);
	handle = make_pd();
	cq = attr_object(UVERBS_ATTR_DESTROY_MR_HANDLE, handle);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, &cq, 1), -EINVAL);
	pd.data = 1ull << 32 | handle;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, &pd, 1), -EINVAL);
	pd.data = handle;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, &pd, 1), 0);
	rig_stop();
}
END_TEST

START_TEST(cq_made_by_the_ioctl_writes_its_handle_back)
{
	struct ib_uverbs_attr a[] = {
		attr_object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		attr_in(UVERBS_ATTR_CREATE_CQ_CQE, 20, 4),
		attr_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0x55, 8),
		attr_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4),
		attr_ptr(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 0, 4),
		attr_ptr(UVERBS_ATTR_UHW_OUT, 0, 16),
		attr_object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 1001),
		attr_in(UVERBS_ATTR_CREATE_CQ_FLAGS, 0, 4),
	};
	struct ib_uverbs_attr d[2];

	rig_start_context();
	make_pd();
	a[4].data = user_alloc(4);
	a[5].data = user_alloc(16);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, a, 8), 0);
	ck_assert_uint_eq(*(uint32_t *)user_at(a[4].data), 31);
	ck_assert_uint_ge(((struct mminfo *)user_at(a[5].data))->offset, RNIC_DB_RINGS);
	ck_assert_uint_ne(a[5].flags & UVERBS_ATTR_F_VALID_OUTPUT, 0);
	ck_assert_ptr_nonnull(object_of(UOBJ_CQ, (uint32_t)a[0].data));
	d[0] = attr_object(UVERBS_ATTR_DESTROY_CQ_HANDLE, a[0].data);
	d[1] = attr_ptr(UVERBS_ATTR_DESTROY_CQ_RESP, user_alloc(8), 8);
	a[7].data = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, a, 8), -EOPNOTSUPP);
	a[7].data = 1 << 7;
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, a, 8), -EINVAL);
	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, d, 2), 0);
	rig_stop();
}
END_TEST

static int32_t new_async(void)
{
	struct ib_uverbs_attr a = attr_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);

	ck_assert_int_eq(
		do_ioctl(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &a, 1), 0);
	return (int32_t)a.data;
}

static const struct uverbs_cq *cq_with_async(int32_t fd)
{
	struct ib_uverbs_attr a[] = {
		attr_object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		attr_in(UVERBS_ATTR_CREATE_CQ_CQE, 7, 4),
		attr_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0x55, 8),
		attr_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4),
		attr_ptr(UVERBS_ATTR_CREATE_CQ_RESP_CQE, user_alloc(4), 4),
		attr_ptr(UVERBS_ATTR_UHW_OUT, user_alloc(16), 16),
		attr_object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, (uint64_t)fd),
	};

	ck_assert_int_eq(do_ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, a, 7), 0);
	return object_of(UOBJ_CQ, (uint32_t)a[0].data);
}

START_TEST(async_events_go_to_the_descriptor_that_the_object_names)
{
	struct rnic_async cq_error = {.type = RNIC_EVENT_CQ_ERR},
			  port = {.type = RNIC_EVENT_PORT_ERR, .port = 1};
	struct channel *ch[3];

	rig_start_context();
	ch[0] = (*(struct uverbs_context **)context_uverbs(&rig.context))->async;
	for (int i = 1; i < 3; i++)
		ch[i] = channel_of_fd(new_async());
	cq_error.cq = cq_with_async(1000 + (int32_t)ch[2]->id)->cq;
	uverbs_async_event(&cq_error);
	ck_assert_uint_eq(ch[0]->n_records, 0);
	ck_assert_uint_eq(ch[1]->n_records, 0);
	ck_assert_uint_eq(ch[2]->n_records, 1);
	ck_assert_uint_eq(ch[2]->record[0].word[0], 0x55);
	cq_error.cq = ((struct uverbs_cq *)object_of(UOBJ_CQ, make_cq(7, -1, NULL)))->cq;
	uverbs_async_event(&cq_error); /* a command names none: the first */
	ck_assert_uint_eq(ch[0]->n_records, 1);
	uverbs_port_event(&rig.context, &port);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(ch[i]->n_records, i == 1 ? 1 : 2);
	rig_stop();
}
END_TEST

TCase *verbs_ioctl_tcase(void)
{
	TCase *tc = tcase_create("ioctl");

	tcase_add_test(tc, ioctl_header_is_judged_as_the_kernel_does);
	tcase_add_test(tc, unknown_attributes_matter_only_if_mandatory);
	tcase_add_test(tc, get_context_and_async_alloc_write_back);
	tcase_add_test(tc, attribute_lengths_are_judged_as_the_kernel_does);
	tcase_add_test(tc, gid_entry_says_enodata_for_an_empty_slot);
	tcase_add_test(tc, gid_table_fills_entries_of_any_size);
	tcase_add_test(tc, objects_in_attributes_must_be_of_their_kind);
	tcase_add_test(tc, async_events_go_to_the_descriptor_that_the_object_names);
	tcase_add_test(tc, cq_made_by_the_ioctl_writes_its_handle_back);
	return tc;
}
