/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The methods of the ioctl that a kernel with the rxe driver has, and their attributes. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "verbs/kernel/uverbs_obj.h"

/* Tables are easier to read in their own form. */
/* clang-format off */
#define A_IN(size) { UATTR_IN, .min = (size), .max = (size) }
#define A_CONST A_IN(8)
#define A_OPT_FLAGS { UATTR_IN, .optional = true, .min = 4, .max = 8 }
#define A_OPT_IN(size) { UATTR_IN, .optional = true, .min = (size), .max = (size) }
#define A_IN_MIN_OPT(size) { UATTR_IN, .optional = true, .min = (size), .max = UINT16_MAX }
#define A_IN_MIN(size) { UATTR_IN, .min = (size), .max = UINT16_MAX }
#define A_OUT(size) { UATTR_OUT, .min = (size), .max = (size) }
#define A_OPT_OUT(size) { UATTR_OUT, .optional = true, .min = (size), .max = (size) }
#define A_OUT_MIN(size) { UATTR_OUT, .min = (size), .max = UINT16_MAX }
#define A_OUT_MIN_OPT(size) { UATTR_OUT, .optional = true, .min = (size), .max = UINT16_MAX }
#define A_IN_STRUCT(type, last) \
	{ UATTR_IN, .zero_trailing = true, .min = END_OF(struct type, last), \
	  .max = sizeof(struct type) }
#define A_OUT_STRUCT(type, last) \
	{ UATTR_OUT, .zero_trailing = true, .min = END_OF(struct type, last), \
	  .max = sizeof(struct type) }
/* Whose last member has another name in newer headers. */
#define A_OUT_ALL(type) \
	{ UATTR_OUT, .zero_trailing = true, .min = sizeof(struct type), .max = sizeof(struct type) }
#define A_OBJECT(k) { UATTR_OBJECT, .kind = (k) }
#define A_OPT_OBJECT(k) { UATTR_OBJECT, .optional = true, .kind = (k) }
#define A_NEW(k) { UATTR_NEW, .kind = (k) }
#define A_DESTROY(k) { UATTR_DESTROY, .kind = (k) }
#define A_OPT_CHANNEL { UATTR_CHANNEL, .optional = true }
#define A_OPT_ASYNC { UATTR_ASYNC, .optional = true }
#define A_NEW_FD { UATTR_NEW_FD, .optional = false }

/* The objects that only other drivers have are left out: their attributes are then not known. */
static const struct umethod methods[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, true, write_invoke, {
		[UVERBS_ATTR_CORE_IN] = A_IN_MIN_OPT(4),
		[UVERBS_ATTR_CORE_OUT] = A_OUT_MIN_OPT(0),
		[UVERBS_ATTR_WRITE_CMD] = A_CONST } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, false, method_info_handles, {
		[UVERBS_ATTR_INFO_OBJECT_ID] = A_CONST,
		[UVERBS_ATTR_INFO_TOTAL_HANDLES] = A_OPT_OUT(4),
		[UVERBS_ATTR_INFO_HANDLES_LIST] = A_OUT_MIN_OPT(4) } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, false, method_query_port, {
		[UVERBS_ATTR_QUERY_PORT_PORT_NUM] = A_CONST,
		[UVERBS_ATTR_QUERY_PORT_RESP] =
			A_OUT_ALL(ib_uverbs_query_port_resp_ex) } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, true, method_get_context, {
		[UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS] = A_OPT_OUT(4),
		[UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT] = A_OPT_OUT(8) } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, true, method_query_context, {
		[UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS] = A_OPT_OUT(4),
		[UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT] = A_OPT_OUT(8) } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, false, method_query_gid_table, {
		[UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE] = A_CONST,
		[UVERBS_ATTR_QUERY_GID_TABLE_FLAGS] = A_OPT_FLAGS,
		[UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES] = A_OUT_MIN(0),
		[UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES] = A_OUT(8) } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, false, method_query_gid_entry, {
		[UVERBS_ATTR_QUERY_GID_ENTRY_PORT] = A_CONST,
		[UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX] = A_CONST,
		[UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS] = A_OPT_FLAGS,
		[UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY] =
			A_OUT_STRUCT(ib_uverbs_gid_entry, netdev_ifindex) } },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, false,
	  method_async_event_alloc, {
		[UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE] = A_NEW_FD } },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, false, method_destroy_pd, {
		[UVERBS_ATTR_DESTROY_PD_HANDLE] = A_DESTROY(UOBJ_PD) } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, false, method_destroy_mr, {
		[UVERBS_ATTR_DESTROY_MR_HANDLE] = A_DESTROY(UOBJ_MR) } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, false, method_advise_mr, {
		[UVERBS_ATTR_ADVISE_MR_PD_HANDLE] = A_OBJECT(UOBJ_PD),
		[UVERBS_ATTR_ADVISE_MR_ADVICE] = A_CONST,
		[UVERBS_ATTR_ADVISE_MR_FLAGS] = A_OPT_FLAGS,
		[UVERBS_ATTR_ADVISE_MR_SGE_LIST] = A_IN_MIN(16) } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, false, method_query_mr, {
		[UVERBS_ATTR_QUERY_MR_HANDLE] = A_OBJECT(UOBJ_MR),
		[UVERBS_ATTR_QUERY_MR_RESP_LKEY] = A_OUT(4),
		[UVERBS_ATTR_QUERY_MR_RESP_RKEY] = A_OUT(4),
		[UVERBS_ATTR_QUERY_MR_RESP_LENGTH] = A_OUT(8),
		[UVERBS_ATTR_QUERY_MR_RESP_IOVA] = A_OPT_OUT(8) } },
	{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, false, method_destroy_mw, {
		[UVERBS_ATTR_DESTROY_MW_HANDLE] = A_DESTROY(UOBJ_MW) } },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, true, method_create_cq, {
		[UVERBS_ATTR_CREATE_CQ_HANDLE] = A_NEW(UOBJ_CQ),
		[UVERBS_ATTR_CREATE_CQ_CQE] = A_IN(4),
		[UVERBS_ATTR_CREATE_CQ_USER_HANDLE] = A_IN(8),
		[UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL] = A_OPT_CHANNEL,
		[UVERBS_ATTR_CREATE_CQ_COMP_VECTOR] = A_IN(4),
		[UVERBS_ATTR_CREATE_CQ_FLAGS] = A_OPT_FLAGS,
		[UVERBS_ATTR_CREATE_CQ_RESP_CQE] = A_OUT(4),
		[UVERBS_ATTR_CREATE_CQ_EVENT_FD] = A_OPT_ASYNC } },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, false, method_destroy_cq, {
		[UVERBS_ATTR_DESTROY_CQ_HANDLE] = A_DESTROY(UOBJ_CQ),
		[UVERBS_ATTR_DESTROY_CQ_RESP] = A_OUT(8) } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, true, method_create_qp, {
		[UVERBS_ATTR_CREATE_QP_HANDLE] = A_NEW(UOBJ_QP),
		[UVERBS_ATTR_CREATE_QP_PD_HANDLE] = A_OPT_OBJECT(UOBJ_PD),
		[UVERBS_ATTR_CREATE_QP_SRQ_HANDLE] = A_OPT_OBJECT(UOBJ_SRQ),
		[UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE] = A_OPT_OBJECT(UOBJ_CQ),
		[UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE] = A_OPT_OBJECT(UOBJ_CQ),
		[UVERBS_ATTR_CREATE_QP_USER_HANDLE] = A_IN(8),
		[UVERBS_ATTR_CREATE_QP_CAP] = A_IN_STRUCT(ib_uverbs_qp_cap, max_inline_data),
		[UVERBS_ATTR_CREATE_QP_TYPE] = A_CONST,
		[UVERBS_ATTR_CREATE_QP_FLAGS] = A_OPT_FLAGS,
		[UVERBS_ATTR_CREATE_QP_SOURCE_QPN] = A_OPT_IN(4),
		[UVERBS_ATTR_CREATE_QP_EVENT_FD] = A_OPT_ASYNC,
		[UVERBS_ATTR_CREATE_QP_RESP_CAP] = A_OUT_STRUCT(ib_uverbs_qp_cap, max_inline_data),
		[UVERBS_ATTR_CREATE_QP_RESP_QP_NUM] = A_OUT(4) } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, false, method_destroy_qp, {
		[UVERBS_ATTR_DESTROY_QP_HANDLE] = A_DESTROY(UOBJ_QP),
		[UVERBS_ATTR_DESTROY_QP_RESP] = A_OUT(4) } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, true, method_create_srq, {
		[UVERBS_ATTR_CREATE_SRQ_HANDLE] = A_NEW(UOBJ_SRQ),
		[UVERBS_ATTR_CREATE_SRQ_PD_HANDLE] = A_OBJECT(UOBJ_PD),
		[UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE] = A_OPT_OBJECT(UOBJ_CQ),
		[UVERBS_ATTR_CREATE_SRQ_USER_HANDLE] = A_IN(8),
		[UVERBS_ATTR_CREATE_SRQ_MAX_WR] = A_IN(4),
		[UVERBS_ATTR_CREATE_SRQ_MAX_SGE] = A_IN(4),
		[UVERBS_ATTR_CREATE_SRQ_LIMIT] = A_IN(4),
		[UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS] = A_OPT_IN(4),
		[UVERBS_ATTR_CREATE_SRQ_TYPE] = A_CONST,
		[UVERBS_ATTR_CREATE_SRQ_EVENT_FD] = A_OPT_ASYNC,
		[UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR] = A_OUT(4),
		[UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE] = A_OUT(4),
		[UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM] = A_OPT_OUT(4) } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, false, method_destroy_srq, {
		[UVERBS_ATTR_DESTROY_SRQ_HANDLE] = A_DESTROY(UOBJ_SRQ),
		[UVERBS_ATTR_DESTROY_SRQ_RESP] = A_OUT(4) } },
	{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, false, method_destroy_ah, {
		[UVERBS_ATTR_DESTROY_AH_HANDLE] = A_DESTROY(UOBJ_AH) } },
};
/* clang-format on */

const struct umethod *umethod_find(uint16_t object, uint16_t method)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (methods[i].object == object && methods[i].method == method)
			return &methods[i];
	return NULL;
}
