/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What rdma/rdma_verbs.h makes of requests and completions, over a connection that is there. */
#include "librdmacm.h"

#define SIZE 256
#define HALF (SIZE / 2)

/* Memory of both ends. */
struct stage {
	struct rdma_cm_id *from, *to;
	uint8_t sent[SIZE], received[SIZE];
	struct ibv_mr *source, *target;
	uint8_t next;
};

static void fill(struct stage *s)
{
	s->next++;
	for (int i = 0; i < SIZE; i++) {
		s->sent[i] = (uint8_t)(s->next + i);
		s->received[i] = (uint8_t)~s->sent[i];
	}
}

static bool arrived(const struct stage *s)
{
	return !memcmp(s->sent, s->received, SIZE);
}

static void was_sent(struct stage *s, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	MUST(rdma_get_send_comp(s->from, &wc) == 1);
	if (wc.status)
		rig_fail("completion: %s", ibv_wc_status_str(wc.status));
	MUST(wc.opcode == opcode && wc.wr_id == (uintptr_t)s);
}

static void was_received(struct stage *s)
{
	struct ibv_wc wc;

	MUST(rdma_get_recv_comp(s->to, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	MUST(wc.opcode == IBV_WC_RECV && wc.byte_len == SIZE && wc.wr_id == (uintptr_t)s);
}

static void stage_open(struct stage *s, struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	s->from = from;
	s->to = to;
	MUST((s->source = rdma_reg_msgs(from, s->sent, SIZE)));
	MUST((s->target = rdma_reg_msgs(to, s->received, SIZE)));
}

static void stage_close(struct stage *s)
{
	MUST(!rdma_dereg_mr(s->source));
	WORKS(rdma_dereg_mr, !rdma_dereg_mr(s->target));
}

static void ask_sends(struct stage *s)
{
	struct ibv_sge out[2] = {{(uintptr_t)s->sent, HALF, s->source->lkey},
				 {(uintptr_t)s->sent + HALF, HALF, s->source->lkey}};
	struct ibv_sge in[2] = {{(uintptr_t)s->received, HALF, s->target->lkey},
				{(uintptr_t)s->received + HALF, HALF, s->target->lkey}};

	fill(s);
	MUST(!rdma_post_recv(s->to, s, s->received, SIZE, s->target));
	MUST(!rdma_post_send(s->from, s, s->sent, SIZE, s->source, IBV_SEND_SIGNALED));
	was_sent(s, IBV_WC_SEND);
	ask_works("rdma_get_send_comp");
	was_received(s);
	ask_works("rdma_get_recv_comp");
	WORKS(rdma_post_send, arrived(s));
	ask_works("rdma_post_recv");
	ask_works("rdma_reg_msgs");
	fill(s);
	MUST(!rdma_post_recvv(s->to, s, in, 2));
	MUST(!rdma_post_sendv(s->from, s, out, 2, IBV_SEND_SIGNALED));
	was_sent(s, IBV_WC_SEND);
	was_received(s);
	WORKS(rdma_post_sendv, arrived(s));
	ask_works("rdma_post_recvv");
}

/* READs and WRITEs: either way both ends have the same then. */
static void ask_remote(struct stage *s, bool read)
{
	struct ibv_mr *there = (read ? rdma_reg_read : rdma_reg_write)(s->to, s->received, SIZE);
	struct ibv_sge here[2] = {{(uintptr_t)s->sent, HALF, s->source->lkey},
				  {(uintptr_t)s->sent + HALF, HALF, s->source->lkey}};
	enum ibv_wc_opcode opcode = read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE;
	uint64_t addr = (uintptr_t)s->received;

	MUST(there);
	fill(s);
	MUST(!(read ? rdma_post_read : rdma_post_write)(s->from, s, s->sent, SIZE, s->source,
							IBV_SEND_SIGNALED, addr, there->rkey));
	was_sent(s, opcode);
	MUST(arrived(s));
	fill(s);
	MUST(!(read ? rdma_post_readv : rdma_post_writev)(s->from, s, here, 2, IBV_SEND_SIGNALED,
							  addr, there->rkey));
	was_sent(s, opcode);
	MUST(arrived(s) && !rdma_dereg_mr(there));
	ask_works(read ? "rdma_post_read" : "rdma_post_write");
	ask_works(read ? "rdma_post_readv" : "rdma_post_writev");
	ask_works(read ? "rdma_reg_read" : "rdma_reg_write");
}

void cm_ask_traffic(struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	struct stage s = {0};

	stage_open(&s, from, to);
	ask_sends(&s);
	ask_remote(&s, false);
	ask_remote(&s, true);
	stage_close(&s);
}

void cm_send(struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	struct stage s = {0};

	stage_open(&s, from, to);
	fill(&s);
	MUST(!rdma_post_recv(to, &s, s.received, SIZE, s.target));
	MUST(!rdma_post_send(from, &s, s.sent, SIZE, s.source, IBV_SEND_SIGNALED));
	was_sent(&s, IBV_WC_SEND);
	was_received(&s);
	MUST(arrived(&s));
	stage_close(&s);
}
