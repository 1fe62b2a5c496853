/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Objects that are made, changed, queried and destroyed; events that they give. */
#include "verbs.h"

static void ask_regions(struct stage *s)
{
	static uint8_t page[SIZE] __attribute__((aligned(SIZE)));
	struct ibv_mr *mr;
	struct ibv_sge sge = {.length = 1};

	WORKS(ibv_reg_mr_iova,
	      (mr = ibv_reg_mr_iova(s->rig.pd, page, SIZE, 0x10000, RIG_ACCESS)) && mr->lkey);
	MUST(!ibv_dereg_mr(mr));
	WORKS(ibv_reg_mr_iova2,
	      (mr = ibv_reg_mr_iova2(s->rig.pd, page, SIZE, 0x10000, RIG_ACCESS)) && mr->lkey);
	/* The stock provider refuses these before it asks the device. */
	REFUSED_ERRNO(ibv_rereg_mr, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1));
	REFUSED(ibv_advise_mr, ibv_advise_mr(s->rig.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	REFUSED_ERRNO(ibv_import_mr, !ibv_import_mr(s->rig.pd, mr->handle));
	MUST(!ibv_dereg_mr(mr));
	REFUSED_ERRNO(ibv_reg_dmabuf_mr, !ibv_reg_dmabuf_mr(s->rig.pd, 0, SIZE, 0, 0, 1));
	REFUSED_ERRNO(ibv_alloc_null_mr, !ibv_alloc_null_mr(s->rig.pd));
	REFUSED_ERRNO(ibv_import_pd, !ibv_import_pd(s->rig.ctx, s->rig.pd->handle));
	REFUSED_ERRNO(ibv_import_device, !ibv_import_device(s->rig.ctx->cmd_fd));
}

static void ask_queues(struct stage *s)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq_init_attr_ex more = {.attr = {.max_wr = 8, .max_sge = 1},
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
					    .srq_type = IBV_SRQT_BASIC,
					    .pd = s->rig.pd};
	struct ibv_srq_attr attr = {.srq_limit = 3};
	struct ibv_modify_cq_attr moderate = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	uint32_t number;

	WORKS(ibv_create_cq, (cq = ibv_create_cq(s->rig.ctx, 10, NULL, NULL, 0)) && cq->cqe >= 10);
	WORKS(ibv_resize_cq, !ibv_resize_cq(cq, 100) && cq->cqe >= 100);
	REFUSED(ibv_modify_cq, ibv_modify_cq(cq, &moderate));
	WORKS(ibv_destroy_cq, !ibv_destroy_cq(cq));
	WORKS(ibv_create_srq, (srq = ibv_create_srq(s->rig.pd, &init)));
	WORKS(ibv_modify_srq, !ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	WORKS(ibv_query_srq, !ibv_query_srq(srq, &attr) && attr.srq_limit == 3 && attr.max_wr >= 8);
	REFUSED(ibv_get_srq_num, ibv_get_srq_num(srq, &number));
	REFUSED(ibv_post_srq_ops, ibv_post_srq_ops(srq, NULL, NULL));
	WORKS(ibv_destroy_srq, !ibv_destroy_srq(srq));
	WORKS(ibv_create_srq_ex, (srq = ibv_create_srq_ex(s->rig.ctx, &more)));
	MUST(!ibv_destroy_srq(srq));
}

static void ask_pairs(struct stage *s)
{
	struct ibv_qp_rate_limit_attr limit = {.rate_limit = 1};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_ece ece = {0};
	struct ibv_qp *qp;

	WORKS(ibv_create_qp, (qp = rig_qp(&s->rig, IBV_QPT_RC)));
	rig_listen(&s->rig, qp, 5);
	ask_works("ibv_modify_qp");
	WORKS(ibv_query_qp, !ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init) &&
				    attr.qp_state == IBV_QPS_RTR && attr.dest_qp_num == 5);
	WORKS(ibv_query_qp_data_in_order,
	      ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0) == 0);
	REFUSED(ibv_modify_qp_rate_limit, ibv_modify_qp_rate_limit(qp, &limit));
	REFUSED(ibv_set_ece, ibv_set_ece(qp, &ece));
	REFUSED(ibv_query_ece, ibv_query_ece(qp, &ece));
	WORKS(ibv_destroy_qp, !ibv_destroy_qp(qp));
}

void verbs_ask_objects(struct stage *s)
{
	ask_regions(s);
	ask_queues(s);
	ask_pairs(s);
}

/* A QP with an SRQ that fails tells that it takes no more of its receives. */
static void ask_async(struct stage *s)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(s->rig.pd, &init);
	struct ibv_qp_init_attr with = {.send_cq = s->rig.cq,
					.recv_cq = s->rig.cq,
					.srq = srq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1},
					.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct ibv_qp *qp;

	MUST(srq && (qp = ibv_create_qp(s->rig.pd, &with)));
	rig_listen(&s->rig, qp, qp->qp_num);
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	WORKS(ibv_get_async_event, !ibv_get_async_event(s->rig.ctx, &event) &&
					   event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED &&
					   event.element.qp == qp);
	ibv_ack_async_event(&event);
	WORKS(ibv_ack_async_event, !ibv_destroy_qp(qp)); /* which waits for it */
	MUST(!ibv_destroy_srq(srq));
}

void verbs_ask_events(struct stage *s)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(s->rig.ctx);
	struct ibv_sge sge = {(uintptr_t)s->memory, HALF, s->mr->lkey};
	struct ibv_cq *cq, *own = s->rig.cq, *from;
	struct ibv_qp *qp[2];
	void *context;

	WORKS(ibv_create_comp_channel, channel);
	MUST((cq = ibv_create_cq(s->rig.ctx, 16, s, channel, 0)));
	WORKS(ibv_req_notify_cq, !ibv_req_notify_cq(cq, 0));
	s->rig.cq = cq;
	rig_pair(&s->rig, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)s->memory + HALF,
		       s->mr->rkey));
	WORKS(ibv_get_cq_event,
	      !ibv_get_cq_event(channel, &from, &context) && from == cq && context == s);
	verbs_done(s);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	ibv_ack_cq_events(cq, 1);
	WORKS(ibv_ack_cq_events, !ibv_destroy_cq(cq)); /* which waits for it */
	WORKS(ibv_destroy_comp_channel, !ibv_destroy_comp_channel(channel));
	s->rig.cq = own;
	ask_async(s);
}
