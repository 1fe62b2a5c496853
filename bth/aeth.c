/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Timer codes as they stand in AETHs and in QP attributes, in nanoseconds. */
#include "config.h"

#include "bth/aeth.h"

/* Units of 10 us; IBA 9.7.5.2.8 */
static const uint16_t rnr_timer[32] = {
	0,    1,    2,	  3,	4,    6,    8,	  12, /* 0: 65536, which does not fit */
	16,   24,   32,	  48,	64,   96,   128,  192,	 256,	384,   512,   768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static const uint16_t credits[AETH_CREDITS_INVALID] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

uint32_t aeth_credits(uint8_t code)
{
	return code < AETH_CREDITS_INVALID ? credits[code] : AETH_CREDITS_NONE;
}

uint8_t aeth_credit_code(uint32_t n)
{
	uint8_t code = AETH_CREDITS_INVALID - 1;

	while (credits[code] > n)
		code--;
	return code;
}

uint64_t aeth_rnr_timer_ns(uint8_t code)
{
	uint64_t units = (code & 31) == 0 ? 65536 : rnr_timer[code & 31];

	return units * 10000;
}

uint64_t ib_timeout_ns(uint8_t exponent)
{
	exponent &= 31;
	return exponent == 0 ? 0 : UINT64_C(4096) << exponent;
}
