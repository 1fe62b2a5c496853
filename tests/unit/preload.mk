# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/preload/face
TESTS += tests/preload/face

tests_preload_face_SOURCES = \
	tests/preload/face.c \
	tests/preload/face.h \
	tests/preload/fake_daemon.c \
	tests/preload/fake_daemon.h \
	tests/preload/rules.c \
	tests/preload/rules_tree.c \
	$(NULL)
tests_preload_face_CPPFLAGS = $(AM_CPPFLAGS) \
	-DLIBRNIC='"$(abs_top_builddir)/verbs/preload/.libs/librnic.so"'
# It is preloaded with librnic.so, where a sanitizer's runtime would have to come first.
tests_preload_face_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_preload_face_LDFLAGS =
tests_preload_face_DEPENDENCIES = verbs/preload/librnic.la

TESTS += tests/preload/rnic-run.sh
# It preloads librnic.so into ordinary programs, which a sanitizer does not allow.
if !SANITIZERS
TESTS += tests/preload/installed.sh
endif
EXTRA_DIST += \
	tests/preload/installed.sh \
	tests/preload/rnic-run.sh \
	$(NULL)
