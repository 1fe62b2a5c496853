/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The captures that are under way: rnicctl capture start, stop and list, as the daemon sees them.
 */
#ifndef TOOLS_CAPTURES_H
#define TOOLS_CAPTURES_H

#include <stdbool.h>

struct adapter;
struct admin_reply;
struct daemon;
struct json_object;

/*
 * capture start NAME pcapng|pcap FILTER DEVICE: NAME, FILTER ("" for none) and DEVICE ("": all)
 * are words only; the descriptors that come with it are the file to write to and, with a FILTER,
 * one that has its program (struct bpf_insn after struct bpf_insn). So the file is opened, and a
 * filter compiled, which may look up names, by who wants it.
 * capture stop [ID]: a socket that comes with it is told when all has been written, and closed.
 * 0 or -errno with a line.
 */
int captures_command(struct daemon *d, int argc, char **argv, struct admin_reply *reply);

/* For capture list: id, name, filter, device, packets, lost, bytes of each. */
void captures_collect(const struct daemon *d, struct json_object *array);

/* A device has come; captures of all devices show it too. */
void captures_adapter_added(struct adapter *a);

bool captures_any(const struct daemon *d);
/* The daemon ends: so do they. */
void captures_end(struct daemon *d);

#endif
