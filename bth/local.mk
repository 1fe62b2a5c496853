# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += bth/libbth.la

bth_libbth_la_SOURCES = \
	bth/aeth.c \
	bth/aeth.h \
	bth/cm.c \
	bth/cm.h \
	bth/crcpoly.c \
	bth/crcpoly.h \
	bth/icrc.c \
	bth/icrc.h \
	bth/ipid.c \
	bth/ipid.h \
	bth/line.c \
	bth/line.h \
	bth/mad.c \
	bth/mad.h \
	bth/opcode.c \
	bth/opcode.h \
	bth/packet.c \
	bth/packet.h \
	bth/print.c \
	bth/print.h \
	bth/psn.h \
	bth/wire.h \
	$(NULL)
bth_libbth_la_CFLAGS = $(AM_CFLAGS)
bth_libbth_la_LIBADD = $(CRC_LIBS)
