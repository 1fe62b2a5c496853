/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How full the receiving socket of an address of this host is, as the kernel's sock_diag tells. */
#ifndef NET_BACKLOG_H
#define NET_BACKLOG_H

#include <stdint.h>

/* Looks into the network namespace of the calling thread, also later. -1 if it cannot. */
int net_backlog_open(void);

/* Bytes of socket memory in use (truesize) by the socket on ADDRESS:port, whosever it is: 0, or
 * -ENOENT if this namespace has no such socket, -EOPNOTSUPP if the kernel does not tell. */
int net_backlog_get(int fd, const uint8_t addr[16], uint32_t ifindex, uint16_t port,
		    uint32_t *used);

#endif
