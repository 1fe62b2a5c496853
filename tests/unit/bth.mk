# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += tests/unit/bth_test
TESTS += tests/unit/bth_test
endif

tests_unit_bth_test_SOURCES = \
	tests/unit/bth_cm.c \
	tests/unit/bth_golden.c \
	tests/unit/bth_icrc.c \
	tests/unit/bth_ipid.c \
	tests/unit/bth_main.c \
	tests/unit/bth_opcode.c \
	tests/unit/bth_packet.c \
	tests/unit/bth_print.c \
	tests/unit/bth_suites.h \
	tests/unit/bth_trace.c \
	tests/unit/bth_trace.h \
	tests/unit/suite.h \
	$(NULL)
tests_unit_bth_test_CPPFLAGS = $(AM_CPPFLAGS) -DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_bth_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PCAP_CFLAGS)
tests_unit_bth_test_LDADD = \
	bth/libbth.la \
	$(CHECK_LIBS) \
	$(PCAP_LIBS) \
	$(NULL)

EXTRA_DIST += tests/golden
