# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
pkglib_LTLIBRARIES += verbs/preload/librnic.la

verbs_preload_librnic_la_SOURCES = \
	verbs/preload/client.c \
	verbs/preload/client.h \
	verbs/preload/connection.c \
	verbs/preload/connection.h \
	verbs/preload/device.c \
	verbs/preload/device.h \
	verbs/preload/doorbells.c \
	verbs/preload/doorbells.h \
	verbs/preload/fdtab.c \
	verbs/preload/fdtab.h \
	verbs/preload/hooks.h \
	verbs/preload/hooks_dir.c \
	verbs/preload/hooks_fd.c \
	verbs/preload/hooks_fts.c \
	verbs/preload/hooks_netlink.c \
	verbs/preload/hooks_number.c \
	verbs/preload/hooks_open.c \
	verbs/preload/hooks_path.c \
	verbs/preload/hooks_stat.c \
	verbs/preload/hooks_walk.c \
	verbs/preload/path.c \
	verbs/preload/path.h \
	verbs/preload/real.c \
	verbs/preload/real.h \
	$(NULL)
EXTRA_verbs_preload_librnic_la_DEPENDENCIES = $(top_srcdir)/verbs/preload/librnic.sym

# The C library declares that paths are never null; what programs pass is another matter. Fortified headers
# would define what is defined here. A sanitizer cannot be preloaded.
verbs_preload_librnic_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(NULL_CFLAGS) \
	-fno-delete-null-pointer-checks -U_FORTIFY_SOURCE -fvisibility=default
verbs_preload_librnic_la_LDFLAGS = -module -avoid-version -shared \
	-export-symbols $(top_srcdir)/verbs/preload/librnic.sym
verbs_preload_librnic_la_LIBADD = -ldl

EXTRA_DIST += verbs/preload/librnic.sym
