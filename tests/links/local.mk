# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Devices that come, change and go under their users, in namespaces of the test's own.
EXTRA_DIST += tests/links/run

# See tests/rules/local.mk.
TESTS += tests/links/run

if HAVE_VERBS
if !SANITIZERS
check_PROGRAMS += tests/links/user
tests_links_user_SOURCES = tests/links/user.c $(RULES_RIG)
tests_links_user_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/rules
tests_links_user_CFLAGS = $(RULES_CFLAGS)
tests_links_user_LDFLAGS = -no-install
tests_links_user_LDADD = -libverbs
endif
endif
