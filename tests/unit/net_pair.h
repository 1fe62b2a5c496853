/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two ports that talk to each other over the loopback, and what tests of them need. */
#ifndef NET_PAIR_H
#define NET_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/fault.h"
#include "net/port.h"

enum { PAIR_PKTS_MAX = 256 };

struct pair {
	uint16_t udp_port;
	uint8_t addr_a[16], addr_b[16];
	struct net_port *a, *b;
	struct fault_rules *faults_a, *faults_b;
	char log[512]; /* the last line */
	uint64_t now;
	struct net_rx pkts[PAIR_PKTS_MAX]; /* of the last pair_rx */
};

extern const uint8_t pair_v6_loopback[16];

/* Addresses of this process's own: tests may run side by side. */
void pair_create(struct pair *p, enum net_gso gso);
/* Only ports and rules; addresses are the caller's to add. */
void pair_create_without_addresses(struct pair *p, enum net_gso gso);
void pair_destroy(struct pair *p);

void pair_v4(uint8_t addr[16], uint8_t host);
uint16_t pair_free_udp_port(void);

/* A run from a to b without ToS, TTL or label. */
struct net_tx pair_run(const struct pair *p, uint32_t seg, uint32_t len);
/* Queue it on port a; each packet is filled from its number, first and up. */
void pair_tx(struct pair *p, struct net_tx tx, uint32_t first);
void pair_flush(struct pair *p);
/* Receive on b until n packets are there, at most max a call; fails if they do not come. */
void pair_rx(struct pair *p, uint32_t n, uint32_t max);
/* Wait until a packet has come to b, and see that it yields nothing. */
void pair_rx_nothing(struct pair *p);
/* pkts[index] is what pair_tx filled in for number, len bytes without ICRC. */
void pair_check(const struct pair *p, uint32_t index, uint32_t number, uint32_t len);

/* A network namespace of its own with the loopback up; false: not possible here. */
bool pair_enter_namespace(void);

#endif
