/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ladders of Linux rxe's traffic, of captures at both ends, and of files that are no captures. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bth/icrc.h"
#include "bth/opcode.h"
#include "net/capfile.h"
#include "net/capframe.h"
#include "suite.h"
#include "tools/capread.h"
#include "tools/ladder.h"

enum { PACKET = 60, DAMAGES = 1500 };

static struct ladder ladder;

static void analyse(const char *path)
{
	char err[512] = "";

	ck_assert_msg(!ladder_load(&ladder, path, err, sizeof(err)), "%s", err);
	ck_assert(ladder_flows_find(&ladder));
	for (uint32_t i = 0; i < ladder.n_flows; i++) {
		ladder_flow_judge(&ladder, &ladder.flows[i]);
		ck_assert(ladder_flow_states(&ladder, &ladder.flows[i]));
	}
}

static void golden(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), GOLDEN_DIR "/%s.pcap", name);
	analyse(path);
}

static void forget(void)
{
	ladder_free(&ladder);
}

static const struct ladder_counts *counts(void)
{
	return &ladder.flows[0].counts;
}

/* How many packets with this PSN have the mark. */
static uint32_t marked(uint32_t psn, enum ladder_mark mark)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ladder.n; i++)
		n += ladder.packets[i].bth.psn == psn && ladder.packets[i].marks & (uint32_t)mark;
	return n;
}

static enum ladder_state last_state(uint8_t end)
{
	const struct ladder_flow *f = &ladder.flows[0];
	enum ladder_state state = LADDER_STATE_UNKNOWN;

	for (uint32_t i = 0; i < f->n_changes; i++)
		if (f->changes[i].end == end)
			state = f->changes[i].state;
	return state;
}

/* golden/README: the server loses PSN 0x1000 / 0x1001 once: NAK 0x60, go-back-N. */
START_TEST(one_lost_packet_shows_the_loss_the_nak_and_the_resend)
{
	static const struct {
		const char *name;
		uint32_t psn;
	} traces[] = {{"lost_first", 0x1000}, {"lost_middle", 0x1001}};

	for (size_t i = 0; i < 2; i++) {
		golden(traces[i].name);
		ck_assert_uint_eq(ladder.n_flows, 1);
		ck_assert_uint_eq(counts()->lost, 1);
		ck_assert_uint_eq(counts()->naks, 1);
		ck_assert_uint_eq(counts()->again, 6);
		ck_assert_uint_eq(counts()->timeouts, 0);
		ck_assert_uint_eq(marked(traces[i].psn, LADDER_LOST), 1);
		ck_assert_uint_eq(marked(traces[i].psn, LADDER_NAK), 1);
		ck_assert_uint_eq(marked(traces[i].psn, LADDER_AGAIN), 1);
		forget();
	}
}
END_TEST

/* The last packet, or its acknowledgement, is lost: nobody can say which, but the time is seen. */
START_TEST(silence_shows_as_a_timeout)
{
	static const char *const names[] = {"lost_last", "lost_ack"};

	for (size_t i = 0; i < 2; i++) {
		golden(names[i]);
		ck_assert_uint_eq(counts()->timeouts, 1);
		ck_assert_uint_eq(counts()->lost, 0);
		ck_assert_uint_eq(marked(0x1000, LADDER_TIMEOUT), 1);
		ck_assert_uint_eq(marked(0x1000, LADDER_UNANSWERED), 1);
		forget();
	}
	/* timeout 14 is 67 ms; retry_cnt 3 */
	golden("lost_all");
	ck_assert_uint_eq(counts()->timeouts, 3);
	ck_assert_uint_eq(marked(0x1000, LADDER_UNANSWERED), 4);
	for (uint32_t i = 1; i < ladder.n; i++) {
		ck_assert_uint_gt(ladder.packets[i].silence, 60000000);
		ck_assert_uint_lt(ladder.packets[i].silence, 80000000);
	}
	forget();
}
END_TEST

START_TEST(receiver_that_is_not_ready_loses_nothing)
{
	golden("rnr");
	ck_assert_uint_eq(counts()->rnrs, 4);
	ck_assert_uint_eq(counts()->lost, 0);
	ck_assert_uint_eq(counts()->timeouts, 0);
	ck_assert_uint_eq(counts()->again, 8);
	forget();
}
END_TEST

START_TEST(refused_request_leaves_both_ends_in_error)
{
	static const char *const names[] = {"bad_rkey", "bad_rkey_read", "no_access",
					    "out_of_range", "recv_too_small"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		golden(names[i]);
		ck_assert_uint_ge(counts()->naks, 1);
		ck_assert_uint_eq(counts()->lost, 0);
		ck_assert_int_eq(last_state(0), LADDER_STATE_ERR);
		ck_assert_int_eq(last_state(1), LADDER_STATE_ERR);
		forget();
	}
}
END_TEST

/* Of both ends' QPs, though packets only name the one that they go to. */
START_TEST(halves_of_a_flow_are_paired)
{
	golden("rc_all_1024");
	ck_assert_uint_eq(ladder.n_flows, 1);
	ck_assert_uint_eq(ladder.flows[0].end[0].addr[15], 2);
	ck_assert_uint_eq(ladder.flows[0].end[1].addr[15], 3);
	ck_assert_uint_ne(ladder.flows[0].end[0].qpn, ladder.flows[0].end[1].qpn);
	ck_assert_uint_eq(counts()->packets, ladder.n);
	ck_assert_uint_eq(counts()->lost + counts()->again + counts()->timeouts, 0);
	ck_assert_int_eq(last_state(0), LADDER_STATE_RTS);
	ck_assert_int_eq(last_state(1), LADDER_STATE_RTR);
	forget();
}
END_TEST

START_TEST(connection_management_belongs_to_its_flow)
{
	const struct ladder_flow *f;

	golden("cm_rping");
	f = &ladder.flows[ladder.packets[0].flow];
	ck_assert_uint_eq(f->n, ladder.n);
	ck_assert_int_eq(f->changes[0].state, LADDER_STATE_INIT);
	ck_assert_int_eq(f->changes[1].state, LADDER_STATE_RTR);
	ck_assert_int_eq(f->changes[2].state, LADDER_STATE_RTS);
	ck_assert_int_eq(f->changes[3].state, LADDER_STATE_RTS);
	ck_assert_int_eq(f->changes[4].state, LADDER_STATE_GONE);
	forget();
}
END_TEST

START_TEST(undisturbed_traffic_shows_nothing_unusual)
{
	static const char *const names[] = {"rc_all_4096", "rc_small",	"rc_zero", "rc_imm",
					    "rc_atomic",   "rc_inline", "rc_ipv6", "rc_window",
					    "rc_long",	   "uc_all",	"ud_all"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		golden(names[i]);
		for (uint32_t k = 0; k < ladder.n; k++)
			ck_assert_msg(!ladder.packets[k].marks, "%s: packet %u has marks %x",
				      names[i], k, ladder.packets[k].marks);
		forget();
	}
}
END_TEST

/* ---- captures at both ends, with comments ---- */

struct tape {
	struct capfile f;
	uint8_t buf[1 << 16];
	uint64_t time;
};

static void tape_begin(struct tape *t)
{
	t->f = (struct capfile){.format = CAPFILE_PCAPNG, .buf = t->buf, .size = sizeof(t->buf)};
	t->time = 1000;
	ck_assert(capfile_begin(&t->f, "test"));
	ck_assert(capfile_interface(&t->f, "rxe0", "", NULL));
}

/* A SEND Only of 16 bytes from host 1 to host 2. */
static void tape_send(struct tape *t, uint32_t psn, bool out, const char *comment)
{
	struct bth_packet pkt = {.opcode = BTH_OPCODE(BTH_RC, BTH_SEND_ONLY),
				 .dqpn = 17,
				 .psn = psn,
				 .payload_len = 16};
	uint8_t head[CAPFRAME_HEAD_MAX], data[PACKET] = {0};
	struct capframe frame = {.out = out, .sport = 0xc000, .dport = 4791, .data = data};
	struct capfile_packet p = {.time = t->time += 1000,
				   .out = out,
				   .head = head,
				   .data = data,
				   .comment = comment};

	frame.src[10] = frame.src[11] = frame.dst[10] = frame.dst[11] = 0xff;
	frame.src[15] = 1;
	frame.dst[15] = 2;
	frame.len = (uint32_t)bth_encode_headers(&pkt, data) + 16 + BTH_ICRC_LEN;
	icrc_store(data + frame.len - BTH_ICRC_LEN, psn * 77);
	p.head_len = capframe_head(&frame, head);
	p.data_len = frame.len;
	ck_assert(capfile_packet(&t->f, &p));
}

static void tape_analyse(struct tape *t)
{
	char path[32];
	int fd = memfd_create("capture", 0);

	ck_assert_int_eq(write(fd, t->buf, t->f.len), (ssize_t)t->f.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	analyse(path);
	close(fd);
}

START_TEST(packet_seen_at_both_ends_is_one)
{
	static struct tape t;

	tape_begin(&t);
	tape_send(&t, 1, true, NULL);
	tape_send(&t, 1, false, NULL);
	tape_send(&t, 2, true, NULL); /* lost by the net */
	tape_send(&t, 3, true, NULL);
	tape_send(&t, 3, false, "dropped by rule 4");
	tape_send(&t, 4, true, "dropped by rule 7");
	tape_send(&t, 5, true, NULL);
	tape_send(&t, 5, false, NULL);
	tape_analyse(&t);
	ck_assert_uint_eq(ladder.n, 5);
	ck_assert_uint_eq(ladder.packets[0].arrived - ladder.packets[0].time, 1000);
	ck_assert_uint_eq(counts()->lost, 1);
	ck_assert_uint_eq(marked(2, LADDER_LOST), 1);
	ck_assert_uint_eq(counts()->dropped, 2);
	ck_assert_uint_eq(marked(3, LADDER_DROPPED), 1);
	ck_assert(ladder_says(&ladder.packets[2], "rule 4"));
	ck_assert(ladder_says(&ladder.packets[3], "rule 7"));
	forget();
}
END_TEST

/* Comments are anybody's text. */
START_TEST(pictures_have_no_mark_up_of_others)
{
	static struct tape t;
	char *page = NULL;
	size_t len;
	FILE *to;

	tape_begin(&t);
	tape_send(&t, 1, true, "dropped <script>&\"\x1b[2J\xff by rule 1");
	tape_analyse(&t);
	for (int kind = 0; kind < 4; kind++) {
		to = open_memstream(&page, &len);
		if (kind == 0)
			ladder_text_draw(&ladder, 0, false, to);
		else if (kind == 1)
			ladder_svg_draw(&ladder, 0, false, to);
		else if (kind == 2)
			ladder_json_draw(&ladder, 0, false, to);
		else
			ladder_html_draw(&ladder, 0, false, "<b>", to);
		fclose(to);
		ck_assert_ptr_nonnull(strstr(page, "by rule 1"));
		ck_assert_ptr_null(strchr(page, '\x1b'));
		ck_assert_ptr_null(strchr(page, '\xff'));
		if (kind == 1 || kind == 3)
			ck_assert_ptr_null(strstr(page, "<script"));
		ck_assert_ptr_null(strstr(page, "<b>"));
		free(page);
	}
	forget();
}
END_TEST

/* ---- hostile files ---- */

static uint8_t *file_read(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 20);

	ck_assert_ptr_nonnull(f);
	*len = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

static void try_file(const uint8_t *data, size_t len)
{
	char err[512], path[32];
	FILE *to = fopen("/dev/null", "w");
	int fd = memfd_create("capture", 0);

	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ladder_load(&ladder, path, err, sizeof(err));
	ck_assert(ladder_flows_find(&ladder));
	for (uint32_t i = 0; i < ladder.n_flows; i++) {
		ladder_flow_judge(&ladder, &ladder.flows[i]);
		ck_assert(ladder_flow_states(&ladder, &ladder.flows[i]));
	}
	ladder_html_draw(&ladder, 0, false, path, to);
	fclose(to);
	close(fd);
	forget();
}

static void damage(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len);
	uint32_t random = 1;

	for (size_t i = 0; i < DAMAGES; i++) {
		memcpy(copy, data, len);
		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			copy[random % len] = (uint8_t)(random >> 24);
		}
		try_file(copy, i % 4 ? len : random % len);
	}
	free(copy);
}

START_TEST(damaged_captures_are_drawn_as_far_as_they_go)
{
	static struct tape t;
	size_t len;
	uint8_t *data = file_read(GOLDEN_DIR "/rnr.pcap", &len);

	damage(data, len);
	free(data);
	tape_begin(&t);
	for (uint32_t i = 0; i < 20; i++)
		tape_send(&t, i, i % 2, "dropped by rule 1");
	damage(t.buf, t.f.len);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("ladder");
	TCase *tc = tcase_create("ladder");

	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, one_lost_packet_shows_the_loss_the_nak_and_the_resend);
	tcase_add_test(tc, silence_shows_as_a_timeout);
	tcase_add_test(tc, receiver_that_is_not_ready_loses_nothing);
	tcase_add_test(tc, refused_request_leaves_both_ends_in_error);
	tcase_add_test(tc, halves_of_a_flow_are_paired);
	tcase_add_test(tc, connection_management_belongs_to_its_flow);
	tcase_add_test(tc, undisturbed_traffic_shows_nothing_unusual);
	tcase_add_test(tc, packet_seen_at_both_ends_is_one);
	tcase_add_test(tc, pictures_have_no_mark_up_of_others);
	tcase_add_test(tc, damaged_captures_are_drawn_as_far_as_they_go);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return suite_run_all(srunner_create(suite()));
}
