/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon's files share: its options, its devices, its loop. */
#ifndef TOOLS_DAEMON_H
#define TOOLS_DAEMON_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/ifaddr.h"
#include "net/port.h"
#include "rnic/cc_params.h"
#include "verbs/kernel/kernel.h"

struct adapter;
struct recording;

#define DAEMON_LIST_MAX 64

struct daemon_options {
	char *dir;
	const char *devices[DAEMON_LIST_MAX]; /* "NAME=WHERE" */
	uint32_t n_devices;
	const char *faults[DAEMON_LIST_MAX];
	uint32_t n_faults;
	const char *fault_file; /* or NULL */
	bool on_demand;		/* end some seconds after the last client */
	bool private;		/* one device on a free loopback address, nothing else */
	bool credits;		/* flow control by AETH credits */
	bool wait_acks;		/* acknowledgements may wait for replies */
	struct cc_params cc;
	enum net_gso gso;
	int32_t spin_us; /* poll that long before sleeping; -1: by the number of cores */
};

struct daemon {
	struct daemon_options opt;
	struct ev_loop *loop;
	struct kernel *kernel;
	struct net_monitor *monitor;
	struct adapter *adapters;
	uint32_t n_adapters;
	struct recording *captures;
	char *fault_text; /* of --faults, or NULL */
	size_t fault_len;
	bool stopping;
	/* loop.c */
	int timer_fd;
	uint64_t timer_at;
	ev_io timer_io, monitor_io;
	uint64_t spin_ns;
	uint64_t sleeps; /* how often it has slept, for rnicctl stat */
	ev_timer idle_end;
	int lock_fd;
};

void daemon_log(void *ctx, const char *line);
/* What a client or a peer has caused: only so many lines are written. */
void daemon_log_caused(void *ctx, const char *line);
/* May what a fault rule has done be written? As often, but without taking the others' room. */
bool daemon_fault_room(void);
void daemon_logf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
uint64_t daemon_now(void); /* ns, monotonic */
/* Something that kept an on-demand daemon alive has ended. */
void daemon_unused(struct daemon *d);

/* ---- devices.c ---- */
/* Make the devices that the options ask for. 0, or -ENODEV if not one could be made. */
int devices_create(struct daemon *d);
void devices_sync(struct daemon *d);
/* kernel_config's link_add and link_del. */
int devices_link_add(void *daemon, const char *name, const char *netdev);
int devices_link_del(void *daemon, struct kdevice *dev);
/* rnicctl link add|del|set ...: argv from that word on. */
int devices_link(struct daemon *d, int argc, char **argv, struct admin_reply *reply);

/* ---- loop.c ---- */
int loop_init(struct daemon *d);
void loop_run(struct daemon *d);
/* net/port.h's watch: tell the loop about a port's descriptors. */
void loop_watch(void *adapter, int fd, bool on);

/* ---- commands.c ---- */
int commands_run(void *daemon, int argc, char **argv, bool json, struct admin_reply *reply);

#endif
