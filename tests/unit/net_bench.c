/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast is a port? Runs from one address of the loopback to another, both ends in one thread. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/port.h"

enum { PORT_FOR_TESTS = 14791, MAX_PKTS = 256 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void print_line(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s\n", line);
}

static struct net_port *port_at(const uint8_t addr[16], enum net_gso gso)
{
	struct net_port_config cfg = {.gso = gso, .log = print_line, .udp_port = PORT_FOR_TESTS};
	struct net_port *port = net_port_create(&cfg);

	if (!port || net_port_addr_add(port, addr, 0) < 0)
		exit(1);
	return port;
}

/* seg bytes a packet, segs packets a run; depth runs before each flush. */
static void stream(enum net_gso gso, uint32_t seg, uint32_t segs, unsigned depth)
{
	static struct net_rx pkts[MAX_PKTS];
	struct net_tx tx = {.src = {[10] = 0xff, 0xff, 127, 77, 0, 1},
			    .dst = {[10] = 0xff, 0xff, 127, 77, 0, 2},
			    .sport_hash = 0x123,
			    .seg = seg,
			    .len = seg * segs};
	struct net_port *a = port_at(tx.src, gso), *b = port_at(tx.dst, gso);
	uint64_t begin = now_ns(), now = begin, bytes = 0, sent = 0;
	const struct net_counters *ca = net_port_counters(a), *cb = net_port_counters(b);
	double s;

	while (now < begin + 1000000000) {
		for (unsigned i = 0; i < depth; i++) {
			tx.data = net_port_tx_alloc(a, tx.len);
			net_port_tx(a, &tx);
			sent += segs;
		}
		net_port_flush(a, now);
		for (uint32_t n; (n = net_port_rx(b, now, pkts, MAX_PKTS)) > 0;)
			for (uint32_t i = 0; i < n; i++)
				bytes += pkts[i].len;
		now = now_ns();
	}
	s = (double)(now - begin) / 1e9;
	printf("%-6s %5" PRIu32 " x %2" PRIu32 " x %u: %6.2f GB/s %9.0f packets/s; "
	       "a MB: %5.1f sends %5.1f receives; lost %" PRIu64 " wrong %" PRIu64 "\n",
	       net_port_tx_mode(a), seg, segs, depth, (double)bytes / s / 1e9,
	       (double)cb->rx_datagrams / s, (double)ca->tx_calls * 1e6 / (double)bytes,
	       (double)cb->rx_calls * 1e6 / (double)bytes, sent - cb->rx_datagrams,
	       cb->icrc_errors);
	net_port_destroy(a);
	net_port_destroy(b);
}

int main(void)
{
	static const struct {
		enum net_gso gso;
		uint32_t seg, segs;
		unsigned depth;
	} runs[] = {
		{NET_GSO_ON, 4112, 15, 1}, {NET_GSO_ON, 4112, 15, 4},  {NET_GSO_ON, 1040, 62, 1},
		{NET_GSO_ON, 1040, 16, 4}, {NET_GSO_ON, 272, 64, 1},   {NET_GSO_ON, 80, 1, 1},
		{NET_GSO_ON, 80, 1, 64},   {NET_GSO_OFF, 4112, 15, 1}, {NET_GSO_OFF, 1040, 62, 1},
		{NET_GSO_OFF, 80, 1, 64},
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		stream(runs[i].gso, runs[i].seg, runs[i].segs, runs[i].depth);
	return 0;
}
