/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queries of the device, its port and its GIDs: what Linux's rxe shows (see ibv_devinfo -v). */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/uverbs.h"
#include "verbs/kernel/uverbs_obj.h"

static_assert(sizeof(struct ib_uverbs_query_port_resp) == 40, "QUERY_PORT");
static_assert(sizeof(struct ib_uverbs_query_port_resp_ex) == 48, "QUERY_PORT");
static_assert(sizeof(struct ib_uverbs_gid_entry) == 32, "GID entry");

#define PORT 1

enum { LINK_LAYER_ETHERNET = 2, WIDTH_1X = 1, SPEED_SDR = 1, ATOMIC_HCA = 1 };
enum { PORT_DOWN = 1, PORT_ACTIVE = 4, PHYS_POLLING = 2, PHYS_DISABLED = 3, PHYS_LINK_UP = 5 };

/* As enum ib_odp_general_cap_bits and enum ib_odp_transport_cap_bits of the kernel number them. */
enum { ODP_EXPLICIT = 1 << 0, ODP_IMPLICIT = 1 << 1 };
enum {
	ODP_SEND = 1 << 0,
	ODP_RECV = 1 << 1,
	ODP_WRITE = 1 << 2,
	ODP_READ = 1 << 3,
	ODP_ATOMIC = 1 << 4,
	ODP_SRQ_RECV = 1 << 5,
};

/* Bits that the uapi header does not name any more are written as numbers. */
#define DEVICE_CAPS 0x01223c76u

uint64_t uverbs_device_caps(const struct kdevice *dev)
{
	(void)dev;
	return DEVICE_CAPS;
}

static void device_fill(const struct kdevice *dev, struct ib_uverbs_query_device_resp *r)
{
	const struct rnic_limits *l = rnic_device_limits(dev->rnic);

	memset(r, 0, sizeof(*r));
	memcpy(&r->node_guid, dev->guid, sizeof(r->node_guid));
	memcpy(&r->sys_image_guid, dev->guid, sizeof(r->sys_image_guid));
	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = 0xfffff000;
	r->vendor_id = 0xffffff;
	r->max_qp = l->max_qp;
	r->max_qp_wr = l->max_qp_wr;
	r->device_cap_flags = DEVICE_CAPS;
	r->max_sge = l->max_sge;
	r->max_sge_rd = l->max_sge;
	r->max_cq = l->max_cq;
	r->max_cqe = l->max_cqe;
	r->max_mr = l->max_mr;
	r->max_pd = l->max_pd;
	r->max_qp_rd_atom = l->max_qp_rd_atom;
	r->max_res_rd_atom = 258048;
	r->max_qp_init_rd_atom = l->max_qp_rd_atom;
	r->atomic_cap = ATOMIC_HCA;
	r->max_mw = l->max_mw;
	r->max_mcast_grp = l->max_mcast_grp;
	r->max_mcast_qp_attach = l->max_mcast_qp_attach;
	r->max_total_mcast_qp_attach = l->max_mcast_grp * l->max_mcast_qp_attach;
	r->max_ah = l->max_ah;
	r->max_srq = l->max_srq;
	r->max_srq_wr = l->max_srq_wr;
	r->max_srq_sge = l->max_srq_sge;
	r->max_pkeys = 64;
	r->local_ca_ack_delay = 15;
	r->phys_port_cnt = PORT;
}

int cmd_query_device(struct ucmd *cmd)
{
	struct ib_uverbs_query_device_resp resp;

	device_fill(cmd->dev, &resp);
	return ucmd_response(cmd, &resp, sizeof(resp));
}

/* Nothing is ever pinned: all that can be done to memory can be done on demand. */
static void odp_fill(struct ib_uverbs_odp_caps *caps)
{
	caps->general_caps = ODP_EXPLICIT | ODP_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps =
		ODP_SEND | ODP_RECV | ODP_WRITE | ODP_READ | ODP_ATOMIC | ODP_SRQ_RECV;
	caps->per_transport_caps.uc_odp_caps = ODP_SEND | ODP_RECV | ODP_WRITE | ODP_SRQ_RECV;
	caps->per_transport_caps.ud_odp_caps = ODP_SEND | ODP_RECV | ODP_SRQ_RECV;
}

int cmd_query_device_ex(struct ucmd *cmd)
{
	struct ib_uverbs_ex_query_device req;
	struct ib_uverbs_ex_query_device_resp resp = {0};
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (rc)
		return rc;
	if (req.comp_mask || req.reserved || cmd->uhw.inlen || cmd->uhw.outlen) {
		ucmd_log(cmd, "QUERY_DEVICE with bits or provider data that are not known");
		return -EINVAL;
	}
	device_fill(cmd->dev, &resp.base);
	resp.response_length =
		(uint32_t)(cmd->core.outlen < sizeof(resp) ? cmd->core.outlen : sizeof(resp));
	resp.device_cap_flags_ex = DEVICE_CAPS;
	odp_fill(&resp.odp_caps);
	return ucmd_response(cmd, &resp, sizeof(resp));
}

static int port_fill(struct ucmd *cmd, uint64_t port, struct ib_uverbs_query_port_resp *r)
{
	struct rnic_device *rnic = cmd->dev->rnic;
	bool active = rnic_port_active(rnic);

	memset(r, 0, sizeof(*r));
	if (port != PORT) {
		ucmd_log(cmd, "there is no port %llu", (unsigned long long)port);
		return -EINVAL;
	}
	r->port_cap_flags = IB_UVERBS_PCF_CM_SUP;
	r->max_msg_sz = rnic_device_limits(rnic)->max_msg_size;
	r->gid_tbl_len = RNIC_GID_TABLE_LEN;
	r->pkey_tbl_len = 1;
	r->state = active ? PORT_ACTIVE : PORT_DOWN;
	r->phys_state = active ? PHYS_LINK_UP : cmd->dev->netdev_up ? PHYS_POLLING : PHYS_DISABLED;
	r->max_mtu = RNIC_MTU_4096;
	r->active_mtu = (uint8_t)rnic_port_mtu(rnic);
	r->max_vl_num = 1;
	r->active_width = WIDTH_1X;
	r->active_speed = SPEED_SDR;
	r->link_layer = LINK_LAYER_ETHERNET;
	r->flags = IB_UVERBS_QPF_GRH_REQUIRED;
	return 0;
}

int cmd_query_port(struct ucmd *cmd)
{
	struct ib_uverbs_query_port req;
	struct ib_uverbs_query_port_resp resp;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = port_fill(cmd, req.port_num, &resp);
	return rc ? rc : ucmd_response(cmd, &resp, sizeof(resp));
}

int method_query_port(struct ucmd *cmd)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};
	uint64_t port;
	int rc = uattr_const(cmd, UVERBS_ATTR_QUERY_PORT_PORT_NUM, UINT8_MAX, &port);

	if (!rc && !cmd->uc)
		rc = -EINVAL;
	if (!rc)
		rc = port_fill(cmd, port, &resp.legacy_resp);
	return rc ? rc : uattr_write_struct(cmd, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
}

static bool gid_fill(const struct kdevice *dev, uint16_t index, struct ib_uverbs_gid_entry *e)
{
	const uint8_t *gid = rnic_gid_get(dev->rnic, index);

	memset(e, 0, sizeof(*e));
	if (!gid)
		return false;
	memcpy(e->gid, gid, sizeof(e->gid));
	e->gid_index = index;
	e->port_num = PORT;
	e->gid_type = IB_UVERBS_GID_TYPE_ROCE_V2;
	e->netdev_ifindex = rnic_gid_ifindex(dev->rnic, index);
	return true;
}

int method_query_gid_entry(struct ucmd *cmd)
{
	struct ib_uverbs_gid_entry entry;
	uint64_t port, index;
	uint32_t flags;
	int rc = uattr_flags(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0, &flags);

	if (!rc)
		rc = uattr_const(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UINT32_MAX, &port);
	if (!rc)
		rc = uattr_const(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, UINT32_MAX, &index);
	if (rc)
		return rc;
	if (!cmd->uc || port != PORT || index >= RNIC_GID_TABLE_LEN) {
		ucmd_log(cmd, "there is no GID %llu of port %llu", (unsigned long long)index,
			 (unsigned long long)port);
		return -EINVAL;
	}
	if (!gid_fill(cmd->dev, (uint16_t)index, &entry))
		return -ENODATA;
	return uattr_write_struct(cmd, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry,
				  sizeof(entry));
}

/* Entries of `size` bytes each, which may be shorter or longer than ours. */
static int gids_collect(struct ucmd *cmd, uint8_t *buf, uint64_t max, uint64_t size, uint64_t *n)
{
	struct ib_uverbs_gid_entry entry;

	*n = 0;
	for (uint16_t i = 0; i < RNIC_GID_TABLE_LEN; i++) {
		if (!gid_fill(cmd->dev, i, &entry))
			continue;
		if (*n == max) {
			ucmd_log(cmd, "the GID table has more than %llu entries",
				 (unsigned long long)max);
			return -EINVAL;
		}
		memcpy(buf + *n * size, &entry, size < sizeof(entry) ? size : sizeof(entry));
		++*n;
	}
	return 0;
}

int method_query_gid_table(struct ucmd *cmd)
{
	const struct uattr *out = &cmd->attr[UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES];
	uint64_t size, n;
	uint32_t flags;
	uint8_t *buf;
	int rc = uattr_flags(cmd, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0, &flags);

	if (!rc)
		rc = uattr_const(cmd, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, UINT64_MAX, &size);
	if (rc)
		return rc;
	if (!cmd->uc || !size || !out->len || out->len % size) {
		ucmd_log(cmd, "GID table: %u bytes do not hold entries of %llu", out->len,
			 (unsigned long long)size);
		return -EINVAL;
	}
	buf = calloc(1, out->len);
	if (!buf)
		return -ENOMEM;
	rc = gids_collect(cmd, buf, out->len / size, size, &n);
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, buf, n * size);
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n, sizeof(n));
	free(buf);
	return rc;
}

static int kind_of_object(uint64_t object, enum uobject_kind *kind)
{
	static const enum uobject_kind kinds[] = {
		[UVERBS_OBJECT_PD] = UOBJ_PD, [UVERBS_OBJECT_CQ] = UOBJ_CQ,
		[UVERBS_OBJECT_QP] = UOBJ_QP, [UVERBS_OBJECT_SRQ] = UOBJ_SRQ,
		[UVERBS_OBJECT_AH] = UOBJ_AH, [UVERBS_OBJECT_MR] = UOBJ_MR,
		[UVERBS_OBJECT_MW] = UOBJ_MW,
	};

	if (object >= ARRAY_SIZE(kinds) || !kinds[object])
		return -EINVAL;
	*kind = kinds[object];
	return 0;
}

int method_info_handles(struct ucmd *cmd)
{
	const struct uattr *out = &cmd->attr[UVERBS_ATTR_INFO_HANDLES_LIST];
	uint64_t object = cmd->attr[UVERBS_ATTR_INFO_OBJECT_ID].data;
	uint32_t room = out->len / 4, total = 0, *handles;
	enum uobject_kind kind;
	struct uobject *u;
	int rc;

	if (!out->present || !out->len || out->len % 4 || kind_of_object(object, &kind))
		return -EINVAL;
	handles = calloc(room, sizeof(*handles));
	if (!handles)
		return -ENOMEM;
	for (u = uobject_next(cmd->context, kind, 0); u && total < room;
	     u = uobject_next(cmd->context, kind, u->handle + 1))
		handles[total++] = u->handle;
	rc = uattr_write(cmd, UVERBS_ATTR_INFO_HANDLES_LIST, handles, total * sizeof(*handles));
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
	free(handles);
	return rc == -ENOENT ? 0 : rc;
}
