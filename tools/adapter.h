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
#include "verbs/kernel/kernel.h"

#define ADAPTER_NAME_MAX 63

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
	bool plain;	    /* bound to one address, not to all of an interface */
	uint8_t addr[16];
	uint8_t gids[RNIC_GID_TABLE_LEN][16]; /* as told to core and port */
	uint32_t gid_if[RNIC_GID_TABLE_LEN];
	void *watches; /* of the loop */
};

/*
 * where: name of an interface, or an address. 0, or -errno with a line logged. A busy port costs
 * the address that it is busy for; if none is left, the device: -EADDRINUSE.
 */
int adapter_create(struct daemon *d, const char *name, const char *where, struct adapter **out);
void adapter_destroy(struct adapter *a);
/* Interfaces or addresses have changed. */
void adapter_sync(struct adapter *a);

/* Receive, and give it to the core; true if anything came. */
bool adapter_receive(struct adapter *a, uint64_t now);
/* Timers, senders, then what they queued goes out; true if there is more to do now. */
bool adapter_send(struct adapter *a, uint64_t now);
/* When adapter_send is to be called at the latest; ns, UINT64_MAX: need not. */
uint64_t adapter_deadline(const struct adapter *a);

#endif
