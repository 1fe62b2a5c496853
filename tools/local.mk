# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
sbin_PROGRAMS += rnicd
bin_PROGRAMS += rnicctl

rnicd_SOURCES = \
	tools/adapter.c \
	tools/adapter.h \
	tools/commands.c \
	tools/daemon.h \
	tools/devices.c \
	tools/loop.c \
	tools/rnicd.c \
	$(NULL)
rnicd_CPPFLAGS = $(AM_CPPFLAGS) $(JSON_CFLAGS)
rnicd_LDADD = \
	libkernel.la \
	librnic_core.la \
	libnet.la \
	libbth.la \
	$(NL_LIBS) \
	$(PCAP_LIBS) \
	$(JSON_LIBS) \
	$(EV_LIBS) \
	$(CRC_LIBS) \
	-lpthread \
	$(NULL)

rnicctl_SOURCES = \
	tools/rnicctl.c \
	tools/rundir.c \
	tools/rundir.h \
	$(NULL)
