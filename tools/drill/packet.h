/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A packet as a line describes it: to be made, or to be compared with one that came. */
#ifndef DRILL_PACKET_H
#define DRILL_PACKET_H

#include "bth/packet.h"
#include "run.h"

struct packet_spec {
	struct bth_packet pkt; /* PSN absolute */
	struct conn *conn;
	uint32_t given;		 /* bit i: the line names field i of packet_fields */
	bool any_syndrome_value; /* "ack", "rnr": the kind counts */
	bool has_psn, has_len, has_op_byte;
	uint8_t op_byte;  /* opcode=: whatever the name says */
	const char *data; /* or NULL */
	uint64_t tclass, hops;
	bool has_tclass, has_hops, other, bad_icrc;
	uint64_t cut; /* bytes missing at the end */
	const char *group;
};

struct packet_field {
	const char *name;
	size_t offset, size; /* in struct bth_packet */
	uint64_t most;
};

extern const struct packet_field packet_fields[];
extern const unsigned int packet_fields_n;
uint64_t packet_field_get(const struct bth_packet *pkt, unsigned int i);

/* Read the line of a packet to the device (in: true) or from it. 0 or -1 with a failure. */
int packet_spec_read(struct run *r, struct args *a, bool in, struct packet_spec *s);
/* The PSN, relative to what the conn counts such packets from. */
int32_t packet_psn_relative(const struct conn *c, bool in, const struct bth_packet *pkt);

#endif
