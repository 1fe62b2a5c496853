/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a port shows of its packets to a recorder. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bth/icrc.h"
#include "net/capframe.h"
#include "net/recorder.h"
#include "net_pair.h"
#include "net_suites.h"

enum { PATIENCE_MS = 60000, LINK = CAPFRAME_LINK_LEN };

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

struct tape {
	int fd;
	struct net_recorder *r;
	uint8_t *file;
	size_t len;
};

enum { IP = 28 + LINK }; /* in a packet block */

static void tape_begin(struct tape *t, struct net_port *port)
{
	struct net_recorder_config cfg = {.application = "test"};

	t->fd = memfd_create("capture", 0);
	cfg.fd = dup(t->fd);
	ck_assert_int_eq(net_recorder_create(&cfg, &t->r), 0);
	ck_assert_int_eq(net_recorder_interface(t->r, "rxe0", ""), 0);
	ck_assert_int_eq(net_port_tap(port, t->r, 0, 0x12345), 0);
}

static void tape_end(struct tape *t, struct net_port *port)
{
	net_port_untap(port, t->r);
	net_recorder_destroy(t->r, PATIENCE_MS);
	t->len = (size_t)lseek(t->fd, 0, SEEK_END);
	t->file = malloc(t->len);
	ck_assert_int_eq(pread(t->fd, t->file, t->len, 0), (ssize_t)t->len);
	close(t->fd);
}

/* The next packet block from *at on, or NULL. */
static const uint8_t *tape_next(const struct tape *t, size_t *at)
{
	while (*at + 12 <= t->len) {
		const uint8_t *block = t->file + *at;

		*at += word(block + 4);
		if (word(block) == 6)
			return block;
	}
	return NULL;
}

/* Its ICRC, by the headers that were recorded, is right. */
static bool icrc_is_right(const uint8_t *ip)
{
	struct icrc_flow flow = {.sport = (uint16_t)be16(ip + 20),
				 .dport = (uint16_t)be16(ip + 22)};
	uint32_t len = be16(ip + 24) - 8;

	memcpy(flow.src, ip + 12, 4);
	memcpy(flow.dst, ip + 16, 4);
	return icrc_finish(icrc_begin(&flow, len, (uint16_t)be16(ip + 4)), ip + 28, len - 4) ==
	       icrc_load(ip + 28 + len - 4);
}

static bool says(const uint8_t *block, const char *comment)
{
	return memmem(block, word(block + 4), comment, strlen(comment)) != NULL;
}

/* A run is one datagram to the kernel, and yet each packet has the ID that it has on the wire. */
START_TEST(port_shows_the_packets_of_a_run)
{
	enum { N = 5, SEG = 500 };
	struct tape sent, received;
	struct pair p;
	size_t at = 0;

	pair_create(&p, NET_GSO_ON);
	tape_begin(&sent, p.a);
	tape_begin(&received, p.b);
	pair_tx(&p, pair_run(&p, SEG, N * SEG), 0);
	pair_flush(&p);
	pair_rx(&p, N, PAIR_PKTS_MAX);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 1);
	tape_end(&sent, p.a);
	tape_end(&received, p.b);
	for (const struct tape *t = &sent; t; t = t == &sent ? &received : NULL) {
		at = 0;
		for (uint32_t i = 0; i < N; i++) {
			const uint8_t *block = tape_next(t, &at);

			ck_assert_ptr_nonnull(block);
			ck_assert_uint_eq(word(block + 20), LINK + 28 + SEG);
			/* protocol, interface, no link, outgoing or to us */
			ck_assert_mem_eq(block + 28, "\x8\0\0\0\0\1\x23\x45\xff\xfe", 10);
			ck_assert_uint_eq(block[28 + 10], t == &sent ? 4 : 0);
			ck_assert_uint_eq(be16(block + IP + 4), i);
			ck_assert(icrc_is_right(block + IP));
			ck_assert(says(block, t == &sent ? "\2\0\4\0\6" : "\2\0\4\0\5"));
		}
		ck_assert_ptr_null(tape_next(t, &at));
		free(t->file);
	}
	pair_destroy(&p);
}
END_TEST

START_TEST(port_shows_what_faults_take_away)
{
	char err[FAULT_ERROR_MAX];
	struct tape sent, received;
	const uint8_t *block;
	struct pair p;
	size_t at = 0;
	uint32_t id;

	pair_create(&p, NET_GSO_ON);
	ck_assert_int_eq(fault_rules_add(p.faults_a, 0, "tx drop nth=2", &id, err, sizeof(err)), 0);
	ck_assert_int_eq(fault_rules_add(p.faults_b, 0, "rx drop nth=2", &id, err, sizeof(err)), 0);
	tape_begin(&sent, p.a);
	tape_begin(&received, p.b);
	pair_tx(&p, pair_run(&p, 500, 4 * 500), 0);
	pair_flush(&p);
	pair_rx(&p, 2, PAIR_PKTS_MAX);
	tape_end(&sent, p.a);
	tape_end(&received, p.b);
	for (uint32_t i = 0; i < 4; i++) {
		block = tape_next(&sent, &at);
		ck_assert_ptr_nonnull(block);
		ck_assert(icrc_is_right(block + IP));
		ck_assert_int_eq(says(block, "dropped by rule 1"), i == 1);
	}
	at = 0;
	for (uint32_t i = 0; i < 3; i++) {
		block = tape_next(&received, &at);
		ck_assert_ptr_nonnull(block);
		ck_assert_int_eq(says(block, "dropped by rule 1"), i == 1);
	}
	free(sent.file);
	free(received.file);
	pair_destroy(&p);
}
END_TEST

/* What rules changed is shown as it left, copies too. */
START_TEST(port_shows_what_has_a_wrong_icrc)
{
	char err[FAULT_ERROR_MAX];
	struct tape sent, received;
	struct pair p;
	size_t at = 0, at_b = 0;
	uint32_t id;

	pair_create(&p, NET_GSO_ON);
	ck_assert_int_eq(fault_rules_add(p.faults_a, 0, "tx corrupt=bits:1 icrc=wrong nth=2", &id,
					 err, sizeof(err)),
			 0);
	ck_assert_int_eq(
		fault_rules_add(p.faults_a, 0, "tx duplicate nth=3", &id, err, sizeof(err)), 0);
	tape_begin(&sent, p.a);
	tape_begin(&received, p.b);
	pair_tx(&p, pair_run(&p, 500, 3 * 500), 0);
	pair_flush(&p);
	pair_rx(&p, 3, PAIR_PKTS_MAX);
	tape_end(&sent, p.a);
	tape_end(&received, p.b);
	for (uint32_t i = 0; i < 4; i++) {
		const uint8_t *out = tape_next(&sent, &at), *in = tape_next(&received, &at_b);

		ck_assert_ptr_nonnull(out);
		ck_assert_ptr_nonnull(in);
		ck_assert_int_eq(icrc_is_right(out + IP), i != 1);
		ck_assert_int_eq(says(out, "by rule 1"), i == 1);
		ck_assert_int_eq(says(out, "by rule 2"), i > 1);
		ck_assert_int_eq(says(in, "bad ICRC, dropped"), i == 1);
		ck_assert_mem_eq(out + IP + 28, in + IP + 28, 500);
	}
	ck_assert_ptr_null(tape_next(&sent, &at));
	ck_assert_ptr_null(tape_next(&received, &at_b));
	free(sent.file);
	free(received.file);
	pair_destroy(&p);
}
END_TEST

/* The label of an IPv6 packet is as its sender asked, and as the receiver's kernel tells. */
START_TEST(port_shows_flow_labels)
{
	static const uint8_t loopback[16] = {[15] = 1};
	struct tape tape;
	struct net_tx tx;
	struct pair p;
	size_t at = 0;

	pair_create_without_addresses(&p, NET_GSO_OFF);
	memcpy(p.addr_a, loopback, 16);
	memcpy(p.addr_b, loopback, 16);
	if (net_port_addr_add(p.a, p.addr_a, 0) < 0) { /* no IPv6 here */
		pair_destroy(&p);
		return;
	}
	tape_begin(&tape, p.a);
	tx = pair_run(&p, 200, 200);
	tx.tos = 0x6a;
	tx.ttl = 17;
	tx.flow_label = 0x54321;
	pair_tx(&p, tx, 0);
	pair_flush(&p);
	while (net_port_rx(p.a, p.now, p.pkts, PAIR_PKTS_MAX) == 0)
		;
	tape_end(&tape, p.a);
	for (uint32_t i = 0; i < 2; i++) {
		const uint8_t *block = tape_next(&tape, &at);

		ck_assert_ptr_nonnull(block);
		ck_assert_mem_eq(block + IP, "\x66\xa5\x43\x21", 4);
		ck_assert_uint_eq(block[IP + 7], 17);
		ck_assert_int_eq(block[28 + 10], i ? 0 : 4);
	}
	free(tape.file);
	pair_destroy(&p);
}
END_TEST

START_TEST(port_says_what_is_sent_again)
{
	struct net_tx tx;
	struct tape sent;
	const uint8_t *block;
	struct pair p;
	size_t at = 0;

	pair_create(&p, NET_GSO_OFF);
	tape_begin(&sent, p.a);
	tx = pair_run(&p, 500, 3 * 500);
	tx.again = 2;
	pair_tx(&p, tx, 0);
	pair_flush(&p);
	pair_rx(&p, 3, PAIR_PKTS_MAX);
	tape_end(&sent, p.a);
	for (uint32_t i = 0; i < 3; i++) {
		block = tape_next(&sent, &at);
		ck_assert_int_eq(says(block, "retransmission"), i < 2);
		ck_assert_uint_eq(be16(block + IP + 4), 0);
	}
	free(sent.file);
	pair_destroy(&p);
}
END_TEST

Suite *net_tap_suite(void)
{
	Suite *s = suite_create("net_tap");
	TCase *tc = tcase_create("tap");

	tcase_set_timeout(tc, 10);
	tcase_add_test(tc, port_shows_the_packets_of_a_run);
	tcase_add_test(tc, port_shows_what_faults_take_away);
	tcase_add_test(tc, port_shows_what_has_a_wrong_icrc);
	tcase_add_test(tc, port_shows_flow_labels);
	tcase_add_test(tc, port_says_what_is_sent_again);
	suite_add_tcase(s, tc);
	return s;
}
