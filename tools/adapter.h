/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One device of the daemon: the core, its port to the network, and what applications see of it. */
#ifndef TOOLS_ADAPTER_H
#define TOOLS_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/fault.h"
#include "net/ifaddr.h"
#include "net/port.h"
#include "rnic/device.h"
#include "tools/gids.h"
#include "tools/linkspec.h"
#include "verbs/kernel/kernel.h"

struct daemon;

struct adapter {
	struct adapter *next;
	struct daemon *daemon;
	struct kdevice kdev;
	struct rnic_device *rnic;
	struct net_port *port;
	struct fault_rules *faults;
	bool readable;	    /* a socket may have something */
	uint64_t acks_look; /* ns; when to look for acknowledgements that wait for a reply in
			     * vain; UINT64_MAX: not */
	uint64_t deadline;  /* ns; UINT64_MAX: none */
	struct link_where where;
	uint32_t mtu_limit; /* bytes; 0: as much as the interface takes */
	bool set_down;	    /* its port is down by command */
	struct gid_entry gids[RNIC_GID_TABLE_LEN];
	void *watches; /* of the loop */
};

/*
 * 0, or -errno with a line logged: see verbs/kernel/link.h. A busy port costs the address that it
 * is busy for; if none is left, the device: -EADDRINUSE. An interface without an address may get
 * one later.
 */
int adapter_create(struct daemon *d, const char *name, const struct link_where *where,
		   struct adapter **out);
/* Before adapter_destroy, if there may be users: requests are flushed, connections told. */
void adapter_farewell(struct adapter *a);
void adapter_destroy(struct adapter *a);
/* Interfaces or addresses have changed. False: its interface is gone, and it should go too. */
bool adapter_sync(struct adapter *a);
void adapter_set(struct adapter *a, const struct link_request *r);

/* Receive, and give it to the core; true if anything came. */
bool adapter_receive(struct adapter *a, uint64_t now);
/* Timers, senders, then what they queued goes out; true if there is more to do now. */
bool adapter_send(struct adapter *a, uint64_t now);
/* When adapter_send is to be called at the latest; ns, UINT64_MAX: need not. */
uint64_t adapter_deadline(const struct adapter *a);

#endif
