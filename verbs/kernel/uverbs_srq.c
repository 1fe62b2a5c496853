/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared receive queues as commands see them. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "rnic/objects.h"
#include "verbs/kernel/uverbs_obj.h"

enum { SRQ_MAX_WR = 1 << 0, SRQ_LIMIT = 1 << 1 };

struct srq_args {
	uint64_t type;
	uint64_t user_handle;
	struct uobject *pd;
	uint32_t max_wr, max_sge, limit; /* the first two come back as the SRQ has them */
};

static int args_check(struct ucmd *cmd, const struct srq_args *args)
{
	const struct rnic_limits *l = rnic_device_limits(cmd->dev->rnic);

	if (args->type == IB_UVERBS_SRQT_XRC || args->type > IB_UVERBS_SRQT_TM) {
		ucmd_log(cmd, "SRQ: type %llu cannot be made", (unsigned long long)args->type);
		return -EINVAL;
	}
	if (args->type == IB_UVERBS_SRQT_TM) {
		ucmd_log(cmd, "SRQ: tag matching is not supported");
		return -EOPNOTSUPP;
	}
	if (cmd->uhw.outlen < sizeof(struct rxe_create_srq_resp)) {
		ucmd_log(cmd, "SRQ: no room for the provider's answer");
		return -EINVAL;
	}
	if (!args->max_wr || args->max_wr > l->max_srq_wr || args->max_sge > l->max_srq_sge ||
	    args->limit > args->max_wr) {
		ucmd_log(cmd, "SRQ: %u WR, %u SGE, limit %u: 1 to %u WR and %u SGE are possible",
			 args->max_wr, args->max_sge, args->limit, l->max_srq_wr, l->max_srq_sge);
		return -EINVAL;
	}
	return 0;
}

static int srq_create(struct ucmd *cmd, struct srq_args *args, struct uobject **u)
{
	struct rxe_cap cap = {args->max_wr, args->max_sge ? args->max_sge : 1, 0};
	struct uverbs_srq *srq;
	int rc = args_check(cmd, args);

	if (rc)
		return rc;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->context = cmd->context;
	srq->user_handle = args->user_handle;
	rc = rxe_rq_create(cmd->context, &cap, &srq->rq);
	if (!rc)
		rc = rnic_srq_create(args->pd->object, cap.sge, args->limit, &rxe_personality,
				     &srq->rq, &srq->srq);
	if (!rc)
		rc = uobject_add(cmd->context, UOBJ_SRQ, srq, args->user_handle, u);
	if (rc) {
		if (srq->srq)
			rnic_srq_destroy(srq->srq);
		rxe_rq_destroy(cmd->context, &srq->rq);
		free(srq);
		return rc;
	}
	srq->async = async_get(cmd, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	args->max_wr = cap.wr;
	args->max_sge = cap.sge;
	return 0;
}

int srq_destroy(struct context *c, struct uobject *u, uint32_t *async)
{
	struct uverbs_srq *srq = u->object;
	int rc;

	if (!srq)
		return uobject_bury(c, u, NULL, async);
	rc = rnic_srq_destroy(srq->srq);
	if (rc)
		return rc;
	*async = async_forget(srq->async, srq);
	channel_put(srq->async);
	uobject_remove(c, u);
	rxe_rq_destroy(c, &srq->rq);
	free(srq);
	return 0;
}

static void srq_undo(struct ucmd *cmd, struct uobject *u)
{
	uint32_t async;

	srq_destroy(cmd->context, u, &async);
}

static int uhw_write(struct ucmd *cmd, const struct uobject *u)
{
	const struct uverbs_srq *srq = u->object;
	struct rxe_create_srq_resp resp = {.mi = rxe_ring_mminfo(&srq->rq.ring),
					   .srq_num = u->handle};

	return ucmd_uhw_response(cmd, &resp, sizeof(resp));
}

static int create_and_answer(struct ucmd *cmd, struct srq_args *args, uint32_t pd_handle)
{
	struct ib_uverbs_create_srq_resp resp;
	struct uobject *u;
	int rc = ucmd_object(cmd, UOBJ_PD, pd_handle, &args->pd);

	if (!rc)
		rc = srq_create(cmd, args, &u);
	if (rc)
		return rc;
	resp = (struct ib_uverbs_create_srq_resp){u->handle, args->max_wr, args->max_sge,
						  u->handle};
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		srq_undo(cmd, u);
	return rc;
}

int cmd_create_srq(struct ucmd *cmd)
{
	struct ib_uverbs_create_srq req;
	struct srq_args args = {.type = IB_UVERBS_SRQT_BASIC};
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	args.user_handle = req.user_handle;
	args.max_wr = req.max_wr;
	args.max_sge = req.max_sge;
	args.limit = req.srq_limit;
	return create_and_answer(cmd, &args, req.pd_handle);
}

int cmd_create_xsrq(struct ucmd *cmd)
{
	struct ib_uverbs_create_xsrq req;
	struct srq_args args = {0};
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	args.type = req.srq_type;
	args.user_handle = req.user_handle;
	args.max_wr = req.max_wr;
	args.max_sge = req.max_sge;
	args.limit = req.srq_limit;
	return create_and_answer(cmd, &args, req.pd_handle);
}

static int args_from_attrs(struct ucmd *cmd, struct srq_args *args)
{
	int rc = uattr_const(cmd, UVERBS_ATTR_CREATE_SRQ_TYPE, UINT32_MAX, &args->type);

	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &args->user_handle, 8);
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_WR, &args->max_wr, 4);
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &args->max_sge, 4);
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_SRQ_LIMIT, &args->limit, 4);
	args->pd = cmd->attr[UVERBS_ATTR_CREATE_SRQ_PD_HANDLE].object;
	return rc;
}

int method_create_srq(struct ucmd *cmd)
{
	struct srq_args args;
	struct uobject *u;
	int rc = args_from_attrs(cmd, &args);

	if (!rc)
		rc = srq_create(cmd, &args, &u);
	if (rc)
		return rc;
	rc = uattr_write(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &args.max_wr, 4);
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &args.max_sge, 4);
	if (!rc && cmd->attr[UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM].present)
		rc = uattr_write(cmd, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &u->handle, 4);
	if (!rc)
		rc = uattr_write_handle(cmd, UVERBS_ATTR_CREATE_SRQ_HANDLE, u->handle);
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		srq_undo(cmd, u);
	return rc;
}

/* What the SRQ will have room for: its ring's slots but one. */
static uint32_t entries_for(uint32_t wr)
{
	uint32_t slots = 1;

	while (slots <= wr)
		slots <<= 1;
	return slots - 1;
}

static int modify_check(struct ucmd *cmd, const struct uverbs_srq *srq,
			const struct ib_uverbs_modify_srq *req)
{
	uint32_t most = rnic_device_limits(cmd->dev->rnic)->max_srq_wr;
	uint32_t limit = req->attr_mask & SRQ_LIMIT ? req->srq_limit : rnic_srq_limit(srq->srq);
	uint32_t room = rxe_ring_entries(&srq->rq.ring);

	if (req->attr_mask & SRQ_MAX_WR) {
		if (!req->max_wr || req->max_wr > most) {
			ucmd_log(cmd, "SRQ %u: %u WR, 1 to %u are possible", req->srq_handle,
				 req->max_wr, most);
			return -EINVAL;
		}
		room = entries_for(req->max_wr);
	}
	if (limit > room) {
		ucmd_log(cmd, "SRQ %u: a limit of %u with room for %u WR", req->srq_handle, limit,
			 room);
		return -EINVAL;
	}
	return 0;
}

/* The provider names the struct mminfo that is to be written. */
static int srq_resize(struct ucmd *cmd, struct uverbs_srq *srq, uint32_t max_wr)
{
	struct rxe_modify_srq_cmd uhw;
	struct mminfo mi = rxe_ring_mminfo(&srq->rq.ring);
	int rc = call_read(cmd->call, &uhw, cmd->uhw.in, sizeof(uhw));

	/* First only to see that there is room: the old ring cannot be had back. */
	if (!rc)
		rc = call_write(cmd->call, uhw.mmap_info_addr, &mi, sizeof(mi));
	if (!rc)
		rc = rxe_rq_resize(cmd->context, &srq->rq, max_wr);
	if (rc)
		return rc;
	mi = rxe_ring_mminfo(&srq->rq.ring);
	return call_write(cmd->call, uhw.mmap_info_addr, &mi, sizeof(mi));
}

int cmd_modify_srq(struct ucmd *cmd)
{
	struct ib_uverbs_modify_srq req;
	struct uverbs_srq *srq;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_SRQ, req.srq_handle, &u);
	if (!rc && cmd->uhw.inlen < sizeof(struct rxe_modify_srq_cmd))
		rc = -EINVAL;
	if (rc)
		return rc;
	srq = u->object;
	rc = modify_check(cmd, srq, &req);
	if (!rc && req.attr_mask & SRQ_MAX_WR)
		rc = srq_resize(cmd, srq, req.max_wr);
	if (!rc && req.attr_mask & SRQ_LIMIT)
		rc = rnic_srq_arm(srq->srq, req.srq_limit);
	return rc;
}

int cmd_query_srq(struct ucmd *cmd)
{
	struct ib_uverbs_query_srq req;
	struct ib_uverbs_query_srq_resp resp = {0};
	const struct uverbs_srq *srq;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_SRQ, req.srq_handle, &u);
	if (rc)
		return rc;
	srq = u->object;
	resp.max_wr = rxe_ring_entries(&srq->rq.ring);
	resp.max_sge = srq->rq.max_sge;
	resp.srq_limit = rnic_srq_limit(srq->srq);
	return ucmd_response(cmd, &resp, sizeof(resp));
}

int cmd_destroy_srq(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_srq req;
	struct ib_uverbs_destroy_srq_resp resp;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_SRQ, req.srq_handle, &u);
	if (!rc)
		rc = srq_destroy(cmd->context, u, &resp.events_reported);
	return rc ? rc : ucmd_response(cmd, &resp, sizeof(resp));
}

int method_destroy_srq(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_srq_resp resp;
	int rc = srq_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_SRQ_HANDLE].object,
			     &resp.events_reported);

	return rc ? rc : uattr_write(cmd, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp, sizeof(resp));
}
