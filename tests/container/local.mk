# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What a container's user has: namespaces of his own, a fresh system, another release's programs.
EXTRA_DIST += \
	tests/container/debootstrap \
	tests/container/run \
	$(NULL)

TESTS += tests/container/run
