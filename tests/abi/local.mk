# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The kernel's ABI itself, by programs that issue what stock librxe does not, against the real
# daemon. Built and skipped as the programs of tests/rules are.
EXTRA_DIST += \
	tests/abi/run \
	$(NULL)

TESTS += tests/abi/run

if HAVE_VERBS
if !SANITIZERS
check_PROGRAMS += \
	tests/abi/channel \
	tests/abi/closed \
	tests/abi/commands \
	tests/abi/crowd \
	tests/abi/forks \
	tests/abi/holes \
	tests/abi/import \
	tests/abi/liar \
	tests/abi/methods \
	tests/abi/older \
	tests/abi/paging \
	tests/abi/shared \
	$(NULL)
ABI_RIG = tests/rules/rig.c tests/rules/rig.h
ABI_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/rules

ABI_RAW = tests/abi/raw.c tests/abi/raw.h $(ABI_RIG)

tests_abi_channel_SOURCES = tests/abi/channel.c $(ABI_RAW)
tests_abi_channel_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_channel_CFLAGS = $(RULES_CFLAGS)
tests_abi_channel_LDFLAGS = -no-install
tests_abi_channel_LDADD = -libverbs

tests_abi_closed_SOURCES = tests/abi/closed.c $(ABI_RIG)
tests_abi_closed_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_closed_CFLAGS = $(RULES_CFLAGS)
tests_abi_closed_LDFLAGS = -no-install
tests_abi_closed_LDADD = -libverbs

tests_abi_commands_SOURCES = tests/abi/commands.c $(ABI_RAW)
tests_abi_commands_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_commands_CFLAGS = $(RULES_CFLAGS)
tests_abi_commands_LDFLAGS = -no-install
tests_abi_commands_LDADD = -libverbs

tests_abi_crowd_SOURCES = tests/abi/crowd.c $(ABI_RAW)
tests_abi_crowd_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_crowd_CFLAGS = $(RULES_CFLAGS)
tests_abi_crowd_LDFLAGS = -no-install
tests_abi_crowd_LDADD = -libverbs

tests_abi_forks_SOURCES = tests/abi/forks.c $(ABI_RIG)
tests_abi_forks_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_forks_CFLAGS = $(RULES_CFLAGS)
tests_abi_forks_LDFLAGS = -no-install
tests_abi_forks_LDADD = -libverbs

tests_abi_holes_SOURCES = tests/abi/holes.c
tests_abi_holes_CFLAGS = $(RULES_CFLAGS)
tests_abi_holes_LDFLAGS = -no-install
tests_abi_holes_LDADD = -ldl

tests_abi_import_SOURCES = tests/abi/import.c $(ABI_RAW)
tests_abi_import_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_import_CFLAGS = $(RULES_CFLAGS)
tests_abi_import_LDFLAGS = -no-install
tests_abi_import_LDADD = -libverbs

tests_abi_liar_SOURCES = \
	tests/abi/liar.c \
	tests/abi/liar.h \
	tests/abi/liar_fields.c \
	tests/abi/liar_ucma.c \
	tests/abi/liar_uverbs.c \
	$(ABI_RAW)
tests_abi_liar_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_liar_CFLAGS = $(RULES_CFLAGS)
tests_abi_liar_LDFLAGS = -no-install
tests_abi_liar_LDADD = -libverbs

tests_abi_methods_SOURCES = tests/abi/methods.c $(ABI_RAW)
tests_abi_methods_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_methods_CFLAGS = $(RULES_CFLAGS)
tests_abi_methods_LDFLAGS = -no-install
tests_abi_methods_LDADD = -libverbs

tests_abi_older_SOURCES = tests/abi/older.c tests/abi/older.h
tests_abi_older_CFLAGS = $(RULES_CFLAGS)

tests_abi_paging_SOURCES = tests/abi/paging.c $(ABI_RIG)
tests_abi_paging_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_paging_CFLAGS = $(RULES_CFLAGS)
tests_abi_paging_LDFLAGS = -no-install
tests_abi_paging_LDADD = -libverbs

tests_abi_shared_SOURCES = tests/abi/shared.c $(ABI_RIG)
tests_abi_shared_CPPFLAGS = $(ABI_CPPFLAGS)
tests_abi_shared_CFLAGS = $(RULES_CFLAGS)
tests_abi_shared_LDFLAGS = -no-install
tests_abi_shared_LDADD = -libverbs
endif
endif
