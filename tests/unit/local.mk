# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One .mk file a folder under test.
include tests/unit/bth.mk
include tests/unit/rnic.mk
include tests/unit/net.mk
include tests/unit/kernel.mk
include tests/unit/verbs.mk
include tests/unit/preload.mk
include tests/unit/tools.mk
