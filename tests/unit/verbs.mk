# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
check_PROGRAMS += tests/unit/verbs_test
TESTS += tests/unit/verbs_test
endif

tests_unit_verbs_test_SOURCES = \
	tests/unit/nldev_rig.c \
	tests/unit/nldev_rig.h \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/suite.h \
	tests/unit/verbs_device.c \
	tests/unit/verbs_do.c \
	tests/unit/verbs_fuzz.c \
	tests/unit/verbs_gone.c \
	tests/unit/verbs_ioctl.c \
	tests/unit/verbs_main.c \
	tests/unit/verbs_memory.c \
	tests/unit/verbs_netlink.c \
	tests/unit/verbs_objects.c \
	tests/unit/verbs_qp.c \
	tests/unit/verbs_rig.c \
	tests/unit/verbs_rig.h \
	tests/unit/verbs_ring.c \
	$(NULL)
tests_unit_verbs_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_verbs_test_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(CHECK_LIBS) \
	$(NULL)
