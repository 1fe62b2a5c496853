/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections of QPs that librdmacm makes, and refusals. */
#include "librdmacm.h"

#define HELLO "hi"

static const struct ibv_qp_cap cap = {
	.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2};

enum server_kind { PLAIN, EXTENDED, WITH_SRQ, WITH_SRQ_EX, SERVER_KINDS };

static void make_client_queue(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.cap = cap, .qp_type = IBV_QPT_RC};

	WORKS(rdma_create_qp, !rdma_create_qp(id, NULL, &init) && id->qp && id->pd && id->send_cq);
}

static void make_srq(struct rdma_cm_id *id, enum server_kind kind)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 2}};
	struct ibv_srq_init_attr_ex more = {.attr = init.attr,
					    .comp_mask =
						    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
					    .srq_type = IBV_SRQT_BASIC,
					    .pd = id->pd};

	if (kind == WITH_SRQ)
		WORKS(rdma_create_srq, !rdma_create_srq(id, NULL, &init) && id->srq);
	else if (kind == WITH_SRQ_EX)
		WORKS(rdma_create_srq_ex, !rdma_create_srq_ex(id, &more) && id->srq);
}

static void make_server_queue(struct rdma_cm_id *id, enum server_kind kind)
{
	struct ibv_qp_init_attr init = {.cap = cap, .qp_type = IBV_QPT_RC};
	struct ibv_qp_init_attr_ex more = {
		.cap = cap, .qp_type = IBV_QPT_RC, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = id->pd};

	make_srq(id, kind);
	init.srq = id->srq;
	if (kind == EXTENDED)
		WORKS(rdma_create_qp_ex, !rdma_create_qp_ex(id, &more) && id->qp && id->recv_cq);
	else
		MUST(!rdma_create_qp(id, NULL, &init) && id->qp);
}

static void forget_queues(struct ends *e)
{
	rdma_destroy_qp(e->client);
	rdma_destroy_qp(e->server);
	WORKS(rdma_destroy_qp, !e->client->qp && !e->server->qp);
	if (e->server->srq) {
		rdma_destroy_srq(e->server);
		WORKS(rdma_destroy_srq, !e->server->srq);
	}
	ends_forget(e);
}

static void ask_addresses_of(const struct ends *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct sockaddr_in *in = (struct sockaddr_in *)rdma_get_peer_addr(e->client);

	WORKS(rdma_get_dst_port, rdma_get_dst_port(e->client) == rdma_get_src_port(e->listener));
	WORKS(rdma_get_peer_addr, in->sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
					  in->sin_port == rdma_get_dst_port(e->client));
	MUST(!ibv_query_qp(e->client->qp, &attr, IBV_QP_AV, &init));
	WORKS(rdma_set_option, attr.ah_attr.grh.traffic_class == ENDS_TOS);
}

static void ask_end_of(const struct ends *e)
{
	MUST(!rdma_disconnect(e->client));
	MUST(cm_got(e->at_server, RDMA_CM_EVENT_DISCONNECTED) == e->server);
	MUST(!rdma_disconnect(e->server)); /* answers it */
	WORKS(rdma_disconnect, cm_got(e->at_client, RDMA_CM_EVENT_DISCONNECTED) == e->client);
}

static void ask_connection(struct ends *e, enum server_kind kind)
{
	struct rdma_conn_param param = {.private_data = HELLO,
					.private_data_len = sizeof(HELLO),
					.responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 7,
					.rnr_retry_count = 7};
	struct rdma_cm_event *event;

	ends_resolve(e);
	make_client_queue(e->client);
	event = ends_request(e, &param);
	WORKS(rdma_connect, !memcmp(event->param.conn.private_data, HELLO, sizeof(HELLO)));
	make_server_queue(e->server, kind);
	param.private_data = "yo";
	MUST(!rdma_accept(e->server, &param));
	WORKS(rdma_ack_cm_event, !rdma_ack_cm_event(event));
	event = cm_await(e->at_client, RDMA_CM_EVENT_ESTABLISHED);
	WORKS(rdma_get_cm_event, event->id == e->client);
	WORKS(rdma_accept, !memcmp(event->param.conn.private_data, "yo", 3));
	MUST(!rdma_ack_cm_event(event));
	MUST(cm_got(e->at_server, RDMA_CM_EVENT_ESTABLISHED) == e->server);
	ask_addresses_of(e);
	cm_ask_traffic(e->client, e->server);
	ask_end_of(e);
	forget_queues(e);
}

/* The reasons are those of the IBA: consumer reject, and vendor option not supported. */
static void ask_refusals(struct ends *e)
{
	struct rdma_conn_param param = {.qp_num = 1101};
	struct rdma_cm_event *event;

	ends_resolve(e);
	MUST(!rdma_ack_cm_event(ends_request(e, &param)));
	MUST(!rdma_reject(e->server, HELLO, sizeof(HELLO)));
	event = cm_await(e->at_client, RDMA_CM_EVENT_REJECTED);
	WORKS(rdma_reject,
	      event->status == 28 && !memcmp(event->param.conn.private_data, HELLO, sizeof(HELLO)));
	MUST(!rdma_ack_cm_event(event));
	ends_forget(e);
	ends_resolve(e);
	MUST(!rdma_ack_cm_event(ends_request(e, &param)));
	MUST(!rdma_reject_ece(e->server, HELLO, sizeof(HELLO)));
	event = cm_await(e->at_client, RDMA_CM_EVENT_REJECTED);
	WORKS(rdma_reject_ece, event->status == 35);
	MUST(!rdma_ack_cm_event(event));
	ends_forget(e);
}

void cm_ask_connections(void)
{
	struct ends e;

	ends_listen(&e);
	for (int kind = PLAIN; kind < SERVER_KINDS; kind++)
		ask_connection(&e, (enum server_kind)kind);
	ask_refusals(&e);
	ends_close(&e);
}
