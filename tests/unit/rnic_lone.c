/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The peer that rnic_lone.h describes. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/psn.h"
#include "rnic_lone.h"

#define PACKET_ROOM (BTH_HEADERS_MAX + 4096 + 4)
#define STEPS_MAX 100000

static bool sent_note(void *arg, uint32_t from, const struct bth_packet *pkt, uint64_t now)
{
	struct lone *l = arg;

	ck_assert_uint_eq(from, 0);
	ck_assert_uint_lt(l->n_sent, LONE_SENT_MAX);
	l->sent[l->n_sent++] = (struct lone_sent){
		.pkt = *pkt,
		.at = now,
		.first = pkt->payload_len ? pkt->payload[0] : 0,
		.traffic_class = l->world.node[0].sent_class,
	};
	return true;
}

void lone_connect(struct sim_end *e, enum rnic_qp_state last)
{
	static const uint32_t masks[][RNIC_QPS_COUNT] = {
		[RNIC_QPT_RC] = {[RNIC_QPS_INIT] = FIXTURE_TO_INIT,
				 [RNIC_QPS_RTR] = FIXTURE_TO_RTR,
				 [RNIC_QPS_RTS] = FIXTURE_TO_RTS},
		[RNIC_QPT_UC] = {[RNIC_QPS_INIT] = FIXTURE_TO_INIT,
				 [RNIC_QPS_RTR] = RNIC_QP_STATE | RNIC_QP_AV | RNIC_QP_PATH_MTU |
						  RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN,
				 [RNIC_QPS_RTS] = RNIC_QP_STATE | RNIC_QP_SQ_PSN},
		[RNIC_QPT_UD] = {[RNIC_QPS_INIT] = RNIC_QP_STATE | RNIC_QP_PKEY_INDEX |
						   RNIC_QP_PORT | RNIC_QP_QKEY,
				 [RNIC_QPS_RTR] = RNIC_QP_STATE,
				 [RNIC_QPS_RTS] = RNIC_QP_STATE | RNIC_QP_SQ_PSN},
	};
	const struct sim_end_config *cfg = &e->cfg;
	enum rnic_qp_type type = rnic_qp_init_get(e->qp)->type;
	struct rnic_qp_attr attr = {.path_mtu = cfg->mtu,
				    .qkey = LONE_QKEY,
				    .rq_psn = LONE_RQ_PSN,
				    .sq_psn = LONE_SQ_PSN,
				    .dest_qpn = LONE_PEER_QPN,
				    .access_flags = cfg->access,
				    .max_rd_atomic = cfg->max_rd_atomic,
				    .max_dest_rd_atomic = cfg->max_rd_atomic,
				    .min_rnr_timer = cfg->min_rnr_timer,
				    .port_num = 1,
				    .timeout = cfg->timeout,
				    .retry_cnt = cfg->retry_cnt,
				    .rnr_retry = cfg->rnr_retry,
				    .av = sim_av(e->world, 0, 1)};

	for (int s = RNIC_QPS_INIT; s <= (int)last; s++) {
		attr.state = (enum rnic_qp_state)s;
		ck_assert_int_eq(rnic_qp_modify(e->qp, &attr, masks[type][s], e->world->now), 0);
	}
}

void lone_begin(struct lone *l, const struct sim_end_config *cfg, enum rnic_qp_state state)
{
	lone_begin_window(l, cfg, state, 0);
}

void lone_begin_window(struct lone *l, const struct sim_end_config *cfg, enum rnic_qp_state state,
		       uint32_t window)
{
	memset(l, 0, sizeof(*l));
	sim_world_begin(&l->world, 1, RNIC_MTU_4096, window);
	l->world.filter = sent_note;
	l->world.filter_arg = l;
	sim_end_begin(&l->end, &l->world, 0, cfg);
	for (uint64_t i = 0; i < l->end.mem.len; i++)
		l->end.mem.bytes[i] = (uint8_t)i;
	lone_connect(&l->end, state);
}

void lone_end(struct lone *l)
{
	sim_end_end(&l->end);
	ck_assert(sim_world_end(&l->world));
}

struct bth_packet lone_packet(enum bth_op op, uint32_t psn)
{
	uint8_t opcode = BTH_OPCODE(BTH_RC, op);

	return (struct bth_packet){.opcode = opcode,
				   .psn = psn,
				   .ackreq = bth_opcode_info(opcode)->flags & BTH_F_LAST};
}

struct bth_packet lone_request(const struct lone *l, enum bth_op op, uint32_t psn, uint32_t dmalen)
{
	struct bth_packet pkt = lone_packet(op, psn);

	pkt.va = l->end.mem.start;
	pkt.rkey = rnic_mr_key(l->end.mr);
	pkt.dmalen = dmalen;
	return pkt;
}

struct frame {
	uint8_t bytes[PACKET_ROOM];
	struct rnic_rx rx;
};

static void frame_encode(const struct lone *l, const struct bth_packet *in, uint8_t first,
			 struct frame *f)
{
	struct bth_packet pkt = *in;
	bool known = bth_opcode_info(pkt.opcode)->name;

	*f = (struct frame){
		.rx = {.traffic_class = l->traffic_class, .hop_limit = 64, .sport = 0xc000}};
	pkt.opcode = known ? pkt.opcode : BTH_OPCODE(BTH_RC, BTH_SEND_ONLY);
	pkt.dqpn = rnic_qp_num(l->end.qp);
	pkt.pkey = 0xffff;
	pkt.psn &= BTH_PSN_MASK;
	pkt.pad = bth_pad(pkt.payload_len);
	f->rx.data = f->bytes;
	f->rx.len = (uint32_t)bth_encode_headers(&pkt, f->bytes);
	f->bytes[0] = in->opcode;
	for (uint32_t i = 0; i < pkt.payload_len; i++)
		f->bytes[f->rx.len + i] = (uint8_t)(first + i);
	f->rx.len += pkt.payload_len + pkt.pad;
	memcpy(f->rx.sgid, l->world.node[1].gid, 16);
	memcpy(f->rx.dgid, l->world.node[0].gid, 16);
}

void lone_inject_bytes(struct lone *l, const struct bth_packet *pkt, uint8_t first)
{
	struct frame f;

	frame_encode(l, pkt, first, &f);
	rnic_rx(l->world.node[0].dev, l->world.now, &f.rx, 1);
}

void lone_inject_two(struct lone *l, const struct bth_packet pkt[2])
{
	struct frame f[2];
	struct rnic_rx rx[2];

	for (int i = 0; i < 2; i++) {
		frame_encode(l, &pkt[i], 0, &f[i]);
		rx[i] = f[i].rx;
	}
	rnic_rx(l->world.node[0].dev, l->world.now, rx, 2);
	lone_work(l);
}

void lone_inject(struct lone *l, const struct bth_packet *pkt)
{
	lone_inject_bytes(l, pkt, 0);
	lone_work(l);
}

void lone_ack(struct lone *l, uint32_t psn, enum aeth_kind kind, uint8_t value)
{
	struct bth_packet pkt = lone_packet(BTH_ACKNOWLEDGE, psn);

	pkt.syndrome = aeth_syndrome(kind, value);
	lone_inject(l, &pkt);
}

void lone_work(struct lone *l)
{
	uint32_t steps = 0;

	while (rnic_run(l->world.node[0].dev, l->world.now))
		ck_assert_uint_lt(++steps, STEPS_MAX);
}

void lone_until(struct lone *l, uint64_t time)
{
	struct sim_node *n = &l->world.node[0];
	uint32_t steps = 0;

	while (n->timer <= time) {
		ck_assert_uint_lt(++steps, STEPS_MAX);
		if (l->world.now < n->timer)
			l->world.now = n->timer;
		n->timer = UINT64_MAX;
		rnic_timer_fired(n->dev, l->world.now);
		lone_work(l);
	}
	l->world.now = time;
}

void lone_until_timer(struct lone *l)
{
	const struct sim_node *n = &l->world.node[0];
	uint64_t done = l->end.send_ring.pushed + l->n_sent;

	while (n->timer != UINT64_MAX && l->end.send_ring.pushed + l->n_sent == done)
		lone_until(l, n->timer);
}

const struct lone_sent *lone_next(struct lone *l, enum bth_op op, uint32_t psn)
{
	const struct lone_sent *s = &l->sent[l->n_seen];

	ck_assert_msg(l->n_seen < l->n_sent, "nothing was sent where %s should be",
		      bth_opcode_info((uint8_t)op)->name);
	ck_assert_msg(bth_opcode_op(s->pkt.opcode) == op && s->pkt.psn == (psn & BTH_PSN_MASK),
		      "%s of PSN %06x, not %s of %06x", bth_opcode_info(s->pkt.opcode)->name,
		      s->pkt.psn, bth_opcode_info((uint8_t)op)->name, psn & BTH_PSN_MASK);
	ck_assert_uint_eq(s->pkt.dqpn, LONE_PEER_QPN);
	l->n_seen++;
	return s;
}

void lone_silent(const struct lone *l)
{
	const struct bth_packet *p = &l->sent[l->n_seen].pkt;

	ck_assert_msg(l->n_seen == l->n_sent, "%s of PSN %06x, syndrome %02x, was sent",
		      bth_opcode_info(p->opcode)->name, p->psn, p->syndrome);
}

void lone_forget(struct lone *l)
{
	l->n_sent = l->n_seen = 0;
}

void lone_state(const struct lone *l, enum rnic_qp_state state)
{
	ck_assert_str_eq(rnic_qp_state_name(rnic_qp_state(l->end.qp)), rnic_qp_state_name(state));
}

uint32_t lone_events(const struct lone *l, enum rnic_event_type type)
{
	const struct sim_node *n = &l->world.node[0];
	const struct rnic_async *last = &n->last_event;

	if (n->n_events[type] && last->type == type && last->qp)
		ck_assert_ptr_eq(last->qp, l->end.qp);
	return n->n_events[type];
}

const struct rnic_cqe *lone_completion(struct sim_cq *cq, uint64_t slot, enum rnic_wc_status status)
{
	const struct rnic_cqe *cqe = sim_cq_poll(cq);

	ck_assert_msg(cqe, "no completion of request %u", (unsigned int)slot);
	ck_assert_uint_eq(cqe->slot, slot);
	ck_assert_int_eq(cqe->status, status);
	return cqe;
}

void lone_done(struct sim_cq *cq)
{
	const struct rnic_cqe *cqe = sim_cq_poll(cq);

	ck_assert_msg(!cqe, "completion of request %u with status %d", (unsigned int)cqe->slot,
		      (int)cqe->status);
}

struct rnic_send_wr *lone_post(struct lone *l, enum rnic_wr_op op, uint32_t len)
{
	struct rnic_send_wr *wr = sim_queue_send(&l->end.queues);

	ck_assert_ptr_nonnull(wr);
	wr->op = op;
	wr->flags = RNIC_SEND_SIGNALED;
	wr->raddr = 0x5000;
	wr->rkey = 0x1234;
	wr->num_sge = len ? 1 : 0;
	wr->sge[0] = sim_sge(&l->end, 0, len);
	sim_queue_send_post(&l->end.queues);
	return wr;
}

void lone_kick(struct lone *l)
{
	ck_assert_int_eq(rnic_qp_kick(l->end.qp), 0);
	lone_work(l);
}

void lone_receive(struct lone *l, uint32_t len)
{
	struct rnic_recv_wr *wr = sim_queue_recv(&l->end.queues);

	ck_assert_ptr_nonnull(wr);
	wr->num_sge = 1;
	wr->sge[0] = sim_sge(&l->end, 0, len);
	sim_queue_recv_post(&l->end.queues);
}
