# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += \
	tests/unit/tools_linkspec \
	tests/unit/tools_loglimit \
	$(NULL)
TESTS += \
	tests/unit/tools_linkspec \
	tests/unit/tools_loglimit \
	$(NULL)
tests_unit_tools_linkspec_SOURCES = \
	net/sockaddr.c \
	tests/unit/suite.h \
	tests/unit/tools_linkspec.c \
	tools/linkspec.c \
	tools/linkspec.h \
	verbs/kernel/link.c \
	verbs/kernel/link.h \
	$(NULL)
tests_unit_tools_linkspec_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_linkspec_LDADD = $(CHECK_LIBS)
tests_unit_tools_loglimit_SOURCES = \
	tests/unit/suite.h \
	tests/unit/tools_loglimit.c \
	tools/loglimit.c \
	tools/loglimit.h \
	$(NULL)
tests_unit_tools_loglimit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_loglimit_LDADD = $(CHECK_LIBS)

check_PROGRAMS += tests/unit/tools_ladder
TESTS += tests/unit/tools_ladder
tests_unit_tools_ladder_SOURCES = \
	tests/unit/suite.h \
	tests/unit/tools_ladder.c \
	tools/capread.c \
	tools/capread.h \
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
	tools/roceframe.c \
	tools/roceframe.h \
	$(NULL)
tests_unit_tools_ladder_CPPFLAGS = $(AM_CPPFLAGS) -DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_tools_ladder_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_ladder_LDADD = net/libnet.la bth/libbth.la $(CHECK_LIBS)
endif
