# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# docs/SUPPORT.md, asked of a live device by programs that print an answer for each name. Built and
# skipped as the programs of tests/rules are.
EXTRA_DIST += \
	docs/SUPPORT.md \
	tests/support/files \
	tests/support/page.py \
	tests/support/proofs.py \
	tests/support/run \
	tests/support/selftest \
	tests/support/shown.py \
	$(NULL)

TESTS += \
	tests/support/run \
	tests/support/selftest \
	$(NULL)

if HAVE_VERBS
if !SANITIZERS
check_PROGRAMS += \
	tests/support/cm \
	tests/support/messages \
	tests/support/uverbs \
	tests/support/verbs \
	$(NULL)
SUPPORT_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/rules -I$(top_srcdir)/tests/abi
SUPPORT_ASK = tests/support/ask.c tests/support/ask.h $(ABI_RIG)
SUPPORT_RAW = tests/support/ask.c tests/support/ask.h $(ABI_RAW)

tests_support_cm_SOURCES = \
	tests/support/cm.c \
	tests/support/cm.h \
	tests/support/cm_call.c \
	tests/support/cm_connections.c \
	$(SUPPORT_ASK)
tests_support_cm_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_cm_CFLAGS = $(RULES_CFLAGS)
tests_support_cm_LDFLAGS = -no-install
tests_support_cm_LDADD = -libverbs

tests_support_messages_SOURCES = \
	tests/support/messages.c \
	tests/support/cm.h \
	tests/support/cm_call.c \
	$(SUPPORT_ASK)
tests_support_messages_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_messages_CFLAGS = $(RULES_CFLAGS)
tests_support_messages_LDFLAGS = -no-install
tests_support_messages_LDADD = -libverbs

tests_support_uverbs_SOURCES = \
	tests/support/uverbs.c \
	tests/support/uverbs.h \
	tests/support/uverbs_commands.c \
	tests/support/uverbs_methods.c \
	tests/support/uverbs_queues.c \
	$(SUPPORT_RAW)
tests_support_uverbs_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_uverbs_CFLAGS = $(RULES_CFLAGS)
tests_support_uverbs_LDFLAGS = -no-install
tests_support_uverbs_LDADD = -libverbs

tests_support_verbs_SOURCES = \
	tests/support/verbs.c \
	tests/support/verbs.h \
	tests/support/verbs_absent.c \
	tests/support/verbs_data.c \
	tests/support/verbs_device.c \
	tests/support/verbs_extended.c \
	tests/support/verbs_objects.c \
	$(SUPPORT_ASK)
tests_support_verbs_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_verbs_CFLAGS = $(RULES_CFLAGS)
tests_support_verbs_LDFLAGS = -no-install
tests_support_verbs_LDADD = -libverbs

if HAVE_RDMACM
check_PROGRAMS += \
	tests/support/librdmacm \
	tests/support/rsockets \
	$(NULL)

tests_support_librdmacm_SOURCES = \
	tests/support/librdmacm.c \
	tests/support/librdmacm.h \
	tests/support/librdmacm_connections.c \
	tests/support/librdmacm_datagrams.c \
	tests/support/librdmacm_endpoints.c \
	tests/support/librdmacm_ids.c \
	tests/support/librdmacm_own_queues.c \
	tests/support/librdmacm_traffic.c \
	$(SUPPORT_ASK)
tests_support_librdmacm_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_librdmacm_CFLAGS = $(RULES_CFLAGS) -pthread
tests_support_librdmacm_LDFLAGS = -no-install
tests_support_librdmacm_LDADD = -lrdmacm -libverbs

tests_support_rsockets_SOURCES = tests/support/rsockets.c $(SUPPORT_ASK)
tests_support_rsockets_CPPFLAGS = $(SUPPORT_CPPFLAGS)
tests_support_rsockets_CFLAGS = $(RULES_CFLAGS) -pthread
tests_support_rsockets_LDFLAGS = -no-install
tests_support_rsockets_LDADD = -lrdmacm -libverbs
endif
endif
endif
