/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One device's way to the network: sockets on UDP 4791, runs out, verified packets in.
 * A port owns one receiving socket per local address (ADDRESS:4791) and a lazy pool of sending
 * sockets per address. It keeps no loop: the caller watches the descriptors.
 */
#ifndef NET_PORT_H
#define NET_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct net_port;
struct fault_rules;
struct net_recorder;

/* A datagram payload that came, ICRC right and cut off. Addresses: IPv4 as ::ffff:a.b.c.d. */
struct net_rx {
	const uint8_t *data; /* valid until the next net_port_rx of this port */
	uint32_t len;
	uint8_t src[16], dst[16];
	uint8_t tos; /* or IPv6 traffic class */
	uint8_t ttl; /* or hop limit; 0 if unknown */
	uint16_t sport;
	uint32_t flow_label; /* IPv6's; 0: none */
};

/* A run: packets, each with 4 bytes of room for the ICRC at its end, of equal sizes but for the
 * first and the last. */
struct net_tx {
	uint8_t src[16], dst[16];
	uint32_t ifindex; /* scope of a link-local address, else 0 */
	uint8_t tos, ttl; /* ttl 0: the system's default */
	uint32_t flow_label;
	uint32_t qpn;	     /* the QP that sends, for fault rules; 0: not known */
	uint16_t sport_hash; /* 14 bits: the source port is 0xC000 | hash */
	uint8_t *data;	     /* from net_port_tx_alloc */
	uint32_t len, seg;
	uint32_t head;	/* so much longer than seg is the first */
	uint32_t tail;	/* so much longer than seg may the last be; it may be shorter too */
	uint32_t again; /* so many of its packets, the first ones, have left before */
};

enum net_gso { NET_GSO_AUTO, NET_GSO_ON, NET_GSO_OFF };

struct net_counters {
	uint64_t tx_datagrams, tx_runs, tx_calls;   /* packets, GSO runs, system calls */
	uint64_t rx_datagrams, rx_merged, rx_calls; /* packets, GRO-merged datagrams, calls */
	uint64_t tx_errors, tx_again;
	uint64_t icrc_errors, icrc_solved;
	uint64_t fault_hits, fault_drops; /* packets that rules fired on; those lost by that */
};

struct net_port_config {
	enum net_gso gso;
	struct fault_rules *faults; /* or NULL */
	void (*log)(void *ctx, const char *line);
	/* What rules did to a packet; NULL: nobody wants to know. Before that it is asked whether
	 * the lines of one more packet may be written: they cost more than the packet does. */
	void (*fault_log)(void *ctx, const char *line);
	bool (*fault_log_room)(void *ctx);
	void *log_ctx;
	/* Called for each descriptor that the caller is to watch for reading, and no more. */
	void (*watch)(void *ctx, int fd, bool on);
	void *watch_ctx;
	uint16_t udp_port; /* 0: 4791; another one for tests only */
};

/* NULL with errno. cfg is copied; what it points to must outlive the port. */
struct net_port *net_port_create(const struct net_port_config *cfg);
void net_port_destroy(struct net_port *port);

/*
 * Begin to receive on an address (IPv4-mapped or IPv6; ifindex for link-local). -EADDRINUSE (the
 * log line names the holder if it can be found), -EADDRNOTAVAIL, -EEXIST, ... A port may have many.
 */
int net_port_addr_add(struct net_port *port, const uint8_t addr[16], uint32_t ifindex);
void net_port_addr_del(struct net_port *port, const uint8_t addr[16], uint32_t ifindex);

/* Join a multicast group on that interface (IGMP, MLD) and receive what is sent to it, our own
 * packets too; net_port_addr_del leaves it. 0 or -errno. */
int net_port_group_join(struct net_port *port, const uint8_t group[16], uint32_t ifindex);

/* Room for a run, valid until the next call of net_port_tx_alloc or net_port_flush; the port's
 * arena makes it, flushing if need be. Never NULL. len <= 131072. */
uint8_t *net_port_tx_alloc(struct net_port *port, uint32_t len);
/* Queue the run: ICRCs are filled in, equal runs are merged into few system calls. tx->data is
 * what the last net_port_tx_alloc gave. Order is kept among packets of equal src and sport_hash. */
void net_port_tx(struct net_port *port, const struct net_tx *tx);
/* Send what is queued; true if some of it went to ourselves, so that it can be received now. */
bool net_port_flush(struct net_port *port, uint64_t now);

/* Receive what is there, at most max packets. Takes turns among the addresses. The packets stay
 * valid until the next call. 0: nothing, as far as is known without one more system call, or
 * wrong packets only: go to sleep on the descriptors, or call again. */
uint32_t net_port_rx(struct net_port *port, uint64_t now, struct net_rx *pkts, uint32_t max);

/* The time, where rules go by it and packets are sent without it having been told of late. */
void net_port_time(struct net_port *port, uint64_t now);

/* When net_port_flush, or net_port_rx, is to be called for packets that fault rules have made late;
 * ns, UINT64_MAX: need not. */
uint64_t net_port_tx_due(const struct net_port *port);
uint64_t net_port_rx_due(const struct net_port *port);

/* A hint, which saves system calls: this descriptor was seen to be readable. */
void net_port_readable(struct net_port *port, int fd);

/* Show every packet that is sent, received or dropped to a recorder, as one of its interfaces
 * and of the kernel's, until net_port_untap. 0 or -ENOSPC. */
int net_port_tap(struct net_port *port, struct net_recorder *recorder, uint32_t interface,
		 uint32_t ifindex);
void net_port_untap(struct net_port *port, struct net_recorder *recorder);

/* Free socket memory of the receiver at that address, if it is on this host and its socket is as
 * large as ours. False if that is not known. What is queued here does not count yet. */
bool net_port_room(const struct net_port *port, const uint8_t addr[16], uint32_t ifindex,
		   uint64_t *room);

/* Socket memory that one receiving socket really has (SO_RCVBUF as the kernel granted it, the
 * least of all addresses; counts truesize). 0 before the first address. */
uint32_t net_port_rcvbuf(const struct net_port *port);
const struct net_counters *net_port_counters(const struct net_port *port);
void net_port_gso_set(struct net_port *port, enum net_gso gso);
/* "gso", "single (captured)", "single (off)", "single (route)": for rnicctl link show. */
const char *net_port_tx_mode(const struct net_port *port);

#endif
