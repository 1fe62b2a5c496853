# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
EXTRA_DIST += \
	tests/interop/README.md \
	tests/interop/cases.py \
	tests/interop/drill.py \
	tests/interop/ends.py \
	tests/interop/interop.py \
	tests/interop/rig/agent \
	tests/interop/rig/build \
	tests/interop/rig/env \
	tests/interop/rig/init \
	tests/interop/rig/rig \
	$(NULL)

# Needs libibverbs-dev, which nothing else here does, and runs in the guest too, where no
# sanitizer is: made for check-interop only, with flags of its own.
EXTRA_PROGRAMS += tests/interop/rcdata
tests_interop_rcdata_SOURCES = \
	tests/interop/rcdata.c \
	tests/interop/rcend.c \
	tests/interop/rcend.h \
	$(NULL)
tests_interop_rcdata_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_interop_rcdata_LDFLAGS = -s
tests_interop_rcdata_LDADD = -libverbs
CLEANFILES += tests/interop/rcdata$(EXEEXT)

# Programs between rnicd and a guest's Linux rxe, then the drill scripts on rxe. Where the machine cannot run the guest
# (exit 77) it says so, which is no failure.
check-interop: all
	$(AM_V_at)$(srcdir)/tests/interop/rig/build; case $$? in \
	0) $(MAKE) $(AM_MAKEFLAGS) tests/interop/rcdata$(EXEEXT) && \
	   { rc=0; \
	     $(srcdir)/tests/interop/interop.py --build $(builddir) || test $$? = 77 || rc=1; \
	     $(srcdir)/tests/interop/drill.py --build $(builddir) || test $$? = 77 || rc=1; \
	     exit $$rc; } ;; \
	77) echo "skip: the guest cannot be built" ;; \
	*) exit 1 ;; \
	esac
