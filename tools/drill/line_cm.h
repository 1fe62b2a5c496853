/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of communication management as lines of a script. */
#ifndef DRILL_LINE_CM_H
#define DRILL_LINE_CM_H

#include <stddef.h>

#include "run.h"

struct bth_packet;

#define CM_HEADER_LEN 36 /* of the private data of a REQ or SIDR_REQ: the addresses (annex A11) */
#define CM_SPACE_TCP 0x106u
#define CM_PORT 7471

/* What the packet says if it is a CM message, behind what is told of it already. How long. */
size_t line_cm_tell(const struct bth_packet *pkt, char *buf, size_t size);
/* The packet that carries a message, with this PSN. */
void line_cm_packet(const struct cm_msg *m, uint32_t psn, struct side_packet *out);
/* The addresses before private data: IPv4 or IPv6, from port; all as texts. */
void cm_header_put(uint8_t *h, const char *from, const char *to, uint16_t port);

#endif
