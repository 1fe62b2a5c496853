# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += tests/unit/kernel_test
TESTS += tests/unit/kernel_test
endif

tests_unit_kernel_test_SOURCES = \
	tests/abi/older.h \
	tests/unit/kernel_bulk.c \
	tests/unit/kernel_channel.c \
	tests/unit/kernel_cm.c \
	tests/unit/kernel_cm_rig.c \
	tests/unit/kernel_cm_rig.h \
	tests/unit/kernel_cm_rules.c \
	tests/unit/kernel_command.c \
	tests/unit/kernel_context.c \
	tests/unit/kernel_main.c \
	tests/unit/kernel_netlink.c \
	tests/unit/kernel_rig.c \
	tests/unit/kernel_server.c \
	tests/unit/kernel_suites.h \
	tests/unit/kernel_umem.c \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/suite.h \
	$(NULL)
tests_unit_kernel_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -pthread
tests_unit_kernel_test_LDADD = \
	verbs/kernel/libkernel.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(CHECK_LIBS) \
	$(EV_LIBS) \
	-lpthread \
	$(NULL)
