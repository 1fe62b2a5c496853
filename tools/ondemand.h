/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A daemon for a program: the one that is there, or one that is started for it. */
#ifndef TOOLS_ONDEMAND_H
#define TOOLS_ONDEMAND_H

#include <stdbool.h>

struct ondemand {
	const char *dir;   /* its folder, absolute */
	const char *rnicd; /* the program */
	bool private;	   /* a device on an address of its own */
};

/*
 * Returns a connection that keeps the daemon alive as long as any process has it open, or -1 after
 * a line on stderr. Any number of processes may do so at once.
 */
int ondemand_connect(const struct ondemand *o);

#endif
