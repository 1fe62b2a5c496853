# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Which release of rdma-core the programs here are linked to."""

import ctypes
import functools
import re

from harness.process import read_text


@functools.lru_cache(maxsize=None)
def rdma_core():
    """44, 56, ...: as the library's file says, libibverbs.so.1.14.56.1. None where
    there is no library, or one of another name."""
    try:
        ctypes.CDLL('libibverbs.so.1')
    except OSError:
        return None
    found = re.search(r'/libibverbs\.so\.1\.\d+\.(\d+)', read_text('/proc/self/maps'))
    return int(found.group(1)) if found else None
