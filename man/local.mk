# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
man_MANS += \
	man/rnic.7 \
	man/rnicctl.8 \
	man/rnicd.8 \
	$(NULL)

EXTRA_DIST += \
	man/rnic.7 \
	man/rnicctl.8 \
	man/rnicd.8 \
	$(NULL)
