# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
man_MANS += \
	man/rnic-drill.1 \
	man/rnic-run.1 \
	man/rnic.7 \
	man/rnicctl.8 \
	man/rnicd.8 \
	$(NULL)

EXTRA_DIST += \
	man/rnic-drill.1 \
	man/rnic-run.1 \
	man/rnic.7 \
	man/rnicctl.8 \
	man/rnicd.8 \
	$(NULL)
