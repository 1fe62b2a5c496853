/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the stock rxe provider has not. The functions that take an object which nobody can make
 * are given one that has nothing but its context, as that is all that the refusal looks at.
 */
#include "verbs.h"

static void ask_device_memory(struct stage *s, struct ibv_context *ctx)
{
	struct ibv_alloc_dm_attr attr = {.length = SIZE};
	struct ibv_dm dm = {.context = ctx};

	REFUSED_ERRNO(ibv_alloc_dm, !ibv_alloc_dm(ctx, &attr));
	REFUSED(ibv_free_dm, ibv_free_dm(&dm));
	REFUSED_ERRNO(ibv_reg_dm_mr, !ibv_reg_dm_mr(s->rig.pd, &dm, 0, 8, RIG_ACCESS));
	REFUSED_ERRNO(ibv_import_dm, !ibv_import_dm(ctx, 1));
}

/* These have no answer, or are functions of an object: their refusal is that of who makes one. */
static void ask_of_what_cannot_be_made(struct stage *s, struct ibv_context *ctx)
{
	struct ibv_alloc_dm_attr attr = {.length = SIZE};
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = s->rig.pd, .cq = s->rig.cq};

	REFUSED_ERRNO(ibv_memcpy_to_dm, !ibv_alloc_dm(ctx, &attr));
	REFUSED_ERRNO(ibv_memcpy_from_dm, !ibv_alloc_dm(ctx, &attr));
	REFUSED_ERRNO(ibv_unimport_dm, !ibv_import_dm(ctx, 1));
	REFUSED_ERRNO(ibv_unimport_pd, !ibv_import_pd(ctx, s->rig.pd->handle));
	REFUSED_ERRNO(ibv_unimport_mr, !ibv_import_mr(s->rig.pd, s->mr->handle));
	REFUSED_ERRNO(ibv_post_wq_recv, !ibv_create_wq(ctx, &init));
}

static void ask_domains(struct stage *s, struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr xrcd_attr = {0};
	struct ibv_parent_domain_init_attr parent = {.pd = s->rig.pd};
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_qp_open_attr open_attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM, .qp_num = 17};
	struct ibv_xrcd xrcd = {.context = ctx};
	struct ibv_td td = {.context = ctx};

	REFUSED_ERRNO(ibv_alloc_td, !ibv_alloc_td(ctx, &td_attr));
	REFUSED(ibv_dealloc_td, ibv_dealloc_td(&td));
	REFUSED_ERRNO(ibv_alloc_parent_domain, !ibv_alloc_parent_domain(ctx, &parent));
	REFUSED_ERRNO(ibv_open_xrcd, !ibv_open_xrcd(ctx, &xrcd_attr));
	REFUSED(ibv_close_xrcd, ibv_close_xrcd(&xrcd));
	REFUSED_ERRNO(ibv_open_qp, !ibv_open_qp(ctx, &open_attr));
}

static void ask_counters(struct ibv_context *ctx)
{
	struct ibv_counters_init_attr attr = {0};
	struct ibv_counters counters = {.context = ctx};
	uint64_t value;

	REFUSED_ERRNO(ibv_create_counters, !ibv_create_counters(ctx, &attr));
	REFUSED(ibv_destroy_counters, ibv_destroy_counters(&counters));
	REFUSED(ibv_read_counters, ibv_read_counters(&counters, &value, 1, 0));
	REFUSED(ibv_attach_counters_point_flow,
		ibv_attach_counters_point_flow(&counters, NULL, NULL));
}

static void ask_flows(struct stage *s, struct ibv_context *ctx)
{
	struct ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(attr), .port = 1};
	struct ibv_flow_action_esp_attr esp = {0};
	struct ibv_qp *qp = rig_qp(&s->rig, IBV_QPT_RC);
	struct ibv_flow flow = {.context = ctx};
	struct ibv_flow_action action = {.context = ctx};

	REFUSED_ERRNO(ibv_create_flow, !ibv_create_flow(qp, &attr));
	REFUSED(ibv_destroy_flow, ibv_destroy_flow(&flow));
	REFUSED_ERRNO(ibv_create_flow_action_esp, !ibv_create_flow_action_esp(ctx, &esp));
	REFUSED(ibv_modify_flow_action_esp, ibv_modify_flow_action_esp(&action, &esp));
	REFUSED(ibv_destroy_flow_action, ibv_destroy_flow_action(&action));
	MUST(!ibv_destroy_qp(qp));
}

static void ask_work_queues(struct stage *s, struct ibv_context *ctx)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = s->rig.pd, .cq = s->rig.cq};
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_rwq_ind_table table = {.context = ctx};
	struct ibv_rwq_ind_table_init_attr table_attr = {0};
	struct ibv_wq wq = {.context = ctx};

	REFUSED_ERRNO(ibv_create_wq, !ibv_create_wq(ctx, &init));
	REFUSED(ibv_modify_wq, ibv_modify_wq(&wq, &attr));
	REFUSED(ibv_destroy_wq, ibv_destroy_wq(&wq));
	REFUSED_ERRNO(ibv_create_rwq_ind_table, !ibv_create_rwq_ind_table(ctx, &table_attr));
	REFUSED(ibv_destroy_rwq_ind_table, ibv_destroy_rwq_ind_table(&table));
}

void verbs_ask_what_rxe_has_not(struct stage *s)
{
	struct ibv_context *ctx = s->rig.ctx;

	ask_device_memory(s, ctx);
	ask_of_what_cannot_be_made(s, ctx);
	ask_domains(s, ctx);
	ask_counters(ctx);
	ask_flows(s, ctx);
	ask_work_queues(s, ctx);
}
