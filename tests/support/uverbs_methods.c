/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Methods of the ioctl: objects are made and destroyed, and what there is is queried. */
#include "uverbs.h"

#include <fcntl.h>
#include <unistd.h>

#define CALL(s, object, method, a)                                                                 \
	raw_ioctl((s)->fd, UVERBS_OBJECT_##object, UVERBS_METHOD_##method, RAW_ARRAY(a))

/* Destroys it, and finds it gone. */
static bool destroyed(struct session *s, uint16_t object, uint16_t method, uint16_t attr,
		      uint64_t handle)
{
	uint64_t counts;
	struct ib_uverbs_attr a[] = {
		raw_object(attr, handle),
		/* The queues tell how many events they had; its length is that of the object. */
		raw_ptr(1, &counts, object == UVERBS_OBJECT_CQ ? 8 : 4),
	};
	bool queue = object == UVERBS_OBJECT_CQ || object == UVERBS_OBJECT_QP ||
		     object == UVERBS_OBJECT_SRQ;
	uint16_t n = queue ? 2 : 1;

	return !raw_ioctl(s->fd, object, method, a, n) &&
	       raw_ioctl(s->fd, object, method, a, n) == ENOENT;
}

static void ask_contexts(struct session *s)
{
	struct session other = {.fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC)};
	uint32_t vectors = 0, again = 0;
	struct ib_uverbs_attr a[] = {
		raw_ptr(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, 4)};
	struct ib_uverbs_attr b[] = {
		raw_ptr(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &again, 4)};
	struct ib_uverbs_attr async[] = {raw_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0)};

	MUST(other.fd >= 0);
	WORKS(UVERBS_METHOD_GET_CONTEXT, !CALL(&other, DEVICE, GET_CONTEXT, a) && vectors);
	WORKS(UVERBS_METHOD_QUERY_CONTEXT,
	      !CALL(&other, DEVICE, QUERY_CONTEXT, b) && again == vectors);
	WORKS(UVERBS_METHOD_ASYNC_EVENT_ALLOC, !CALL(s, ASYNC_EVENT, ASYNC_EVENT_ALLOC, async) &&
						       fcntl((int)async[0].data, F_GETFD) >= 0);
	MUST(!close((int)async[0].data) && !close(other.fd));
}

static void ask_queries(struct session *s)
{
	struct ib_uverbs_query_port_resp_ex port = {0};
	struct ib_uverbs_gid_entry table[8], entry = {0};
	uint64_t n = 0;
	struct ib_uverbs_attr p[] = {
		raw_value(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8),
		raw_ptr(UVERBS_ATTR_QUERY_PORT_RESP, &port, sizeof(port)),
	};
	struct ib_uverbs_attr t[] = {
		raw_value(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, sizeof(entry), 8),
		raw_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table, sizeof(table)),
		raw_ptr(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, 8),
	};

	WORKS(UVERBS_METHOD_QUERY_PORT,
	      !CALL(s, DEVICE, QUERY_PORT, p) && port.legacy_resp.state == IBV_PORT_ACTIVE);
	WORKS(UVERBS_METHOD_QUERY_GID_TABLE, !CALL(s, DEVICE, QUERY_GID_TABLE, t) && n);
	struct ib_uverbs_attr e[] = {
		raw_value(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 1, 8),
		raw_value(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, table[0].gid_index, 8),
		raw_ptr(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry)),
	};
	WORKS(UVERBS_METHOD_QUERY_GID_ENTRY,
	      !CALL(s, DEVICE, QUERY_GID_ENTRY, e) && !memcmp(&entry, &table[0], sizeof(entry)));
}

static void ask_regions(struct session *s)
{
	uint32_t lkey = 0, rkey;
	uint64_t length = 0;
	struct ib_uverbs_sge sge = {(uintptr_t)s->page, PAGE, 0};
	struct ib_uverbs_reg_mr_resp mr;
	struct ib_uverbs_attr q[] = {
		raw_object(UVERBS_ATTR_QUERY_MR_HANDLE, s->mr),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &lkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &rkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, 8),
	};
	struct ib_uverbs_attr advise[] = {
		raw_object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, s->pd),
		raw_value(UVERBS_ATTR_ADVISE_MR_ADVICE, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 8),
		raw_value(UVERBS_ATTR_ADVISE_MR_FLAGS, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, 4),
		raw_ptr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, &sge, sizeof(sge)),
	};

	WORKS(UVERBS_METHOD_QUERY_MR,
	      !CALL(s, MR, QUERY_MR, q) && lkey == s->mr_lkey && length == PAGE);
	IS(0, raw_reg_mr(s->fd, s->pd, s->page, PAGE, 1 | IB_UVERBS_ACCESS_ON_DEMAND, &mr));
	sge.lkey = mr.lkey;
	WORKS(UVERBS_METHOD_ADVISE_MR, !CALL(s, MR, ADVISE_MR, advise));
	WORKS(UVERBS_METHOD_MR_DESTROY, destroyed(s, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
						  UVERBS_ATTR_DESTROY_MR_HANDLE, mr.mr_handle));
}

static uint64_t cq_made(struct session *s)
{
	uint32_t cqe = 0;
	uint64_t rings[2];
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		raw_value(UVERBS_ATTR_CREATE_CQ_CQE, 10, 4),
		raw_value(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 1, 8),
		raw_value(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4),
		raw_ptr(UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, 4),
		raw_ptr(UVERBS_ATTR_UHW_OUT, rings, sizeof(rings)),
	};

	WORKS(UVERBS_METHOD_CQ_CREATE, !CALL(s, CQ, CQ_CREATE, a) && cqe >= 10);
	return a[0].data;
}

static uint64_t srq_made(struct session *s)
{
	uint32_t wr = 0, sge = 0;
	uint64_t rings[3];
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0),
		raw_object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, s->pd),
		raw_value(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 1, 8),
		raw_value(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 10, 4),
		raw_value(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1, 4),
		raw_value(UVERBS_ATTR_CREATE_SRQ_LIMIT, 0, 4),
		raw_value(UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC, 8),
		raw_ptr(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &wr, 4),
		raw_ptr(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &sge, 4),
		raw_ptr(UVERBS_ATTR_UHW_OUT, rings, sizeof(rings)),
	};

	WORKS(UVERBS_METHOD_SRQ_CREATE, !CALL(s, SRQ, SRQ_CREATE, a) && wr >= 10 && sge >= 1);
	return a[0].data;
}

static uint64_t qp_made(struct session *s, uint64_t cq)
{
	struct ib_uverbs_qp_cap cap = {4, 4, 1, 1, 0}, got = {0};
	uint32_t qpn = 0;
	uint64_t rings[4];
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_CREATE_QP_HANDLE, 0),
		raw_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, s->pd),
		raw_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq),
		raw_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq),
		raw_value(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 1, 8),
		raw_ptr(UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap)),
		raw_value(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RC, 8),
		raw_ptr(UVERBS_ATTR_CREATE_QP_RESP_CAP, &got, sizeof(got)),
		raw_ptr(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, 4),
		raw_ptr(UVERBS_ATTR_UHW_OUT, rings, sizeof(rings)),
	};

	WORKS(UVERBS_METHOD_QP_CREATE, !CALL(s, QP, QP_CREATE, a) && qpn && got.max_send_wr >= 4);
	return a[0].data;
}

#define DESTROYED(s, object, handle)                                                               \
	WORKS(UVERBS_METHOD_##object##_DESTROY,                                                    \
	      destroyed(s, UVERBS_OBJECT_##object, UVERBS_METHOD_##object##_DESTROY,               \
			UVERBS_ATTR_DESTROY_##object##_HANDLE, handle))

static void ask_objects(struct session *s)
{
	struct ib_uverbs_alloc_mw mw_req = {.pd_handle = s->pd, .mw_type = 2};
	struct ib_uverbs_alloc_mw_resp mw;
	struct ib_uverbs_create_ah ah_req = {
		.pd_handle = s->pd,
		.attr = {.grh = {.dgid = {[10] = 0xff, 0xff, 127, 0, 0, 1}, .hop_limit = 64},
			 .is_global = 1,
			 .port_num = 1}};
	uint32_t ah[4];
	uint64_t cq = cq_made(s), srq = srq_made(s), qp = qp_made(s, cq);

	MUST(!DO(s, IB_USER_VERBS_CMD_ALLOC_MW, mw_req, mw));
	MUST(!DO(s, IB_USER_VERBS_CMD_CREATE_AH, ah_req, ah));
	DESTROYED(s, QP, qp);
	DESTROYED(s, SRQ, srq);
	DESTROYED(s, CQ, cq);
	DESTROYED(s, MW, mw.mw_handle);
	DESTROYED(s, AH, ah[0]);
}

static void ask_handles(struct session *s)
{
	uint32_t total = 0, list[8], one = raw_pd(s->fd);
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD, 8),
		raw_ptr(UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, 4),
		raw_ptr(UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list)),
	};

	WORKS(UVERBS_METHOD_INFO_HANDLES, !CALL(s, DEVICE, INFO_HANDLES, a) && total == 2);
	DESTROYED(s, PD, one);
	ask_works("UVERBS_METHOD_INVOKE_WRITE"); /* by which extended commands have come */
}

#define NONE(object, method)                                                                       \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, "UVERBS_METHOD_" #method           \
	}

static void ask_what_rxe_has_not(struct session *s)
{
	static const struct {
		uint16_t object, method;
		const char *name;
	} none[] = {NONE(MR, DM_MR_REG),
		    NONE(MR, REG_DMABUF_MR),
		    NONE(DM, DM_ALLOC),
		    NONE(DM, DM_FREE),
		    NONE(COUNTERS, COUNTERS_CREATE),
		    NONE(COUNTERS, COUNTERS_DESTROY),
		    NONE(COUNTERS, COUNTERS_READ),
		    NONE(FLOW, FLOW_DESTROY),
		    NONE(FLOW_ACTION, FLOW_ACTION_ESP_CREATE),
		    NONE(FLOW_ACTION, FLOW_ACTION_DESTROY),
		    NONE(FLOW_ACTION, FLOW_ACTION_ESP_MODIFY),
		    NONE(XRCD, XRCD_DESTROY),
		    NONE(WQ, WQ_CREATE),
		    NONE(WQ, WQ_DESTROY),
		    NONE(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY)};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ask_refused(none[i].name,
			    raw_ioctl(s->fd, none[i].object, none[i].method, NULL, 0));
}

void uverbs_ask_methods(struct session *s)
{
	ask_contexts(s);
	ask_queries(s);
	ask_regions(s);
	ask_objects(s);
	ask_handles(s);
	ask_what_rxe_has_not(s);
}
