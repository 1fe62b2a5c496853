/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Address handles. The provider gets an ah_num that is never 0: it then puts that number into
 * WQEs, and does not resolve addresses by itself.
 */
#include "config.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <string.h>

#include "rnic/objects.h"
#include "verbs/kernel/uverbs_av.h"
#include "verbs/kernel/uverbs_obj.h"

void av_from_ah_attr(const struct ib_uverbs_ah_attr *a, struct rnic_av *av)
{
	memset(av, 0, sizeof(*av));
	memcpy(av->dgid, a->grh.dgid, sizeof(av->dgid));
	av->sgid_index = a->grh.sgid_index;
	av->traffic_class = a->grh.traffic_class;
	av->hop_limit = a->grh.hop_limit;
	av->flow_label = a->grh.flow_label & 0xfffff;
	av->sl = a->sl;
	av->static_rate = a->static_rate;
	av->port_num = a->port_num;
	av->dlid = a->dlid;
	av->src_path_bits = a->src_path_bits;
	av->grh = a->is_global;
}

void av_from_qp_dest(const struct ib_uverbs_qp_dest *d, struct rnic_av *av)
{
	memset(av, 0, sizeof(*av));
	memcpy(av->dgid, d->dgid, sizeof(av->dgid));
	av->sgid_index = d->sgid_index;
	av->traffic_class = d->traffic_class;
	av->hop_limit = d->hop_limit;
	av->flow_label = d->flow_label & 0xfffff;
	av->sl = d->sl;
	av->static_rate = d->static_rate;
	av->port_num = d->port_num;
	av->dlid = d->dlid;
	av->src_path_bits = d->src_path_bits;
	av->grh = d->is_global;
}

void av_to_qp_dest(const struct rnic_av *av, struct ib_uverbs_qp_dest *d)
{
	memset(d, 0, sizeof(*d));
	memcpy(d->dgid, av->dgid, sizeof(d->dgid));
	d->flow_label = av->flow_label;
	d->dlid = av->dlid;
	d->sgid_index = (uint8_t)av->sgid_index;
	d->hop_limit = av->hop_limit;
	d->traffic_class = av->traffic_class;
	d->sl = av->sl;
	d->src_path_bits = av->src_path_bits;
	d->static_rate = av->static_rate;
	d->is_global = av->grh;
	d->port_num = av->port_num;
}

int ah_destroy(struct context *c, struct uobject *u)
{
	int rc;

	if (!u->object)
		return uobject_bury(c, u, NULL, NULL);
	rc = rnic_ah_destroy(u->object);
	if (!rc)
		uobject_remove(c, u);
	return rc;
}

static int ah_create(struct ucmd *cmd, const struct ib_uverbs_create_ah *req, struct uobject **u)
{
	struct uobject *pd;
	struct rnic_ah *ah;
	struct rnic_av av;
	int rc = ucmd_object(cmd, UOBJ_PD, req->pd_handle, &pd);

	if (rc)
		return rc;
	av_from_ah_attr(&req->attr, &av);
	rc = rnic_ah_create(pd->object, &av, &ah);
	if (rc)
		return rc;
	rc = uobject_add(cmd->context, UOBJ_AH, ah, req->user_handle, u);
	if (rc)
		rnic_ah_destroy(ah);
	return rc;
}

int cmd_create_ah(struct ucmd *cmd)
{
	struct ib_uverbs_create_ah req;
	struct ib_uverbs_create_ah_resp resp;
	struct rxe_create_ah_resp uhw = {0};
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ah_create(cmd, &req, &u);
	if (rc)
		return rc;
	resp.ah_handle = u->handle;
	uhw.ah_num = u->handle + 1;
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (!rc && cmd->uhw.outlen >= sizeof(uhw))
		rc = ucmd_uhw_response(cmd, &uhw, sizeof(uhw));
	if (rc)
		ah_destroy(cmd->context, u);
	return rc;
}

int cmd_destroy_ah(struct ucmd *cmd)
{
	struct ib_uverbs_destroy_ah req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_AH, req.ah_handle, &u);
	return rc ? rc : ah_destroy(cmd->context, u);
}

int method_destroy_ah(struct ucmd *cmd)
{
	return ah_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_AH_HANDLE].object);
}
