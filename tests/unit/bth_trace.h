/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The RoCEv2 packets of a recorded trace, for tests. */
#ifndef TESTS_UNIT_BTH_TRACE_H
#define TESTS_UNIT_BTH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bth/icrc.h"

struct trace_packet {
	uint64_t time; /* ns */
	struct icrc_flow flow;
	uint16_t ip_id; /* 0 for IPv6 */
	const uint8_t *bth;
	size_t len; /* UDP payload, with ICRC */
};

/* Names of the traces in the golden folder, NULL at the end. */
extern const char *const trace_names[];

/* Calls each for all RoCEv2 packets of tests/golden/NAME.pcap; fails the test if it has none. */
void trace_for_each(const char *name, void (*each)(const struct trace_packet *pkt, void *ctx),
		    void *ctx);

/* The ICRC that the packet should have if its identification were ip_id. */
uint32_t trace_icrc(const struct trace_packet *pkt, uint16_t ip_id);

#endif
