# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += rnicctl

rnicctl_SOURCES = \
	tools/rnicctl.c \
	tools/rundir.c \
	tools/rundir.h \
	$(NULL)
