/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RDMA_VERBS_IOCTL: each object and method of rdma/ib_user_ioctl_cmds.h is there or is not, as in a
 * kernel with rxe, and attributes are judged by the kernel's rules.
 *
 *     methods
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw.h"

#define PAGE 4096

static int fd;
static uint32_t pd;

/* ---- what there is ---- */

#define HAS(object, method)                                                                        \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, true, #method                      \
	}
#define HAS_NOT(object, method)                                                                    \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, false, #method                     \
	}

static const struct method {
	uint16_t object, method;
	bool there;
	const char *name;
} methods[] = {
	HAS(DEVICE, INVOKE_WRITE),
	HAS(DEVICE, INFO_HANDLES),
	HAS(DEVICE, QUERY_PORT),
	HAS(DEVICE, GET_CONTEXT),
	HAS(DEVICE, QUERY_CONTEXT),
	HAS(DEVICE, QUERY_GID_TABLE),
	HAS(DEVICE, QUERY_GID_ENTRY),
	HAS(ASYNC_EVENT, ASYNC_EVENT_ALLOC),
	HAS(PD, PD_DESTROY),
	HAS(MR, MR_DESTROY),
	HAS(MR, ADVISE_MR),
	HAS(MR, QUERY_MR),
	HAS(MW, MW_DESTROY),
	HAS(CQ, CQ_CREATE),
	HAS(CQ, CQ_DESTROY),
	HAS(QP, QP_CREATE),
	HAS(QP, QP_DESTROY),
	HAS(SRQ, SRQ_CREATE),
	HAS(SRQ, SRQ_DESTROY),
	HAS(AH, AH_DESTROY),
	/* rxe has no device memory, DMA buffers, counters, flows, XRC domains or work queues. */
	HAS_NOT(MR, DM_MR_REG),
	HAS_NOT(MR, REG_DMABUF_MR),
	HAS_NOT(DM, DM_ALLOC),
	HAS_NOT(DM, DM_FREE),
	HAS_NOT(COUNTERS, COUNTERS_CREATE),
	HAS_NOT(COUNTERS, COUNTERS_DESTROY),
	HAS_NOT(COUNTERS, COUNTERS_READ),
	HAS_NOT(FLOW, FLOW_DESTROY),
	HAS_NOT(FLOW_ACTION, FLOW_ACTION_ESP_CREATE),
	HAS_NOT(FLOW_ACTION, FLOW_ACTION_DESTROY),
	HAS_NOT(FLOW_ACTION, FLOW_ACTION_ESP_MODIFY),
	HAS_NOT(XRCD, XRCD_DESTROY),
	HAS_NOT(WQ, WQ_CREATE),
	HAS_NOT(WQ, WQ_DESTROY),
	HAS_NOT(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY),
};

/* A mandatory attribute that none has tells no method from an unknown attribute, an optional one
 * leaves what is there to find its own missing. */
static void methods_are_there_or_not(void)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const struct method *m = &methods[i];
		struct ib_uverbs_attr odd = raw_value(0x0f77, 0, 0);
		int rc;

		rc = raw_ioctl(fd, m->object, m->method, &odd, 1);
		if (rc != EPROTONOSUPPORT)
			rig_fail("%s takes an attribute that is not known: %d", m->name, rc);
		odd.flags = 0;
		rc = raw_ioctl(fd, m->object, m->method, &odd, 1);
		if (rc == 0 && m->method == UVERBS_METHOD_QUERY_CONTEXT && !m->object)
			continue; /* it wants nothing */
		if (rc != (m->there ? EINVAL : EPROTONOSUPPORT))
			rig_fail("%s without attributes: %d", m->name, rc);
	}
	for (uint16_t method = 7; method < 20; method++)
		IS(EPROTONOSUPPORT, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, method, NULL, 0));
	for (uint16_t object = UVERBS_OBJECT_ASYNC_EVENT + 1; object < 40; object++)
		IS(EPROTONOSUPPORT, raw_ioctl(fd, object, 0, NULL, 0));
	IS(EPROTONOSUPPORT, raw_ioctl(fd, 0x1000, 0x1000, NULL, 0)); /* a driver's own */
}

/* ---- queries ---- */

static void context_is_told_again(void)
{
	uint32_t vectors = 0;
	uint64_t support = 0;
	struct ib_uverbs_attr a[] = {
		raw_ptr(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, 4),
		raw_ptr(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &support, 8),
	};
	int other = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	IS(0, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, RAW_ARRAY(a)));
	MUST(vectors && support & IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	MUST(a[0].flags & UVERBS_ATTR_F_VALID_OUTPUT);
	MUST(other >= 0);
	IS(EINVAL, raw_ioctl(other, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, NULL, 0));
	MUST(!close(other));
}

static int query_port(struct ib_uverbs_query_port_resp_ex *resp, uint16_t len)
{
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8),
		raw_ptr(UVERBS_ATTR_QUERY_PORT_RESP, resp, len),
	};

	return raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, RAW_ARRAY(a));
}

/* What is shorter than the first form is refused; behind what the kernel knows come zeros. */
static void port_answers_any_length_that_holds_it(void)
{
	struct {
		struct ib_uverbs_query_port_resp_ex resp;
		uint8_t more[16];
	} r;

	memset(&r, 0xff, sizeof(r));
	IS(0, query_port(&r.resp, sizeof(r.resp)));
	MUST(r.resp.legacy_resp.gid_tbl_len == 1024 && r.more[0] == 0xff);
	IS(0, query_port(&r.resp, sizeof(r)));
	for (size_t i = 0; i < sizeof(r.more); i++)
		MUST(!r.more[i]);
	IS(EINVAL, query_port(&r.resp, sizeof(r.resp) - 8));
	IS(EFAULT, query_port(NULL, sizeof(r.resp)));
}

static int gid_entry(uint64_t port, uint64_t index, struct ib_uverbs_gid_entry *e)
{
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, port, 8),
		raw_value(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, index, 8),
		raw_value(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, 4),
		raw_ptr(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, e, sizeof(*e)),
	};

	return raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, RAW_ARRAY(a));
}

/* The table has what the entries have, in order. */
static void gid_table_is_its_entries(void)
{
	static struct ib_uverbs_gid_entry table[1024];
	uint64_t n = 0, seen = 0;
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(table[0]), 8),
		raw_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table, sizeof(table)),
		raw_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, 8),
	};
	struct ib_uverbs_gid_entry e;

	IS(0, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, RAW_ARRAY(a)));
	MUST(n);
	for (uint64_t i = 0; i < 1024; i++) {
		int rc = gid_entry(1, i, &e);

		if (rc == ENODATA)
			continue;
		IS(0, rc);
		MUST(seen < n && !memcmp(&e, &table[seen++], sizeof(e)));
	}
	MUST(seen == n);
	IS(EINVAL, gid_entry(1, 1024, &e));
	IS(EINVAL, gid_entry(2, 0, &e));
}

/* ---- objects ---- */

static uint32_t handles(uint64_t object, uint32_t *list, uint32_t room, int expected)
{
	uint32_t total = 0;
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_INFO_OBJECT_ID, object, 8),
		raw_ptr(UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4),
		raw_ptr(UVERBS_ATTR_INFO_HANDLES_LIST, list, room),
	};

	IS(expected, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, RAW_ARRAY(a)));
	return total;
}

static void handles_are_listed_by_kind(void)
{
	uint32_t more = raw_pd(fd), list[8];

	MUST(handles(UVERBS_OBJECT_PD, list, sizeof(list), 0) == 2);
	MUST((list[0] == pd && list[1] == more) || (list[1] == pd && list[0] == more));
	MUST(handles(UVERBS_OBJECT_PD, list, 4, 0) == 1);
	MUST(handles(UVERBS_OBJECT_SRQ, list, sizeof(list), 0) == 0);
	handles(UVERBS_OBJECT_PD, list, 6, EINVAL);
	handles(UVERBS_OBJECT_PD, list, 0, EINVAL);
	handles(UVERBS_OBJECT_XRCD, list, sizeof(list), EINVAL);
	handles(99, list, sizeof(list), EINVAL);
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
			&(struct ib_uverbs_attr){.flags = 1, .data = more}, 1));
	MUST(handles(UVERBS_OBJECT_PD, list, sizeof(list), 0) == 1);
}

static int query_mr(uint32_t handle, struct ib_uverbs_reg_mr_resp *keys, uint64_t range[2])
{
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_QUERY_MR_HANDLE, handle),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &keys->lkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &keys->rkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &range[1], 8),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_IOVA, &range[0], 8),
	};

	return raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, RAW_ARRAY(a));
}

static int mr_destroy(uint32_t handle)
{
	struct ib_uverbs_attr a = raw_object(UVERBS_ATTR_DESTROY_MR_HANDLE, handle);

	return raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, &a, 1);
}

/* And what librxe 44 never asks: rereg, of its access and of its place. */
static void mr_is_registered_changed_queried_and_destroyed(void)
{
	static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));
	struct ib_uverbs_reg_mr_resp mr, keys;
	struct ib_uverbs_rereg_mr_resp again;
	struct ib_uverbs_rereg_mr change = {
		.flags = 1,
		.start = (uintptr_t)memory + PAGE,
		.length = 100,
		.hca_va = PAGE * 7,
		.access_flags = 1,
	};
	uint64_t range[2];

	IS(EINVAL, raw_reg_mr(fd, pd + 100, memory, PAGE, 1, &mr));
	IS(EINVAL, raw_reg_mr(fd, pd, memory, PAGE, 2, &mr));
	IS(EFAULT, raw_reg_mr(fd, pd, NULL, PAGE, 1, &mr));
	IS(0, raw_reg_mr(fd, pd, memory, PAGE, 1, &mr));
	change.mr_handle = mr.mr_handle;
	IS(0, raw_invoke(fd, IB_USER_VERBS_CMD_REREG_MR, &change, sizeof(change), &again,
			 sizeof(again)));
	MUST(again.lkey == mr.lkey && again.rkey == mr.rkey);
	IS(0, query_mr(mr.mr_handle, &keys, range));
	MUST(keys.lkey == mr.lkey && keys.rkey == mr.rkey);
	MUST(range[0] == PAGE * 7 && range[1] == 100);
	change.flags = 8;
	IS(EOPNOTSUPP, raw_invoke(fd, IB_USER_VERBS_CMD_REREG_MR, &change, sizeof(change), &again,
				  sizeof(again)));
	IS(EINVAL, query_mr(pd, &keys, range));
	IS(ENOENT, query_mr(100000, &keys, range));
	IS(0, mr_destroy(mr.mr_handle));
	IS(ENOENT, mr_destroy(mr.mr_handle));
}

static int advise(uint64_t advice, uint32_t flags, const struct ib_uverbs_sge *sge, uint16_t len)
{
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd),
		raw_value(UVERBS_ATTR_ADVISE_MR_ADVICE, advice, 8),
		raw_value(UVERBS_ATTR_ADVISE_MR_FLAGS, flags, 4),
		raw_ptr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sge, len),
	};

	return raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, RAW_ARRAY(a));
}

static void advice_says_whether_an_access_would_do(void)
{
	uint8_t *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ib_uverbs_sge sge = {.addr = (uintptr_t)p, .length = PAGE};
	struct ib_uverbs_reg_mr_resp mr;

	MUST(p != MAP_FAILED);
	IS(0, raw_reg_mr(fd, pd, p, PAGE, 1 | IB_UVERBS_ACCESS_ON_DEMAND, &mr));
	sge.lkey = mr.lkey;
	for (uint32_t flush = 0; flush < 2; flush++) {
		int fault = flush ? EFAULT : 0;

		MUST(!mprotect(p, PAGE, PROT_READ));
		IS(0, advise(IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, flush, &sge, 16));
		IS(fault, advise(IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, &sge, 16));
		MUST(!mprotect(p, PAGE, PROT_NONE));
		IS(fault, advise(IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, flush, &sge, 16));
		IS(0, advise(IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, flush, &sge, 16));
	}
	IS(EINVAL, advise(0, 0, &sge, 8));
	IS(EINVAL, advise(0, 0, &sge, 24));
	IS(EINVAL, advise(0, 2, &sge, 16));
	IS(EOPNOTSUPP, advise(7, 0, &sge, 16));
	IS(EFAULT, advise(0, 0, NULL, 16));
	IS(0, mr_destroy(mr.mr_handle));
	IS(EINVAL, advise(0, 0, &sge, 16));
	MUST(!munmap(p, PAGE));
}

/* ---- descriptors ---- */

static int cq_create(int channel, int async, uint64_t *handle)
{
	uint32_t cqe;
	uint64_t uhw[2];
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		raw_value(UVERBS_ATTR_CREATE_CQ_CQE, 7, 4),
		raw_value(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 1, 8),
		raw_value(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4),
		raw_ptr(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, 4),
		raw_ptr(UVERBS_ATTR_UHW_OUT, uhw, sizeof(uhw)),
		raw_object(UVERBS_ATTR_CREATE_CQ_EVENT_FD, (uint64_t)(int64_t)async),
		raw_object(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, (uint64_t)(int64_t)channel),
	};
	int rc = raw_ioctl(fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, RAW_ARRAY(a));

	*handle = a[0].data;
	return rc;
}

static int new_async(int device)
{
	struct ib_uverbs_attr a = raw_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);

	IS(0, raw_ioctl(device, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &a, 1));
	return (int)a.data;
}

static int new_channel(int device)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	IS(0, raw_write(device, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, sizeof(req), &resp,
			sizeof(resp)));
	return (int)resp.fd;
}

static void cq_destroy(uint64_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle),
		raw_ptr(UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp)),
	};

	IS(0, raw_ioctl(fd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, RAW_ARRAY(a)));
}

/* A descriptor in an attribute has to be of its kind and of this context. */
static void descriptors_are_the_contexts_own(void)
{
	int other = raw_open(), async = new_async(fd), channel = new_channel(fd), copy = dup(async);
	int foreign[] = {new_async(other), new_channel(other)};
	uint64_t handle;

	IS(0, cq_create(channel, async, &handle));
	cq_destroy(handle);
	IS(0, cq_create(channel, copy, &handle));
	cq_destroy(handle);
	IS(EBADF, cq_create(channel, foreign[0], &handle));
	IS(EBADF, cq_create(foreign[1], async, &handle));
	IS(EBADF, cq_create(async, async, &handle));
	IS(EBADF, cq_create(channel, channel, &handle));
	IS(EBADF, cq_create(channel, STDERR_FILENO, &handle));
	IS(EBADF, cq_create(channel, fd, &handle));
	IS(EBADF, cq_create(channel, -1, &handle));
	IS(EBADF, cq_create(channel, 1000000, &handle));
	MUST(!close(async) && !close(channel) && !close(copy));
	MUST(!close(foreign[0]) && !close(foreign[1]) && !close(other));
}

int main(void)
{
	fd = raw_open();
	pd = raw_pd(fd);
	methods_are_there_or_not();
	context_is_told_again();
	port_answers_any_length_that_holds_it();
	gid_table_is_its_entries();
	handles_are_listed_by_kind();
	mr_is_registered_changed_queried_and_destroyed();
	advice_says_whether_an_access_would_do();
	descriptors_are_the_contexts_own();
	return 0;
}
