/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Recognises POST_SEND and REQ_NOTIFY_CQ; in every other form they are the daemon's to answer. */
#include "config.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <string.h>

#include "verbs/abi/doorbell.h"
#include "verbs/preload/client.h"
#include "verbs/preload/doorbells.h"
#include "verbs/preload/fdtab.h"

struct post_send {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_post_send cmd;
};

struct req_notify {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_req_notify_cq cmd;
};

_Static_assert(sizeof(struct post_send) == 32, "kernel ABI");
_Static_assert(sizeof(struct req_notify) == 16, "kernel ABI");

/* Is the file known to this session, and the handle one with a doorbell that somebody looks at? */
static struct rnic_doorbell *doorbell_of(const struct file *f, uint32_t handle)
{
	uint32_t gen = atomic_load_explicit(&f->gen, memory_order_relaxed);

	if (handle >= RNIC_DB_HANDLES || !gen || gen != client_generation() || client_daemon_died())
		return NULL;
	return f->db;
}

static bool kick(const struct file *f, const struct post_send *p)
{
	struct rnic_doorbell *db = doorbell_of(f, p->cmd.qp_handle);

	if (!db || p->hdr.command != IB_USER_VERBS_CMD_POST_SEND || p->hdr.in_words != 8 ||
	    p->cmd.wr_count || p->cmd.sge_count || doorbell_is_slow(db, p->cmd.qp_handle))
		return false;
	doorbell_kick(db, p->cmd.qp_handle);
	if (doorbell_is_gone(db))
		return false;
	client_wake();
	return true;
}

static bool arm(const struct file *f, const struct ib_uverbs_req_notify_cq *cmd)
{
	struct rnic_doorbell *db = doorbell_of(f, cmd->cq_handle);
	uint32_t how = cmd->solicited_only ? RNIC_ARM_SOLICITED : RNIC_ARM_ANY;

	if (!db)
		return false;
	atomic_fetch_or_explicit(&db->arm[cmd->cq_handle], how, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	return !doorbell_is_gone(db);
}

bool doorbell_write(const struct file *f, const void *buf, size_t len)
{
	const struct req_notify *n = buf;

	if ((uintptr_t)buf < 4096)
		return false; /* the daemon says EFAULT */
	if (len == sizeof(struct post_send))
		return kick(f, buf);
	return len == sizeof(*n) && n->hdr.command == IB_USER_VERBS_CMD_REQ_NOTIFY_CQ &&
	       n->hdr.in_words == 4 && arm(f, &n->cmd);
}

bool doorbell_ioctl(const struct file *f, const void *arg)
{
	const struct ib_uverbs_ioctl_hdr *hdr = arg;
	const struct ib_uverbs_attr *core = NULL, *number = NULL;
	struct ib_uverbs_req_notify_cq cmd;

	if ((uintptr_t)arg < 4096 || hdr->object_id != UVERBS_OBJECT_DEVICE ||
	    hdr->method_id != UVERBS_METHOD_INVOKE_WRITE || hdr->num_attrs != 2 ||
	    hdr->length != sizeof(*hdr) + 2 * sizeof(hdr->attrs[0]) || hdr->reserved1 ||
	    hdr->reserved2)
		return false;
	for (int i = 0; i < 2; i++) {
		if (hdr->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD)
			number = &hdr->attrs[i];
		else if (hdr->attrs[i].attr_id == UVERBS_ATTR_CORE_IN)
			core = &hdr->attrs[i];
	}
	if (!core || !number || number->data != IB_USER_VERBS_CMD_REQ_NOTIFY_CQ ||
	    core->len != sizeof(cmd))
		return false;
	memcpy(&cmd, &core->data, sizeof(cmd));
	return arm(f, &cmd);
}
