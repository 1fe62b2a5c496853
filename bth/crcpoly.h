/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Arithmetic modulo the polynomial of CRC-32. A value is a polynomial in the reflected order of
 * the CRC register: bit 31 is the coefficient of x^0, bit 0 that of x^31.
 */
#ifndef BTH_CRCPOLY_H
#define BTH_CRCPOLY_H

#include <stddef.h>
#include <stdint.h>

/* a * b; quick where a has its last bits (the high powers) 0. */
uint32_t crcpoly_mul(uint32_t a, uint32_t b);

/* x^(8n) and its inverse: what n more bytes do to a difference in the register, and undo. */
uint32_t crcpoly_shift(size_t n);
uint32_t crcpoly_unshift(size_t n);

/* The register, from 0, after the bytes hi and lo of v and then n bytes of 0. */
uint32_t crcpoly_word(uint16_t v, size_t n);

#endif
