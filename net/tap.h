/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a port shows to recorders: each packet as it is, or would be, on the wire. */
#ifndef NET_TAP_H
#define NET_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/capframe.h"

struct net_port;
struct net_recorder;

enum { TAPS_MAX = 8 };

struct tap {
	struct net_recorder *recorder;
	uint32_t interface, ifindex;
};

struct tap_list {
	uint32_t n;
	struct tap taps[TAPS_MAX];
};

struct tap_note {
	bool again;	  /* has left before */
	const char *fate; /* "dropped by rule 2", "" or NULL */
};

/* frame->data: BTH to ICRC; frame->ifindex is filled in here. */
void tap_show(const struct tap_list *list, struct capframe *frame, const struct tap_note *note);

#endif
