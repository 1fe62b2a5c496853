/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Attach to and detach from multicast groups. The MLID is InfiniBand's and means nothing here. */
#include "config.h"

#include <rdma/ib_user_verbs.h>

#include "rnic/mcast.h"
#include "verbs/kernel/uverbs_obj.h"

int cmd_attach_mcast(struct ucmd *cmd)
{
	struct ib_uverbs_attach_mcast req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_QP, req.qp_handle, &u);
	return rc ? rc : rnic_mcast_attach(((struct uverbs_qp *)u->object)->qp, req.gid);
}

int cmd_detach_mcast(struct ucmd *cmd)
{
	struct ib_uverbs_detach_mcast req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_QP, req.qp_handle, &u);
	return rc ? rc : rnic_mcast_detach(((struct uverbs_qp *)u->object)->qp, req.gid);
}
