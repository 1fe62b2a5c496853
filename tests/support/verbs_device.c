/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices, their attributes, and words for values. */
#include "verbs.h"

void verbs_ask_devices(void)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;

	WORKS(ibv_get_device_list, list && n == 1 && !list[1]);
	WORKS(ibv_get_device_name, !strcmp(ibv_get_device_name(list[0]), "rxe0"));
	WORKS(ibv_get_device_index, ibv_get_device_index(list[0]) >= 0);
	WORKS(ibv_open_device, (ctx = ibv_open_device(list[0])));
	WORKS(ibv_query_device, !ibv_query_device(ctx, &attr) && attr.max_qp > 0);
	WORKS(ibv_get_device_guid, ibv_get_device_guid(list[0]) == attr.node_guid);
	WORKS(ibv_alloc_pd, (pd = ibv_alloc_pd(ctx)));
	WORKS(ibv_dealloc_pd, !ibv_dealloc_pd(pd));
	WORKS(ibv_close_device, !ibv_close_device(ctx));
	ibv_free_device_list(list);
	ask_works("ibv_free_device_list");
}

static void ask_gids(struct ibv_context *ctx, const struct rig *r)
{
	struct ibv_gid_entry entry, table[16];
	union ibv_gid gid;
	ssize_t n;

	WORKS(ibv_query_gid,
	      !ibv_query_gid(ctx, 1, r->gid_index, &gid) && !memcmp(&gid, &r->gid, sizeof(gid)));
	WORKS(ibv_query_gid_ex, !ibv_query_gid_ex(ctx, 1, (uint32_t)r->gid_index, &entry, 0) &&
					!memcmp(&gid, &entry.gid, sizeof(gid)) &&
					entry.gid_type == IBV_GID_TYPE_ROCE_V2);
	n = ibv_query_gid_table(ctx, table, 16, 0);
	MUST(n > 0);
	for (ssize_t i = 0; i < n; i++)
		if (table[i].gid_index == (uint32_t)r->gid_index)
			WORKS(ibv_query_gid_table, !memcmp(&table[i].gid, &gid, sizeof(gid)));
}

void verbs_ask_queries(struct stage *s)
{
	struct ibv_context *ctx = s->rig.ctx;
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	struct ibv_device_attr_ex more;
	struct ibv_port_attr port;
	__be16 pkey;

	WORKS(ibv_query_device_ex, !ibv_query_device_ex(ctx, NULL, &more) &&
					   more.odp_caps.general_caps & IBV_ODP_SUPPORT);
	WORKS(ibv_query_port, !ibv_query_port(ctx, 1, &port) && port.state == IBV_PORT_ACTIVE &&
				      port.link_layer == IBV_LINK_LAYER_ETHERNET);
	ask_gids(ctx, &s->rig);
	WORKS(ibv_query_pkey, !ibv_query_pkey(ctx, 1, 0, &pkey) && pkey == 0xffff);
	WORKS(ibv_get_pkey_index, ibv_get_pkey_index(ctx, 1, pkey) == 0);
	REFUSED(ibv_query_rt_values_ex, ibv_query_rt_values_ex(ctx, &values));
}

/* Done by the library alone. */
void verbs_ask_words(void)
{
	WORKS(ibv_node_type_str,
	      !strcmp(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter"));
	WORKS(ibv_port_state_str, !strcmp(ibv_port_state_str(IBV_PORT_ACTIVE), "active"));
	WORKS(ibv_event_type_str, *ibv_event_type_str(IBV_EVENT_COMM_EST));
	WORKS(ibv_wc_status_str, !strcmp(ibv_wc_status_str(IBV_WC_SUCCESS), "success"));
	WORKS(ibv_rate_to_mult, ibv_rate_to_mult(IBV_RATE_10_GBPS) == 4);
	WORKS(ibv_rate_to_mbps, ibv_rate_to_mbps(IBV_RATE_10_GBPS) == 10000);
	WORKS(ibv_inc_rkey, ibv_inc_rkey(0x1ff) == 0x100);
	WORKS(ibv_is_qpt_supported, ibv_is_qpt_supported(1 << IBV_QPT_UD, IBV_QPT_UD) &&
					    !ibv_is_qpt_supported(1 << IBV_QPT_UD, IBV_QPT_RC));
	WORKS(ibv_flow_label_to_udp_sport, ibv_flow_label_to_udp_sport(0x12345) >= 0xc000);
}
