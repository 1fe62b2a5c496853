/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One address of the script's peer: RoCEv2 packets over a UDP socket. */
#ifndef DRILL_LIVE_SOCKET_H
#define DRILL_LIVE_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "side.h"

struct live_socket;

/* CLOCK_MONOTONIC in ns. */
uint64_t live_now(void);

/*
 * Port 4791 of this address; NULL: a free one of 127/8 where the device's is, else the one from
 * which the device is reached. address_out (48 bytes) tells which. NULL after a line on stderr.
 */
struct live_socket *live_socket_open(const char *address, const char *device, char *address_out);
/* Another socket at the interface of this one, for what the device sends to the group; NULL and
 * errno. */
struct live_socket *live_socket_join(const struct live_socket *s, const char *group,
				     const char *device);
void live_socket_close(struct live_socket *s);
int live_socket_fd(const struct live_socket *s);
void live_socket_send(struct live_socket *s, const char *to, const struct side_packet *pkt);
/* False: none there now. */
bool live_socket_recv(struct live_socket *s, struct side_packet *pkt);

#endif
