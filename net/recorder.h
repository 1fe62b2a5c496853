/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A recorder writes the packets that it is shown to a capture file or pipe. Showing never waits:
 * who reads too slowly, or not at all, loses packets, which are counted and said in the file.
 */
#ifndef NET_RECORDER_H
#define NET_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/capfile.h"

struct bpf_insn;
struct net_recorder;

enum {
	RECORDER_INTERFACES_MAX = 64,
	RECORDER_FILTER_MAX = 4096, /* instructions */
	RECORDER_BUFFER = 4 << 20,  /* bytes; of two buffers one is being written */
};

struct net_recorder_config {
	int fd; /* to be written to; the recorder closes it */
	enum capfile_format format;
	const char *application;
	const char *filter_text; /* in tcpdump's words, or NULL */
	/* Its program for packets as DLT_LINUX_SLL2 has them, or NULL: all are wanted. Is copied.
	 */
	const struct bpf_insn *filter;
	uint32_t filter_len; /* instructions */
	size_t buffer;	     /* bytes; 0: RECORDER_BUFFER */
};

struct net_recorder_counts {
	uint64_t packets; /* that passed the filter */
	uint64_t lost;	  /* of them, for want of room */
	uint64_t bytes;	  /* written */
};

/* Can this program be run on packets? It comes from outside. */
bool net_recorder_filter_is_valid(const struct bpf_insn *filter, uint32_t len);

/* 0 or -errno: -EINVAL for a filter that is not valid; then fd is still the caller's. */
int net_recorder_create(const struct net_recorder_config *cfg, struct net_recorder **out);

/* A further source of packets; its number for net_recorder_packet, or -ENOSPC. */
int net_recorder_interface(struct net_recorder *r, const char *name, const char *description);
/* p->lost is filled in here. */
void net_recorder_packet(struct net_recorder *r, struct capfile_packet *p);

void net_recorder_counts(struct net_recorder *r, struct net_recorder_counts *counts);

/* Write what is there, the end too, and close. Does not wait for it. */
void net_recorder_stop(struct net_recorder *r);
/* Readable when nothing more is going to be written: after a stop, or when it has failed. */
int net_recorder_done_fd(const struct net_recorder *r);
/* 0, or the -errno that ended it; only when done. */
int net_recorder_error(const struct net_recorder *r);
/* Stops it if need be, waits that long for a reader who is slow, and leaves the rest unwritten. */
void net_recorder_destroy(struct net_recorder *r, uint32_t patience_ms);

#endif
