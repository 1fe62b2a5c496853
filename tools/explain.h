/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A capture file in words: one line for each RoCEv2 packet. */
#ifndef TOOLS_EXPLAIN_H
#define TOOLS_EXPLAIN_H

/* path: a pcap or pcapng file, "-" for standard input. 0, or -1 after a line on standard error. */
int explain_capture(const char *path);

#endif
