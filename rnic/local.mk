# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += rnic/librnic-core.la
rnic_librnic_core_la_SOURCES = \
	rnic/counters.h \
	rnic/device.h \
	rnic/device_priv.h \
	rnic/host.h \
	rnic/objects.h \
	rnic/personality.h \
	rnic/qp.h \
	rnic/qp_priv.h \
	rnic/table.c \
	rnic/table.h \
	rnic/timer.c \
	rnic/types.h \
	$(NULL)
