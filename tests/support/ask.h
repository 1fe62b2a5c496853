/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is said of each thing that a live device is asked for: a line "NAME works" or "NAME ERRNO".
 */
#ifndef SUPPORT_ASK_H
#define SUPPORT_ASK_H

#include "rig.h"

/* It was done, and what it did has been looked at. */
void ask_works(const char *name);
/* It was refused with that errno, whose name is said. */
void ask_refused(const char *name, int error);
/* Another word for how it is refused. */
void ask_says(const char *name, const char *word);

/* `did` is the call and a look at what it did; else the program fails. */
#define WORKS(name, did)                                                                           \
	do {                                                                                       \
		MUST(did);                                                                         \
		ask_works(#name);                                                                  \
	} while (0)
/* For calls that return an errno, and for those that return NULL or -1 and set it. */
#define REFUSED(name, call) ask_refused(#name, (call))
#define REFUSED_ERRNO(name, failed)                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		MUST(failed);                                                                      \
		ask_refused(#name, errno);                                                         \
	} while (0)

#endif
