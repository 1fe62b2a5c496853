# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += tools/rnic-drill
tools_rnic_drill_SOURCES = \
	tools/drill/args.c \
	tools/drill/args.h \
	tools/drill/data.c \
	tools/drill/data.h \
	tools/drill/line_packet.c \
	tools/drill/main.c \
	tools/drill/names.c \
	tools/drill/names.h \
	tools/drill/packet.c \
	tools/drill/packet.h \
	tools/drill/run.c \
	tools/drill/run.h \
	tools/drill/side.h \
	tools/drill/verb_expect.c \
	tools/drill/verb_mem.c \
	tools/drill/verb_objects.c \
	tools/drill/verb_post.c \
	tools/drill/verb_qp.c \
	tools/drill/virtual.c \
	tools/drill/virtual.h \
	tools/drill/virtual_host.c \
	tools/drill/virtual_objects.c \
	tools/drill/virtual_qp.c \
	tools/drill/virtual_queues.c \
	$(NULL)
tools_rnic_drill_LDADD = \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(CRC_LIBS) \
	$(NULL)
