/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a program may ask rdma_cm about an ID: addresses, path, GIDs. */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <rdma/ib_user_sa.h>
#include <string.h>

#include "verbs/kernel/ucma_priv.h"

#define PKEY_DEFAULT 0xffff
#define PACKET_LIFE_TIME 18 /* 1.07 s, as Linux gives RoCE */
#define RATE_10_GBPS 3
#define SELECT_EQUAL 2

static const char *space_name(uint16_t ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IPOIB:
		return "IPOIB";
	case RDMA_PS_IB:
		return "IB";
	default:
		return "?";
	}
}

bool ucma_info_next(struct kernel *k, uint32_t *cursor, struct ucma_info *info)
{
	static const char *const states[] = {
		[CMA_IDLE] = "IDLE",
		[CMA_BOUND] = "BOUND",
		[CMA_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[CMA_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[CMA_CONNECT] = "CONNECT",
		[CMA_DISCONNECT] = "DISCONNECT",
		[CMA_LISTEN] = "LISTEN",
		[CMA_REMOVED] = "REMOVED",
	};
	const struct cma_id *id;

	++*cursor;
	id = table_next(&k->ucma->ids, cursor);
	if (!id)
		return false;
	*info = (struct ucma_info){
		.space = space_name(id->ps),
		.state = states[id->state],
		.cm = id->cm ? rnic_cm_state_name(rnic_cm_state(id->cm)) : "",
		.device = id->dev ? id->dev->name : "",
		.qpn = id->qp_num,
		.remote_qpn = id->remote_qpn,
	};
	if (id->src.sa.sa_family)
		cma_addr_text(&id->src, info->src, sizeof(info->src));
	if (id->dst.sa.sa_family)
		cma_addr_text(&id->dst, info->dst, sizeof(info->dst));
	return true;
}

bool ucma_entry_next(struct kernel *k, uint32_t *cursor, struct ucma_entry *entry)
{
	/* enum rdma_cm_state */
	static const uint8_t states[] = {
		[CMA_IDLE] = 0,		  [CMA_BOUND] = 7,   [CMA_ADDR_RESOLVED] = 2,
		[CMA_ROUTE_RESOLVED] = 4, [CMA_CONNECT] = 5, [CMA_DISCONNECT] = 6,
		[CMA_LISTEN] = 8,	  [CMA_REMOVED] = 9,
	};
	const struct cma_id *id;

	++*cursor;
	id = table_next(&k->ucma->ids, cursor);
	if (!id)
		return false;
	*entry = (struct ucma_entry){
		.number = id->number,
		.pid = id->file->pid,
		.ps = id->ps,
		.qpn = id->qp_num,
		.state = states[id->state],
		.qp_type = id->qp_type,
		.listens = id->state == CMA_LISTEN,
		.dev = id->dev,
		.src = id->src.any,
		.dst = id->dst.any,
	};
	return true;
}

/* As the public header of librdmacm has it. */
struct sockaddr_ib {
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};

/* The SA's path record (IBA 15.2.5.16), which librdmacm keeps as it is. */
struct path_record {
	uint64_t service_id;
	uint8_t dgid[16], sgid[16];
	uint16_t dlid, slid;
	uint32_t flow_hop;
	uint8_t traffic_class, reversible_numb_path;
	uint16_t pkey, qos_sl;
	uint8_t mtu, rate, life_time, preference;
	uint8_t reserved[6];
	uint8_t pad[2];
};

static_assert(sizeof(struct sockaddr_ib) == 48, "sockaddr_ib");
static_assert(offsetof(struct path_record, reserved) + 6 <=
		      sizeof(((struct ib_path_rec_data *)0)->path_rec),
	      "path record");

static bool routed(const struct cma_id *id)
{
	return id->dev && id->state >= CMA_ROUTE_RESOLVED && id->state != CMA_LISTEN;
}

static uint32_t mtu_of(const struct cma_id *id)
{
	return id->path_mtu ? id->path_mtu : (uint32_t)rnic_port_mtu(id->dev->rnic);
}

void cma_query_route(const struct cma_id *id, struct rdma_ucm_query_route_resp *resp)
{
	struct ib_user_path_rec *r = &resp->ib_route[0];

	memset(resp, 0, sizeof(*resp));
	memcpy(&resp->src_addr, &id->src, sizeof(resp->src_addr));
	memcpy(&resp->dst_addr, &id->dst, sizeof(resp->dst_addr));
	if (!id->dev)
		return;
	memcpy(&resp->node_guid, id->dev->guid, sizeof(resp->node_guid));
	resp->ibdev_index = id->dev->number;
	resp->port_num = 1;
	resp->num_paths = routed(id);
	memcpy(r->dgid, id->av.dgid, 16);
	memcpy(r->sgid, id->av.sgid, 16);
	r->pkey = htons(PKEY_DEFAULT);
	if (!resp->num_paths)
		return;
	r->dlid = r->slid = 0;
	r->flow_label = htonl(id->av.flow_label);
	r->hop_limit = id->av.hop_limit;
	r->traffic_class = id->av.traffic_class;
	r->reversible = 1;
	r->mtu = mtu_of(id);
	r->mtu_selector = r->rate_selector = r->packet_life_time_selector = SELECT_EQUAL;
	r->rate = RATE_10_GBPS;
	r->packet_life_time = PACKET_LIFE_TIME;
}

static void addr_head(const struct cma_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
	if (!id->dev)
		return;
	memcpy(&resp->node_guid, id->dev->guid, sizeof(resp->node_guid));
	resp->ibdev_index = id->dev->number;
	resp->port_num = 1;
	resp->pkey = htons(PKEY_DEFAULT);
}

static uint16_t addr_copy(struct __kernel_sockaddr_storage *to, const union cma_addr *from)
{
	if (!from->sa.sa_family)
		return 0;
	memcpy(to, from, sizeof(*from));
	return (uint16_t)cma_addr_len(from);
}

void cma_query_addr(const struct cma_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	addr_head(id, resp);
	resp->src_size = addr_copy(&resp->src_addr, &id->src);
	resp->dst_size = addr_copy(&resp->dst_addr, &id->dst);
}

static uint16_t gid_copy(struct __kernel_sockaddr_storage *to, const struct cma_id *id,
			 const uint8_t gid[16], const union cma_addr *addr)
{
	struct sockaddr_ib ib = {
		.family = AF_IB,
		.pkey = htons(PKEY_DEFAULT),
		.sid = htobe64((uint64_t)id->ps << 16 | cma_addr_port(addr)),
	};

	memcpy(ib.addr, gid, 16);
	memcpy(to, &ib, sizeof(ib));
	return sizeof(ib);
}

void cma_query_gid(const struct cma_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	addr_head(id, resp);
	resp->src_size = gid_copy(&resp->src_addr, id, id->av.sgid, &id->src);
	resp->dst_size = gid_copy(&resp->dst_addr, id, id->av.dgid, &id->dst);
}

uint32_t cma_query_path(const struct cma_id *id, struct ib_path_rec_data *data)
{
	struct path_record r = {0};

	if (!routed(id))
		return 0;
	memset(data, 0, sizeof(*data));
	data->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	memcpy(r.dgid, id->av.dgid, 16);
	memcpy(r.sgid, id->av.sgid, 16);
	r.flow_hop = htonl(id->av.flow_label << 8 | id->av.hop_limit);
	r.traffic_class = id->av.traffic_class;
	r.reversible_numb_path = 0x80;
	r.pkey = htons(PKEY_DEFAULT);
	r.mtu = (uint8_t)(SELECT_EQUAL << 6 | mtu_of(id));
	r.rate = SELECT_EQUAL << 6 | RATE_10_GBPS;
	r.life_time = SELECT_EQUAL << 6 | PACKET_LIFE_TIME;
	memcpy(data->path_rec, &r, sizeof(data->path_rec));
	return 1;
}
