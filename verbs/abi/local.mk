# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
EXTRA_DIST += \
	verbs/abi/control.h \
	verbs/abi/doorbell.h \
	$(NULL)
