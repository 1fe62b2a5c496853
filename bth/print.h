/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One line that tells what a packet is, for logs, traces and test failures. */
#ifndef BTH_PRINT_H
#define BTH_PRINT_H

#include <stddef.h>

struct bth_packet;

/* Like snprintf; returns the length that the whole line has. */
int bth_print(char *buf, size_t size, const struct bth_packet *pkt);

/* "PSN sequence error", "RNR 0.64 ms", "ACK credits 12", ... */
int aeth_print(char *buf, size_t size, unsigned char syndrome);

#endif
