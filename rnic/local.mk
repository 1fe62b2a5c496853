# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += rnic/librnic-core.la
rnic_librnic_core_la_SOURCES = \
	rnic/ah.c \
	rnic/counters.h \
	rnic/cq.c \
	rnic/device.c \
	rnic/device.h \
	rnic/device_priv.h \
	rnic/host.h \
	rnic/mr.c \
	rnic/objects.h \
	rnic/pd.c \
	rnic/personality.h \
	rnic/port.c \
	rnic/qp.c \
	rnic/qp.h \
	rnic/qp_modify.c \
	rnic/qp_priv.h \
	rnic/qp_table.c \
	rnic/qp_table.h \
	rnic/srq.c \
	rnic/table.c \
	rnic/table.h \
	rnic/timer.c \
	rnic/types.h \
	$(NULL)
