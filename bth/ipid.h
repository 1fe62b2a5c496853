/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * How a peer numbers its IPv4 datagrams, learnt from ICRCs. A peer (an address, not a port: the
 * kernel's counters are per pair of addresses) starts as unknown: its first packet may have any
 * ID that solves. From then on only IDs near the expected one pass, and a peer that begins anew
 * elsewhere is believed at the second of two packets whose IDs agree.
 */
#ifndef BTH_IPID_H
#define BTH_IPID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros are a peer of which nothing is known. All fields are private to ipid.c. */
struct ipid_peer {
	uint8_t mode;
	uint8_t run;	  /* index expected next within a run that the kernel cut */
	uint8_t patience; /* predicted packets until the suspect is forgotten; 0: none */
	uint16_t next;	  /* counter: expected next */
	uint16_t suspect; /* what a packet that was dropped would make the expected next */
	uint64_t seen;	  /* when next was set */
	uint64_t suspect_seen;
};

enum ipid_verdict {
	IPID_PREDICTED, /* right by a predicted ID */
	IPID_SOLVED,	/* right by solving: first packet, long pause or new numbering */
	IPID_WRONG,	/* drop */
};

/*
 * computed: ICRC with ip_id 0; received: the wire's; len as in icrc_begin. now, in ns, tells how
 * far the counter may have jumped in a pause.
 */
enum ipid_verdict ipid_check_at(struct ipid_peer *peer, uint64_t now, uint32_t computed,
				uint32_t received, size_t len);

#endif
