/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What a script is run on: the core in virtual time, or a device behind an agent and a UDP socket.
 * A side has two hands: verbs, asked for by lines of text (see AGENT in tests/drill/README.md),
 * and packets from and to the peer that the script plays.
 */
#ifndef DRILL_SIDE_H
#define DRILL_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "args.h"

#define SIDE_PACKET_MAX 9000
#define SIDE_NEVER UINT64_MAX

struct side_packet {
	uint64_t time; /* when it was sent, of side->now */
	uint32_t len;  /* BTH to the last byte before the ICRC */
	uint8_t tclass, hops;
	uint16_t sport;
	bool tclass_known, hops_known;
	bool bad_icrc;
	bool from_other; /* sent from the peer's second address */
	bool to_other;	 /* came to it */
	char group[48];	 /* sent to this multicast group; "": to the device's address */
	uint8_t data[SIDE_PACKET_MAX];
};

struct side {
	bool real_time;
	char gid[48];	/* the device's address, as text */
	char peer[48];	/* the script's */
	char other[48]; /* a second one of the script's; "": there is none */
	uint64_t gid_index;
	uint32_t cm_next; /* for IDs, QPs and transactions of the peer: never the same twice */
	const char *free; /* with commas: fields that need not be as usual, events
			   * that need not come; or NULL */

	/* Run one request. 0, an errno, or -1: the side itself is at fault (reply->error). The
	 * reply is to be freed in any case. */
	int (*exec)(struct side *side, const char *request, struct args *reply);
	/* A packet of the peer to the device; several with more = true are one burst. */
	void (*inject)(struct side *side, const struct side_packet *pkt, bool more);
	/* The peer is a member of the group from now on. NULL: it hears everything. 0 or an errno.
	 */
	int (*join)(struct side *side, const char *group);
	/* The device's next packet, not later than the deadline; false: none. */
	bool (*next)(struct side *side, uint64_t deadline, struct side_packet *pkt);
	/* Let the time be. */
	void (*wait)(struct side *side, uint64_t until);
	/* All that was injected has been dealt with. */
	void (*settle)(struct side *side);
	uint64_t (*now)(struct side *side);
	void (*end)(struct side *side);
};

/* The core, in process. */
struct side *side_virtual(bool verbose);

#endif
