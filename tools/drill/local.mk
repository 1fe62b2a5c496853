# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
bin_PROGRAMS += tools/rnic-drill
tools_rnic_drill_SOURCES = \
	tools/drill/args.c \
	tools/drill/args.h \
	tools/drill/data.c \
	tools/drill/data.h \
	tools/drill/line_cm.c \
	tools/drill/line_cm.h \
	tools/drill/line_packet.c \
	tools/drill/live_agent.c \
	tools/drill/live_agent.h \
	tools/drill/live_cm.c \
	tools/drill/live_cm.h \
	tools/drill/live_fault.c \
	tools/drill/live_fault.h \
	tools/drill/live_hold.c \
	tools/drill/live_hold.h \
	tools/drill/live_socket.c \
	tools/drill/live_socket.h \
	tools/drill/main.c \
	tools/drill/names.c \
	tools/drill/names.h \
	tools/drill/packet.c \
	tools/drill/packet.h \
	tools/drill/run.c \
	tools/drill/run.h \
	tools/drill/side.h \
	tools/drill/side_live.c \
	tools/drill/side_live.h \
	tools/drill/verb_cm.c \
	tools/drill/verb_expect.c \
	tools/drill/verb_fault.c \
	tools/drill/verb_mem.c \
	tools/drill/verb_objects.c \
	tools/drill/verb_post.c \
	tools/drill/verb_qp.c \
	tools/drill/virtual.c \
	tools/drill/virtual.h \
	tools/drill/virtual_cm.c \
	tools/drill/virtual_cm.h \
	tools/drill/virtual_fault.c \
	tools/drill/virtual_fault.h \
	tools/drill/virtual_host.c \
	tools/drill/virtual_objects.c \
	tools/drill/virtual_qp.c \
	tools/drill/virtual_queues.c \
	$(NULL)
tools_rnic_drill_CPPFLAGS = $(AM_CPPFLAGS) \
	-DDRILL_BINDIR='"$(bindir)"' \
	-DDRILL_LIBEXECDIR='"$(pkglibexecdir)"'
tools_rnic_drill_LDADD = \
	rnic/librnic-core.la \
	net/libfault.la \
	bth/libbth.la \
	$(CRC_LIBS) \
	$(NULL)

# Runs under librnic.so, where no sanitizer of ours can be, and on machines that have no more than
# libibverbs.
if HAVE_VERBS
pkglibexec_PROGRAMS += tools/rnic-drill-agent
tools_rnic_drill_agent_SOURCES = \
	tools/drill/agent.c \
	tools/drill/agent.h \
	tools/drill/agent_cm.c \
	tools/drill/agent_cm.h \
	tools/drill/agent_mem.c \
	tools/drill/agent_objects.c \
	tools/drill/agent_post.c \
	tools/drill/agent_qp.c \
	tools/drill/agent_wait.c \
	tools/drill/args.c \
	tools/drill/args.h \
	tools/drill/data.c \
	tools/drill/data.h \
	$(NULL)
tools_rnic_drill_agent_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tools_rnic_drill_agent_LDFLAGS = -no-install
tools_rnic_drill_agent_LDADD = -libverbs
endif
