/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets that the fuzzer aims at what lives in the rig. */
#ifndef TESTS_FUZZ_PACKET_FEED_H
#define TESTS_FUZZ_PACKET_FEED_H

#include "device_rig.h"

#define PACKET_ROOM 4300

struct packet {
	uint8_t data[PACKET_ROOM]; /* ends with its ICRC */
	uint32_t len;
	bool from_stranger; /* another source than the peer's */
};

/* By fields: opcode, PSN near the QP's, keys of the rig; tests/fuzz/seeds knows its layout. */
void packet_by_fields(struct rig *r, struct packet *p);
/* A message of communication management to QP 1. */
void packet_of_cm(struct rig *r, struct packet *p);
/* Any bytes. */
void packet_by_bytes(struct rig *r, struct packet *p);
/* As its receiver, the host, would see it; false if its ICRC is wrong, so that it is dropped. */
bool packet_receive(const struct rig *r, const struct packet *p, struct rnic_rx *rx);

#endif
