/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of bth/ on recorded traffic of Linux rxe. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "bth/icrc.h"
#include "bth/ipid.h"
#include "bth/packet.h"
#include "bth_suites.h"
#include "bth_trace.h"

START_TEST(golden_folder_and_list_agree)
{
	DIR *dir = opendir(GOLDEN_DIR);
	struct dirent *entry;
	unsigned listed = 0, found = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)))
		found += strstr(entry->d_name, ".pcap") != NULL;
	closedir(dir);
	while (trace_names[listed])
		listed++;
	ck_assert_uint_eq(listed, found);
}
END_TEST

static void encodes_alike(const struct trace_packet *tp, void *ctx)
{
	size_t n = tp->len - BTH_ICRC_LEN, headers;
	uint8_t *again = calloc(1, n + BTH_HEADERS_MAX);
	struct bth_packet pkt;
	uint32_t state;

	(void)ctx;
	ck_assert_ptr_nonnull(again);
	ck_assert_int_eq(bth_decode(tp->bth, n, &pkt), BTH_OK);
	headers = bth_encode_headers(&pkt, again);
	ck_assert_uint_eq(headers + pkt.payload_len + pkt.pad, n);
	memcpy(again + headers, pkt.payload, pkt.payload_len);
	ck_assert_mem_eq(again, tp->bth, n);

	state = icrc_begin(&tp->flow, tp->len, tp->ip_id);
	icrc_store(again + n, icrc_finish(state, again, n));
	ck_assert_mem_eq(again, tp->bth, tp->len);
	free(again);
}

START_TEST(golden_packets_are_encoded_to_the_same_bytes)
{
	trace_for_each(trace_names[_i], encodes_alike, NULL);
}
END_TEST

static void id_is_solved(const struct trace_packet *tp, void *ctx)
{
	uint32_t received = icrc_load(tp->bth + tp->len - BTH_ICRC_LEN);

	(void)ctx;
	if (tp->flow.ipv6)
		ck_assert_uint_eq(trace_icrc(tp, 0), received);
	else
		ck_assert_int_eq(icrc_solve_id(trace_icrc(tp, 0), received, tp->len), tp->ip_id);
}

START_TEST(golden_identifications_are_solved)
{
	trace_for_each(trace_names[_i], id_is_solved, NULL);
}
END_TEST

/* The two ends of a trace; 10.77.0.2 and .3. */
struct ends {
	struct ipid_peer peers[2];
	unsigned solved, packets;
	bool corrupt; /* show each peer that is known all corruptions of its packets first */
};

static void flip(uint8_t *buf, size_t bit)
{
	buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

/*
 * Shows the packet with a single bit wrong, each but for the byte that the ICRC does not cover,
 * and but for most of a long payload, to save time.
 */
static void corruptions_are_wrong(const struct trace_packet *tp, struct ipid_peer *peer)
{
	uint8_t *buf = malloc(tp->len);
	struct trace_packet bad = *tp;

	ck_assert_ptr_nonnull(buf);
	memcpy(buf, tp->bth, tp->len);
	bad.bth = buf;
	for (size_t bit = 0; bit < tp->len * 8;
	     bit += bit / 8 < 64 || bit / 8 + 8 > tp->len ? 1 : 11) {
		if (bit / 8 == 4)
			continue;
		flip(buf, bit);
		ck_assert_int_eq(ipid_check_at(peer, tp->time, trace_icrc(&bad, 0),
					       icrc_load(buf + tp->len - BTH_ICRC_LEN), tp->len),
				 IPID_WRONG);
		flip(buf, bit);
	}
	free(buf);
}

static void peer_sends(const struct trace_packet *tp, void *ctx)
{
	uint32_t received = icrc_load(tp->bth + tp->len - BTH_ICRC_LEN);
	struct ends *ends = ctx;
	struct ipid_peer *peer;
	enum ipid_verdict verdict;

	if (tp->flow.ipv6)
		return;
	ck_assert(tp->flow.src[3] == 2 || tp->flow.src[3] == 3);
	peer = &ends->peers[tp->flow.src[3] - 2];
	if (ends->corrupt && peer->mode != 0)
		corruptions_are_wrong(tp, peer);
	verdict = ipid_check_at(peer, tp->time, trace_icrc(tp, 0), received, tp->len);
	ck_assert_int_ne(verdict, IPID_WRONG);
	ends->solved += verdict == IPID_SOLVED;
	ends->packets++;
}

START_TEST(golden_numbering_is_learnt_from_the_first_packet)
{
	struct ends ends = {0};

	trace_for_each(trace_names[_i], peer_sends, &ends);
	ck_assert_uint_le(ends.solved, 2);
}
END_TEST

START_TEST(golden_packets_with_one_wrong_bit_are_dropped)
{
	struct ends ends = {.corrupt = true};

	trace_for_each(trace_names[_i], peer_sends, &ends);
}
END_TEST

TCase *bth_golden_tcase(void)
{
	TCase *tc = tcase_create("golden");
	int traces = 0;

	while (trace_names[traces])
		traces++;
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, golden_folder_and_list_agree);
	tcase_add_loop_test(tc, golden_packets_are_encoded_to_the_same_bytes, 0, traces);
	tcase_add_loop_test(tc, golden_identifications_are_solved, 0, traces);
	tcase_add_loop_test(tc, golden_numbering_is_learnt_from_the_first_packet, 0, traces);
	tcase_add_loop_test(tc, golden_packets_with_one_wrong_bit_are_dropped, 0, traces);
	return tc;
}
