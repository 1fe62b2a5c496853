/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queue pairs as commands see them: create, destroy, and the doorbell. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/mcast.h"
#include "rnic/objects.h"
#include "rnic/qp.h"
#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_obj.h"

struct qp_args {
	uint32_t type; /* of the ABI */
	uint64_t user_handle;
	struct uobject *pd, *send_cq, *recv_cq, *srq; /* NULL: none */
	struct ib_uverbs_qp_cap cap;		      /* comes back as the QP has it */
	bool sq_sig_all;
	uint32_t flags;
};

static int type_check(struct ucmd *cmd, uint32_t type)
{
	switch (type) {
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
		return 0;
	case IB_UVERBS_QPT_RAW_PACKET:
	case IB_UVERBS_QPT_DRIVER:
		ucmd_log(cmd, "QP: type %u is not supported", type);
		return -EOPNOTSUPP;
	default:
		ucmd_log(cmd, "QP: type %u cannot be made", type);
		return -EINVAL;
	}
}

static int cap_check(struct ucmd *cmd, const struct qp_args *args)
{
	const struct rnic_limits *l = rnic_device_limits(cmd->dev->rnic);
	const struct ib_uverbs_qp_cap *cap = &args->cap;
	bool rq = !args->srq;

	if (cap->max_send_wr <= l->max_qp_wr && cap->max_send_sge <= l->max_sge &&
	    cap->max_inline_data <= l->max_inline && (!rq || cap->max_recv_wr <= l->max_qp_wr) &&
	    (!rq || cap->max_recv_sge <= l->max_sge))
		return 0;
	ucmd_log(cmd,
		 "QP: send %u WR, %u SGE, %u inline, receive %u WR, %u SGE: more than "
		 "%u WR, %u SGE, %u inline",
		 cap->max_send_wr, cap->max_send_sge, cap->max_inline_data, cap->max_recv_wr,
		 cap->max_recv_sge, l->max_qp_wr, l->max_sge, l->max_inline);
	return -EINVAL;
}

static int args_check(struct ucmd *cmd, const struct qp_args *args)
{
	int rc = type_check(cmd, args->type);

	if (rc)
		return rc;
	if (!args->pd || !args->send_cq || !args->recv_cq) {
		ucmd_log(cmd, "QP: its PD or a CQ is missing");
		return -EINVAL;
	}
	if (cmd->uhw.inlen || cmd->uhw.outlen < sizeof(struct rxe_create_qp_resp)) {
		ucmd_log(cmd, "QP: the provider's data has a wrong size");
		return -EINVAL;
	}
	if (args->flags) {
		ucmd_log(cmd, "QP: flags 0x%x are not supported", args->flags);
		return -EOPNOTSUPP;
	}
	return cap_check(cmd, args);
}

static void qp_free(struct uverbs_qp *qp)
{
	rxe_sq_destroy(qp->context, &qp->rxe.sq);
	rxe_rq_destroy(qp->context, &qp->rxe.rq);
	channel_put(qp->async);
	free(qp);
}

static int rings_create(struct uverbs_qp *qp, struct qp_args *args)
{
	struct ib_uverbs_qp_cap *cap = &args->cap;
	int rc;

	qp->send = (struct rxe_cap){cap->max_send_wr, cap->max_send_sge, cap->max_inline_data};
	rc = rxe_sq_create(qp->context, &qp->send, &qp->rxe.sq);
	if (rc || args->srq)
		return rc;
	qp->recv = (struct rxe_cap){cap->max_recv_wr, cap->max_recv_sge, 0};
	return rxe_rq_create(qp->context, &qp->recv, &qp->rxe.rq);
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int rnic_create(struct ucmd *cmd, struct uverbs_qp *qp, const struct qp_args *args)
{
	uint32_t most = rnic_device_limits(cmd->dev->rnic)->max_qp_wr;
	struct rnic_qp_init init = {
		.type = (enum rnic_qp_type)args->type,
		.send_cq = ((struct uverbs_cq *)args->send_cq->object)->cq,
		.recv_cq = ((struct uverbs_cq *)args->recv_cq->object)->cq,
		.srq = args->srq ? ((struct uverbs_srq *)args->srq->object)->srq : NULL,
		.max_send_wr = min_u32(qp->send.wr, most),
		.max_recv_wr = min_u32(qp->recv.wr, most),
		.max_send_sge = qp->send.sge,
		.max_recv_sge = qp->recv.sge,
		.max_inline = qp->send.inline_data,
		.sq_sig_all = args->sq_sig_all,
		.ops = &rxe_personality,
		.user = &qp->rxe,
		.rq_user = args->srq ? NULL : &qp->rxe.rq,
	};

	qp->rxe.context = qp->context;
	qp->rxe.pd = args->pd->object;
	qp->rxe.datagram = args->type == IB_UVERBS_QPT_UD;
	qp->rxe.sq.limit = init.max_send_wr;
	return rnic_qp_create(args->pd->object, &init, &qp->qp);
}

static int qp_create(struct ucmd *cmd, struct qp_args *args, struct uobject **u)
{
	struct ib_uverbs_qp_cap *cap = &args->cap;
	struct uverbs_qp *qp;
	int rc = args_check(cmd, args);

	if (rc)
		return rc;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->context = cmd->context;
	qp->user_handle = args->user_handle;
	qp->sq_sig_all = args->sq_sig_all;
	rc = rings_create(qp, args);
	if (!rc)
		rc = rnic_create(cmd, qp, args);
	if (!rc)
		rc = uobject_add(cmd->context, UOBJ_QP, qp, args->user_handle, u);
	if (rc) {
		if (qp->qp)
			rnic_qp_destroy(qp->qp);
		qp_free(qp);
		return rc;
	}
	qp->handle = (*u)->handle;
	qp->async = async_get(cmd, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	cap->max_send_wr = qp->send.wr;
	cap->max_send_sge = qp->send.sge;
	cap->max_inline_data = qp->send.inline_data;
	if (!args->srq)
		cap->max_recv_wr = qp->recv.wr;
	return 0;
}

int qp_destroy(struct context *c, struct uobject *u, uint32_t *async)
{
	struct uverbs_qp *qp = u->object;
	int rc;

	if (!qp)
		return uobject_bury(c, u, NULL, async);
	rc = rnic_qp_destroy(qp->qp);
	if (rc)
		return rc;
	*async = async_forget(qp->async, qp);
	if (u->handle < RNIC_DB_HANDLES)
		doorbell_set_slow(context_doorbell(c), u->handle, true);
	uobject_remove(c, u);
	qp_free(qp);
	return 0;
}

/* As the program asks: not while it is attached to a multicast group, as in the kernel. */
static int qp_destroy_asked(struct ucmd *cmd, struct uobject *u, uint32_t *async)
{
	struct uverbs_qp *qp = u->object;
	uint32_t n = qp ? rnic_mcast_count(qp->qp) : 0;

	if (!n)
		return qp_destroy(cmd->context, u, async);
	ucmd_log(cmd, "QP %u: it is attached to %u multicast groups", rnic_qp_num(qp->qp), n);
	return -EBUSY;
}

static void qp_undo(struct ucmd *cmd, struct uobject *u)
{
	uint32_t async;

	qp_destroy(cmd->context, u, &async);
}

static int uhw_write(struct ucmd *cmd, const struct uobject *u)
{
	const struct uverbs_qp *qp = u->object;
	struct rxe_create_qp_resp resp = {.sq_mi = rxe_ring_mminfo(&qp->rxe.sq.ring)};

	if (qp->rxe.rq.ring.buf)
		resp.rq_mi = rxe_ring_mminfo(&qp->rxe.rq.ring);
	return ucmd_uhw_response(cmd, &resp, sizeof(resp));
}

/* The fields of both write commands, which lie alike behind their own beginnings. */
static int args_from_ex(struct ucmd *cmd, const struct ib_uverbs_ex_create_qp *req,
			struct qp_args *args)
{
	int rc;

	memset(args, 0, sizeof(*args));
	args->type = req->qp_type;
	args->user_handle = req->user_handle;
	args->sq_sig_all = req->sq_sig_all;
	args->flags = req->create_flags;
	args->cap = (struct ib_uverbs_qp_cap){req->max_send_wr, req->max_recv_wr, req->max_send_sge,
					      req->max_recv_sge, req->max_inline_data};
	rc = type_check(cmd, args->type);
	if (!rc)
		rc = ucmd_object(cmd, UOBJ_PD, req->pd_handle, &args->pd);
	if (!rc)
		rc = ucmd_object(cmd, UOBJ_CQ, req->send_cq_handle, &args->send_cq);
	if (!rc)
		rc = ucmd_object(cmd, UOBJ_CQ, req->recv_cq_handle, &args->recv_cq);
	if (!rc && req->is_srq)
		rc = ucmd_object(cmd, UOBJ_SRQ, req->srq_handle, &args->srq);
	return rc;
}

static void resp_fill(const struct uobject *u, const struct ib_uverbs_qp_cap *cap,
		      struct ib_uverbs_create_qp_resp *resp)
{
	const struct uverbs_qp *qp = u->object;

	memset(resp, 0, sizeof(*resp));
	resp->qp_handle = u->handle;
	resp->qpn = rnic_qp_num(qp->qp);
	resp->max_send_wr = cap->max_send_wr;
	resp->max_recv_wr = cap->max_recv_wr;
	resp->max_send_sge = cap->max_send_sge;
	resp->max_recv_sge = cap->max_recv_sge;
	resp->max_inline_data = cap->max_inline_data;
}

/* By either command: the response of the older one, of `len` bytes, is the head of the other's. */
static int create_and_answer(struct ucmd *cmd, const struct ib_uverbs_ex_create_qp *req, size_t len)
{
	struct ib_uverbs_ex_create_qp_resp resp = {.response_length = sizeof(resp)};
	struct qp_args args;
	struct uobject *u;
	int rc = args_from_ex(cmd, req, &args);

	if (!rc)
		rc = qp_create(cmd, &args, &u);
	if (rc)
		return rc;
	resp_fill(u, &args.cap, &resp.base);
	rc = ucmd_response(cmd, &resp, len);
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		qp_undo(cmd, u);
	return rc;
}

int cmd_create_qp(struct ucmd *cmd)
{
	struct ib_uverbs_create_qp in;
	struct ib_uverbs_ex_create_qp req = {0};
	size_t from = offsetof(struct ib_uverbs_create_qp, user_handle);
	int rc = ucmd_request(cmd, &in, sizeof(in));

	if (rc)
		return rc;
	memcpy(&req, (const uint8_t *)&in + from, sizeof(in) - from);
	return create_and_answer(cmd, &req, sizeof(struct ib_uverbs_create_qp_resp));
}

int cmd_create_qp_ex(struct ucmd *cmd)
{
	struct ib_uverbs_ex_create_qp req;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	if (req.comp_mask || req.reserved) {
		ucmd_log(cmd, "QP: comp_mask 0x%x is not known", req.comp_mask);
		return -EINVAL;
	}
	return create_and_answer(cmd, &req, sizeof(struct ib_uverbs_ex_create_qp_resp));
}

static int args_from_attrs(struct ucmd *cmd, struct qp_args *args)
{
	uint32_t allowed = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
			   IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |
			   IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |
			   IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	uint64_t type;
	int rc = uattr_const(cmd, UVERBS_ATTR_CREATE_QP_TYPE, UINT32_MAX, &type);

	memset(args, 0, sizeof(*args));
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &args->user_handle, 8);
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_QP_CAP, &args->cap, sizeof(args->cap));
	if (!rc)
		rc = uattr_flags(cmd, UVERBS_ATTR_CREATE_QP_FLAGS, allowed, &args->flags);
	if (rc)
		return rc;
	args->type = (uint32_t)type;
	args->pd = cmd->attr[UVERBS_ATTR_CREATE_QP_PD_HANDLE].object;
	args->send_cq = cmd->attr[UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE].object;
	args->recv_cq = cmd->attr[UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE].object;
	args->srq = cmd->attr[UVERBS_ATTR_CREATE_QP_SRQ_HANDLE].object;
	args->sq_sig_all = args->flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	args->flags &= ~(uint32_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	return 0;
}

int method_create_qp(struct ucmd *cmd)
{
	struct qp_args args;
	struct uobject *u;
	uint32_t qpn;
	int rc = args_from_attrs(cmd, &args);

	if (!rc)
		rc = qp_create(cmd, &args, &u);
	if (rc)
		return rc;
	qpn = rnic_qp_num(((struct uverbs_qp *)u->object)->qp);
	rc = uattr_write_struct(cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP, &args.cap, sizeof(args.cap));
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	if (!rc)
		rc = uattr_write_handle(cmd, UVERBS_ATTR_CREATE_QP_HANDLE, u->handle);
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		qp_undo(cmd, u);
	return rc;
}

int cmd_destroy_qp(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_qp req;
	struct ib_uverbs_destroy_qp_resp resp;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_QP, req.qp_handle, &u);
	if (!rc)
		rc = qp_destroy_asked(cmd, u, &resp.events_reported);
	return rc ? rc : ucmd_response(cmd, &resp, sizeof(resp));
}

int method_destroy_qp(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_qp_resp resp;
	int rc = qp_destroy_asked(cmd, cmd->attr[UVERBS_ATTR_DESTROY_QP_HANDLE].object,
				  &resp.events_reported);

	return rc ? rc : uattr_write(cmd, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
}

int cmd_post_send(struct ucmd *cmd)
{
	struct ib_uverbs_post_send req;
	struct ib_uverbs_post_send_resp resp = {0};
	struct uobject *u;
	int rc = call_read(cmd->call, &req, cmd->core.in, sizeof(req));

	if (!rc && req.wqe_size < sizeof(struct ib_uverbs_send_wr))
		rc = -EINVAL;
	if (!rc)
		rc = ucmd_object(cmd, UOBJ_QP, req.qp_handle, &u);
	if (!rc)
		rc = rnic_qp_kick(((struct uverbs_qp *)u->object)->qp);
	return rc ? rc : ucmd_response(cmd, &resp, sizeof(resp));
}

void uverbs_kick(struct context *c, uint32_t qp_handle)
{
	struct uobject *u = uobject_get(c, UOBJ_QP, qp_handle);

	/* Below RTS nothing happens; the WQE waits. A bit of no QP is the client's joke. */
	if (u && u->object)
		rnic_qp_kick(((struct uverbs_qp *)u->object)->qp);
}
