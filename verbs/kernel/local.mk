# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += verbs/kernel/libkernel.la
verbs_kernel_libkernel_la_CFLAGS = $(AM_CFLAGS) -pthread
verbs_kernel_libkernel_la_SOURCES = \
	verbs/kernel/admin.c \
	verbs/kernel/admin.h \
	verbs/kernel/call.c \
	verbs/kernel/channel.c \
	verbs/kernel/context.c \
	verbs/kernel/context.h \
	verbs/kernel/context_priv.h \
	verbs/kernel/kernel.c \
	verbs/kernel/kernel.h \
	verbs/kernel/kernel_priv.h \
	verbs/kernel/ring_mem.c \
	verbs/kernel/server.c \
	verbs/kernel/session.c \
	verbs/kernel/session.h \
	verbs/kernel/tree.c \
	verbs/kernel/tree_attr.c \
	verbs/kernel/umem.c \
	verbs/kernel/umem.h \
	verbs/kernel/umem_maps.c \
	verbs/kernel/umem_priv.h \
	verbs/kernel/umem_slow.c \
	verbs/kernel/umem_slow.h \
	verbs/kernel/uobject.c \
	verbs/kernel/uverbs.h \
	verbs/kernel/wake.c \
	$(NULL)
