/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How a peer numbers its IPv4 datagrams, learnt from ICRCs. A peer starts as unknown: a packet
 * whose ID is 0 or its index in a GSO run passes; another is solved, and the solved IDs must
 * make a pattern (constant, counter) before further ones pass on prediction alone.
 */
#ifndef BTH_IPID_H
#define BTH_IPID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ipid_peer {
	uint8_t mode; /* private to ipid.c */
	uint8_t run;  /* index expected next within a run that the kernel cut */
	uint8_t streak;
	uint16_t next;
};

enum ipid_verdict {
	IPID_PREDICTED, /* right by a predicted ID */
	IPID_SOLVED,	/* right by solving only: counted apart */
	IPID_WRONG,	/* drop */
};

/* computed: ICRC with ip_id 0; received: the wire's; len as in icrc_begin. */
enum ipid_verdict ipid_check(struct ipid_peer *peer, uint32_t computed, uint32_t received,
			     size_t len);

#endif
