/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* AETH syndromes (IBA vol. 1, 9.7.5.1) and the RNR timer table (9.7.5.2.8). */
#ifndef BTH_AETH_H
#define BTH_AETH_H

#include <stdint.h>

enum aeth_kind { AETH_ACK = 0, AETH_RNR_NAK = 1, AETH_RESERVED = 2, AETH_NAK = 3 };

enum aeth_nak {
	AETH_NAK_PSN_SEQUENCE = 0,
	AETH_NAK_INVALID_REQUEST = 1,
	AETH_NAK_REMOTE_ACCESS = 2,
	AETH_NAK_REMOTE_OPERATIONAL = 3,
	AETH_NAK_INVALID_RD_REQUEST = 4,
};

#define AETH_CREDITS_INVALID 31 /* there is no limit */
#define AETH_CREDITS_NONE UINT32_MAX

/* Bit 7 is reserved, bits 6-5 the kind, bits 4-0 credits, RNR timer or NAK code. */
static inline uint8_t aeth_syndrome(enum aeth_kind kind, uint8_t value)
{
	return (uint8_t)(kind << 5 | (value & 0x1f));
}

static inline enum aeth_kind aeth_kind(uint8_t syndrome)
{
	return (enum aeth_kind)(syndrome >> 5 & 3);
}

static inline uint8_t aeth_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

/* How many messages a credit code allows (IBA, unverified); AETH_CREDITS_NONE for 31. */
uint32_t aeth_credits(uint8_t code);
/* The code of at most so many. */
uint8_t aeth_credit_code(uint32_t n);

/* Nanoseconds of an RNR timer code, 0..31: 0 is 655.36 ms, 1 is 10 us, 31 is 491.52 ms. */
uint64_t aeth_rnr_timer_ns(uint8_t code);

/* Nanoseconds of 4.096 us * 2^exponent; exponent 0 means "never" and gives 0. */
uint64_t ib_timeout_ns(uint8_t exponent);

#endif
