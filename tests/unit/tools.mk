# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += tests/unit/tools_loglimit
TESTS += tests/unit/tools_loglimit
tests_unit_tools_loglimit_SOURCES = \
	tests/unit/tools_loglimit.c \
	tools/loglimit.c \
	tools/loglimit.h \
	$(NULL)
tests_unit_tools_loglimit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_tools_loglimit_LDADD = $(CHECK_LIBS)
endif
