/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An open device with objects of every kind, for the liar's commands; and what befalls them. */
#ifndef TESTS_FUZZ_SESSION_H
#define TESTS_FUZZ_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Commands by write(), or by ioctl, as the input says, until it is used up; then all is given
 * back, and nothing may be left. */
void session_run(const uint8_t *data, size_t size, bool by_ioctl);

#endif
