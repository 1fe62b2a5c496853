/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* rnicctl capture start and stop: opens the file and compiles the filter for the daemon. */
#ifndef TOOLS_CAPTURING_H
#define TOOLS_CAPTURING_H

struct ask;

/* file: "-" is stdout; what ends in .pcap becomes classic pcap, all else pcapng. filter: words of
 * pcap-filter(7). device: NULL for all. 0 or -errno with a line on stderr. */
int capturing_start(const struct ask *ask, const char *file, const char *device,
		    char *const *filter, int n_filter);
/* which: NULL if there is but one. Returns when all has been written. */
int capturing_stop(const struct ask *ask, const char *which);

#endif
