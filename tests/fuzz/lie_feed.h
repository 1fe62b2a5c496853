/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The liar of tests/abi, whose choices are a fuzzer's input: a zero is the ordinary choice. Its
 * arena is the memory of the harness's process; what there is to name, the harness says.
 */
#ifndef TESTS_FUZZ_LIE_FEED_H
#define TESTS_FUZZ_LIE_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "feed.h"
#include "tests/abi/liar.h"

struct lie_feed {
	struct feed feed;
	uint8_t *arena;
	size_t size;
	/* A handle (kind 0: of any kind), the choice-th of those that live; descriptors likewise.
	 * False: there is none. */
	bool (*handle)(uint8_t kind, uint32_t choice, uint32_t *handle);
	bool (*fd)(uint32_t choice, int32_t *fd);
};

extern struct lie_feed lie;

#endif
