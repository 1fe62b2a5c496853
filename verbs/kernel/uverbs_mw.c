/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory windows as commands see them; they are bound by work requests. */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "rnic/objects.h"
#include "verbs/kernel/uverbs_obj.h"

int mw_destroy(struct context *c, struct uobject *u)
{
	int rc;

	if (!u->object)
		return uobject_bury(c, u, NULL, NULL);
	rc = rnic_mw_destroy(u->object);
	if (!rc)
		uobject_remove(c, u);
	return rc;
}

int cmd_alloc_mw(struct ucmd *cmd)
{
	struct ib_uverbs_alloc_mw req;
	struct ib_uverbs_alloc_mw_resp resp;
	struct uobject *pd, *u;
	struct rnic_mw *mw;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_object(cmd, UOBJ_PD, req.pd_handle, &pd);
	if (!rc)
		rc = rnic_mw_create(pd->object, (enum rnic_mw_type)req.mw_type, &mw);
	if (rc)
		return rc;
	rc = uobject_add(cmd->context, UOBJ_MW, mw, 0, &u);
	if (rc) {
		rnic_mw_destroy(mw);
		return rc;
	}
	resp = (struct ib_uverbs_alloc_mw_resp){.mw_handle = u->handle, .rkey = rnic_mw_key(mw)};
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (rc)
		mw_destroy(cmd->context, u);
	return rc;
}

int cmd_dealloc_mw(struct ucmd *cmd)
{
	struct ib_uverbs_dealloc_mw req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_MW, req.mw_handle, &u);
	return rc ? rc : mw_destroy(cmd->context, u);
}

int method_destroy_mw(struct ucmd *cmd)
{
	return mw_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_MW_HANDLE].object);
}
