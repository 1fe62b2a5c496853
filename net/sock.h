/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* UDP sockets with the options that RoCEv2 needs: DF, UDP checksum, large buffers. */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "net/sockaddr.h"

/* Non-blocking, close-on-exec, bound, never connected: a connected socket counts through IP IDs.
 * Descriptor or -errno. */
int net_sock_open_rx(const union net_sockaddr *sa, socklen_t len);
/* The same for sending only: what comes to it is thrown away. */
/* Receives what is sent to the multicast group on that interface; others may receive it too. */
int net_sock_open_group(const union net_sockaddr *group, socklen_t len, uint32_t ifindex);
/* Where multicast of this socket leaves. */
void net_sock_set_multicast_if(int fd, int family, uint32_t ifindex);
int net_sock_open_tx(const union net_sockaddr *sa, socklen_t len);

/* Receive merged datagrams, or not. 0 or -errno. */
int net_sock_set_gro(int fd, bool on);
/* SO_RCVBUF as the kernel counts it. */
uint32_t net_sock_rcvbuf(int fd);

#endif
