/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of communication management messages, on recorded ones and field by field. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/cm.h"
#include "bth/packet.h"
#include "bth/wire.h"
#include "bth_suites.h"
#include "bth_trace.h"

struct seen {
	unsigned types[CM_TYPE_LAST + 1];
	struct cm_msg msgs[16];
	unsigned n;
};

static void reproduced(const struct trace_packet *tp, void *ctx)
{
	uint8_t again[MAD_LEN];
	struct seen *seen = ctx;
	struct bth_packet pkt;
	struct cm_msg msg;
	struct mad mad;

	ck_assert_int_eq(bth_decode(tp->bth, tp->len - BTH_ICRC_LEN, &pkt), BTH_OK);
	if (pkt.dqpn != 1)
		return;
	ck_assert(mad_decode(pkt.payload, pkt.payload_len, &mad));
	ck_assert(cm_decode(&mad, &msg));
	memset(again, 0xa5, sizeof(again));
	cm_encode(&msg, again);
	ck_assert_uint_eq(pkt.payload_len, MAD_LEN);
	ck_assert_mem_eq(again, pkt.payload, MAD_LEN);
	seen->types[msg.type]++;
	ck_assert_uint_lt(seen->n, 16);
	seen->msgs[seen->n++] = msg;
}

START_TEST(recorded_messages_are_encoded_to_the_same_bytes)
{
	static const char *const traces[] = {"cm_rping", "cm_rping_ipv6", "cm_ucmatose"};
	struct seen seen = {0};

	trace_for_each(traces[_i], reproduced, &seen);
	ck_assert_uint_ge(seen.types[CM_REQ], 1);
	ck_assert_uint_ge(seen.types[CM_REP], 1);
	ck_assert_uint_ge(seen.types[CM_RTU], 1);
	ck_assert_uint_ge(seen.types[CM_DREQ], 1);
	ck_assert_uint_ge(seen.types[CM_DREP], 1);
}
END_TEST

START_TEST(recorded_reject_is_read)
{
	struct seen seen = {0};

	trace_for_each("cm_reject", reproduced, &seen);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_int_eq(seen.msgs[0].type, CM_REQ);
	ck_assert_int_eq(seen.msgs[1].type, CM_REJ);
	ck_assert_uint_eq(seen.msgs[1].remote_id, seen.msgs[0].local_id);
	ck_assert_uint_eq(seen.msgs[1].reason, 8); /* invalid service ID */
	ck_assert_uint_eq(seen.msgs[1].tid, seen.msgs[0].tid);
}
END_TEST

/* What Linux fills into a REQ is known from its sources and from the addresses of the trace. */
START_TEST(recorded_request_is_read)
{
	struct seen seen = {0};
	const struct cm_msg *req = &seen.msgs[0], *rep = &seen.msgs[1];

	trace_for_each("cm_rping", reproduced, &seen);
	ck_assert_int_eq(req->type, CM_REQ);
	ck_assert_uint_eq(req->service_id >> 16, 0x0106); /* RDMA_PS_TCP, over its port */
	ck_assert_uint_eq(req->transport, 0);
	ck_assert_uint_eq(req->pkey, 0xffff);
	ck_assert_uint_eq(req->primary.local_gid[15], 2);
	ck_assert_uint_eq(req->primary.remote_gid[15], 3);
	ck_assert_uint_eq(req->private_data[0], 0); /* version of the IP header */
	ck_assert_uint_eq(req->private_data[1], 0x40);
	ck_assert_int_eq(rep->type, CM_REP);
	ck_assert_uint_eq(rep->remote_id, req->local_id);
	ck_assert_uint_ne(rep->qpn, 0);
}
END_TEST

/* Each bit of a message, reserved ones aside, is one of a field's: decode and encode lose none. */
START_TEST(every_bit_of_a_field_survives)
{
	uint8_t buf[MAD_LEN], again[MAD_LEN];
	unsigned kept = 0, lost = 0;
	struct cm_msg msg = {.type = (enum cm_type)_i};
	struct mad mad;

	cm_encode(&msg, buf);
	for (unsigned bit = MAD_HEADER_LEN * 8; bit < MAD_LEN * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		ck_assert(mad_decode(buf, sizeof(buf), &mad));
		ck_assert(cm_decode(&mad, &msg));
		cm_encode(&msg, again);
		if (memcmp(buf, again, sizeof(buf)) == 0)
			kept++;
		else
			lost++;
		buf[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	ck_assert_uint_eq(kept + lost, MAD_DATA_LEN * 8);
	/* Reserved bits are few in every type. */
	ck_assert_uint_le(lost, 20 * 8);
	ck_assert_uint_ge(kept, 8 * cm_private_len(msg.type) + 64);
}
END_TEST

/* As Linux's ibta_vol1_c12.h has it. */
START_TEST(vendor_and_its_options_lie_where_linux_has_them)
{
	static const struct {
		enum cm_type type;
		uint8_t at[3];
	} places[] = {
		{CM_REQ, {5, 6, 7}},
		{CM_REP, {15, 19, 23}},
		{CM_SIDR_REP, {6, 7, 11}},
	};
	struct cm_msg msg = {.type = places[_i].type, .attr_mod = 0x01020304};
	uint8_t buf[MAD_LEN];

	cm_vendor_set(&msg, 0xa1b2c3);
	ck_assert_uint_eq(cm_vendor_get(&msg), 0xa1b2c3);
	cm_encode(&msg, buf);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(buf[MAD_HEADER_LEN + places[_i].at[i]], 0xa1 + 0x11 * i);
	ck_assert_uint_eq(wire_get32(buf + 20), msg.attr_mod);
}
END_TEST

START_TEST(what_is_no_cm_message_is_refused)
{
	struct cm_msg msg = {.type = CM_RTU};
	uint8_t buf[MAD_LEN];
	struct mad mad;
	static const struct {
		unsigned at;
		uint8_t value;
	} wrong[] = {{0, 2}, {1, 3}, {2, 1}, {3, 1}, {17, 0x0f}, {17, 0x1b}, {16, 1}};

	cm_encode(&msg, buf);
	ck_assert(!mad_decode(buf, MAD_LEN - 1, &mad));
	ck_assert(mad_decode(buf, MAD_LEN, &mad));
	ck_assert(cm_decode(&mad, &msg));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t before = buf[wrong[i].at];

		buf[wrong[i].at] = wrong[i].value;
		ck_assert(mad_decode(buf, MAD_LEN, &mad));
		ck_assert(!cm_decode(&mad, &msg));
		buf[wrong[i].at] = before;
	}
}
END_TEST

START_TEST(types_have_names)
{
	ck_assert_str_eq(cm_type_name(CM_REQ), "REQ");
	ck_assert_str_eq(cm_type_name(CM_APR), "APR");
	ck_assert_str_eq(cm_type_name(0), "?");
	ck_assert_str_eq(cm_type_name(CM_APR + 1), "?");
}
END_TEST

TCase *bth_cm_tcase(void)
{
	TCase *tc = tcase_create("cm");

	tcase_add_loop_test(tc, recorded_messages_are_encoded_to_the_same_bytes, 0, 3);
	tcase_add_test(tc, recorded_reject_is_read);
	tcase_add_test(tc, recorded_request_is_read);
	tcase_add_loop_test(tc, every_bit_of_a_field_survives, CM_TYPE_FIRST, CM_TYPE_LAST + 1);
	tcase_add_loop_test(tc, vendor_and_its_options_lie_where_linux_has_them, 0, 3);
	tcase_add_test(tc, what_is_no_cm_message_is_refused);
	tcase_add_test(tc, types_have_names);
	return tc;
}
