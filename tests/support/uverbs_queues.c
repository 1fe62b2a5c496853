/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands by write() and by INVOKE_WRITE: shared receive queues, queue pairs, extended forms. */
#include "uverbs.h"

#define COMMAND(name) IB_USER_VERBS_CMD_##name
#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static void ask_shared_receives(struct session *s)
{
	struct ib_uverbs_create_srq req = {.pd_handle = s->pd, .max_wr = 10, .max_sge = 1};
	struct ib_uverbs_create_xsrq x_req = {
		.srq_type = IB_UVERBS_SRQT_BASIC, .pd_handle = s->pd, .max_wr = 10, .max_sge = 1};
	struct srq_resp srq = {0};
	uint64_t ring[2];
	struct {
		uint32_t srq_handle, attr_mask, max_wr, srq_limit;
		uint64_t where;
	} modify = {.attr_mask = 2, .srq_limit = 4, .where = (uintptr_t)ring};
	struct ib_uverbs_query_srq query = {0};
	struct ib_uverbs_query_srq_resp seen = {0};
	struct ib_uverbs_destroy_srq end = {0};
	struct ib_uverbs_destroy_srq_resp ended;

	WORKS(IB_USER_VERBS_CMD_CREATE_SRQ,
	      !DO(s, COMMAND(CREATE_SRQ), req, srq) && srq.max_wr >= 10);
	modify.srq_handle = query.srq_handle = end.srq_handle = srq.handle;
	MUST(!DO_ONLY(s, COMMAND(MODIFY_SRQ), modify));
	WORKS(IB_USER_VERBS_CMD_QUERY_SRQ,
	      !DO(s, COMMAND(QUERY_SRQ), query, seen) && seen.max_wr == srq.max_wr);
	WORKS(IB_USER_VERBS_CMD_MODIFY_SRQ, seen.srq_limit == 4);
	WORKS(IB_USER_VERBS_CMD_DESTROY_SRQ,
	      !DO(s, COMMAND(DESTROY_SRQ), end, ended) && DO(s, COMMAND(DESTROY_SRQ), end, ended));
	WORKS(IB_USER_VERBS_CMD_CREATE_XSRQ,
	      !DO(s, COMMAND(CREATE_XSRQ), x_req, srq) && srq.max_wr >= 10);
	end.srq_handle = srq.handle;
	MUST(!DO(s, COMMAND(DESTROY_SRQ), end, ended));
}

static uint32_t state_of(struct session *s, uint32_t handle)
{
	struct ib_uverbs_query_qp req = {.qp_handle = handle, .attr_mask = IBV_QP_STATE};
	struct ib_uverbs_query_qp_resp resp = {0};

	MUST(!DO(s, COMMAND(QUERY_QP), req, resp));
	return resp.qp_state;
}

static struct ib_uverbs_modify_qp to_init(uint32_t handle)
{
	return (struct ib_uverbs_modify_qp){.qp_handle = handle,
					    .attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX |
							 IBV_QP_PORT | IBV_QP_QKEY,
					    .qp_state = IBV_QPS_INIT,
					    .port_num = 1,
					    .qkey = 1};
}

static void ask_groups(struct session *s, uint32_t qp)
{
	struct ib_uverbs_attach_mcast in = {.gid = {[10] = 0xff, 0xff, 239, 1, 1, 1},
					    .qp_handle = qp};
	struct ib_uverbs_detach_mcast out = {.gid = {[10] = 0xff, 0xff, 239, 1, 1, 1},
					     .qp_handle = qp};

	WORKS(IB_USER_VERBS_CMD_ATTACH_MCAST, !DO_ONLY(s, COMMAND(ATTACH_MCAST), in));
	WORKS(IB_USER_VERBS_CMD_DETACH_MCAST,
	      !DO_ONLY(s, COMMAND(DETACH_MCAST), out) && DO_ONLY(s, COMMAND(DETACH_MCAST), out));
}

/* Of a QP that may send; what it says is that there is something in the ring. */
static void ask_kick(struct session *s, uint32_t qp)
{
	struct ib_uverbs_post_send kick = {.qp_handle = qp,
					   .wqe_size = sizeof(struct ib_uverbs_send_wr)};
	struct ib_uverbs_modify_qp rtr = {
		.qp_handle = qp, .attr_mask = IBV_QP_STATE, .qp_state = IBV_QPS_RTR};
	struct ib_uverbs_modify_qp rts = {.qp_handle = qp,
					  .attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN,
					  .qp_state = IBV_QPS_RTS};
	struct ib_uverbs_post_send_resp kicked;

	MUST(DO(s, COMMAND(POST_SEND), kick, kicked));
	MUST(!DO_ONLY(s, COMMAND(MODIFY_QP), rtr) && !DO_ONLY(s, COMMAND(MODIFY_QP), rts));
	WORKS(IB_USER_VERBS_CMD_POST_SEND, !DO(s, COMMAND(POST_SEND), kick, kicked));
}

void uverbs_ask_queue_pairs(struct session *s)
{
	struct ib_uverbs_create_qp req = {.pd_handle = s->pd,
					  .send_cq_handle = s->cq,
					  .recv_cq_handle = s->cq,
					  .max_send_wr = 4,
					  .max_recv_wr = 4,
					  .max_send_sge = 1,
					  .max_recv_sge = 1,
					  .qp_type = IBV_QPT_UD};
	struct ib_uverbs_destroy_qp end = {0};
	struct ib_uverbs_destroy_qp_resp ended;
	struct ib_uverbs_modify_qp init;
	struct qp_resp qp = {0};

	ask_shared_receives(s);
	WORKS(IB_USER_VERBS_CMD_CREATE_QP, !DO(s, COMMAND(CREATE_QP), req, qp) && qp.core.qpn);
	end.qp_handle = qp.core.qp_handle;
	WORKS(IB_USER_VERBS_CMD_QUERY_QP, state_of(s, qp.core.qp_handle) == IBV_QPS_RESET);
	init = to_init(qp.core.qp_handle);
	WORKS(IB_USER_VERBS_CMD_MODIFY_QP, !DO_ONLY(s, COMMAND(MODIFY_QP), init) &&
						   state_of(s, qp.core.qp_handle) == IBV_QPS_INIT);
	ask_groups(s, qp.core.qp_handle);
	ask_kick(s, qp.core.qp_handle);
	WORKS(IB_USER_VERBS_CMD_DESTROY_QP,
	      !DO(s, COMMAND(DESTROY_QP), end, ended) && DO(s, COMMAND(DESTROY_QP), end, ended));
}

/* ---- extended forms ---- */

#define NONE(name)                                                                                 \
	{                                                                                          \
		IB_USER_VERBS_EX_CMD_##name, "IB_USER_VERBS_EX_CMD_" #name                         \
	}

static void ask_what_rxe_has_not(struct session *s)
{
	static const struct {
		uint32_t command;
		const char *name;
	} none[] = {NONE(CREATE_FLOW),	       NONE(DESTROY_FLOW), NONE(CREATE_WQ),
		    NONE(MODIFY_WQ),	       NONE(DESTROY_WQ),   NONE(CREATE_RWQ_IND_TBL),
		    NONE(DESTROY_RWQ_IND_TBL), NONE(MODIFY_CQ)};
	uint64_t req[16] = {0}, resp[16];

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ask_refused(none[i].name, raw_invoke(s->fd, EX | none[i].command, req, sizeof(req),
						     resp, sizeof(resp)));
}

/* With the provider's part, which goes apart. */
static int invoke(struct session *s, uint32_t command, const void *req, size_t len, void *resp,
		  size_t room, size_t rings_len)
{
	uint64_t rings[4];
	struct ib_uverbs_attr a[] = {
		raw_value(UVERBS_ATTR_WRITE_CMD, EX | command, 8),
		raw_ptr(UVERBS_ATTR_CORE_IN, req, len),
		raw_ptr(UVERBS_ATTR_CORE_OUT, resp, room),
		raw_ptr(UVERBS_ATTR_UHW_OUT, rings, rings_len),
	};

	MUST(len > sizeof(a[1].data)); /* else it would lie in the attribute */
	return raw_ioctl(s->fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, a,
			 rings_len ? 4 : 3);
}

#define DO_EX(s, number, req, resp, rings)                                                         \
	invoke(s, IB_USER_VERBS_EX_CMD_##number, &(req), sizeof(req), &(resp), sizeof(resp), rings)

static void ask_extended_queues(struct session *s)
{
	struct ib_uverbs_ex_create_cq cq_req = {.cqe = 10, .comp_channel = -1};
	struct ib_uverbs_ex_create_cq_resp cq = {0};
	struct ib_uverbs_ex_create_qp req = {.pd_handle = s->pd,
					     .max_send_wr = 4,
					     .max_recv_wr = 4,
					     .max_send_sge = 1,
					     .max_recv_sge = 1,
					     .qp_type = IBV_QPT_UD};
	struct ib_uverbs_ex_create_qp_resp qp = {0};
	struct ib_uverbs_ex_modify_qp modify = {0};
	struct ib_uverbs_ex_modify_qp_resp modified = {0};
	struct ib_uverbs_destroy_qp end = {0};
	struct ib_uverbs_destroy_qp_resp ended;
	struct ib_uverbs_destroy_cq cq_end = {0};
	struct ib_uverbs_destroy_cq_resp cq_ended;

	WORKS(IB_USER_VERBS_EX_CMD_CREATE_CQ,
	      !DO_EX(s, CREATE_CQ, cq_req, cq, 16) && cq.base.cqe >= 10);
	req.send_cq_handle = req.recv_cq_handle = cq_end.cq_handle = cq.base.cq_handle;
	WORKS(IB_USER_VERBS_EX_CMD_CREATE_QP,
	      !DO_EX(s, CREATE_QP, req, qp, 32) && qp.base.qpn && qp.response_length);
	modify.base = to_init(qp.base.qp_handle);
	WORKS(IB_USER_VERBS_EX_CMD_MODIFY_QP,
	      !DO_EX(s, MODIFY_QP, modify, modified, 0) &&
		      state_of(s, qp.base.qp_handle) == IBV_QPS_INIT);
	end.qp_handle = qp.base.qp_handle;
	MUST(!DO(s, COMMAND(DESTROY_QP), end, ended));
	MUST(!DO(s, COMMAND(DESTROY_CQ), cq_end, cq_ended));
}

void uverbs_ask_extended(struct session *s)
{
	struct ib_uverbs_ex_query_device req = {0};
	struct ib_uverbs_ex_query_device_resp resp = {0};

	WORKS(IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
	      !raw_invoke(s->fd, EX | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, &req, sizeof(req), &resp,
			  sizeof(resp)) &&
		      resp.base.max_qp && resp.odp_caps.general_caps);
	ask_extended_queues(s);
	ask_what_rxe_has_not(s);
}
