# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Verbs used as they should not be, by programs of stock libibverbs against the real daemon: the
# errno or the completion status of each, and what the log says.
EXTRA_DIST += \
	tests/use/run \
	tests/use/transitions.txt \
	$(NULL)

TESTS += tests/use/run

if HAVE_VERBS
if !SANITIZERS
check_PROGRAMS += \
	tests/use/modify \
	tests/use/query \
	tests/use/refusals \
	tests/use/states \
	tests/use/statuses \
	$(NULL)
USE_RIG = tests/rules/rig.c tests/rules/rig.h tests/use/ladder.c tests/use/ladder.h
USE_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/rules

tests_use_modify_SOURCES = \
	tests/use/modify.c \
	tests/use/transitions.c \
	tests/use/transitions.h \
	$(USE_RIG)
tests_use_modify_CPPFLAGS = $(USE_CPPFLAGS)
tests_use_modify_CFLAGS = $(RULES_CFLAGS)
tests_use_modify_LDFLAGS = -no-install
tests_use_modify_LDADD = -libverbs

tests_use_query_SOURCES = tests/use/query.c $(USE_RIG)
tests_use_query_CPPFLAGS = $(USE_CPPFLAGS)
tests_use_query_CFLAGS = $(RULES_CFLAGS)
tests_use_query_LDFLAGS = -no-install
tests_use_query_LDADD = -libverbs

tests_use_refusals_SOURCES = \
	tests/use/refusals.c \
	tests/use/refusals.h \
	tests/use/refusals_modify.c \
	tests/use/refusals_objects.c \
	tests/use/refusals_posts.c \
	$(USE_RIG)
tests_use_refusals_CPPFLAGS = $(USE_CPPFLAGS)
tests_use_refusals_CFLAGS = $(RULES_CFLAGS)
tests_use_refusals_LDFLAGS = -no-install
tests_use_refusals_LDADD = -libverbs

tests_use_states_SOURCES = tests/use/states.c $(USE_RIG)
tests_use_states_CPPFLAGS = $(USE_CPPFLAGS)
tests_use_states_CFLAGS = $(RULES_CFLAGS)
tests_use_states_LDFLAGS = -no-install
tests_use_states_LDADD = -libverbs

tests_use_statuses_SOURCES = tests/use/statuses.c $(USE_RIG)
tests_use_statuses_CPPFLAGS = $(USE_CPPFLAGS)
tests_use_statuses_CFLAGS = $(RULES_CFLAGS)
tests_use_statuses_LDFLAGS = -no-install
tests_use_statuses_LDADD = -libverbs
endif
endif
