/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One device of the daemon: where the core's wishes meet sockets and client memory, and where the
 * addresses of an interface become GIDs.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "net/sockaddr.h"
#include "rnic/qp.h"
#include "rnic/cc.h"
#include "tools/adapter.h"
#include "tools/captures.h"
#include "tools/daemon.h"
#include "tools/faults.h"
#include "verbs/kernel/link.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/umem.h"
#include "verbs/kernel/umem_slow.h"
#include "verbs/kernel/uverbs.h"

#define RX_BATCH 256
#define ACK_TRUST 16 /* messages answered at once */
#define ACK_WAIT_NS 100000
#define ACK_LOOK_NS 200000
#define FLUSH_TURNS 100
#define NET_HEADERS 80 /* IPv6, UDP, BTH, the longest header beside a payload, ICRC */

static uint8_t *host_tx_alloc(void *host, uint32_t len)
{
	struct adapter *a = host;

	return net_port_tx_alloc(a->port, len);
}

static void host_tx_send(void *host, const struct rnic_tx *tx)
{
	struct adapter *a = host;
	const struct rnic_av *av = tx->av;
	struct net_tx t = {
		.ifindex = rnic_gid_ifindex(a->rnic, av->sgid_index),
		.tos = tx->traffic_class,
		.ttl = av->hop_limit,
		.flow_label = av->flow_label,
		.qpn = tx->qpn,
		.sport_hash = (uint16_t)(((tx->flow & 0x3fff) ^ tx->flow >> 14) & 0x3fff),
		.data = tx->data,
		.len = tx->len,
		.seg = tx->seg,
		.head = tx->head,
		.tail = tx->tail,
		.again = tx->again,
	};

	memcpy(t.src, av->sgid, 16);
	memcpy(t.dst, av->dgid, 16);
	if (!fault_rules_empty(a->faults))
		net_port_time(a->port, daemon_now());
	net_port_tx(a->port, &t);
}

static uint64_t host_tx_room(void *host, const struct rnic_av *av)
{
	struct adapter *a = host;
	uint32_t ifindex = rnic_gid_ifindex(a->rnic, av->sgid_index);
	uint64_t room;

	if (net_port_flush(a->port, 0))
		a->readable = true;
	return net_port_room(a->port, av->dgid, ifindex, &room) ? room : RNIC_ROOM_UNKNOWN;
}

static int host_mcast_join(void *host, const uint8_t gid[16])
{
	struct adapter *a = host;

	return net_port_group_join(a->port, gid, a->kdev.ifindex);
}

static void host_mcast_leave(void *host, const uint8_t gid[16])
{
	struct adapter *a = host;

	net_port_addr_del(a->port, gid, a->kdev.ifindex);
}

static void host_timer_set(void *host, uint64_t deadline)
{
	struct adapter *a = host;

	a->deadline = deadline;
}

static void host_mem_begin(void *host)
{
	(void)host;
	umem_operation_begin();
}

static int host_mem_read(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *dst,
			 int n)
{
	(void)host;
	return umem_readv((struct umem *)mem, addr, dst, n);
}

static int host_mem_write(void *host, struct rnic_mem *mem, uint64_t addr, const struct iovec *src,
			  int n)
{
	(void)host;
	return umem_writev((struct umem *)mem, addr, src, n);
}

static int host_mem_atomic(void *host, struct rnic_mem *mem, uint64_t addr, enum rnic_atomic_op op,
			   uint64_t swap_add, uint64_t compare, uint64_t *orig)
{
	(void)host;
	return umem_atomic((struct umem *)mem, addr, op, swap_add, compare, orig);
}

static void host_cq_notify(void *host, struct rnic_cq *cq)
{
	(void)host;
	uverbs_cq_notify(cq);
}

static void host_async_event(void *host, const struct rnic_async *event)
{
	struct adapter *a = host;

	if (event->cq || event->qp || event->srq)
		uverbs_async_event(event);
	else if (a->kdev.kernel)
		kernel_port_event(&a->kdev, event);
}

static uint32_t host_random(void *host)
{
	uint32_t x = 0;

	(void)host;
	if (getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = (uint32_t)daemon_now();
	return x;
}

static void host_log(void *host, const char *line)
{
	(void)host; /* the line names the device */
	daemon_log_caused(NULL, line);
}

static const struct rnic_ops host_ops = {
	.tx_alloc = host_tx_alloc,
	.tx_send = host_tx_send,
	.tx_room = host_tx_room,
	.mcast_join = host_mcast_join,
	.mcast_leave = host_mcast_leave,
	.timer_set = host_timer_set,
	.mem_begin = host_mem_begin,
	.mem_read = host_mem_read,
	.mem_write = host_mem_write,
	.mem_atomic = host_mem_atomic,
	.cq_notify = host_cq_notify,
	.async_event = host_async_event,
	.random = host_random,
	.log = host_log,
};

/* The interface that has a plain address; 127/8 is lo's altogether. */
static bool if_of_addr(struct net_monitor *m, const uint8_t addr[16], struct net_if *out)
{
	struct net_addr na;

	if (net_addr_is_loopback(addr))
		return net_monitor_if_named(m, "lo", out);
	for (uint32_t i = 0; net_monitor_if(m, i, out); i++)
		for (uint32_t j = 0; net_monitor_addr(m, out->ifindex, j, &na); j++)
			if (!memcmp(na.addr, addr, 16))
				return true;
	return false;
}

static bool adapter_if(const struct adapter *a, struct net_if *out)
{
	struct net_monitor *m = a->daemon->monitor;

	return a->where.plain ? if_of_addr(m, a->where.addr, out)
			      : net_monitor_if_indexed(m, a->kdev.ifindex, out);
}

static enum rnic_mtu mtu_of(const struct adapter *a, const struct net_if *nif)
{
	enum rnic_mtu mtu = RNIC_MTU_4096;

	while (mtu > RNIC_MTU_256 && (rnic_mtu_bytes(mtu) + NET_HEADERS > nif->mtu ||
				      (a->mtu_limit && rnic_mtu_bytes(mtu) > a->mtu_limit)))
		mtu--;
	return mtu;
}

/* EUI-64 of the MAC, as rxe; an interface without one gets its first address into it. */
static void guid_make(struct adapter *a, const struct net_if *nif)
{
	const uint8_t *addr = gids_first(a);

	if (gids_has_mac(nif))
		gids_eui64(nif->mac, a->kdev.guid);
	else
		memcpy(a->kdev.guid,
		       (const uint8_t[8]){2, 0, addr[12], 0xff, 0xfe, addr[13], addr[14], addr[15]},
		       8);
}

static int if_follow(struct adapter *a, const struct net_if *nif)
{
	uint32_t rcvbuf;
	int rc = gids_sync(a, nif);

	/* Half of what a socket holds: acknowledgements and other peers want room too. */
	rcvbuf = net_port_rcvbuf(a->port);
	if (rcvbuf)
		rnic_window_set(a->rnic, rcvbuf / 2);
	a->kdev.netdev_up = nif->enabled;
	rnic_port_set(a->rnic, nif->up && !a->set_down, mtu_of(a, nif));
	return rc;
}

bool adapter_sync(struct adapter *a)
{
	struct net_if nif;

	if (adapter_if(a, &nif)) {
		if (strcmp(nif.name, a->kdev.netdev))
			kernel_netdev_renamed(&a->kdev, nif.name);
		if_follow(a, &nif);
		return true;
	}
	if (!a->where.plain)
		return false;
	gids_sync(a, NULL);
	a->kdev.netdev_up = false;
	rnic_port_set(a->rnic, false, rnic_port_mtu(a->rnic));
	return true;
}

void adapter_set(struct adapter *a, const struct link_request *r)
{
	if (r->given & LINK_MTU)
		a->mtu_limit = r->mtu;
	if (r->given & LINK_GSO)
		net_port_gso_set(a->port, r->gso);
	if (r->given & LINK_STATE)
		a->set_down = !r->up;
	adapter_sync(a);
}

static void fault_log(void *ctx, const char *line)
{
	const struct adapter *a = ctx;
	char named[512];

	snprintf(named, sizeof(named), "%s: %s", a->kdev.name, line);
	daemon_log(NULL, named);
}

static bool fault_log_room(void *ctx)
{
	(void)ctx;
	return daemon_fault_room();
}

static int port_open(struct adapter *a)
{
	struct net_port_config cfg = {
		.gso = a->daemon->opt.gso,
		.faults = a->faults,
		.log = daemon_log,
		.fault_log = fault_log,
		.fault_log_room = fault_log_room,
		.log_ctx = a,
		.watch = loop_watch,
		.watch_ctx = a,
	};

	a->port = net_port_create(&cfg);
	return a->port ? 0 : -ENOMEM;
}

static int core_open(struct adapter *a, const struct net_if *nif)
{
	struct rnic_device_config cfg = {
		.ops = &host_ops,
		.host = a,
		.active_mtu = mtu_of(a, nif),
	};
	int rc;

	snprintf(cfg.name, sizeof(cfg.name), "%.15s", a->kdev.name);
	a->rnic = rnic_device_create(&cfg);
	if (!a->rnic)
		return -ENOMEM;
	rc = if_follow(a, nif);
	if (rc && !gids_bound(a))
		return rc;
	rnic_acks_may_wait(a->rnic, a->daemon->opt.wait_acks ? ACK_TRUST : 0);
	rnic_credits_set(a->rnic, a->daemon->opt.credits);
	rnic_cc_set(a->rnic, &a->daemon->opt.cc);
	return 0;
}

/* The kernel, too, counts uverbs0, uverbs1 ... and uses a number again that was given back. */
static uint32_t index_free(const struct daemon *d)
{
	uint32_t index = 0;

	for (const struct adapter *a = d->adapters; a;)
		if (a->kdev.index == index) {
			index++;
			a = d->adapters;
		} else {
			a = a->next;
		}
	return index;
}

/* Errors as those of RDMA_NLDEV_CMD_NEWLINK for rxe. */
static int place_check(const struct daemon *d, const char *name, const struct link_where *where,
		       struct net_if *nif)
{
	char text[INET6_ADDRSTRLEN];
	bool found = where->plain ? if_of_addr(d->monitor, where->addr, nif)
				  : net_monitor_if_named(d->monitor, where->netdev, nif);

	if (!kernel_link_name_valid(name)) {
		daemon_logf("a device cannot be called \"%.80s\"", name);
		return -EINVAL;
	}
	if (!found) {
		daemon_logf("%s: no interface %s %s", name,
			    where->plain ? "has the address" : "called",
			    where->plain ? link_addr_text(where->addr, text) : where->netdev);
		return -ENODEV;
	}
	for (const struct adapter *a = d->adapters; a; a = a->next) {
		if (!strcmp(a->kdev.name, name)) {
			daemon_logf("%s: there is a device of that name", name);
			return -ENFILE;
		}
		if (!where->plain && !a->where.plain && a->kdev.ifindex == nif->ifindex) {
			daemon_logf("%s: %s has a device, %s", name, nif->name, a->kdev.name);
			return -EEXIST;
		}
	}
	return 0;
}

static int adapter_open(struct adapter *a, const char *name, const struct net_if *nif)
{
	struct daemon *d = a->daemon;
	int rc;

	snprintf(a->kdev.name, sizeof(a->kdev.name), "%s", name);
	snprintf(a->kdev.netdev, sizeof(a->kdev.netdev), "%s", nif->name);
	a->kdev.ifindex = nif->ifindex;
	a->kdev.index = index_free(d);
	a->kdev.num_comp_vectors = 2;
	a->kdev.host = a;
	a->faults = fault_rules_create();
	rc = a->faults ? faults_apply(a) : -ENOMEM;
	if (!rc)
		rc = port_open(a);
	if (!rc)
		rc = core_open(a, nif);
	if (!rc && !nif->up)
		daemon_logf("%s: the port is down, as %s is (ip link set %s up)", name, nif->name,
			    nif->name);
	if (rc) {
		daemon_logf("%s on %s: %s", name, nif->name, strerror(-rc));
		return rc;
	}
	guid_make(a, nif);
	a->kdev.rnic = a->rnic;
	return kernel_device_add(d->kernel, &a->kdev);
}

int adapter_create(struct daemon *d, const char *name, const struct link_where *where,
		   struct adapter **out)
{
	struct adapter **p = &d->adapters;
	struct adapter *a;
	struct net_if nif;
	int rc = place_check(d, name, where, &nif);

	if (rc)
		return rc;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->daemon = d;
	a->where = *where;
	a->deadline = a->acks_look = UINT64_MAX;
	rc = adapter_open(a, name, &nif);
	while (*p)
		p = &(*p)->next;
	*p = a;
	d->n_adapters++;
	if (rc) {
		adapter_destroy(a);
		return rc;
	}
	captures_adapter_added(a);
	*out = a;
	return 0;
}

void adapter_destroy(struct adapter *a)
{
	struct daemon *d = a->daemon;

	for (struct adapter **p = &d->adapters; *p; p = &(*p)->next)
		if (*p == a) {
			*p = a->next;
			d->n_adapters--;
			break;
		}
	if (a->kdev.kernel)
		kernel_device_del(d->kernel, &a->kdev);
	if (a->rnic)
		rnic_device_destroy(a->rnic);
	if (a->port)
		net_port_destroy(a->port);
	fault_rules_destroy(a->faults);
	free(a);
}

/* Their requests are flushed, as by a device that fails. */
static void qps_fail(struct adapter *a)
{
	const struct rnic_qp_attr error = {.state = RNIC_QPS_ERR};
	struct rnic_qp *qp;
	uint32_t qpn = 0;

	while ((qp = rnic_device_qp_after(a->rnic, qpn))) {
		qpn = rnic_qp_num(qp);
		if (rnic_qp_state(qp) != RNIC_QPS_RESET)
			rnic_qp_modify(qp, &error, RNIC_QP_STATE, daemon_now());
	}
	kernel_scan_doorbells(a->daemon->kernel);
	/* Bounded: a client may go on putting requests into its ring. */
	for (int i = 0; i < FLUSH_TURNS && rnic_run(a->rnic, daemon_now()); i++)
		;
}

void adapter_farewell(struct adapter *a)
{
	if (a->kdev.kernel)
		kernel_device_leave(&a->kdev);
	qps_fail(a);
	if (a->kdev.kernel)
		ucma_device_del(&a->kdev);
	net_port_flush(a->port, daemon_now());
}

bool adapter_receive(struct adapter *a, uint64_t now)
{
	struct net_rx in[RX_BATCH];
	struct rnic_rx pkts[RX_BATCH];
	uint32_t n = net_port_rx(a->port, now, in, RX_BATCH);

	for (uint32_t i = 0; i < n; i++) {
		pkts[i] = (struct rnic_rx){
			.data = in[i].data,
			.len = in[i].len,
			.traffic_class = in[i].tos,
			.hop_limit = in[i].ttl,
			.sport = in[i].sport,
			.flow_label = in[i].flow_label,
		};
		memcpy(pkts[i].sgid, in[i].src, 16);
		memcpy(pkts[i].dgid, in[i].dst, 16);
	}
	if (n)
		rnic_rx(a->rnic, now, pkts, n);
	a->readable = n;
	return n;
}

/*
 * Acknowledgements that wait for a reply. The look that ends their waiting is not moved with each
 * of them: arming a timer that is soon due costs more than a packet (20 us here, measured), and in
 * a ping-pong none of them waits until then.
 */
static void acks_look(struct adapter *a, uint64_t now)
{
	if (now >= a->acks_look) {
		rnic_acks_release(a->rnic, now - ACK_WAIT_NS, now);
		a->acks_look = UINT64_MAX;
	}
	if (a->acks_look == UINT64_MAX && rnic_acks_wait(a->rnic))
		a->acks_look = now + ACK_LOOK_NS;
}

bool adapter_send(struct adapter *a, uint64_t now)
{
	bool more;

	if (now >= a->deadline) {
		a->deadline = UINT64_MAX;
		rnic_timer_fired(a->rnic, now);
	}
	more = rnic_run(a->rnic, now);
	acks_look(a, now);
	if (net_port_flush(a->port, now))
		a->readable = more = true;
	if (net_port_rx_due(a->port) <= now)
		a->readable = more = true;
	return more;
}

uint64_t adapter_deadline(const struct adapter *a)
{
	uint64_t at = a->deadline < a->acks_look ? a->deadline : a->acks_look;
	uint64_t tx = net_port_tx_due(a->port), rx = net_port_rx_due(a->port);

	at = tx < at ? tx : at;
	return rx < at ? rx : at;
}
