/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads capture files, pcap and pcapng of any byte order, with what libpcap does not tell of
 * pcapng: comments, directions, how many packets are missing.
 */
#ifndef TOOLS_CAPREAD_H
#define TOOLS_CAPREAD_H

#include <stddef.h>
#include <stdint.h>

enum capread_direction { CAPREAD_UNKNOWN, CAPREAD_IN, CAPREAD_OUT };

struct capread_packet {
	uint64_t time; /* ns since 1970 */
	uint32_t linktype;
	enum capread_direction direction;
	const uint8_t *data; /* valid until capread_close */
	uint32_t len;	     /* captured */
	const char *comment; /* all of them, not terminated; NULL: none */
	uint32_t comment_len;
	uint64_t missing; /* packets that were lost before this one by who captured */
};

struct capread;

/* path "-": standard input. NULL with a line in err. */
struct capread *capread_open(const char *path, char *err, size_t err_size);
void capread_close(struct capread *c);
/* 1, 0 at the end, or -1: the file is damaged from here on, as err says. */
int capread_next(struct capread *c, struct capread_packet *p, char *err, size_t err_size);

#endif
