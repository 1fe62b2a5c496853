/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Commands that are nearly right: built by a description of their fields, with handles that mostly
 * name something, then spoilt a little. Addresses are of an arena, which may be overwritten, or of
 * nothing.
 *
 * Fields, in the order in which they lie:
 *   R address for the response   A address   L length   U anything         (8 bytes each)
 *   h handle   1 to 7 handle of that enum liar_kind   d descriptor         (4 bytes each)
 *   n count   k access flags   f few bits   x anything   z zero   b four small bytes
 *   t QP type among its neighbours   p port space and QP type
 *   G a GID (16 bytes)   S an IPv6-sized socket address (28)   T a socket address (128)
 *   P private data (256)
 */
#ifndef ABI_LIAR_H
#define ABI_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ib_uverbs_attr;

#define LIAR_ROOM 1024

enum liar_kind {
	LIAR_PD = 1,
	LIAR_MR,
	LIAR_MW,
	LIAR_CQ,
	LIAR_SRQ,
	LIAR_QP,
	LIAR_AH,
};

struct liar_command {
	uint32_t number;
	const char *fields;
	uint16_t room; /* of the response */
};

/* Commands that were carried out. */
extern uint64_t liar_done;

/* ---- what is chosen, and who is asked: liar.c, or a fuzzer's input and harness ---- */

uint32_t liar_rnd(uint32_t below);
uint64_t liar_rnd64(void);
/* One in so many. */
bool liar_now(uint32_t of);
uint64_t liar_address(void);
/* LIAR_ROOM bytes of the arena. */
void *liar_memory(void);
uint64_t liar_value(void);
uint32_t liar_handle(void);
/* One of that kind, where that is known. */
uint32_t liar_object(enum liar_kind kind);
/* A descriptor of the process: 0 to 63, or none. */
int32_t liar_fd(void);
/* Descriptors that commands have made are closed, all from `from` on. */
void liar_close(int from);
/* The length, or -errno. */
int64_t liar_write(int fd, const void *data, size_t len);
/* 0, or the errno; attributes come back as the kernel leaves them. */
int liar_ioctl(int fd, uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n);

/* ---- liar_fields.c ---- */

/* Bytes that it fills, of at most LIAR_ROOM. */
size_t liar_fill(const char *fields, uint8_t *to);
/* Spoils what is there, sometimes. */
void liar_spoil(uint8_t *p, size_t len);

/* ---- liar_uverbs.c, liar_ucma.c: one command of any kind ---- */

/* `device`: an open one. */
void liar_uverbs(int device, bool by_ioctl);
void liar_ucma(int channel);

#endif
