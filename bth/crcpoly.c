/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shifting a CRC register over zero bytes by multiplication. The polynomial is primitive, so
 * x^(2^32 - 1) is 1 and every power has an inverse. The powers for the distances between the
 * IPv4 identification and the ICRC in packets of ordinary length, which are 2 modulo 4, are in
 * tables, made once before main.
 */
#include "config.h"

#include "bth/crcpoly.h"

#define POLY 0xedb88320u
#define ONE 0x80000000u /* x^0 */

/* Distances of 4 * i + 2 bytes, i < WORDS, come from the tables: path MTU 4096 and all headers. */
#define WORDS 1088

static uint32_t shift_words[WORDS];
static uint32_t unshift_words[WORDS];

uint32_t crcpoly_mul(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (; a != 0; a <<= 1) {
		product ^= b & -(a >> 31);
		b = b >> 1 ^ (POLY & -(b & 1));
	}
	return product;
}

/* x^n, n taken modulo 2^32 - 1 by the caller. */
static uint32_t power(uint32_t n)
{
	uint32_t square = ONE >> 1;
	uint32_t result = ONE;

	for (; n != 0; n >>= 1) {
		if (n & 1)
			result = crcpoly_mul(result, square);
		square = crcpoly_mul(square, square);
	}
	return result;
}

/* Before other constructors, which may use it. */
__attribute__((constructor(101))) static void tables_init(void)
{
	const uint32_t step = power(32), back = power(UINT32_MAX - 32);

	shift_words[0] = power(16);
	unshift_words[0] = power(UINT32_MAX - 16);
	for (size_t i = 1; i < WORDS; i++) {
		shift_words[i] = crcpoly_mul(shift_words[i - 1], step);
		unshift_words[i] = crcpoly_mul(unshift_words[i - 1], back);
	}
}

uint32_t crcpoly_shift(size_t n)
{
	if (n % 4 == 2 && n / 4 < WORDS)
		return shift_words[n / 4];
	return power((uint32_t)(n * 8 % UINT32_MAX));
}

uint32_t crcpoly_unshift(size_t n)
{
	if (n % 4 == 2 && n / 4 < WORDS)
		return unshift_words[n / 4];
	return power(UINT32_MAX - (uint32_t)(n * 8 % UINT32_MAX));
}

uint32_t crcpoly_word(uint16_t v, size_t n)
{
	/* The first byte, lowest bit first, holds the highest powers; n + 4 for the CRC itself. */
	uint32_t poly = (uint32_t)(v & 0xff) << 24 | (uint32_t)(v >> 8) << 16;

	return crcpoly_mul(poly, crcpoly_shift(n + 4));
}
