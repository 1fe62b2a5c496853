/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Completion queues as commands see them. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "rnic/objects.h"
#include "verbs/kernel/uverbs_obj.h"

struct cq_args {
	uint32_t cqe, vector, flags;
	uint64_t user_handle;
	struct channel *channel;
};

static int args_check(struct ucmd *cmd, const struct cq_args *args)
{
	uint32_t most = rnic_device_limits(cmd->dev->rnic)->max_cqe;

	if (args->vector >= cmd->dev->num_comp_vectors) {
		ucmd_log(cmd, "CQ: vector %u of %u", args->vector, cmd->dev->num_comp_vectors);
		return -EINVAL;
	}
	if (cmd->uhw.outlen < sizeof(struct rxe_create_cq_resp)) {
		ucmd_log(cmd, "CQ: no room for the provider's answer");
		return -EINVAL;
	}
	if (args->flags) {
		ucmd_log(cmd, "CQ: flags 0x%x are not supported", args->flags);
		return -EOPNOTSUPP;
	}
	if (!args->cqe || args->cqe > most) {
		ucmd_log(cmd, "CQ: %u entries, 1 to %u are possible", args->cqe, most);
		return -EINVAL;
	}
	return 0;
}

static void cq_free(struct context *c, struct uverbs_cq *cq)
{
	rxe_cq_destroy(c, &cq->rxe);
	channel_put(cq->channel);
	channel_put(cq->async);
	free(cq);
}

static int cq_create(struct ucmd *cmd, const struct cq_args *args, struct uobject **u)
{
	struct uverbs_cq *cq;
	int rc = args_check(cmd, args);

	if (rc)
		return rc;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->context = cmd->context;
	cq->user_handle = args->user_handle;
	rc = rxe_cq_create(cmd->context, args->cqe, &cq->rxe);
	if (!rc)
		rc = rnic_cq_create(cmd->dev->rnic, args->cqe, &rxe_personality, &cq->rxe, &cq->cq);
	if (!rc)
		rc = uobject_add(cmd->context, UOBJ_CQ, cq, args->user_handle, u);
	if (rc) {
		if (cq->cq)
			rnic_cq_destroy(cq->cq);
		cq_free(cmd->context, cq);
		return rc;
	}
	if (args->channel)
		cq->channel = channel_get(args->channel);
	cq->async = async_get(cmd, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	rxe_cq_attach(cmd->context, &cq->rxe, (*u)->handle);
	return 0;
}

int cq_destroy(struct context *c, struct uobject *u, uint32_t *comp, uint32_t *async)
{
	struct uverbs_cq *cq = u->object;
	int rc;

	if (!cq)
		return uobject_bury(c, u, comp, async);
	rc = rnic_cq_destroy(cq->cq);
	if (rc)
		return rc;
	*comp = cq->channel ? channel_forget(cq->channel, cq) : 0;
	*async = async_forget(cq->async, cq);
	uobject_remove(c, u);
	cq_free(c, cq);
	return 0;
}

static void cq_undo(struct ucmd *cmd, struct uobject *u)
{
	uint32_t comp, async;

	cq_destroy(cmd->context, u, &comp, &async);
}

static const struct uverbs_cq *cq_of(const struct uobject *u)
{
	return u->object;
}

static int uhw_write(struct ucmd *cmd, const struct uobject *u)
{
	struct rxe_create_cq_resp resp = {.mi = rxe_ring_mminfo(&cq_of(u)->rxe.ring)};

	return ucmd_uhw_response(cmd, &resp, sizeof(resp));
}

static int channel_from_fd(struct ucmd *cmd, int32_t fd, struct channel **ch)
{
	int rc;

	*ch = NULL;
	if (fd < 0)
		return 0;
	rc = call_channel(cmd->call, fd, ch);
	if (!rc && (channel_record_size(*ch) != sizeof(struct ib_uverbs_comp_event_desc) ||
		    !context_has_channel(cmd->uc, *ch)))
		rc = -EBADF;
	if (rc == -EBADF)
		ucmd_log(cmd, "CQ: descriptor %d is no completion channel", fd);
	return rc;
}

/* By either command: the response of the older one, of `len` bytes, is the head of the other's. */
static int create_and_answer(struct ucmd *cmd, struct cq_args *args, int32_t channel_fd, size_t len)
{
	struct ib_uverbs_ex_create_cq_resp resp = {.response_length = sizeof(resp)};
	struct uobject *u;
	int rc = channel_from_fd(cmd, channel_fd, &args->channel);

	if (!rc)
		rc = cq_create(cmd, args, &u);
	if (rc)
		return rc;
	resp.base.cq_handle = u->handle;
	resp.base.cqe = rxe_ring_entries(&cq_of(u)->rxe.ring);
	rc = ucmd_response(cmd, &resp, len);
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		cq_undo(cmd, u);
	return rc;
}

int cmd_create_cq(struct ucmd *cmd)
{
	struct ib_uverbs_create_cq req;
	struct cq_args args;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	args = (struct cq_args){req.cqe, req.comp_vector, 0, req.user_handle, NULL};
	return create_and_answer(cmd, &args, req.comp_channel,
				 sizeof(struct ib_uverbs_create_cq_resp));
}

int cmd_create_cq_ex(struct ucmd *cmd)
{
	struct ib_uverbs_ex_create_cq req;
	struct cq_args args;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	if (req.comp_mask || req.reserved)
		return -EINVAL;
	args = (struct cq_args){req.cqe, req.comp_vector, req.flags, req.user_handle, NULL};
	return create_and_answer(cmd, &args, req.comp_channel,
				 sizeof(struct ib_uverbs_ex_create_cq_resp));
}

int method_create_cq(struct ucmd *cmd)
{
	uint32_t allowed =
		IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	struct cq_args args = {.channel = cmd->attr[UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL].channel};
	struct uobject *u;
	uint32_t cqe;
	int rc = uattr_read(cmd, UVERBS_ATTR_CREATE_CQ_CQE, &args.cqe, 4);

	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &args.vector, 4);
	if (!rc)
		rc = uattr_read(cmd, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &args.user_handle, 8);
	if (!rc)
		rc = uattr_flags(cmd, UVERBS_ATTR_CREATE_CQ_FLAGS, allowed, &args.flags);
	if (!rc)
		rc = cq_create(cmd, &args, &u);
	if (rc)
		return rc;
	cqe = rxe_ring_entries(&cq_of(u)->rxe.ring);
	rc = uattr_write(cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	if (!rc)
		rc = uattr_write_handle(cmd, UVERBS_ATTR_CREATE_CQ_HANDLE, u->handle);
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		cq_undo(cmd, u);
	return rc;
}

int cmd_resize_cq(struct ucmd *cmd)
{
	uint32_t most = rnic_device_limits(cmd->dev->rnic)->max_cqe;
	struct ib_uverbs_resize_cq req;
	struct ib_uverbs_resize_cq_resp resp = {0};
	struct uverbs_cq *cq;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_CQ, req.cq_handle, &u);
	if (rc)
		return rc;
	cq = u->object;
	if (cmd->uhw.outlen < sizeof(struct rxe_resize_cq_resp) || !req.cqe || req.cqe > most) {
		ucmd_log(cmd, "CQ %u: it cannot have %u entries, %u at most", u->handle, req.cqe,
			 most);
		return -EINVAL;
	}
	/* First only to see that there is room: the old ring cannot be had back. */
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (!rc)
		rc = uhw_write(cmd, u);
	if (rc)
		return rc;
	rc = rxe_cq_resize(cmd->context, &cq->rxe, req.cqe);
	if (rc) {
		ucmd_log(cmd, "CQ %u: it has more than %u completions", u->handle, req.cqe);
		return rc;
	}
	resp.cqe = rxe_ring_entries(&cq->rxe.ring);
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	return rc ? rc : uhw_write(cmd, u);
}

int cmd_req_notify_cq(struct ucmd *cmd)
{
	struct ib_uverbs_req_notify_cq req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_CQ, req.cq_handle, &u);
	if (!rc)
		rxe_cq_arm(&((struct uverbs_cq *)u->object)->rxe, req.solicited_only);
	return rc;
}

int cmd_destroy_cq(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_cq req;
	struct ib_uverbs_destroy_cq_resp resp;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_CQ, req.cq_handle, &u);
	if (!rc)
		rc = cq_destroy(cmd->context, u, &resp.comp_events_reported,
				&resp.async_events_reported);
	return rc ? rc : ucmd_response(cmd, &resp, sizeof(resp));
}

int method_destroy_cq(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_cq_resp resp;
	int rc = cq_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_CQ_HANDLE].object,
			    &resp.comp_events_reported, &resp.async_events_reported);

	return rc ? rc : uattr_write(cmd, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
}
