# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += tests/unit/net_test
TESTS += tests/unit/net_test
endif

tests_unit_net_test_SOURCES = \
	tests/unit/net_fault.c \
	tests/unit/net_fault_refused.c \
	tests/unit/net_fault_words.c \
	tests/unit/net_faulty.c \
	tests/unit/net_late.c \
	tests/unit/net_made.c \
	tests/unit/net_made.h \
	tests/unit/net_group.c \
	tests/unit/net_ifaddr.c \
	tests/unit/net_main.c \
	tests/unit/net_mode.c \
	tests/unit/net_pair.c \
	tests/unit/net_pair.h \
	tests/unit/net_port.c \
	tests/unit/net_record.c \
	tests/unit/net_queue.c \
	tests/unit/net_route.c \
	tests/unit/net_self.c \
	tests/unit/net_suites.h \
	tests/unit/net_tap.c \
	tests/unit/net_wire.c \
	tests/unit/suite.h \
	$(NULL)
tests_unit_net_test_CPPFLAGS = $(AM_CPPFLAGS) -DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_net_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_net_test_LDADD = \
	net/libnet.la \
	bth/libbth.la \
	$(CHECK_LIBS) \
	$(NULL)

# Not a test: prints how fast a port is here.
check_PROGRAMS += tests/unit/net_bench
tests_unit_net_bench_SOURCES = tests/unit/net_bench.c
tests_unit_net_bench_LDADD = net/libnet.la
