/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* For libFuzzer: uverbs methods of the ioctl, and commands by INVOKE_WRITE, nearly right, by
 * tests/abi's liar. */
#include "config.h"

#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	session_run(data, size, true);
	return 0;
}
