# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs stock RDMA programs over the soft-RNIC and judges what they printed.

process  one program: output in files, ends awaited by pidfd, ended by pid
ports    TCP ports: a free one, and waiting until a program listens on it
daemon   one rnicd, from its start to its readiness to its end
setting  where a server and a client run: loopback or two namespaces
tree     the programs under test
gids     which index of a device's GID table holds an address
pair     a server program and a client program that talk
skips    the list of tests that may be skipped, each with its reason
report   `ok NAME`, `not ok NAME: reason`, and the sum at the end
log      the dated record of a whole run
packages what a case needs that a machine may lack
capture  tcpdump around traffic, classic pcap files, the ICRC
"""
