/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * For libFuzzer: a client of NETLINK_RDMA beside one of uverbs that has objects of each kind. What
 * the input does not say of a message is made right, so that most get past its header; and each
 * answer must be a message, or several, whose attributes lie within it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "tests/unit/nldev_rig.h"
#include "tests/unit/verbs_rig.h"

#define MESSAGES_MAX 16
#define ATTRS_MAX 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void objects_make(void)
{
	struct ib_uverbs_create_srq_resp srq;
	struct rxe_create_srq_resp srq_uhw;
	struct ib_uverbs_create_qp_resp qp;
	struct rxe_create_qp_resp qp_uhw;
	struct ib_uverbs_create_qp req;
	struct ib_uverbs_reg_mr_resp mr;
	uint32_t pd = make_pd(), cq = make_cq(8, -1, NULL);

	qp_request(pd, cq, &req);
	for (int i = 0; i < 60; i++) { /* more than one packet */
		make_mr(pd, user_alloc(64), 64, RNIC_ACCESS_LOCAL_WRITE, &mr);
		make_qp(&req, &qp, &qp_uhw);
	}
	make_srq(pd, 4, 1, 0, &srq, &srq_uhw);
	nl.ids[0] = (struct ucma_entry){.number = 1, .dev = &rig.dev, .qpn = 9};
	nl.ids[1] = (struct ucma_entry){.number = 2, .listens = true, .src.ss_family = 2};
	nl.n_ids = 2;
}

static size_t attr_make(struct feed *f, uint8_t *p)
{
	uint8_t type = feed_u8(f), how = feed_u8(f);
	uint16_t len = how & 0x80 ? feed_u16(f) : 4 + how % 12, types = type;
	uint64_t value = how & 0x40 ? feed_u64(f) : how & 0x20 ? 1 : 5;
	size_t room = len >= 4 && len <= 36 ? (len + 3u) & ~3u : 8;

	memset(p, 0, room);
	memcpy(p, &len, 2);
	memcpy(p + 2, &types, 2);
	for (size_t i = 4; i < room; i++)
		p[i] = (uint8_t)(value >> i * 8 % 64);
	return room;
}

static size_t message_make(struct feed *f, uint8_t *p)
{
	struct nlmsghdr h = {.nlmsg_seq = feed_u8(f)};
	uint8_t op = feed_u8(f), how = feed_u8(f), n = feed_u8(f) % ATTRS_MAX;
	size_t len = sizeof(h);

	h.nlmsg_type = how & 0x80 ? feed_u16(f) : RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op % 32);
	h.nlmsg_flags = how & 0x40   ? feed_u16(f)
			: how & 0x20 ? NLM_F_REQUEST | NLM_F_DUMP
				     : NLM_F_REQUEST | (how & NLM_F_ACK);
	for (uint8_t i = 0; i < n; i++)
		len += attr_make(f, p + len);
	h.nlmsg_len = how & 0x10 ? feed_u16(f) : (uint32_t)len;
	memcpy(p, &h, sizeof(h));
	return len;
}

static void attrs_check(const uint8_t *p, size_t len)
{
	while (len) {
		struct nlattr a;
		size_t step;

		ck_assert_uint_ge(len, sizeof(a));
		memcpy(&a, p, sizeof(a));
		ck_assert_uint_ge(a.nla_len, sizeof(a));
		step = (a.nla_len + 3u) & ~3u;
		ck_assert_uint_le(step, len);
		p += step;
		len -= step;
	}
}

static void packet_check(const uint8_t *p, size_t len)
{
	struct nlmsghdr h;

	memcpy(&h, p, sizeof(h));
	ck_assert_uint_le(h.nlmsg_len, len);
	ck_assert_uint_eq((h.nlmsg_len + 3u) & ~3u, len);
	ck_assert_uint_eq(h.nlmsg_pid, NL_PORT);
	if (h.nlmsg_type == NLMSG_ERROR || h.nlmsg_type == NLMSG_DONE)
		return;
	ck_assert_uint_le(len, 4096);
	attrs_check(p + sizeof(h), len - sizeof(h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[MESSAGES_MAX * (16 + ATTRS_MAX * 36)];
	struct feed feed = {data, size};
	size_t len = 0;
	uint8_t how = feed_u8(&feed);

	if (!rig.context.doorbell) { /* nothing that is asked here changes what there is */
		rig_start_context();
		nl_start();
		objects_make();
	}
	nl.peer.admin = how & 1;
	nl.answer = how & 2 ? -17 : 0;
	for (int i = 0; i < MESSAGES_MAX && feed.left; i++)
		len += message_make(&feed, out + len);
	nl_send(out, len);
	for (uint32_t i = 0; i < nl.n && i < NL_PACKETS_MAX; i++)
		packet_check(nl.packet[i].data, nl.packet[i].len);
	nl_stop();
	return 0;
}
