/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of decode and encode: round trips, truncation, malformed packets. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bth/opcode.h"
#include "bth/packet.h"
#include "bth_suites.h"

/* A packet with a different value in every field that the opcode has. */
static struct bth_packet packet_example(uint8_t opcode, uint32_t payload_len)
{
	uint32_t flags = bth_opcode_info(opcode)->flags;
	struct bth_packet pkt = {
		.opcode = opcode,
		.se = true,
		.migreq = true,
		.pkey = 0x8123,
		.becn = true,
		.dqpn = 0xfedcba,
		.ackreq = true,
		.psn = 0x89abcd,
	};

	if (flags & BTH_F_DETH) {
		pkt.qkey = 0x80010000;
		pkt.sqpn = 0x123456;
	}
	if (flags & (BTH_F_RETH | BTH_F_ATOMIC_ETH)) {
		pkt.va = 0x1122334455667788;
		pkt.rkey = 0x99aabbcc;
	}
	if (flags & BTH_F_RETH)
		pkt.dmalen = 0x7ddeeff0;
	if (flags & BTH_F_ATOMIC_ETH) {
		pkt.swap_add = 0x0102030405060708;
		pkt.compare = 0x1112131415161718;
	}
	if (flags & BTH_F_AETH) {
		pkt.syndrome = 0x62;
		pkt.msn = 0xa1b2c3;
	}
	if (flags & BTH_F_ATOMIC_ACK_ETH)
		pkt.orig = 0x2122232425262728;
	if (flags & BTH_F_IMM)
		pkt.imm = 0x31323334;
	if (flags & BTH_F_IETH)
		pkt.inv_rkey = 0x41424344;
	if (flags & BTH_F_FETH)
		pkt.flush_type = 0x51525354;
	if (flags & BTH_F_PAYLOAD) {
		pkt.payload_len = payload_len;
		pkt.pad = bth_pad(payload_len);
	}
	return pkt;
}

/* Encodes into a fresh block of exactly the packet's length, so that ASan sees every over-read. */
static uint8_t *packet_build(const struct bth_packet *pkt, size_t *len)
{
	uint8_t headers[BTH_HEADERS_MAX];
	size_t n = bth_encode_headers(pkt, headers);
	uint8_t *buf;

	*len = n + pkt->payload_len + pkt->pad;
	buf = malloc(*len);
	ck_assert_ptr_nonnull(buf);
	memcpy(buf, headers, n);
	memset(buf + n, 0x5a, pkt->payload_len);
	memset(buf + n + pkt->payload_len, 0, pkt->pad);
	return buf;
}

static void packets_equal(const struct bth_packet *a, const struct bth_packet *b)
{
	ck_assert_uint_eq(a->opcode, b->opcode);
	ck_assert(a->se == b->se && a->migreq == b->migreq && a->ackreq == b->ackreq);
	ck_assert(a->fecn == b->fecn && a->becn == b->becn);
	ck_assert_uint_eq(a->pad, b->pad);
	ck_assert_uint_eq(a->tver, b->tver);
	ck_assert_uint_eq(a->pkey, b->pkey);
	ck_assert_uint_eq(a->dqpn, b->dqpn);
	ck_assert_uint_eq(a->psn, b->psn);
	ck_assert_uint_eq(a->qkey, b->qkey);
	ck_assert_uint_eq(a->sqpn, b->sqpn);
	ck_assert_uint_eq(a->va, b->va);
	ck_assert_uint_eq(a->rkey, b->rkey);
	ck_assert_uint_eq(a->dmalen, b->dmalen);
	ck_assert_uint_eq(a->swap_add, b->swap_add);
	ck_assert_uint_eq(a->compare, b->compare);
	ck_assert_uint_eq(a->syndrome, b->syndrome);
	ck_assert_uint_eq(a->msn, b->msn);
	ck_assert_uint_eq(a->orig, b->orig);
	ck_assert_uint_eq(a->imm, b->imm);
	ck_assert_uint_eq(a->inv_rkey, b->inv_rkey);
	ck_assert_uint_eq(a->flush_type, b->flush_type);
	ck_assert_uint_eq(a->payload_len, b->payload_len);
}

static void survives_a_round_trip(uint8_t opcode, uint32_t payload_len)
{
	struct bth_packet in = packet_example(opcode, payload_len), out;
	size_t len;
	uint8_t *buf = packet_build(&in, &len);

	memset(&out, 0xee, sizeof(out));
	ck_assert_int_eq(bth_decode(buf, len, &out), BTH_OK);
	packets_equal(&in, &out);
	ck_assert_ptr_eq(out.payload, buf + bth_opcode_info(opcode)->headers_len);
	free(buf);
}

START_TEST(packet_fields_survive_a_round_trip)
{
	for (unsigned op = 0; op < 256; op++)
		for (uint32_t len = 0; bth_opcode_info((uint8_t)op)->name && len < 9; len++)
			survives_a_round_trip((uint8_t)op, len);
}
END_TEST

/* Only the payload's bytes are left as they are. */
START_TEST(packet_frame_has_a_pad_of_zeros_behind_the_payload)
{
	for (uint32_t len = 0; len < 9; len++) {
		uint8_t buf[BTH_HEADERS_MAX + 16], *payload;
		struct bth_packet in = packet_example(BTH_OPCODE(BTH_RC, BTH_WRITE_ONLY), len), out;
		uint32_t pad = -len & 3;

		memset(buf, 0xee, sizeof(buf));
		in.pad = 9; /* which is set anew */
		payload = bth_encode_frame(&in, buf);
		for (uint32_t i = 0; i < len + pad + 1; i++)
			ck_assert_uint_eq(payload[i], i >= len && i < len + pad ? 0 : 0xee);
		ck_assert_int_eq(bth_decode(buf, (size_t)(payload + len + pad - buf), &out),
				 BTH_OK);
		ck_assert_ptr_eq(out.payload, payload);
		packets_equal(&in, &out);
	}
}
END_TEST

static enum bth_verdict truncated_verdict(uint8_t headers_len, uint8_t pad, size_t len)
{
	if (len < headers_len)
		return BTH_SHORT;
	if ((len - headers_len) % 4 != 0 || len - headers_len < pad)
		return BTH_BAD_LENGTH;
	return BTH_OK;
}

static void gets_a_verdict_at_every_length(uint8_t opcode)
{
	const struct bth_opcode_info *info = bth_opcode_info(opcode);
	struct bth_packet in = packet_example(opcode, 7), out;
	size_t len;
	uint8_t *buf = packet_build(&in, &len), *cut;

	for (size_t n = 0; n < len; n++) {
		cut = malloc(n);
		ck_assert(cut || n == 0);
		if (n > 0)
			memcpy(cut, buf, n);
		ck_assert_int_eq(bth_decode(cut, n, &out),
				 truncated_verdict(info->headers_len, in.pad, n));
		free(cut);
	}
	free(buf);
}

START_TEST(packet_truncated_anywhere_gets_a_verdict)
{
	for (unsigned op = 0; op < 256; op++)
		if (bth_opcode_info((uint8_t)op)->name)
			gets_a_verdict_at_every_length((uint8_t)op);
}
END_TEST

START_TEST(packet_of_unknown_opcode_or_version_is_refused)
{
	uint8_t buf[BTH_HEADERS_MAX] = {0};
	struct bth_packet pkt;

	for (unsigned op = 0; op < 256; op++) {
		const struct bth_opcode_info *info = bth_opcode_info((uint8_t)op);
		size_t len = info->name ? info->headers_len : sizeof(buf);

		buf[0] = (uint8_t)op;
		buf[1] = 0;
		buf[11] = 7;
		ck_assert_int_eq(bth_decode(buf, len, &pkt), info->name ? BTH_OK : BTH_BAD_OPCODE);
		/* Who refuses a request has to name it. */
		ck_assert_uint_eq(pkt.opcode, op);
		ck_assert_uint_eq(pkt.psn, 7);
		buf[1] = 1;
		ck_assert_int_eq(bth_decode(buf, len, &pkt), BTH_BAD_VERSION);
	}
}
END_TEST

START_TEST(packet_payload_only_where_the_opcode_has_one)
{
	uint8_t buf[BTH_HEADERS_MAX + 8] = {0};
	struct bth_packet pkt;

	for (unsigned op = 0; op < 256; op++) {
		const struct bth_opcode_info *info = bth_opcode_info((uint8_t)op);

		if (!info->name)
			continue;
		buf[0] = (uint8_t)op;
		ck_assert_int_eq(bth_decode(buf, info->headers_len + 4u, &pkt),
				 info->flags & BTH_F_PAYLOAD ? BTH_OK : BTH_BAD_LENGTH);
	}
}
END_TEST

START_TEST(packet_pad_needs_bytes_to_pad)
{
	uint8_t buf[16] = {BTH_SEND_ONLY, 0x30};
	struct bth_packet pkt;

	ck_assert_int_eq(bth_decode(buf, 12, &pkt), BTH_BAD_LENGTH);
	ck_assert_int_eq(bth_decode(buf, 16, &pkt), BTH_OK);
	ck_assert_uint_eq(pkt.payload_len, 1);
}
END_TEST

START_TEST(packet_reserved_bits_are_ignored)
{
	uint8_t buf[12] = {BTH_SEND_ONLY, 0, 0xff, 0xff, 0x3f, 0, 0, 7, 0x7f, 0, 0, 9};
	struct bth_packet pkt;

	ck_assert_int_eq(bth_decode(buf, sizeof(buf), &pkt), BTH_OK);
	ck_assert_uint_eq(pkt.dqpn, 7);
	ck_assert_uint_eq(pkt.psn, 9);
	ck_assert(!pkt.ackreq && !pkt.fecn && !pkt.becn);
}
END_TEST

START_TEST(packet_psn_is_patched_in_place)
{
	struct bth_packet in = packet_example(BTH_SEND_ONLY, 0), out;
	size_t len;
	uint8_t *buf = packet_build(&in, &len);

	bth_patch_psn(buf, 0x1ffffff, false);
	ck_assert_int_eq(bth_decode(buf, len, &out), BTH_OK);
	in.psn = 0xffffff;
	in.ackreq = false;
	packets_equal(&in, &out);
	bth_patch_psn(buf, 0, true);
	ck_assert_int_eq(bth_decode(buf, len, &out), BTH_OK);
	in.psn = 0;
	in.ackreq = true;
	packets_equal(&in, &out);
	free(buf);
}
END_TEST

START_TEST(packet_of_noise_gets_a_verdict)
{
	uint64_t seed = 4791;
	struct bth_packet pkt;
	uint8_t buf[64];

	for (unsigned i = 0; i < 200000; i++) {
		size_t len = test_random(&seed) % (sizeof(buf) + 1);

		for (size_t j = 0; j < sizeof(buf); j++)
			buf[j] = (uint8_t)test_random(&seed);
		buf[1] &= 0xf0;
		if (bth_decode(buf + sizeof(buf) - len, len, &pkt) != BTH_OK)
			continue;
		ck_assert_ptr_eq(pkt.payload + pkt.payload_len + pkt.pad, buf + sizeof(buf));
	}
}
END_TEST

TCase *bth_packet_tcase(void)
{
	TCase *tc = tcase_create("packet");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, packet_fields_survive_a_round_trip);
	tcase_add_test(tc, packet_frame_has_a_pad_of_zeros_behind_the_payload);
	tcase_add_test(tc, packet_truncated_anywhere_gets_a_verdict);
	tcase_add_test(tc, packet_of_unknown_opcode_or_version_is_refused);
	tcase_add_test(tc, packet_payload_only_where_the_opcode_has_one);
	tcase_add_test(tc, packet_pad_needs_bytes_to_pad);
	tcase_add_test(tc, packet_reserved_bits_are_ignored);
	tcase_add_test(tc, packet_psn_is_patched_in_place);
	tcase_add_test(tc, packet_of_noise_gets_a_verdict);
	return tc;
}
