/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For libFuzzer: a client of uverbs, by write and by ioctl, that also writes into its rings. Words
 * whose top byte is POINTER are addresses in the client's memory, so that commands find some.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed.h"
#include "tests/unit/verbs_rig.h"

#define POINTER 0xa5
#define COMMANDS_MAX 48
#define WORDS 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t value_take(struct feed *f)
{
	uint64_t value = feed_u64(f);

	return value >> 56 == POINTER ? (uintptr_t)rig.user + (value & 0xffff) : value;
}

static void by_write(struct feed *f)
{
	uint64_t words[WORDS];
	uint8_t number = feed_u8(f), n = feed_u8(f) % WORDS;
	uint32_t head = number % 64 | (number & 0x80 ? IB_USER_VERBS_CMD_FLAG_EXTENDED : 0);
	uint32_t len = 8 + 8 * n;
	uint32_t in = head & IB_USER_VERBS_CMD_FLAG_EXTENDED ? (len - 24) / 8 : len / 4;

	for (size_t i = 1; i <= n; i++)
		words[i] = value_take(f);
	words[0] = head | (uint64_t)(uint16_t)(number & 0x40 ? feed_u16(f) : in) << 32 |
		   (uint64_t)feed_u8(f) << 48;
	(void)uverbs_write(&rig.call, &rig.context, user_put(words, len), len);
}

static void by_ioctl(struct feed *f)
{
	struct ib_uverbs_attr a[10];
	uint16_t object = feed_u8(f) % 20, method = feed_u8(f) % 8,
		 n = feed_u8(f) % (sizeof(a) / sizeof(a[0]));

	for (uint16_t i = 0; i < n; i++) {
		uint8_t id = feed_u8(f), how = feed_u8(f);

		a[i] = attr_in(id & 0x80 ? 0x1000 | (id & 3) : id % 20, value_take(f),
			       how & 0x80 ? feed_u16(f) : how & 0x3c);
		a[i].flags = how & 1;
	}
	(void)do_ioctl(object, method, a, n);
}

static void into_rings(struct feed *f)
{
	uint8_t which = feed_u8(f);
	struct ring_range *r = rig.context.ranges;
	uint64_t at = feed_u16(f), value = value_take(f);

	for (; r && which--; r = r->next)
		;
	if (!r)
		return;
	at %= r->size - sizeof(value);
	(void)!pwrite(rig.context.fd, &value, sizeof(value), (off_t)(r->offset + at));
}

/* What the core does with the rings of every QP. */
static void rings_drain(void)
{
	struct uobject *u;

	for (uint32_t from = 0; (u = uobject_next(&rig.context, UOBJ_QP, from));
	     from = u->handle + 1) {
		struct uverbs_qp *qp = u->object;
		struct rnic_send_wr wr;
		struct rnic_recv_wr recv;

		for (int i = 0; i < 100 && rxe_recv_next(&qp->rxe.rq, &recv); i++)
			ck_assert_uint_le(recv.num_sge, qp->rxe.rq.max_sge);
		for (int i = 0; i < 100 && rxe_send_next(&qp->rxe, &wr); i++) {
			ck_assert_uint_le(wr.num_sge, qp->rxe.sq.max_sge);
			ck_assert_uint_le(wr.inline_len, qp->rxe.sq.max_inline);
			rxe_send_retire(&qp->rxe, wr.slot);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct feed feed = {data, size};

	rig_start_context();
	make_cq(8, -1, NULL);
	for (int i = 0; i < COMMANDS_MAX && feed.left; i++) {
		switch (feed_u8(&feed) % 8) {
		case 0:
			into_rings(&feed);
			break;
		case 1:
			rings_drain();
			break;
		case 2:
		case 3:
		case 4:
			by_ioctl(&feed);
			break;
		default:
			by_write(&feed);
			break;
		}
	}
	rig_stop();
	return 0;
}
