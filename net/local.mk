# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LTLIBRARIES += net/libnet.la

net_libnet_la_SOURCES = \
	net/fault.c \
	net/fault.h \
	$(NULL)
