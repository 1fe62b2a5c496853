/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Commands that are nearly right: built by a description of their fields, with handles that mostly
 * name something, then spoilt a little. Addresses are of an arena, which may be overwritten, or of
 * nothing.
 *
 * Fields, in the order in which they lie:
 *   R address for the response   A address   L length   U anything         (8 bytes each)
 *   h handle   n count   k access flags   f few bits   d descriptor   x anything
 *   z zero     b four small bytes   t QP type among its neighbours   p port space and QP type
 *                                                                      (4 bytes each)
 *   G a GID (16 bytes)   S an IPv6-sized socket address (28)   T a socket address (128)
 *   P private data (256)
 */
#ifndef ABI_LIAR_H
#define ABI_LIAR_H

#include <stddef.h>
#include <stdint.h>

#include "rig.h"

#define LIAR_ROOM 1024

struct liar_command {
	uint32_t number;
	const char *fields;
	uint16_t room; /* of the response */
};

/* Commands that were carried out. */
extern uint64_t liar_done;

void liar_begin(uint64_t seed);
uint32_t liar_rnd(uint32_t below);
/* One in so many. */
bool liar_now(uint32_t of);
uint64_t liar_address(void);
/* LIAR_ROOM bytes of the arena. */
void *liar_memory(void);
uint64_t liar_value(void);
uint32_t liar_handle(void);
/* A descriptor of the process: 0 to 63, or none. */
int32_t liar_fd(void);
/* Bytes that it fills, of at most LIAR_ROOM. */
size_t liar_fill(const char *fields, uint8_t *to);
/* Spoils what is there, sometimes. */
void liar_spoil(uint8_t *p, size_t len);
/* Descriptors that commands have made are closed, all from `from` on. */
void liar_close(int from);

/* So many commands of each kind, one by one. `device`: an open one. */
void liar_uverbs(int device, uint32_t count, bool by_ioctl);
void liar_ucma(int channel, uint32_t count);

#endif
