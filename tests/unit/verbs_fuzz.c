/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client that writes anything into its rings, and commands of random bytes: nothing may leave
 * the rings or the arrays of the core, and nothing may go round for ever. For AddressSanitizer.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rnic/qp.h"
#include "verbs_rig.h"

#define RING_ROUNDS 6000
#define COMMAND_ROUNDS 8000

static uint32_t seed = 1;

static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* Bytes of which many are small or all ones: what a check gets wrong. */
static void scribble(uint8_t *p, size_t len)
{
	size_t from = rnd() % len, n = rnd() % 64;

	for (size_t i = from; i < len && i < from + n; i++)
		p[i] = (uint8_t)(rnd() % 3 ? rnd() % 3 ? rnd() : 0 : 0xff);
}

static void ring_scribble(struct rxe_ring *ring)
{
	uint32_t slot = rnd() & ring->mask;

	scribble(rxe_ring_slot(ring, slot), 1u << ring->log2_elem);
	if (rnd() % 4 == 0)
		scribble((uint8_t *)ring->buf, sizeof(*ring->buf));
	ring->buf->producer_index = rnd() % 2 ? rnd() : ring->buf->producer_index + 1;
}

static void sends_drain(struct uverbs_qp *qp)
{
	uint64_t slots[16];
	struct rnic_send_wr wr;
	uint32_t n = 0;

	while (rxe_send_next(&qp->rxe, &wr)) {
		ck_assert_uint_lt(n, 16);
		ck_assert(wr.op <= RNIC_WR_SEND_INV || wr.op == RNIC_WR_ATOMIC_WRITE);
		ck_assert_uint_le(wr.num_sge, qp->rxe.sq.max_sge);
		ck_assert_uint_le(wr.inline_len, qp->rxe.sq.max_inline);
		slots[n++] = wr.slot;
	}
	for (uint32_t i = 0; i < n; i++)
		rxe_send_retire(&qp->rxe, slots[i]);
}

static void receives_drain(struct uverbs_qp *qp)
{
	struct rnic_recv_wr wr;
	uint32_t n = 0;

	for (;;) {
		int ret = rxe_recv_next(&qp->rxe.rq, &wr);

		if (ret == 0 || ret == -EIO) /* none, or none ever more */
			return;
		ck_assert_uint_lt(n++, 16);
		ck_assert_uint_le(wr.num_sge, qp->rxe.rq.max_sge);
	}
}

static void completions_push(struct uverbs_cq *cq, struct uverbs_qp *qp)
{
	struct rnic_cqe cqe = {.qp = qp->qp, .slot = rnd() % 8};

	scribble((uint8_t *)cq->rxe.ring.buf, sizeof(*cq->rxe.ring.buf));
	for (uint32_t i = rnd() % 8; i; i--)
		rxe_cq_push(&cq->rxe, &qp->rxe, &cqe);
	rxe_cq_test_arm(&cq->rxe, rnd() % 2);
	if (rnd() % 64 == 0)
		rxe_cq_resize(&rig.context, &cq->rxe, 1 + rnd() % 30);
}

static void rings_fuzz(uint8_t type)
{
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_create_qp_resp r;
	struct rxe_create_qp_resp uhw;
	struct uverbs_qp *qp;
	struct uverbs_cq *cq;
	uint32_t pd;

	rig_start_context();
	pd = make_pd();
	qp_request(pd, make_cq(7, -1, NULL), &req);
	req.qp_type = type;
	ck_assert_int_eq(make_qp(&req, &r, &uhw), 0);
	qp = object_of(UOBJ_QP, r.qp_handle);
	cq = object_of(UOBJ_CQ, req.send_cq_handle);
	for (int i = 0; i < RING_ROUNDS; i++) {
		ring_scribble(&qp->rxe.sq.ring);
		sends_drain(qp);
		ring_scribble(&qp->rxe.rq.ring);
		receives_drain(qp);
		completions_push(cq, qp);
		if (rnd() % 128 == 0)
			rxe_qp_reset(&qp->rxe);
		if (rnd() % 256 == 0)
			rxe_rq_resize(&rig.context, &qp->rxe.rq, 1 + rnd() % 15);
	}
	rig_stop();
}

START_TEST(scribbled_rings_never_lead_outside)
{
	seed = 1 + (uint32_t)_i;
	rings_fuzz(_i % 2 ? IB_UVERBS_QPT_UD : IB_UVERBS_QPT_RC);
}
END_TEST

/* A user address that is often right. */
static uint64_t some_address(void)
{
	return rnd() % 4 ? (uintptr_t)rig.user + rnd() % USER_SIZE : (uint64_t)rnd() << 20;
}

static void command_random(void)
{
	uint32_t words[64], number = rnd() % 44, len = 8 + 4 * (rnd() % 60);
	uint64_t response = some_address();

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = rnd() % 3 ? rnd() % 12 : rnd();
	words[0] = rnd() % 3 ? number : number | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	words[1] = (len - (words[0] >> 31 ? 24 : 0)) / (words[0] >> 31 ? 8 : 4) | rnd() % 100 << 16;
	memcpy(&words[2], &response, sizeof(response));
	uverbs_write(&rig.call, &rig.context, user_put(words, sizeof(words)), len);
}

static void ioctl_random(void)
{
	struct ib_uverbs_attr a[12];
	uint16_t n = (uint16_t)(rnd() % ARRAY_SIZE(a));

	for (uint16_t i = 0; i < n; i++) {
		a[i] = attr_in((uint16_t)(rnd() % 8 ? rnd() % 16 : 0x1000 + rnd() % 2),
			       rnd() % 2 ? rnd() % 16 : some_address(),
			       (uint16_t)(rnd() % 3 ? 4 * (rnd() % 12) : rnd()));
		a[i].flags = (uint16_t)(rnd() % 2);
	}
	do_ioctl((uint16_t)(rnd() % 18), (uint16_t)(rnd() % 7), a, n);
}

START_TEST(random_commands_leave_nothing_behind)
{
	seed = 7 + (uint32_t)_i;
	rig_start_context();
	make_pd();
	make_cq(8, -1, NULL);
	for (int i = 0; i < COMMAND_ROUNDS; i++) {
		if (rnd() % 2)
			command_random();
		else
			ioctl_random();
	}
	rig_stop();
}
END_TEST

TCase *verbs_fuzz_tcase(void)
{
	TCase *tc = tcase_create("fuzz");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, scribbled_rings_never_lead_outside, 0, 4);
	tcase_add_loop_test(tc, random_commands_leave_nothing_behind, 0, 4);
	return tc;
}
