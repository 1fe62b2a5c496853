/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests of a port against plain sockets: what is on the wire, and what wrong packets do. */
#include "config.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bth/icrc.h"
#include "net/ifaddr.h"
#include "net/peer.h"
#include "net/sockaddr.h"
#include "net_pair.h"
#include "net_suites.h"

static struct icrc_flow flow_v4(const uint8_t src[16], const uint8_t dst[16], uint16_t sport,
				uint16_t dport)
{
	struct icrc_flow flow = {.sport = sport, .dport = dport};

	memcpy(flow.src, src + 12, 4);
	memcpy(flow.dst, dst + 12, 4);
	return flow;
}

static void seal(uint8_t *p, size_t len, const struct icrc_flow *flow, uint16_t id)
{
	icrc_store(p + len - 4, icrc_finish(icrc_begin(flow, len, id), p, len - 4));
}

static bool is_sealed(const uint8_t *p, size_t len, const struct icrc_flow *flow, uint16_t id)
{
	return icrc_load(p + len - 4) == icrc_finish(icrc_begin(flow, len, id), p, len - 4);
}

/* A plain socket on the place of port a. */
struct plain {
	int fd;
	uint16_t sport;
	union net_sockaddr to;
	socklen_t to_len;
};

static void plain_open(struct plain *s, const struct pair *p)
{
	int df = IP_PMTUDISC_DO;
	union net_sockaddr sa;
	socklen_t len = net_sockaddr_set(&sa, p->addr_a, 0, 0);

	s->fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_ge(s->fd, 0);
	ck_assert_int_eq(bind(s->fd, &sa.sa, len), 0);
	setsockopt(s->fd, IPPROTO_IP, IP_MTU_DISCOVER, &df, sizeof(df));
	ck_assert_int_eq(getsockname(s->fd, &sa.sa, &len), 0);
	s->sport = net_sockaddr_port(&sa);
	s->to_len = net_sockaddr_set(&s->to, p->addr_b, 0, p->udp_port);
}

static void plain_send(const struct plain *s, const uint8_t *p, size_t len)
{
	ck_assert_int_eq(sendto(s->fd, p, len, 0, &s->to.sa, s->to_len), (ssize_t)len);
}

START_TEST(wire_wrong_packets_are_dropped_and_counted)
{
	static const size_t too_short[] = {0, 1, 4, 15};
	uint8_t packet[64] = {[0] = 4, [20] = 0x55};
	struct icrc_flow flow;
	struct plain s;
	struct pair p;
	unsigned wrong = 0;

	pair_create(&p, NET_GSO_ON);
	plain_open(&s, &p);
	flow = flow_v4(p.addr_a, p.addr_b, s.sport, p.udp_port);
	seal(packet, sizeof(packet), &flow, 0);
	plain_send(&s, packet, sizeof(packet));
	pair_rx(&p, 1, 1);
	ck_assert_mem_eq(p.pkts[0].data, packet, 60);

	for (unsigned at = 0; at < sizeof(packet); at++) {
		if (at == 4)
			continue; /* FECN and BECN may change on the way */
		packet[at] ^= 0x10;
		plain_send(&s, packet, sizeof(packet));
		pair_rx_nothing(&p);
		packet[at] ^= 0x10;
		wrong++;
	}
	for (unsigned i = 0; i < 4; i++, wrong++) {
		plain_send(&s, packet, too_short[i]);
		pair_rx_nothing(&p);
	}
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, wrong);
	plain_send(&s, packet, sizeof(packet));
	pair_rx(&p, 1, 1);
	close(s.fd);
	pair_destroy(&p);
}
END_TEST

START_TEST(wire_wrong_packet_within_a_run_is_dropped_alone)
{
	uint8_t run[10 * 64];
	uint16_t seg = 64;
	struct icrc_flow flow;
	struct plain s;
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	plain_open(&s, &p);
	ck_assert_int_eq(setsockopt(s.fd, IPPROTO_UDP, UDP_SEGMENT, &(int){seg}, sizeof(int)), 0);
	flow = flow_v4(p.addr_a, p.addr_b, s.sport, p.udp_port);
	for (unsigned i = 0; i < 10; i++) {
		memset(run + i * 64, (int)i, 64);
		seal(run + i * 64, 64, &flow, (uint16_t)i);
	}
	run[3 * 64 + 20] ^= 1;
	plain_send(&s, run, sizeof(run));
	pair_rx(&p, 9, 16);
	for (unsigned i = 0; i < 9; i++)
		ck_assert_uint_eq(p.pkts[i].data[0], i < 3 ? i : i + 1);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 1);
	close(s.fd);
	pair_destroy(&p);
}
END_TEST

/* Networks merge packets that were sent singly, too: all of them have ID 0. */
START_TEST(wire_merged_single_packets_pass)
{
	uint8_t run[10 * 64];
	struct icrc_flow flow;
	struct plain s;
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	plain_open(&s, &p);
	ck_assert_int_eq(setsockopt(s.fd, IPPROTO_UDP, UDP_SEGMENT, &(int){64}, sizeof(int)), 0);
	flow = flow_v4(p.addr_a, p.addr_b, s.sport, p.udp_port);
	for (unsigned i = 0; i < 10; i++) {
		memset(run + i * 64, (int)i, 64);
		seal(run + i * 64, 64, &flow, 0);
	}
	plain_send(&s, run, sizeof(run));
	pair_rx(&p, 10, 16);
	ck_assert_uint_eq(net_port_counters(p.b)->rx_merged, 1);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_solved, 0);
	close(s.fd);
	pair_destroy(&p);
}
END_TEST

static void raw_send(int fd, const struct pair *p, uint16_t id)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		uint8_t data[64];
	} d = {
		.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP},
		.udp = {.source = htons(0xd000), .dest = htons(p->udp_port), .len = htons(72)},
		.data = {4, 0x40, (uint8_t)id},
	};
	struct icrc_flow flow = flow_v4(p->addr_a, p->addr_b, 0xd000, p->udp_port);
	union net_sockaddr to;
	socklen_t len = net_sockaddr_set(&to, p->addr_b, 0, 0);

	d.ip.tot_len = htons(sizeof(d));
	d.ip.id = htons(id);
	d.ip.frag_off = htons(0x4000);
	memcpy(&d.ip.saddr, p->addr_a + 12, 4);
	memcpy(&d.ip.daddr, p->addr_b + 12, 4);
	seal(d.data, sizeof(d.data), &flow, id);
	ck_assert_int_eq(sendto(fd, &d, sizeof(d), 0, &to.sa, len), sizeof(d));
}

START_TEST(wire_counting_peer_is_learnt)
{
	struct pair p;
	int fd;

	if (!pair_enter_namespace())
		return;
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	ck_assert_int_ge(fd, 0);
	pair_create(&p, NET_GSO_ON);
	for (uint16_t id = 5000; id < 5020; id++) {
		raw_send(fd, &p, id);
		pair_rx(&p, 1, 1);
	}
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_solved, 1);
	raw_send(fd, &p, 40000); /* as if corrupted */
	pair_rx_nothing(&p);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_errors, 1);
	raw_send(fd, &p, 5020);
	pair_rx(&p, 1, 1);
	close(fd);
	pair_destroy(&p);
}
END_TEST

static void check_run_on_wire(enum net_gso gso, bool counts)
{
	uint8_t frame[2048];
	struct icrc_flow flow;
	struct pair p;
	struct iphdr ip;
	int fd;

	pair_create(&p, gso);
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	ck_assert_int_ge(fd, 0);
	pair_tx(&p, pair_run(&p, 1040, 5 * 1040), 0);
	pair_flush(&p);
	flow = flow_v4(p.addr_a, p.addr_b, 0xc000 | 0x1abc, p.udp_port);
	for (uint16_t i = 0; i < 5; i++) {
		ck_assert_int_eq(recv(fd, frame, sizeof(frame), MSG_TRUNC), 20 + 8 + 1040);
		memcpy(&ip, frame, sizeof(ip));
		ck_assert_uint_eq(ntohs(ip.frag_off), 0x4000);
		ck_assert_uint_eq(ntohs(ip.id), counts ? i : 0);
		ck_assert(is_sealed(frame + 28, 1040, &flow, ntohs(ip.id)));
	}
	pair_rx(&p, 5, 16);
	ck_assert_uint_eq(net_port_counters(p.b)->icrc_solved, 0);
	close(fd);
	pair_destroy(&p);
}

START_TEST(wire_single_packets_have_the_icrc_of_id_0)
{
	if (pair_enter_namespace())
		check_run_on_wire(NET_GSO_OFF, false);
}
END_TEST

START_TEST(wire_packets_cut_by_the_kernel_have_the_icrc_of_their_id)
{
	if (pair_enter_namespace() &&
	    system("ethtool -K lo tx-udp-segmentation off >/dev/null 2>&1") == 0)
		check_run_on_wire(NET_GSO_ON, true);
}
END_TEST

START_TEST(wire_ipv4_tos_and_ttl_are_as_asked)
{
	static const struct {
		uint8_t tos, ttl, seen_ttl;
	} cases[] = {{0, 0, 64}, {0x6a, 0, 64}, {0x02, 17, 17}, {0xff, 255, 255}, {0, 1, 1}};
	struct net_tx tx;
	struct pair p;

	pair_create(&p, NET_GSO_ON);
	tx = pair_run(&p, 100, 300);
	for (unsigned i = 0; i < 5; i++) {
		tx.tos = cases[i].tos;
		tx.ttl = cases[i].ttl;
		pair_tx(&p, tx, 0);
		pair_flush(&p);
		pair_rx(&p, 3, 16);
		ck_assert_uint_eq(p.pkts[2].tos, cases[i].tos);
		ck_assert_uint_eq(p.pkts[2].ttl, cases[i].seen_ttl);
	}
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 5);
	pair_destroy(&p);
}
END_TEST

START_TEST(wire_ipv6_class_label_and_hops_are_as_asked)
{
	uint8_t frame[256];
	struct pair p;
	struct net_tx tx;
	uint32_t word;
	int fd;

	if (!pair_enter_namespace())
		return;
	pair_create_without_addresses(&p, NET_GSO_ON);
	memcpy(p.addr_a, pair_v6_loopback, 16);
	memcpy(p.addr_b, pair_v6_loopback, 16);
	ck_assert_int_eq(net_port_addr_add(p.a, p.addr_a, 0), 0);
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IPV6));
	ck_assert_int_ge(fd, 0);
	tx = pair_run(&p, 100, 100);
	for (unsigned i = 0; i < 2; i++) {
		tx.tos = i ? 0x6a : 0;
		tx.ttl = i ? 17 : 0;
		tx.flow_label = i ? 0x12345 : 0;
		pair_tx(&p, tx, 0);
		pair_flush(&p);
		ck_assert_int_eq(recv(fd, frame, sizeof(frame), 0), 40 + 8 + 100);
		memcpy(&word, frame, 4);
		ck_assert_uint_eq(ntohl(word), i ? 0x66a12345 : 0x60000000);
		ck_assert_uint_eq(frame[7], i ? 17 : 64);
		ck_assert(frame[46] || frame[47]); /* the UDP checksum */
	}
	ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, 0);
	close(fd);
	pair_destroy(&p);
}
END_TEST

/* Linux's rxe sends its packets without one, on IPv6 too, where sockets refuse that unasked. */
START_TEST(wire_ipv6_packets_without_udp_checksum_pass)
{
	uint8_t packet[64] = {[0] = 4, [20] = 0x55};
	struct icrc_flow flow = {.ipv6 = true};
	union net_sockaddr sa;
	socklen_t len;
	struct pair p;
	int fd;

	pair_create_without_addresses(&p, NET_GSO_ON);
	if (net_port_addr_add(p.b, pair_v6_loopback, 0) < 0) { /* no IPv6 here */
		pair_destroy(&p);
		return;
	}
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(setsockopt(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, &(int){1}, sizeof(int)), 0);
	len = net_sockaddr_set(&sa, pair_v6_loopback, 0, p.udp_port);
	ck_assert_int_eq(connect(fd, &sa.sa, len), 0);
	ck_assert_int_eq(getsockname(fd, &sa.sa, &len), 0);
	flow.sport = net_sockaddr_port(&sa);
	flow.dport = p.udp_port;
	memcpy(flow.src, pair_v6_loopback, 16);
	memcpy(flow.dst, pair_v6_loopback, 16);
	seal(packet, sizeof(packet), &flow, 0);
	ck_assert_int_eq(send(fd, packet, sizeof(packet), 0), sizeof(packet));
	pair_rx(&p, 1, 1);
	ck_assert_mem_eq(p.pkts[0].data, packet, 60);
	close(fd);
	pair_destroy(&p);
}
END_TEST

static bool link_local_ready(const struct net_monitor *m, const char *name, uint8_t addr[16],
			     uint32_t *ifindex)
{
	struct net_addr a;
	struct net_if i;

	if (!net_monitor_if_named(m, name, &i) || !net_monitor_addr(m, i.ifindex, 0, &a) ||
	    a.tentative)
		return false;
	memcpy(addr, a.addr, 16);
	*ifindex = i.ifindex;
	return true;
}

START_TEST(wire_link_local_addresses_have_a_scope)
{
	const struct net_monitor_events none = {0};
	struct net_monitor *m;
	struct net_tx tx;
	struct pair p;
	uint32_t if_a, if_b;

	if (!pair_enter_namespace() ||
	    system("ip link add va type veth peer name vb 2>/dev/null") != 0)
		return;
	ck_assert_int_eq(system("ip link set va up && ip link set vb up"), 0);
	pair_create_without_addresses(&p, NET_GSO_ON);
	m = net_monitor_create(&none);
	ck_assert_ptr_nonnull(m);
	while (!link_local_ready(m, "va", p.addr_a, &if_a) ||
	       !link_local_ready(m, "vb", p.addr_b, &if_b)) {
		struct pollfd fd = {.fd = net_monitor_fd(m), .events = POLLIN};

		ck_assert_int_gt(poll(&fd, 1, 10000), 0);
		net_monitor_read(m);
	}
	ck_assert_int_eq(net_port_addr_add(p.a, p.addr_a, if_a), 0);
	ck_assert_int_eq(net_port_addr_add(p.b, p.addr_b, if_b), 0);
	tx = pair_run(&p, 1040, 20 * 1040);
	tx.ifindex = if_a;
	pair_tx(&p, tx, 0);
	pair_flush(&p);
	pair_rx(&p, 20, PAIR_PKTS_MAX);
	for (uint32_t i = 0; i < 20; i++)
		pair_check(&p, i, i, 1036);
	ck_assert_mem_eq(p.pkts[0].src, p.addr_a, 16);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_runs, 1);
	tx.ifindex = if_b; /* there it is not ours */
	pair_tx(&p, tx, 0);
	ck_assert_uint_eq(net_port_counters(p.a)->tx_errors, 20);
	net_monitor_destroy(m);
	pair_destroy(&p);
}
END_TEST

/* Senders who come and go take places in the table, and no memory. */
START_TEST(wire_peers_are_forgotten_when_there_are_many)
{
	struct peer_table *table = peer_table_create();
	struct icrc_flow flow = {0};
	uint8_t packet[64] = {0}, src[16] = {0};
	const uint8_t dst[16] = {1};
	uint32_t computed = icrc_finish(icrc_begin(&flow, 64, 0), packet, 60);
	uint32_t sent = icrc_with_id(computed, 777, 64);

	ck_assert_ptr_nonnull(table);
	for (uint32_t i = 0; i < 100000; i++) {
		memcpy(src, &i, sizeof(i));
		ck_assert_int_eq(peer_check(table, src, dst, 1, computed, sent, 64), IPID_SOLVED);
	}
	ck_assert_int_eq(peer_check(table, src, dst, 1, computed, sent, 64), IPID_PREDICTED);
	memset(src, 0, sizeof(src));
	ck_assert_int_eq(peer_check(table, src, dst, 1, computed, sent, 64), IPID_SOLVED);
	peer_table_destroy(table);
}
END_TEST

Suite *net_wire_suite(void)
{
	Suite *s = suite_create("net_wire");
	TCase *t = tcase_create("wire");

	tcase_set_timeout(t, 20);
	tcase_add_test(t, wire_wrong_packets_are_dropped_and_counted);
	tcase_add_test(t, wire_wrong_packet_within_a_run_is_dropped_alone);
	tcase_add_test(t, wire_merged_single_packets_pass);
	tcase_add_test(t, wire_counting_peer_is_learnt);
	tcase_add_test(t, wire_single_packets_have_the_icrc_of_id_0);
	tcase_add_test(t, wire_packets_cut_by_the_kernel_have_the_icrc_of_their_id);
	tcase_add_test(t, wire_ipv4_tos_and_ttl_are_as_asked);
	tcase_add_test(t, wire_ipv6_class_label_and_hops_are_as_asked);
	tcase_add_test(t, wire_ipv6_packets_without_udp_checksum_pass);
	tcase_add_test(t, wire_link_local_addresses_have_a_scope);
	tcase_add_test(t, wire_peers_are_forgotten_when_there_are_many);
	suite_add_tcase(s, t);
	return s;
}
