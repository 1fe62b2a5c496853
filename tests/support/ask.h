/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is said of each thing that a live device is asked for: a line "NAME works" or "NAME ERRNO".
 */
#ifndef SUPPORT_ASK_H
#define SUPPORT_ASK_H

#include "rig.h"

/* It was done, and what it did has been looked at. */
void ask_works(const char *name);
/* It was refused with that errno, whose name is said; or not at all, if that is 0. */
void ask_refused(const char *name, int error);
/* Another word for how it is refused. */
void ask_says(const char *name, const char *word);

/* `did` is the call and a look at what it did; else the program fails. */
#define WORKS(name, did)                                                                           \
	do {                                                                                       \
		MUST(did);                                                                         \
		ask_works(#name);                                                                  \
	} while (0)
/*
 * For calls that return an errno, and for those that return NULL or -1 and set it. One that works
 * all the same, with a newer library, is said to.
 */
#define REFUSED(name, call) ask_refused(#name, (call))
#define REFUSED_ERRNO(name, failed)                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		ask_refused(#name, (failed) ? errno : 0);                                          \
	} while (0)

#endif
