/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A context's beginning and end, its event descriptors, and the events that go into them. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "rnic/host.h"
#include "rnic/objects.h"
#include "rnic/qp.h"
#include "verbs/abi/doorbell.h"
#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_obj.h"

static_assert(sizeof(struct ib_uverbs_comp_event_desc) == 8, "completion event");
static_assert(sizeof(struct ib_uverbs_async_event_desc) == 16, "async event");

#define ASYNC_SIZE sizeof(struct ib_uverbs_async_event_desc)

static int context_begin(struct ucmd *cmd)
{
	if (cmd->uc) {
		ucmd_log(cmd, "GET_CONTEXT for the second time");
		return -EINVAL;
	}
	cmd->uc = calloc(1, sizeof(*cmd->uc));
	if (!cmd->uc)
		return -ENOMEM;
	*context_uverbs(cmd->context) = cmd->uc;
	for (size_t i = 0; i < ARRAY_SIZE(context_doorbell(cmd->context)->slow); i++)
		atomic_store(&context_doorbell(cmd->context)->slow[i], UINT64_MAX);
	return 0;
}

static void context_undo(struct ucmd *cmd)
{
	uverbs_cleanup(cmd->context);
	cmd->uc = NULL;
}

/* Channels that no process has any more are let go when the next is made. */
static void channels_prune(struct uverbs_context *uc)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < uc->n_channels; i++) {
		if (channel_client_gone(uc->channels[i]) && uc->channels[i] != uc->async)
			channel_put(uc->channels[i]);
		else
			uc->channels[kept++] = uc->channels[i];
	}
	uc->n_channels = kept;
}

static int channels_reserve(struct uverbs_context *uc)
{
	uint32_t room = uc->room ? uc->room * 2 : 8;
	struct channel **p;

	channels_prune(uc);
	if (uc->n_channels < uc->room)
		return 0;
	p = realloc(uc->channels, room * sizeof(*p));
	if (!p)
		return -ENOMEM;
	uc->channels = p;
	uc->room = room;
	return 0;
}

/* A channel whose descriptor's number goes to `where`, `width` bytes wide. */
static int channel_make(struct ucmd *cmd, uint32_t record_size, enum rnic_fd_kind kind,
			uint64_t where, uint32_t width, struct channel **out)
{
	const int64_t none = -1;
	struct rnic_ctl_fd info = {.where = where, .width = width, .kind = kind};
	struct uverbs_context *uc = cmd->uc;
	struct channel *ch;
	int fd, rc = channels_reserve(uc);

	/* So that a bad address is found now, and not by the program's own store. */
	if (!rc)
		rc = call_write(cmd->call, where, &none, width);
	if (rc)
		return rc;
	rc = channel_create(cmd->context, record_size, &ch, &fd);
	if (rc)
		return rc;
	info.id = channel_id(ch);
	rc = call_pass_fd(cmd->call, fd, &info);
	if (rc) {
		channel_put(ch);
		return rc;
	}
	uc->channels[uc->n_channels++] = ch;
	*out = ch;
	return 0;
}

static int async_make(struct ucmd *cmd, uint64_t where, uint32_t width)
{
	struct channel *ch;
	int rc = channel_make(cmd, ASYNC_SIZE, RNIC_FD_ASYNC, where, width, &ch);

	if (!rc && !cmd->uc->async)
		cmd->uc->async = ch;
	return rc;
}

int cmd_get_context(struct ucmd *cmd)
{
	struct ib_uverbs_get_context_resp resp = {.num_comp_vectors = cmd->dev->num_comp_vectors};
	int rc = context_begin(cmd);

	if (rc)
		return rc;
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (!rc)
		rc = async_make(
			cmd, cmd->core.out + offsetof(struct ib_uverbs_get_context_resp, async_fd),
			4);
	if (rc)
		context_undo(cmd);
	return rc;
}

static_assert((int)UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS ==
		      (int)UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
	      "attribute");
static_assert((int)UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT ==
		      (int)UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
	      "attribute");

static int context_tell(struct ucmd *cmd)
{
	uint32_t vectors = cmd->dev->num_comp_vectors;
	uint64_t support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	int rc = uattr_write(cmd, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
			     sizeof(vectors));

	if (!rc || rc == -ENOENT)
		rc = uattr_write(cmd, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support,
				 sizeof(support));
	return rc == -ENOENT ? 0 : rc;
}

int method_get_context(struct ucmd *cmd)
{
	int rc = context_begin(cmd);

	if (rc)
		return rc;
	rc = context_tell(cmd);
	if (rc)
		context_undo(cmd);
	return rc;
}

/* For a process to which the descriptor of the device has come (ibv_import_device). */
int method_query_context(struct ucmd *cmd)
{
	return cmd->uc ? context_tell(cmd) : -EINVAL;
}

int method_async_event_alloc(struct ucmd *cmd)
{
	return async_make(cmd, uattr_data_addr(&cmd->attr[UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE]),
			  8);
}

int cmd_create_comp_channel(struct ucmd *cmd)
{
	struct channel *ch;

	return channel_make(cmd, sizeof(struct ib_uverbs_comp_event_desc), RNIC_FD_CHANNEL,
			    cmd->core.out, 4, &ch);
}

void uverbs_cq_notify(struct rnic_cq *rnic)
{
	struct uverbs_cq *cq = container_of(rnic_cq_user(rnic), struct uverbs_cq, rxe);
	struct ib_uverbs_comp_event_desc record = {.cq_handle = cq->user_handle};

	if (cq->channel)
		channel_post(cq->channel, &record, cq);
}

bool context_has_channel(const struct uverbs_context *uc, const struct channel *ch)
{
	for (uint32_t i = 0; i < uc->n_channels; i++)
		if (uc->channels[i] == ch)
			return true;
	return false;
}

struct channel *async_get(struct ucmd *cmd, uint32_t attr)
{
	const struct uattr *a = &cmd->attr[attr];
	struct channel *ch = a->present ? a->channel : cmd->uc->async;

	return ch ? channel_get(ch) : NULL;
}

static void async_post(struct channel *ch, enum rnic_event_type type, uint64_t element,
		       const void *owner)
{
	struct ib_uverbs_async_event_desc record = {.element = element, .event_type = type};

	if (ch)
		channel_post(ch, &record, owner);
}

uint32_t async_forget(struct channel *async, const void *owner)
{
	return async ? channel_forget(async, owner) : 0;
}

void uverbs_async_event(const struct rnic_async *event)
{
	if (event->qp) {
		struct uverbs_qp *qp = container_of(rnic_qp_user(event->qp), struct uverbs_qp, rxe);

		async_post(qp->async, event->type, qp->user_handle, qp);
	} else if (event->cq) {
		struct uverbs_cq *cq = container_of(rnic_cq_user(event->cq), struct uverbs_cq, rxe);

		async_post(cq->async, event->type, cq->user_handle, cq);
	} else if (event->srq) {
		struct uverbs_srq *srq =
			container_of(rnic_srq_user(event->srq), struct uverbs_srq, rq);

		async_post(srq->async, event->type, srq->user_handle, srq);
	}
}

/* What concerns no object is told on every descriptor. */
void uverbs_port_event(struct context *c, const struct rnic_async *event)
{
	const struct uverbs_context *uc = *context_uverbs(c);

	for (uint32_t i = 0; uc && i < uc->n_channels; i++)
		if (channel_record_size(uc->channels[i]) == ASYNC_SIZE)
			async_post(uc->channels[i], event->type, event->port, NULL);
}

/* Users before what they use; nothing is busy then. */
static void objects_destroy(struct context *c, enum uobject_kind kind)
{
	struct uobject *u;
	uint32_t handle = 0;

	while ((u = uobject_next(c, kind, handle))) {
		uint32_t comp = 0, async = 0;
		bool lived = u->object;

		handle = u->handle + 1;
		switch (kind) {
		case UOBJ_QP:
			qp_destroy(c, u, &async);
			break;
		case UOBJ_SRQ:
			srq_destroy(c, u, &async);
			break;
		case UOBJ_CQ:
			cq_destroy(c, u, &comp, &async);
			break;
		case UOBJ_AH:
			ah_destroy(c, u);
			break;
		case UOBJ_MR:
			mr_destroy(c, u);
			break;
		case UOBJ_PD:
			pd_destroy(c, u);
			break;
		case UOBJ_MW:
			mw_destroy(c, u);
			break;
		case UOBJ_CHANNEL:
			break;
		}
		u = lived ? uobject_get(c, kind, handle - 1) : NULL;
		if (u) {
			u->comp = comp;
			u->async = async;
		}
	}
}

static void all_destroy(struct context *c)
{
	static const enum uobject_kind order[] = {UOBJ_QP, UOBJ_SRQ, UOBJ_CQ, UOBJ_AH,
						  UOBJ_MW, UOBJ_MR,  UOBJ_PD};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		objects_destroy(c, order[i]);
}

void uverbs_disassociate(struct context *c)
{
	static const struct rnic_async fatal = {.type = RNIC_EVENT_DEVICE_FATAL};
	struct uverbs_context *uc = *context_uverbs(c);

	if (!uc)
		return;
	uobjects_entomb(c);
	all_destroy(c);
	uverbs_port_event(c, &fatal);
	for (uint32_t i = 0; i < uc->n_channels; i++)
		channel_finish(uc->channels[i]);
}

void uverbs_cleanup(struct context *c)
{
	struct uverbs_context *uc = *context_uverbs(c);

	if (!uc)
		return;
	all_destroy(c);
	for (uint32_t i = 0; i < uc->n_channels; i++)
		channel_put(uc->channels[i]);
	free(uc->channels);
	free(uc);
	*context_uverbs(c) = NULL;
}
