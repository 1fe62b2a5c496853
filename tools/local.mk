# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
sbin_PROGRAMS += tools/rnicd
bin_PROGRAMS += \
	tools/rnic-run \
	tools/rnicctl \
	$(NULL)

tools_rnic_run_SOURCES = \
	tools/ondemand.c \
	tools/ondemand.h \
	tools/rnic-run.c \
	tools/rundir.c \
	tools/rundir.h \
	tools/unserved.c \
	tools/unserved.h \
	$(NULL)
tools_rnic_run_CPPFLAGS = $(AM_CPPFLAGS) \
	-DRNIC_PKGLIBDIR='"$(pkglibdir)"' \
	-DRNIC_SBINDIR='"$(sbindir)"'

tools_rnicd_SOURCES = \
	tools/adapter.c \
	tools/adapter.h \
	tools/captures.c \
	tools/captures.h \
	tools/cc.c \
	tools/cc.h \
	tools/claim.c \
	tools/claim.h \
	tools/commands.c \
	tools/daemon.h \
	tools/devices.c \
	tools/faults.c \
	tools/faults.h \
	tools/gids.c \
	tools/gids.h \
	tools/linkspec.c \
	tools/linkspec.h \
	tools/loglimit.c \
	tools/loglimit.h \
	tools/loop.c \
	tools/qpdot.c \
	tools/qpdot.h \
	tools/rnicd.c \
	tools/rundir.c \
	tools/rundir.h \
	$(NULL)
tools_rnicd_CPPFLAGS = $(AM_CPPFLAGS) $(JSON_CFLAGS)
tools_rnicd_LDADD = \
	verbs/kernel/libkernel.la \
	rnic/librnic-core.la \
	net/libnet.la \
	bth/libbth.la \
	$(NL_LIBS) \
	$(PCAP_LIBS) \
	$(JSON_LIBS) \
	$(EV_LIBS) \
	$(CRC_LIBS) \
	-lpthread \
	$(NULL)

tools_rnicctl_LDADD = rnic/librnic-core.la bth/libbth.la $(PCAP_LIBS)
tools_rnicctl_SOURCES = \
	tools/ask.c \
	tools/ask.h \
	tools/capread.c \
	tools/capread.h \
	tools/capturing.c \
	tools/capturing.h \
	tools/explain.c \
	tools/explain.h \
	tools/ladder.c \
	tools/ladder.h \
	tools/ladder_chart.c \
	tools/ladder_flow.c \
	tools/ladder_html.c \
	tools/ladder_json.c \
	tools/ladder_packet.c \
	tools/ladder_row.c \
	tools/ladder_rules.c \
	tools/ladder_state.c \
	tools/ladder_svg.c \
	tools/ladder_svg.h \
	tools/ladder_text.c \
	tools/qpdot.c \
	tools/qpdot.h \
	tools/rnicctl.c \
	tools/roceframe.c \
	tools/roceframe.h \
	tools/rundir.c \
	tools/rundir.h \
	$(NULL)
