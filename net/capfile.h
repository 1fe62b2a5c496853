/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Blocks of capture files: pcapng (draft-ietf-opsawg-pcapng) or classic pcap with nanoseconds.
 * Packets begin with Linux's pseudo link header (LINKTYPE_LINUX_SLL2). Nothing is written where it
 * has no room.
 */
#ifndef NET_CAPFILE_H
#define NET_CAPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capfile_format { CAPFILE_PCAPNG, CAPFILE_PCAP };

/* Text of any option is cut to that. */
#define CAPFILE_TEXT_MAX 1024

struct capfile {
	enum capfile_format format;
	uint8_t *buf;
	size_t len, size;
};

struct capfile_packet {
	uint32_t interface; /* in the order of capfile_interface */
	uint64_t time;	    /* ns since 1970 */
	bool out, multicast;
	const uint8_t *head, *data; /* the packet in two pieces */
	uint32_t head_len, data_len;
	const char *comment; /* or NULL; pcap has no room for it */
	uint64_t lost;	     /* packets of this interface that are missing before this one */
};

/* All return false if the buffer has no room for the whole block. */
bool capfile_begin(struct capfile *f, const char *application);
/* filter: in tcpdump's words, or NULL. pcap knows no interfaces. */
bool capfile_interface(struct capfile *f, const char *name, const char *description,
		       const char *filter);
bool capfile_packet(struct capfile *f, const struct capfile_packet *p);
/* At the end: how many packets the interface had, and how many of them are missing. */
bool capfile_statistics(struct capfile *f, uint32_t interface, uint64_t time, uint64_t seen,
			uint64_t lost);

#endif
