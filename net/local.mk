# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += \
	net/libfault.la \
	net/libnet.la \
	$(NULL)

# Pure, so that the simulator can have it too.
net_libfault_la_LIBADD = -lm
net_libfault_la_SOURCES = \
	net/fault.c \
	net/fault.h \
	net/fault_act.c \
	net/fault_field.c \
	net/fault_file.c \
	net/fault_file.h \
	net/fault_parse.c \
	net/fault_priv.h \
	net/fault_word.c \
	net/late.c \
	net/late.h \
	net/queue.c \
	net/queue.h \
	$(NULL)

net_libnet_la_SOURCES = \
	net/backlog.c \
	net/backlog.h \
	net/capture.c \
	net/capture.h \
	net/capfile.c \
	net/capfile.h \
	net/capframe.c \
	net/capframe.h \
	net/faulty.c \
	net/faulty.h \
	net/holder.c \
	net/holder.h \
	net/ifaddr.c \
	net/ifaddr.h \
	net/peer.c \
	net/peer.h \
	net/port.c \
	net/port.h \
	net/port_priv.h \
	net/port_tap.c \
	net/recorder.c \
	net/recorder.h \
	net/route.c \
	net/route.h \
	net/routes.c \
	net/routes.h \
	net/rx.c \
	net/send.c \
	net/sock.c \
	net/sock.h \
	net/sockaddr.c \
	net/sockaddr.h \
	net/tap.c \
	net/tap.h \
	net/tx.c \
	net/txsock.c \
	$(NULL)
net_libnet_la_CFLAGS = $(AM_CFLAGS) $(NL_CFLAGS) $(PCAP_CFLAGS)
net_libnet_la_LIBADD = net/libfault.la bth/libbth.la $(NL_LIBS) $(PCAP_LIBS) -lpthread
