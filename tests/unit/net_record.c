/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Captures: headers, blocks, a recorder and its readers. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/capframe.h"
#include "net/recorder.h"
#include "net/sockaddr.h"
#include "net_suites.h"

enum { PATIENCE_MS = 60000, ETHER = 14, LINK = CAPFRAME_LINK_LEN };

/* ---- headers ---- */

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* The fields that capframe is given, read from a packet of the kernel's. */
static uint32_t frame_read(const uint8_t *ip, uint32_t len, struct capframe *f)
{
	uint32_t head = ip[0] >> 4 == 4 ? 20 : 40;
	const uint8_t *udp = ip + head;

	*f = (struct capframe){.sport = (uint16_t)be16(udp), .dport = (uint16_t)be16(udp + 2)};
	if (head == 20) {
		memcpy(f->src, net_v4_prefix, 12);
		memcpy(f->dst, net_v4_prefix, 12);
		memcpy(f->src + 12, ip + 12, 4);
		memcpy(f->dst + 12, ip + 16, 4);
		f->tos = ip[1];
		f->ttl = ip[8];
		f->ip_id = (uint16_t)be16(ip + 4);
	} else {
		memcpy(f->src, ip + 8, 16);
		memcpy(f->dst, ip + 24, 16);
		f->tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
		f->ttl = ip[7];
		f->flow_label = (uint32_t)(ip[1] & 15) << 16 | be16(ip + 2);
	}
	f->data = udp + 8;
	f->len = len - head - 8;
	return head;
}

/* Traces of Linux rxe, whose UDP checksums are 0. */
static void headers_compare(const char *name)
{
	char path[512], err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const uint8_t *data;
	uint32_t seen = 0;
	pcap_t *pcap;

	snprintf(path, sizeof(path), GOLDEN_DIR "/%s.pcap", name);
	pcap = pcap_open_offline(path, err);
	ck_assert_msg(pcap, "%s", err);
	while (pcap_next_ex(pcap, &h, &data) == 1) {
		uint8_t head[CAPFRAME_HEAD_MAX];
		struct capframe f;
		uint32_t ip;

		if (be16(data + 12) != 0x0800 && be16(data + 12) != 0x86dd)
			continue;
		if (data[ETHER + (data[ETHER] >> 4 == 4 ? 9 : 6)] != 17)
			continue;
		ip = frame_read(data + ETHER, h->caplen - ETHER, &f);
		ck_assert_uint_eq(capframe_head(&f, head), LINK + ip + 8);
		ck_assert_mem_eq(head, data + 12, 2);
		ck_assert_mem_eq(head + LINK, data + ETHER, ip + 6);
		seen++;
	}
	ck_assert_uint_gt(seen, 0);
	pcap_close(pcap);
}

START_TEST(headers_are_those_of_the_wire)
{
	headers_compare("rc_tclass");
	headers_compare("rc_all_1024");
	headers_compare("rc_ipv6");
}
END_TEST

/* RFC 768: the sum over pseudo header, header, checksum and data is all ones. */
START_TEST(udp_checksum_sums_up_with_the_packet)
{
	static const uint8_t data[] = {1, 2, 3, 0xff, 0xfe, 7, 9};
	uint8_t pseudo[12] = {127, 0, 0, 1, 127, 0, 0, 2, 0, 17, 0, 8 + sizeof(data)};
	struct capframe f = {.sport = 0xc123, .dport = 4791, .data = data, .len = sizeof(data)};
	uint8_t head[CAPFRAME_HEAD_MAX];
	uint32_t sum = 0;

	memcpy(f.src, net_v4_prefix, 12);
	memcpy(f.dst, net_v4_prefix, 12);
	memcpy(f.src + 12, pseudo, 4);
	memcpy(f.dst + 12, pseudo + 4, 4);
	ck_assert_uint_eq(capframe_head(&f, head), LINK + 28);
	for (uint32_t i = 0; i < sizeof(pseudo); i += 2)
		sum += be16(pseudo + i);
	for (uint32_t i = LINK + 20; i < LINK + 28; i += 2)
		sum += be16(head + i);
	for (uint32_t i = 0; i < sizeof(data); i++)
		sum += (uint32_t)data[i] << (i % 2 ? 0 : 8);
	ck_assert_uint_eq((sum & 0xffff) + (sum >> 16), 0xffff);
}
END_TEST

/* ---- blocks ---- */

static uint32_t word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* draft-ietf-opsawg-pcapng, Enhanced Packet Block: field by field. */
START_TEST(packet_block_is_as_specified)
{
	static const uint8_t head[] = "head", data[] = "datum";
	const struct capfile_packet p = {
		.interface = 2,
		.time = UINT64_C(0x1122334455667788),
		.out = true,
		.head = head,
		.head_len = 4,
		.data = data,
		.data_len = 5,
		.comment = "lost!",
		.lost = 3,
	};
	uint8_t buf[256];
	struct capfile f = {.buf = buf, .size = sizeof(buf)};

	ck_assert(capfile_packet(&f, &p));
	ck_assert_uint_eq(f.len, 28 + 12 + 4 + 8 + 8 + 12 + 4 + 4);
	ck_assert_uint_eq(word(buf), 6);
	ck_assert_uint_eq(word(buf + 4), f.len);
	ck_assert_uint_eq(word(buf + 8), 2);
	ck_assert_uint_eq(word(buf + 12), 0x11223344);
	ck_assert_uint_eq(word(buf + 16), 0x55667788);
	ck_assert_uint_eq(word(buf + 20), 9);
	ck_assert_uint_eq(word(buf + 24), 9);
	ck_assert_mem_eq(buf + 28, "headdatum\0\0\0", 12);
	ck_assert_mem_eq(buf + 40, "\1\0\5\0lost!\0\0\0", 12); /* opt_comment */
	ck_assert_mem_eq(buf + 52, "\2\0\4\0\6\0\0\0", 8);     /* epb_flags: outbound, unicast */
	ck_assert_mem_eq(buf + 60, "\4\0\10\0\3\0\0\0\0\0\0\0", 12); /* epb_dropcount */
	ck_assert_uint_eq(word(buf + 72), 0);			     /* opt_endofopt */
	ck_assert_uint_eq(word(buf + 76), f.len);
}
END_TEST

START_TEST(block_without_room_is_not_begun)
{
	struct capfile_packet p = {.data = (const uint8_t *)"x", .data_len = 1, .comment = "c"};
	uint8_t buf[80];

	for (int format = CAPFILE_PCAPNG; format <= CAPFILE_PCAP; format++)
		for (size_t size = 0; size < 40; size++) {
			struct capfile f = {
				.format = (enum capfile_format)format, .buf = buf, .size = size};
			size_t len;

			memset(buf, 0x5a, sizeof(buf));
			while (capfile_packet(&f, &p))
				;
			len = f.len;
			ck_assert_uint_le(len, size);
			ck_assert(!capfile_begin(&f, "a program with a name") || size >= 24);
			for (size_t i = size; i < sizeof(buf); i++)
				ck_assert_uint_eq(buf[i], 0x5a);
		}
}
END_TEST

/* ---- recorders ---- */

static struct net_recorder *recorder(int fd, enum capfile_format format, size_t buffer)
{
	const struct net_recorder_config cfg = {
		.fd = fd, .format = format, .application = "test", .buffer = buffer};
	struct net_recorder *r;

	ck_assert_int_eq(net_recorder_create(&cfg, &r), 0);
	return r;
}

static void await_done(const struct net_recorder *r)
{
	struct pollfd p = {.fd = net_recorder_done_fd(r), .events = POLLIN};

	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
}

static void show(struct net_recorder *r, uint32_t interface, uint64_t time, uint32_t len)
{
	static const uint8_t zeros[4096];
	struct capfile_packet p = {
		.interface = interface, .time = time, .data = zeros, .data_len = len};

	net_recorder_packet(r, &p);
}

START_TEST(libpcap_reads_what_was_recorded)
{
	for (int format = CAPFILE_PCAPNG; format <= CAPFILE_PCAP; format++) {
		int fd = memfd_create("capture", 0);
		struct net_recorder *r =
			recorder(dup(fd), (enum capfile_format)format, RECORDER_BUFFER);
		char err[PCAP_ERRBUF_SIZE];
		struct pcap_pkthdr *h;
		const uint8_t *data;
		pcap_t *pcap;

		ck_assert_int_eq(net_recorder_interface(r, "rxe0", "a device"), 0);
		ck_assert_int_eq(net_recorder_interface(r, "rxe1", "another"), 1);
		show(r, 1, UINT64_C(1700000000123456789), 5);
		show(r, 0, UINT64_C(1700000000123456790), 3001);
		net_recorder_destroy(r, PATIENCE_MS);
		lseek(fd, 0, SEEK_SET);
		pcap = pcap_fopen_offline_with_tstamp_precision(fdopen(fd, "r"),
								PCAP_TSTAMP_PRECISION_NANO, err);
		ck_assert_msg(pcap, "%s", err);
		ck_assert_int_eq(pcap_datalink(pcap), DLT_LINUX_SLL2);
		ck_assert_msg(pcap_next_ex(pcap, &h, &data) == 1, "%s", pcap_geterr(pcap));
		ck_assert_uint_eq(h->caplen, 5);
		ck_assert_int_eq(h->ts.tv_sec, 1700000000);
		ck_assert_int_eq(h->ts.tv_usec, 123456789);
		ck_assert_int_eq(pcap_next_ex(pcap, &h, &data), 1);
		ck_assert_uint_eq(h->caplen, 3001);
		ck_assert_int_eq(pcap_next_ex(pcap, &h, &data), PCAP_ERROR_BREAK);
		pcap_close(pcap);
	}
}
END_TEST

/* A pipe that nobody reads holds 64 KiB. */
START_TEST(reader_that_stops_loses_packets_and_holds_up_nobody)
{
	enum { PACKETS = 1000, BUFFER = 65536 };
	struct net_recorder_counts n;
	struct net_recorder *r;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	r = recorder(ends[1], CAPFILE_PCAPNG, BUFFER);
	net_recorder_interface(r, "rxe0", "");
	for (uint32_t i = 0; i < PACKETS; i++)
		show(r, 0, i, 4000);
	net_recorder_counts(r, &n);
	ck_assert_uint_eq(n.packets, PACKETS);
	ck_assert_uint_gt(n.lost, PACKETS - 3 * BUFFER / 4000);
	net_recorder_destroy(r, 0);
	close(ends[0]);
}
END_TEST

START_TEST(lost_packets_are_said_in_the_file)
{
	static const uint8_t dropcount[] = {4, 0, 8, 0};
	enum { BUFFER = 65536, PACKETS = 200 };
	struct net_recorder_counts n;
	uint8_t *file = calloc(1, 1 << 20);
	struct net_recorder *r;
	size_t len = 0;
	ssize_t got;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	r = recorder(ends[1], CAPFILE_PCAPNG, BUFFER);
	net_recorder_interface(r, "rxe0", "");
	for (uint32_t i = 0; i < PACKETS; i++)
		show(r, 0, i, 4000);
	/* Once something has been read there is room for one more. */
	do {
		struct net_recorder_counts before;

		net_recorder_counts(r, &before);
		got = read(ends[0], file + len, 4096);
		ck_assert_int_gt(got, 0);
		len += (size_t)got;
		show(r, 0, PACKETS, 100);
		net_recorder_counts(r, &n);
		if (n.lost == before.lost)
			break;
	} while (true);
	net_recorder_stop(r);
	while ((got = read(ends[0], file + len, 4096)) > 0)
		len += (size_t)got;
	await_done(r);
	ck_assert_int_eq(net_recorder_error(r), 0);
	ck_assert_ptr_nonnull(memmem(file, len, dropcount, sizeof(dropcount)));
	net_recorder_destroy(r, PATIENCE_MS);
	close(ends[0]);
	free(file);
}
END_TEST

START_TEST(reader_that_goes_ends_the_recorder)
{
	struct net_recorder *r;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	r = recorder(ends[1], CAPFILE_PCAP, 0);
	close(ends[0]);
	show(r, 0, 1, 100);
	await_done(r);
	ck_assert_int_eq(net_recorder_error(r), -EPIPE);
	show(r, 0, 2, 100);
	net_recorder_destroy(r, PATIENCE_MS);
}
END_TEST

START_TEST(filter_from_outside_is_checked)
{
	const struct bpf_insn far_jump[] = {BPF_STMT(BPF_JMP | BPF_JA, 1000),
					    BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn endless[] = {BPF_STMT(BPF_LD | BPF_IMM, 0)};
	const struct bpf_insn memory[] = {BPF_STMT(BPF_LD | BPF_MEM, 99),
					  BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn zero[] = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0),
					BPF_STMT(BPF_RET | BPF_A, 0)};
	const struct bpf_insn itself[] = {BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff),
					  BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn back[] = {BPF_STMT(BPF_LD | BPF_IMM, 0),
					BPF_STMT(BPF_JMP | BPF_JA, 0xfffffffe),
					BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn to_the_end[] = {BPF_STMT(BPF_JMP | BPF_JA, 1),
					      BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn forward[] = {BPF_STMT(BPF_JMP | BPF_JA, 1),
					   BPF_STMT(BPF_RET | BPF_K, 0),
					   BPF_STMT(BPF_RET | BPF_K, 1)};
	const struct bpf_insn right[] = {BPF_STMT(BPF_RET | BPF_K, 1)};

	ck_assert(!net_recorder_filter_is_valid(far_jump, 2));
	ck_assert(!net_recorder_filter_is_valid(endless, 1));
	ck_assert(!net_recorder_filter_is_valid(memory, 2));
	ck_assert(!net_recorder_filter_is_valid(zero, 2));
	ck_assert(!net_recorder_filter_is_valid(itself, 2));
	ck_assert(!net_recorder_filter_is_valid(back, 3));
	ck_assert(!net_recorder_filter_is_valid(to_the_end, 2));
	ck_assert(net_recorder_filter_is_valid(forward, 3));
	ck_assert(!net_recorder_filter_is_valid(right, 0));
	ck_assert(!net_recorder_filter_is_valid(right, RECORDER_FILTER_MAX + 1));
	ck_assert(net_recorder_filter_is_valid(right, 1));
}
END_TEST

/* bpf_filter ends the process at an instruction that it does not know. */
START_TEST(filter_from_outside_has_known_instructions)
{
	const uint8_t packet[64] = {0};
	uint32_t known = 0;

	for (uint32_t code = 0; code <= UINT16_MAX; code++) {
		const struct bpf_insn program[] = {BPF_STMT((u_short)code, 0),
						   BPF_STMT(BPF_RET | BPF_K, 1)};

		if (!net_recorder_filter_is_valid(program, 2))
			continue;
		bpf_filter(program, packet, sizeof(packet), sizeof(packet));
		known++;
	}
	ck_assert_uint_eq(known, 47); /* of 49 two divide, here by 0 */
}
END_TEST

START_TEST(filter_decides)
{
	pcap_t *pcap = pcap_open_dead(DLT_LINUX_SLL2, 65535);
	struct net_recorder_config cfg = {.fd = open("/dev/null", O_WRONLY)};
	struct net_recorder_counts n;
	struct bpf_program program;
	struct net_recorder *r;
	uint8_t head[CAPFRAME_HEAD_MAX];
	struct capframe f = {.dport = 4791, .data = (const uint8_t *)"", .len = 0};

	ck_assert_int_eq(pcap_compile(pcap, &program, "src host 127.0.0.7 and udp port 4791", 1,
				      PCAP_NETMASK_UNKNOWN),
			 0);
	cfg.filter = program.bf_insns;
	cfg.filter_len = program.bf_len;
	ck_assert_int_eq(net_recorder_create(&cfg, &r), 0);
	memcpy(f.src, net_v4_prefix, 12);
	memcpy(f.dst, net_v4_prefix, 12);
	f.src[12] = 127;
	for (f.src[15] = 5; f.src[15] < 10; f.src[15]++) {
		struct capfile_packet p = {.head = head, .head_len = capframe_head(&f, head)};

		net_recorder_packet(r, &p);
	}
	net_recorder_counts(r, &n);
	ck_assert_uint_eq(n.packets, 1);
	net_recorder_destroy(r, PATIENCE_MS);
	pcap_freecode(&program);
	pcap_close(pcap);
}
END_TEST

Suite *net_record_suite(void)
{
	Suite *s = suite_create("net_record");
	TCase *tc = tcase_create("record");

	tcase_set_timeout(tc, 10);
	tcase_add_test(tc, headers_are_those_of_the_wire);
	tcase_add_test(tc, udp_checksum_sums_up_with_the_packet);
	tcase_add_test(tc, packet_block_is_as_specified);
	tcase_add_test(tc, block_without_room_is_not_begun);
	tcase_add_test(tc, libpcap_reads_what_was_recorded);
	tcase_add_test(tc, reader_that_stops_loses_packets_and_holds_up_nobody);
	tcase_add_test(tc, lost_packets_are_said_in_the_file);
	tcase_add_test(tc, reader_that_goes_ends_the_recorder);
	tcase_add_test(tc, filter_from_outside_is_checked);
	tcase_add_test(tc, filter_from_outside_has_known_instructions);
	tcase_add_test(tc, filter_decides);
	suite_add_tcase(s, tc);
	return s;
}
