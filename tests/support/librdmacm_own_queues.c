/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections of QPs that the program makes itself, with options that it tells. */
#include "librdmacm.h"

#define VENDOR 0x123456

static struct ibv_qp *own_queue(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};
	struct ibv_qp *qp = ibv_create_qp(id->pd, &init);

	MUST(qp);
	return qp;
}

/* To each of the states with what the connection has for it. */
static void bring_up(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};

	for (int i = 0; i < 3; i++) {
		struct ibv_qp_attr attr = {.qp_state = states[i]};
		int mask;

		MUST(!rdma_init_qp_attr(id, &attr, &mask));
		MUST(!ibv_modify_qp(qp, &attr, mask));
	}
}

static void tell(struct rdma_cm_id *id, uint32_t options)
{
	struct ibv_ece ece = {.vendor_id = VENDOR, .options = options};

	MUST(!rdma_set_local_ece(id, &ece));
}

static void told(struct rdma_cm_id *id, uint32_t options)
{
	struct ibv_ece ece = {0};

	MUST(!rdma_get_remote_ece(id, &ece) && ece.vendor_id == VENDOR && ece.options == options);
}

/* A message through QPs that have come up. */
static void carry(struct rdma_cm_id *id, struct ibv_qp *from, struct ibv_qp *to, struct ibv_cq *cq)
{
	uint8_t memory[2][64] = {{1, 2, 3}};
	struct ibv_mr *mr = ibv_reg_mr(id->pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_wc wc;

	MUST(mr);
	MUST(!rig_recv(to, &(struct ibv_sge){(uintptr_t)memory[1], 64, mr->lkey}, 1));
	MUST(!rig_post(from, IBV_WR_SEND, &(struct ibv_sge){(uintptr_t)memory[0], 64, mr->lkey}, 1,
		       0, 0));
	for (int i = 0; i < 2; i++)
		MUST(rig_wait(cq, &wc, RIG_PATIENCE) && wc.status == IBV_WC_SUCCESS);
	MUST(!memcmp(memory[0], memory[1], 64) && !ibv_dereg_mr(mr));
}

static void ask_establish(struct ends *e)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ibv_qp *client, *server;
	struct ibv_cq *cq;

	ends_resolve(e);
	MUST((cq = ibv_create_cq(e->client->verbs, 8, NULL, NULL, 0)));
	client = own_queue(e->client, cq);
	tell(e->client, 5);
	param.qp_num = client->qp_num;
	MUST(!rdma_ack_cm_event(ends_request(e, &param)));
	told(e->server, 5);
	server = own_queue(e->server, cq);
	tell(e->server, 6);
	bring_up(e->server, server);
	param.qp_num = server->qp_num;
	MUST(!rdma_accept(e->server, &param));
	MUST(cm_got(e->at_client, RDMA_CM_EVENT_CONNECT_RESPONSE) == e->client);
	told(e->client, 6);
	ask_works("rdma_set_local_ece");
	ask_works("rdma_get_remote_ece");
	bring_up(e->client, client);
	MUST(!rdma_establish(e->client));
	WORKS(rdma_establish, cm_got(e->at_server, RDMA_CM_EVENT_ESTABLISHED) == e->server);
	carry(e->client, client, server, cq);
	ask_works("rdma_init_qp_attr");
	MUST(!ibv_destroy_qp(client) && !ibv_destroy_qp(server) && !ibv_destroy_cq(cq));
	ends_forget(e);
}

/* Traffic has come before the client says that it is ready. */
static void ask_notify(struct ends *e)
{
	struct rdma_conn_param param = {.qp_num = 1102};

	ends_resolve(e);
	MUST(!rdma_ack_cm_event(ends_request(e, &param)));
	MUST(!rdma_accept(e->server, &param));
	MUST(cm_got(e->at_client, RDMA_CM_EVENT_CONNECT_RESPONSE) == e->client);
	MUST(!rdma_notify(e->server, IBV_EVENT_COMM_EST));
	WORKS(rdma_notify, cm_got(e->at_server, RDMA_CM_EVENT_ESTABLISHED) == e->server);
	ends_forget(e);
}

void cm_ask_own_queues(void)
{
	struct ends e;

	ends_listen(&e);
	ask_establish(&e);
	ask_notify(&e);
	ends_close(&e);
}
