# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# libFuzzer harnesses: `make fuzz` builds them with clang in fuzz/ and lets each run for
# FUZZ_SECONDS at most, two at a time. They are no part of other builds.
fuzz_programs = \
	tests/fuzz/fuzz_bth \
	tests/fuzz/fuzz_device \
	tests/fuzz/fuzz_ioctl \
	tests/fuzz/fuzz_netlink \
	tests/fuzz/fuzz_rings \
	tests/fuzz/fuzz_ucma \
	tests/fuzz/fuzz_verbs \
	tests/fuzz/fuzz_write \
	$(NULL)
EXTRA_PROGRAMS += $(fuzz_programs)

EXTRA_DIST += \
	tests/fuzz/run \
	tests/fuzz/seeds \
	$(NULL)

fuzz_flags = -fsanitize=fuzzer $(AM_LDFLAGS)

tests_fuzz_fuzz_bth_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_bth_LDADD = bth/libbth.la

tests_fuzz_fuzz_device_SOURCES = \
	tests/fuzz/device_rig.c \
	tests/fuzz/device_rig.h \
	tests/fuzz/feed.h \
	tests/fuzz/fuzz_device.c \
	tests/fuzz/packet_feed.c \
	tests/fuzz/packet_feed.h \
	tests/sim/host.c \
	tests/sim/queues.c \
	tests/sim/world.c \
	$(NULL)
tests_fuzz_fuzz_device_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_fuzz_fuzz_device_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_device_LDADD = \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

tests_fuzz_fuzz_netlink_SOURCES = \
	tests/fuzz/feed.h \
	tests/fuzz/fuzz_netlink.c \
	tests/fuzz/verdict.c \
	tests/unit/nldev_rig.c \
	tests/unit/nldev_rig.h \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/verbs_do.c \
	tests/unit/verbs_rig.c \
	tests/unit/verbs_rig.h \
	$(NULL)
tests_fuzz_fuzz_netlink_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/unit
tests_fuzz_fuzz_netlink_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_fuzz_fuzz_netlink_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_netlink_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

tests_fuzz_fuzz_verbs_SOURCES = \
	tests/fuzz/feed.h \
	tests/fuzz/fuzz_verbs.c \
	tests/fuzz/verdict.c \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/verbs_do.c \
	tests/unit/verbs_rig.c \
	tests/unit/verbs_rig.h \
	$(NULL)
tests_fuzz_fuzz_verbs_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_fuzz_fuzz_verbs_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_verbs_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

# The liar of tests/abi, with its choices from the fuzzer's input.
FUZZ_LIAR = \
	tests/abi/liar.h \
	tests/abi/liar_fields.c \
	tests/abi/raw.c \
	tests/abi/raw.h \
	tests/fuzz/feed.h \
	tests/fuzz/lie_feed.c \
	tests/fuzz/lie_feed.h \
	tests/fuzz/verdict.c \
	$(NULL)
FUZZ_SESSION = \
	$(FUZZ_LIAR) \
	tests/abi/liar_uverbs.c \
	tests/fuzz/client.c \
	tests/fuzz/client.h \
	tests/fuzz/session.c \
	tests/fuzz/session.h \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/verbs_do.c \
	tests/unit/verbs_rig.c \
	tests/unit/verbs_rig.h \
	$(NULL)
FUZZ_LIAR_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/rules

tests_fuzz_fuzz_ioctl_SOURCES = tests/fuzz/fuzz_ioctl.c $(FUZZ_SESSION)
tests_fuzz_fuzz_ioctl_CPPFLAGS = $(FUZZ_LIAR_CPPFLAGS)
tests_fuzz_fuzz_ioctl_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_fuzz_fuzz_ioctl_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_ioctl_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

tests_fuzz_fuzz_write_SOURCES = tests/fuzz/fuzz_write.c $(FUZZ_SESSION)
tests_fuzz_fuzz_write_CPPFLAGS = $(FUZZ_LIAR_CPPFLAGS)
tests_fuzz_fuzz_write_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_fuzz_fuzz_write_LDFLAGS = $(fuzz_flags)
tests_fuzz_fuzz_write_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

# The personality's files come once more, each of their loads told.
tests_fuzz_fuzz_rings_SOURCES = \
	tests/fuzz/client.c \
	tests/fuzz/client.h \
	tests/fuzz/feed.h \
	tests/fuzz/fuzz_rings.c \
	tests/fuzz/loop.c \
	tests/fuzz/loop.h \
	tests/fuzz/verdict.c \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/verbs_do.c \
	tests/unit/verbs_rig.c \
	tests/unit/verbs_rig.h \
	verbs/kernel/rxe.c \
	verbs/kernel/rxe_cq.c \
	verbs/kernel/rxe_recv.c \
	verbs/kernel/rxe_ring.c \
	verbs/kernel/rxe_send.c \
	$(NULL)
tests_fuzz_fuzz_rings_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -fsanitize-coverage=trace-loads
tests_fuzz_fuzz_rings_LDFLAGS = $(fuzz_flags) -Wl,--wrap=__asan_memcpy
tests_fuzz_fuzz_rings_LDADD = \
	verbs/kernel/libuverbs.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

tests_fuzz_fuzz_ucma_SOURCES = \
	$(FUZZ_LIAR) \
	tests/abi/liar_ucma.c \
	tests/fuzz/fuzz_ucma.c \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	$(NULL)
tests_fuzz_fuzz_ucma_CPPFLAGS = $(FUZZ_LIAR_CPPFLAGS)
tests_fuzz_fuzz_ucma_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_fuzz_fuzz_ucma_LDFLAGS = $(fuzz_flags) -Wl,--wrap=getrandom
tests_fuzz_fuzz_ucma_LDADD = \
	verbs/kernel/libkernel.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(EV_LIBS) \
	$(NULL)

FUZZ_SECONDS = 60

.PHONY: fuzz fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz:
	$(srcdir)/tests/fuzz/run $(builddir) $(FUZZ_SECONDS)
