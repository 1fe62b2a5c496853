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
	tests/unit/tools_linkspec.c \
	tools/linkspec.c \
	tools/linkspec.h \
	verbs/kernel/link.c \
	verbs/kernel/link.h \
	$(NULL)
tests_unit_tools_linkspec_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_linkspec_LDADD = $(CHECK_LIBS)
tests_unit_tools_loglimit_SOURCES = \
	tests/unit/tools_loglimit.c \
	tools/loglimit.c \
	tools/loglimit.h \
	$(NULL)
tests_unit_tools_loglimit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_loglimit_LDADD = $(CHECK_LIBS)
endif
