/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For libFuzzer: a client that rewrites its rings, also while the daemon reads them. The files of
 * the rxe personality are built here so that each of their loads is told (clang's trace-loads,
 * and memcpy): before as many as the input says what is to be read, or something else in a ring,
 * changes: who reads a thing twice finds another one. QPs of every type are connected to one
 * another, by way of the core.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "feed.h"
#include "loop.h"
#include "rnic/qp.h"

#define COMMANDS_MAX 100
#define QPS 5
#define RINGS_MAX 16
#define QUIET_MAX 32
#define TURNS 24
#define LOCAL (USER_SIZE / 2) /* of the memory: an MR of the upper half, with its last page */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct feed feed;
	struct client has;
	uint32_t cq[2];
	struct uverbs_qp *qp[QPS];
	uint32_t handle[QPS];
	bool reading;	/* the core is at work */
	uint32_t quiet; /* reads of rings until the next change */
} client;

/* ---- rings that change ---- */

/* Those of all objects, as they are now: a resize makes another. */
static uint32_t rings_list(struct rxe_ring *ring[])
{
	struct uobject *u;
	uint32_t n = 0;

	for (int i = 0; i < QPS; i++) {
		ring[n++] = &client.qp[i]->rxe.sq.ring;
		if (client.qp[i]->rxe.rq.ring.buf)
			ring[n++] = &client.qp[i]->rxe.rq.ring;
	}
	for (int i = 0; i < 2; i++)
		ring[n++] = &((struct uverbs_cq *)object_of(UOBJ_CQ, client.cq[i]))->rxe.ring;
	u = uobject_get(&rig.context, UOBJ_SRQ, client.has.srq);
	ring[n++] = &((struct uverbs_srq *)u->object)->rq.ring;
	return n;
}

static uint64_t value_take(void)
{
	uint8_t how = feed_u8(&client.feed);

	switch (how % 8) {
	case 0:
		return how / 8;
	case 1:
		return client.has.lkey;
	case 2:
		return (uintptr_t)rig.user + LOCAL + feed_u16(&client.feed);
	case 3:
		return UINT64_MAX - how / 8;
	case 4:
		return (uint64_t)client.has.lkey << 32 | feed_u16(&client.feed); /* an SGE's tail */
	case 5:
		return 1ull << (how / 8 * 2);
	default:
		return feed_u64(&client.feed);
	}
}

/* The element that is read next, its neighbours, or the ring's indices. */
static void ring_change(void)
{
	struct rxe_ring *rings[RINGS_MAX], *ring = rings[feed_u8(&client.feed) % rings_list(rings)];
	uint8_t how = feed_u8(&client.feed);
	uint64_t value = value_take();
	size_t len = how & 0x80 ? 8 : 4, elem = (size_t)1 << ring->log2_elem;
	uint8_t *at;

	if (!ring->buf) /* on its way to another size */
		return;
	if (how % 8 == 7) {
		__atomic_store_n(how & 0x40 ? &ring->buf->producer_index
					    : &ring->buf->consumer_index,
				 (uint32_t)value, __ATOMIC_RELAXED);
		return;
	}
	at = rxe_ring_slot(ring, ring->mine + how % 8 / 3);
	memcpy(at + feed_u8(&client.feed) * 4u % (elem - 4 * (len / 8)), &value, len);
}

/* What is about to be read there is another value now. */
static void read_change(uint8_t *at, size_t len)
{
	uint64_t value = value_take();
	size_t n = len < sizeof(value) ? len : feed_u8(&client.feed) & 1 ? 8 : 4;

	memcpy(at + feed_u8(&client.feed) * 4u % (len - n + 1), &value, n);
}

static bool is_in_ring(const uint8_t *at)
{
	struct rxe_ring *ring[RINGS_MAX];

	for (uint32_t n = rings_list(ring); n; n--) {
		const struct ring_mem *m = &ring[n - 1]->mem;

		if ((uintptr_t)at - (uintptr_t)m->addr < m->size)
			return true;
	}
	return false;
}

/* A load is about to be made by the core. */
static void load_comes(void *at, size_t len)
{
	client.reading = false; /* none of these */
	if (is_in_ring(at) && client.feed.left && !client.quiet--) {
		client.quiet = feed_u8(&client.feed) % QUIET_MAX;
		if (client.quiet % 4)
			read_change(at, len);
		else
			ring_change();
	}
	client.reading = true;
}

/* Told by the compiler, of this file too: but not of these. */
#define UNTOLD __attribute__((no_sanitize("coverage")))

void __sanitizer_cov_load1(uint8_t *at);
void __sanitizer_cov_load2(uint16_t *at);
void __sanitizer_cov_load4(uint32_t *at);
void __sanitizer_cov_load8(uint64_t *at);
void __sanitizer_cov_load16(void *at);
/* By the linker's --wrap, of what the sanitizer makes of memcpy. */
void *__wrap___asan_memcpy(void *to, const void *from, size_t len);
void *__real___asan_memcpy(void *to, const void *from, size_t len);

UNTOLD void __sanitizer_cov_load1(uint8_t *at)
{
	if (client.reading)
		load_comes(at, sizeof(*at));
}

UNTOLD void __sanitizer_cov_load2(uint16_t *at)
{
	if (client.reading)
		load_comes(at, sizeof(*at));
}

UNTOLD void __sanitizer_cov_load4(uint32_t *at)
{
	if (client.reading)
		load_comes(at, sizeof(*at));
}

UNTOLD void __sanitizer_cov_load8(uint64_t *at)
{
	if (client.reading)
		load_comes(at, sizeof(*at));
}

UNTOLD void __sanitizer_cov_load16(void *at)
{
	if (client.reading)
		load_comes(at, 16);
}

UNTOLD void *__wrap___asan_memcpy(void *to, const void *from, size_t len)
{
	if (client.reading && len)
		load_comes((void *)(uintptr_t)from, len);
	return __real___asan_memcpy(to, from, len);
}

static void reading_begins(void)
{
	client.quiet = feed_u8(&client.feed) % QUIET_MAX;
	client.reading = true;
}

static void reading_ends(void)
{
	client.reading = false;
}

/* ---- objects ---- */

static void qp_bring(int i)
{
	static const uint32_t rc[] = {
		RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS,
		RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN |
			RNIC_QP_MAX_DEST_RD_ATOMIC | RNIC_QP_MIN_RNR_TIMER,
		RNIC_QP_TIMEOUT | RNIC_QP_RETRY_CNT | RNIC_QP_RNR_RETRY | RNIC_QP_SQ_PSN |
			RNIC_QP_MAX_QP_RD_ATOMIC,
	};
	static const uint32_t uc[] = {
		RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_ACCESS_FLAGS,
		RNIC_QP_AV | RNIC_QP_PATH_MTU | RNIC_QP_DEST_QPN | RNIC_QP_RQ_PSN, RNIC_QP_SQ_PSN};
	static const uint32_t ud[] = {RNIC_QP_PKEY_INDEX | RNIC_QP_PORT | RNIC_QP_QKEY, 0,
				      RNIC_QP_SQ_PSN};
	/* 0 and 1 are connected to each other, 2 and 3 too; 4 to all that know it. */
	const uint32_t *masks = i < 2 ? rc : i < 4 ? uc : ud;
	struct rnic_qp_attr attr = {
		.path_mtu = RNIC_MTU_256,
		.qkey = 0x11111111,
		.dest_qpn = rnic_qp_num(client.qp[i < 4 ? i ^ 1 : i]->qp),
		.access_flags = 15,
		.max_rd_atomic = 2,
		.max_dest_rd_atomic = 2,
		.min_rnr_timer = 1,
		.port_num = 1,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = 2,
		.av = {.sgid_index = 1, .grh = true, .hop_limit = 1, .port_num = 1}};

	memcpy(attr.av.sgid, rnic_gid_get(rig.dev.rnic, 1), 16);
	memcpy(attr.av.dgid, attr.av.sgid, 16);
	for (int s = 0; s < 3; s++) {
		attr.state = (enum rnic_qp_state)(RNIC_QPS_INIT + s);
		if (rnic_qp_modify(client.qp[i]->qp, &attr, masks[s] | RNIC_QP_STATE, loop.now))
			return;
	}
}

/* By the command, which also empties the rings. */
static void qp_reset(int i)
{
	struct ib_uverbs_modify_qp req = {.qp_handle = client.handle[i], .attr_mask = 1};

	(void)do_write(IB_USER_VERBS_CMD_MODIFY_QP, &req, sizeof(req), NULL, 0);
	qp_bring(i);
}

static void qp_begin(int i)
{
	static const uint8_t types[QPS] = {IB_UVERBS_QPT_RC, IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC,
					   IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD};
	struct ib_uverbs_create_qp req;

	qp_request(client.has.pd, client.cq[i == 0], &req);
	req.qp_type = types[i];
	req.is_srq = i == 1 || i == 3;
	req.srq_handle = client.has.srq;
	client.handle[i] = client_qp(&req);
	client.qp[i] = object_of(UOBJ_QP, client.handle[i]);
}

static void objects_begin(void)
{
	client_begin(&client.has, (uintptr_t)rig.user + LOCAL, LOCAL - 4096);
	client.cq[0] = client.has.cq;
	client.cq[1] = make_cq(3, -1, NULL);
	for (int i = 0; i < QPS; i++)
		qp_begin(i);
	for (int i = 0; i < QPS; i++)
		qp_bring(i);
}

/* ---- what an honest client does ---- */

static struct rxe_sge sge_take(void)
{
	uint8_t how = feed_u8(&client.feed);

	return (struct rxe_sge){(uintptr_t)rig.user + LOCAL + how % 16 * 64, how / 4 * 32u,
				client.has.lkey};
}

static void send_post(void)
{
	struct uverbs_qp *qp = client.qp[feed_u8(&client.feed) % QPS];
	uint8_t op = feed_u8(&client.feed), how = feed_u8(&client.feed);
	struct rxe_ring *ring = &qp->rxe.sq.ring;
	struct rxe_send_wqe wqe = {.wr = {.wr_id = how, .opcode = op % 16, .send_flags = how & 31}};
	uint32_t index = ring->buf->producer_index & ring->mask;
	uint8_t *slot = rxe_ring_slot(ring, index);
	struct rxe_sge sge[2] = {sge_take(), sge_take()};

	if (op % 16 == RNIC_WR_CMP_SWAP || op % 16 == RNIC_WR_FETCH_ADD) {
		wqe.wr.wr.atomic.remote_addr = (uintptr_t)rig.user + LOCAL;
		wqe.wr.wr.atomic.rkey = client.has.rkey;
		sge[0].length = 8;
	} else if (qp->rxe.datagram) {
		wqe.wr.wr.ud.remote_qpn = rnic_qp_num(client.qp[4]->qp);
		wqe.wr.wr.ud.remote_qkey = 0x11111111;
		wqe.wr.wr.ud.ah_num = client.has.ah;
	} else {
		wqe.wr.wr.rdma.remote_addr = (uintptr_t)rig.user + LOCAL + 8192;
		wqe.wr.wr.rdma.rkey = client.has.rkey;
	}
	wqe.dma.num_sge = 1 + (how >> 5) % 2;
	wqe.dma.length = wqe.wr.send_flags & RNIC_SEND_INLINE ? how / 8 : sge[0].length;
	memcpy(slot, &wqe, sizeof(wqe));
	memcpy(slot + sizeof(wqe), sge, sizeof(sge));
	__atomic_store_n(&ring->buf->producer_index, (index + 1) & ring->mask, __ATOMIC_RELEASE);
}

static void recv_post(void)
{
	uint8_t which = feed_u8(&client.feed);
	struct uverbs_srq *srq = object_of(UOBJ_SRQ, client.has.srq);
	struct rxe_ring *ring = &client.qp[which % QPS]->rxe.rq.ring;
	struct rxe_sge sge[2] = {sge_take(), sge_take()};
	struct rxe_recv_wqe wqe = {.wr_id = which, .dma.num_sge = 1 + which / 128};
	uint32_t index;
	uint8_t *slot;

	if (!ring->buf)
		ring = &srq->rq.ring;
	index = ring->buf->producer_index & ring->mask;
	slot = rxe_ring_slot(ring, index);
	memcpy(slot, &wqe, sizeof(wqe));
	memcpy(slot + sizeof(wqe), sge, sizeof(sge));
	__atomic_store_n(&ring->buf->producer_index, (index + 1) & ring->mask, __ATOMIC_RELEASE);
}

static void cqs_poll(void)
{
	for (int i = 0; i < 2; i++) {
		struct uverbs_cq *cq = object_of(UOBJ_CQ, client.cq[i]);

		cq->rxe.ring.buf->consumer_index = cq->rxe.ring.buf->producer_index;
		rxe_cq_arm(&cq->rxe, feed_u8(&client.feed) & 1);
	}
	for (struct channel *ch = rig.channels; ch; ch = ch->next)
		ch->n_records = ch->n_read = 0;
}

static void resize(void)
{
	struct ib_uverbs_resize_cq cq = {.cq_handle = client.cq[feed_u8(&client.feed) % 2]};
	struct ib_uverbs_modify_srq srq = {.srq_handle = client.has.srq, .attr_mask = 1};
	uint8_t how = feed_u8(&client.feed);
	uint64_t resp[8];

	reading_begins();
	if (how & 1) {
		cq.cqe = how / 2;
		(void)do_write(IB_USER_VERBS_CMD_RESIZE_CQ, &cq, sizeof(cq), resp, 24);
	} else {
		srq.max_wr = how / 2;
		(void)do_write(IB_USER_VERBS_CMD_MODIFY_SRQ, &srq, sizeof(srq), NULL, 0);
	}
	reading_ends();
}

/* ---- the core reads ---- */

static void kick(void)
{
	uint8_t which = feed_u8(&client.feed);

	reading_begins();
	for (int i = 0; i < QPS; i++)
		if (which >> i & 1)
			uverbs_kick(&rig.context, client.handle[i]);
	loop_run(TURNS);
	reading_ends();
}

static void time_goes(void)
{
	uint8_t how = feed_u8(&client.feed);

	loop.waits = how & 0x80;
	reading_begins();
	loop_until(loop.now + (1ull << how % 30));
	loop_run(TURNS);
	reading_ends();
}

static void command(uint8_t what)
{
	switch (what % 16) {
	case 0:
	case 1:
	case 2:
		send_post();
		break;
	case 3:
	case 4:
		recv_post();
		break;
	case 5:
	case 6:
		ring_change();
		break;
	case 7:
		time_goes();
		break;
	case 8:
		cqs_poll();
		break;
	case 9:
		resize();
		break;
	case 10:
		qp_reset(feed_u8(&client.feed) % QPS);
		break;
	default:
		kick();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(&client, 0, sizeof(client));
	client.feed = (struct feed){data, size};
	loop_begin();
	rig_start_with(&loop_ops);
	rig_get_context();
	objects_begin();
	for (uint32_t i = 0; i < COMMANDS_MAX && client.feed.left; i++) {
		rig.brk = 0;
		command(feed_u8(&client.feed));
		client_reads();
	}
	rig_stop();
	return 0;
}
