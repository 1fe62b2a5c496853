/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The side that is a real device: how to reach it. */
#ifndef DRILL_SIDE_LIVE_H
#define DRILL_SIDE_LIVE_H

#include <sys/types.h>

#include "side.h"

struct live_options {
	const char *peer;    /* HOST:PORT of an agent; NULL: start one here */
	const char *device;  /* for the one started here; NULL: the first */
	const char *address; /* of the script's peer; NULL: one that is free */
	const char *other;   /* its second one */
	pid_t hold;	     /* the device's process, to be held while a burst is sent; 0: none */
};

/* NULL after a line on stderr. */
struct side *side_live(const struct live_options *o);

#endif
