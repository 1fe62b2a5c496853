/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files behind net/port.h share: port.c, port_tap.c, txsock.c, tx.c, send.c and rx.c. */
#ifndef NET_PORT_PRIV_H
#define NET_PORT_PRIV_H

#include <stddef.h>
#include <sys/uio.h>

#include "bth/icrc.h"
#include "net/capture.h"
#include "net/peer.h"
#include "net/port.h"
#include "net/routes.h"
#include "net/sockaddr.h"
#include "net/tap.h"

enum {
	NET_TXSOCK_MAX = 64,	  /* sending sockets of an address */
	NET_SEGS_MAX = 64,	  /* packets of a GSO run */
	NET_RUN_MAX = 65507,	  /* bytes of a GSO run */
	NET_BATCH_MAX = 32,	  /* runs queued at a time */
	NET_ARENA_SIZE = 4 << 16, /* small, so that it stays in the cache */
	NET_TX_MAX = 2 << 16,	  /* bytes queued by one call */
	NET_CONTROL_MAX = 96,
};

struct faulty;
struct tx_batch;

struct txsock {
	int fd; /* -1: not open yet; may be the receiving socket */
	uint16_t sport;
	struct tx_batch *last; /* queued last, or NULL */
};

struct port_addr {
	uint8_t addr[16];
	uint32_t ifindex; /* as given */
	uint32_t dev;	  /* the interface that has the address; 0: not known */
	bool v4;
	bool group;	   /* a multicast group, which only receives */
	bool gro;	   /* as the receiving socket is set */
	int fd;		   /* the receiving socket */
	bool maybe;	   /* it may have something */
	uint32_t expected; /* datagrams that we have sent to it ourselves */
	uint32_t rcvbuf;
	struct txsock pool[NET_TXSOCK_MAX];
};

/* Packets of one socket to one destination, all of the same size but for a shorter last one. */
struct tx_batch {
	struct txsock *sock;
	struct icrc_base base;
	bool gso;  /* one send: packet i has ID i; else all have ID 0 */
	bool open; /* may be appended to */
	bool sent;
	struct port_addr *own; /* goes to this address of ours, or NULL */
	uint8_t tos, ttl;
	uint32_t ifindex, flow_label;
	uint64_t again; /* a bit for each packet that has left before */
	uint8_t src[16], dst[16];
	union net_sockaddr to;
	socklen_t to_len;
	uint32_t seg, len, nseg;
	uint32_t control_len, control_gso_len; /* without and with UDP_SEGMENT */
	unsigned niov;
	struct iovec iov[NET_SEGS_MAX];
	_Alignas(size_t) uint8_t control[NET_CONTROL_MAX];
};

struct rx_ring;

struct net_port {
	struct net_port_config cfg;
	uint16_t udp_port;
	uint64_t now; /* of the last call that told */
	struct net_counters counters;

	struct port_addr **addrs;
	uint32_t naddrs;
	struct port_addr *tx_addr; /* the last one that was sent from, or NULL */

	uint8_t *arena;
	uint32_t arena_used;
	struct tx_batch *batches;
	uint32_t nbatches;
	bool to_self; /* some batch went to an address that we receive on */
	struct net_routes routes;
	bool flow_labels_refused;

	int backlog_fd;
	struct net_capture capture;
	bool captured;
	struct tap_list taps; /* whom to show each packet; mostly none */
	bool tx_again;	      /* the packet that is being sent has left before */
	char tx_fate[256];    /* what fault rules do to it */
	bool gro_seen;	      /* merged datagrams came since the last look for captures */

	struct rx_ring *rx;
	struct peer_table *peers;
	struct faulty *faulty; /* NULL: no fault rules */
};

/* port.c */
__attribute__((format(printf, 2, 3))) void port_log(const struct net_port *port, const char *fmt,
						    ...);
/* May runs be sent now, as far as the whole port is concerned? */
bool port_gso_allowed(const struct net_port *port);
/* Look for captures, unless that was done just now. */
void port_capture_look(struct net_port *port);

/* port_tap.c: show packets to the recorders; only where port->taps.n is not 0. fate: NULL, or what
 * becomes of the packet; of those that are sent port->tx_fate tells, too. */
void port_tap_sent(const struct net_port *port, const struct tx_batch *b, const struct msghdr *m,
		   bool run, const char *fate);
/* A packet that never got into a batch. Its ICRC is filled in. */
void port_tap_unsent(const struct net_port *port, const struct txsock *sock,
		     const struct net_tx *tx, uint8_t *packet, uint32_t len);
void port_tap_received(const struct net_port *port, const struct net_rx *rx,
		       const struct icrc_base *base, const uint8_t *packet, uint32_t len,
		       const char *fate);

/* txsock.c: never NULL; the same hash always gives the same socket. */
struct txsock *txsock_get(struct net_port *port, struct port_addr *a, uint16_t hash);
void txsock_close_all(struct port_addr *a);

/* tx.c: the address that a run is from; NULL: it has gone. */
struct port_addr *tx_addr(struct net_port *port, const struct net_tx *tx);
/* Append a packet of that run, len with the room for the ICRC, to the queue. */
void tx_queue_packet(struct net_port *port, struct txsock *sock, const struct net_tx *tx,
		     uint8_t *packet, uint32_t len);
/* Send what is queued. */
void tx_queue_flush(struct net_port *port);
/* A batch that was made for a GSO run becomes one of single packets. */
void tx_batch_make_single(struct tx_batch *b);

/* send.c: send the batches of one socket, in order. */
void send_batches(struct net_port *port, struct txsock *sock, struct tx_batch *first);

/* rx.c */
struct rx_ring *rx_ring_create(void);
void rx_ring_destroy(struct rx_ring *ring);
/* Show a packet of the present datagram to the recorders, if there are any. */
void rx_tap(const struct net_port *port, const uint8_t *packet, uint32_t len, const char *fate);
/* Forget packets of this address that were not handed out yet. */
void rx_ring_forget(struct rx_ring *ring, const struct port_addr *a);

#endif
