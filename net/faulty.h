/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port with fault rules: what a verdict asks for is done here, between tx.c, rx.c and the net. */
#ifndef NET_FAULTY_H
#define NET_FAULTY_H

#include <stdbool.h>
#include <stdint.h>

struct net_port;
struct net_rx;
struct net_tx;
struct port_addr;
struct txsock;

struct faulty; /* of a port that has rules; NULL: it has none */

/* NULL: no memory. */
struct faulty *faulty_create(void);
void faulty_destroy(struct faulty *f);

/* Queue a packet of the run, where rules are concerned; a rule may fire on it. */
void faulty_tx(struct net_port *port, struct txsock *sock, const struct net_tx *tx, uint8_t *packet,
	       uint32_t len);
/* Queue the late packets that are due by now. */
void faulty_tx_release(struct net_port *port);
/* Nothing of what was queued is needed any more. */
void faulty_tx_flushed(struct faulty *f);

/* net_port_rx begins: what it gave out before is not needed any more. */
void faulty_rx_begin(struct faulty *f);
/* Is any of the two below to be called? */
bool faulty_rx_active(const struct net_port *port);
/* A packet that came, as *out says; false: it does not arrive now. */
bool faulty_rx(struct net_port *port, uint8_t *packet, struct net_rx *out);
/* A doubled or late packet that is due by now. */
bool faulty_rx_take(struct net_port *port, struct net_rx *out);

void faulty_addr_gone(struct faulty *f, const struct port_addr *a);

/* When the next late packet is due; UINT64_MAX: none waits. */
uint64_t faulty_tx_due(const struct faulty *f);
uint64_t faulty_rx_due(const struct faulty *f);

#endif
