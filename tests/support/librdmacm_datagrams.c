/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two members of a group. */
#include "librdmacm.h"

#define GRH 40
#define SIZE 64

struct member {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	uint8_t memory[GRH + SIZE];
	struct ibv_mr *mr;
};

static struct sockaddr *group(void)
{
	static struct sockaddr_in in = {.sin_family = AF_INET};

	MUST(inet_pton(AF_INET, "239.1.1.3", &in.sin_addr) == 1);
	return (struct sockaddr *)&in;
}

static void member_open(struct member *m)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD};

	MUST((m->channel = rdma_create_event_channel()));
	m->id = cm_bound(m->channel, RDMA_PS_UDP);
	MUST(!rdma_create_qp(m->id, NULL, &init));
	MUST((m->mr = rdma_reg_msgs(m->id, m->memory, sizeof(m->memory))));
	MUST(!rdma_post_recv(m->id, m, m->memory, sizeof(m->memory), m->mr));
}

static void member_close(struct member *m)
{
	rdma_destroy_qp(m->id);
	MUST(!rdma_dereg_mr(m->mr) && !rdma_destroy_id(m->id));
	rdma_destroy_event_channel(m->channel);
}

/* How the group is reached. */
static struct ibv_ah *joined(struct member *m)
{
	struct rdma_cm_event *event = cm_await(m->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	struct ibv_ah *ah = ibv_create_ah(m->id->pd, &event->param.ud.ah_attr);

	MUST(ah && event->param.ud.qp_num == 0xffffff && event->param.ud.qkey == RDMA_UDP_QKEY);
	MUST(event->param.ud.private_data == m); /* the context of the join */
	MUST(!rdma_ack_cm_event(event));
	return ah;
}

static void leave(struct member *m)
{
	MUST(!rdma_leave_multicast(m->id, group()));
	WORKS(rdma_leave_multicast,
	      rdma_leave_multicast(m->id, group()) == -1 && errno == EADDRNOTAVAIL);
}

static bool hears(struct member *m, const uint8_t *message)
{
	struct ibv_wc wc;

	MUST(rdma_get_recv_comp(m->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	return wc.byte_len == GRH + SIZE && !memcmp(m->memory + GRH, message, SIZE);
}

void cm_ask_datagrams(void)
{
	struct rdma_cm_join_mc_attr_ex attr = {.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
							    RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
					       .join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
					       .addr = group()};
	struct member m[2];
	struct ibv_ah *ah[2];
	uint8_t message[SIZE];
	struct ibv_mr *mr;
	struct ibv_wc wc;

	member_open(&m[0]);
	member_open(&m[1]);
	MUST(!rdma_join_multicast(m[0].id, group(), &m[0]));
	ah[0] = joined(&m[0]);
	MUST(!rdma_join_multicast_ex(m[1].id, &attr, &m[1]));
	ah[1] = joined(&m[1]);
	memset(message, 0x5a, SIZE);
	MUST((mr = rdma_reg_msgs(m[0].id, message, SIZE)));
	MUST(!rdma_post_ud_send(m[0].id, NULL, message, SIZE, mr, IBV_SEND_SIGNALED, ah[0],
				0xffffff));
	MUST(rdma_get_send_comp(m[0].id, &wc) == 1);
	WORKS(rdma_post_ud_send, wc.status == IBV_WC_SUCCESS);
	WORKS(rdma_join_multicast, hears(&m[0], message));
	WORKS(rdma_join_multicast_ex, hears(&m[1], message));
	leave(&m[0]);
	leave(&m[1]);
	MUST(!ibv_destroy_ah(ah[0]) && !ibv_destroy_ah(ah[1]) && !rdma_dereg_mr(mr));
	member_close(&m[0]);
	member_close(&m[1]);
}
