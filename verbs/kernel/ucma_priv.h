/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the rdma_cm device share: event channels, and the IDs that live in them. */
#ifndef KERNEL_UCMA_PRIV_H
#define KERNEL_UCMA_PRIV_H

#include <ev.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>

#include "rnic/cm.h"
#include "rnic/table.h"
#include "verbs/kernel/kernel_priv.h"
#include "verbs/kernel/ucma.h"
#include "verbs/kernel/owner.h"

#define CMA_ACK_TIMEOUT 19 /* 2.1 s, as Linux gives RoCE */
#define CMA_UDP_QKEY 0x01234567u
#define CMA_PORT_LOW 1024 /* the ports below are for CAP_NET_BIND_SERVICE */

struct cma_id;
struct cma_mcast;
struct cma_port;

union cma_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage any;
};

/* RDMA_CM_EVENT_ of librdmacm. */
enum cma_event_type {
	CMA_EV_ADDR_RESOLVED,
	CMA_EV_ADDR_ERROR,
	CMA_EV_ROUTE_RESOLVED,
	CMA_EV_ROUTE_ERROR,
	CMA_EV_CONNECT_REQUEST,
	CMA_EV_CONNECT_RESPONSE,
	CMA_EV_CONNECT_ERROR,
	CMA_EV_UNREACHABLE,
	CMA_EV_REJECTED,
	CMA_EV_ESTABLISHED,
	CMA_EV_DISCONNECTED,
	CMA_EV_DEVICE_REMOVAL,
	CMA_EV_MULTICAST_JOIN,
	CMA_EV_MULTICAST_ERROR,
	CMA_EV_ADDR_CHANGE,
	CMA_EV_TIMEWAIT_EXIT,
};

struct ucma_event {
	struct ucma_event *next;
	struct cma_id *id; /* that it is told to: a listener for CONNECT_REQUEST */
	/* CONNECT_REQUEST: has no number before it is fetched, and is in the same file as id. */
	struct cma_id *born;
	struct cma_mcast *mcast;
	struct rdma_ucm_event_resp resp;
};

struct ucma_file {
	struct ucma_file *next;
	struct kernel *kernel;
	uint64_t id;
	uint32_t pid; /* of the process that opened it, for display */
	int fd;
	dev_t client_dev;
	ino_t client_ino;
	ev_io hangup, writable;
	struct ucma_event *head, **tail;
	uint32_t n_events;
	uint32_t owed; /* records that did not fit into the socket */
	struct cma_id *ids;
	struct owner *owner;
};

#define CMA_PORT_PLACES 16384

struct ucma {
	struct ucma_file *files;
	struct rnic_table ids;	  /* struct cma_id by its number */
	struct rnic_table mcasts; /* struct cma_mcast */
	struct cma_port *ports[CMA_PORT_PLACES];
};

/* As the kernel orders them; each allows what the next needs. */
enum cma_state {
	CMA_IDLE,
	CMA_BOUND,
	CMA_ADDR_RESOLVED,
	CMA_ROUTE_RESOLVED,
	CMA_CONNECT,
	CMA_DISCONNECT,
	CMA_LISTEN,
	CMA_REMOVED,
};

struct cma_id {
	struct cma_id *next, **link; /* in its file, and what points to it there */
	struct ucma_file *file;
	uint32_t number; /* 0: not known to the program yet */
	uint64_t uid;
	enum cma_state state;
	uint16_t ps;
	uint8_t qp_type;
	union cma_addr src, dst;
	struct kdevice *dev; /* or NULL */
	struct rnic_av av;   /* way to the peer, once resolved */
	struct cma_port *port;
	uint32_t port_place; /* among the users of the port */
	struct rnic_cm *cm;
	uint32_t backlog;
	uint32_t events_reported;
	bool reuseaddr, afonly, tos_set, ack_timeout_set;
	bool addr_gone; /* it has been told so */
	bool low_ports; /* it may be bound below CMA_PORT_LOW */
	uint8_t tos, ack_timeout;
	/* Of the connection under way. */
	uint32_t qp_num, psn, remote_qpn, remote_psn, qkey;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count, path_mtu;
	uint8_t remote_ack_timeout;
	struct rdma_ucm_ece ece; /* what it asks of its peer, or answers */
	bool remote_srq, passive;
	struct cma_mcast *mcasts;
};

/* ---- ucma_file.c ---- */
/* An event for the program; takes ev. ev->id's file gets it. */
void ucma_event_add(struct ucma_event *ev);
struct ucma_event *ucma_event_new(struct cma_id *id, enum cma_event_type type, int status);
/* Nothing that makes an event may be asked for (-ENOMEM). What comes from peers does not count: a
 * backlog, or an ID, has an end of its own. */
bool ucma_events_full(const struct ucma_file *file);
/* Takes events of this ID (or that gave birth to it) out; how many records of the socket go. */
uint32_t ucma_events_forget(struct ucma_file *file, const struct cma_id *id,
			    const struct cma_mcast *mcast);
/* Moves them to another file's queue. */
uint32_t ucma_events_move(struct cma_id *id, struct ucma_file *to);
/* The first of the queue has been fetched, and goes; how many records go with it. */
uint32_t ucma_event_fetched(struct ucma_file *file);

/* ---- cma_id.c ---- */
int cma_id_create(struct ucma_file *file, uint16_t ps, uint8_t qp_type, uint64_t uid,
		  struct cma_id **out);
/* Gives it its number. */
int cma_id_number(struct cma_id *id);
void cma_id_unnumber(struct cma_id *id);
struct cma_id *cma_id_find(struct ucma_file *file, uint32_t number, int *rc);
void cma_id_destroy(struct cma_id *id);
/* RDMA_OPTION_ID_...: 0, -EINVAL, -ENOSYS. value has 4 bytes or more. */
int cma_option_set(struct cma_id *id, uint32_t name, const uint8_t *value, uint32_t len);
/* Without its events. */
void cma_id_refile(struct cma_id *id, struct ucma_file *to);
/* With its events, and the requests that wait in them, to another channel; how many records of the
 * old one go. */
uint32_t cma_id_move(struct cma_id *id, struct ucma_file *to);

/* ---- cma_addr.c ---- */
/* Is the address usable: 0, -EINVAL, -EAFNOSUPPORT. */
int cma_addr_check(const union cma_addr *a, size_t len);
bool cma_addr_any(const union cma_addr *a);
/* The wildcard, or an address of the host itself: 127/8, ::1. */
bool cma_addr_open(const union cma_addr *a);
bool cma_addr_equal(const union cma_addr *a, const union cma_addr *b);
uint16_t cma_addr_port(const union cma_addr *a); /* host order */
void cma_addr_port_set(union cma_addr *a, uint16_t port);
void cma_addr_gid(const union cma_addr *a, uint8_t gid[16]);
void cma_addr_from_gid(union cma_addr *a, const uint8_t gid[16], uint16_t port);
socklen_t cma_addr_len(const union cma_addr *a);
const char *cma_addr_text(const union cma_addr *a, char *buf, size_t size);
/* The port space of its address: its own, or the one that an AF_IB address's service ID begins
 * with; 0: none of its own. Such an address is made whole. */
uint16_t cma_addr_space(struct cma_id *id);
int cma_bind(struct cma_id *id, const union cma_addr *a);
int cma_resolve_addr(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst);

/* ---- cma_port.c ---- */
/* A port of the ID's port space: the address's, or any free one for 0. -EADDRINUSE; -EADDRNOTAVAIL
 * if either is a wildcard, -EACCES for a low one, as the kernel. */
int cma_port_get(struct cma_id *id);
void cma_port_put(struct cma_id *id);
/* May it listen there? */
int cma_port_listen(struct cma_id *id);
/* Does anybody listen there, at whatever address? */
bool cma_port_listened(struct ucma *u, uint16_t ps, uint16_t port);
/* Who listens for a request to this address. */
struct cma_id *cma_listener(struct ucma *u, uint16_t ps, const union cma_addr *to);

/* ---- cma_conn.c ---- */
/* Before the program has taken an ID over by accepting it, nothing can be told about it. */
bool cma_id_deaf(const struct cma_id *id);
extern const struct rnic_cm_host cma_cm_host; /* its host is a struct kdevice */
int cma_listen(struct cma_id *id, uint32_t backlog);
int cma_connect(struct cma_id *id, const struct rdma_ucm_conn_param *param);
int cma_accept(struct cma_id *id, const struct rdma_ucm_conn_param *param);
int cma_reject(struct cma_id *id, const void *data, uint8_t len, uint8_t reason);
int cma_disconnect(struct cma_id *id);
int cma_notify(struct cma_id *id, uint32_t event);
void cma_removed(struct cma_id *id);

/* ---- cma_attr.c ---- */
void cma_qp_attr(const struct cma_id *id, uint32_t state, struct ib_uverbs_qp_attr *attr);
void cma_ah_attr(const struct cma_id *id, struct ib_uverbs_ah_attr *ah);

/* ---- cma_query.c ---- */
struct ib_path_rec_data;
void cma_query_route(const struct cma_id *id, struct rdma_ucm_query_route_resp *resp);
void cma_query_addr(const struct cma_id *id, struct rdma_ucm_query_addr_resp *resp);
void cma_query_gid(const struct cma_id *id, struct rdma_ucm_query_addr_resp *resp);
/* How many paths there are: none, or one, in *data. */
uint32_t cma_query_path(const struct cma_id *id, struct ib_path_rec_data *data);

/* ---- cma_mcast.c ---- */
int cma_join(struct cma_id *id, const union cma_addr *group, uint64_t uid, uint16_t flags,
	     uint32_t *number);
/* Its event, once the program knows the number. */
void cma_joined(struct ucma_file *file, uint32_t number);
/* How many of its events have been fetched: 0, -ENOENT, or -EINVAL for another channel's. */
int cma_mcast_events(struct ucma_file *file, uint32_t number, uint32_t *reported);
/* How many records of the socket go. */
uint32_t cma_leave(struct ucma_file *file, uint32_t number);
/* One of its events has been fetched. */
void cma_mcast_reported(struct cma_mcast *m);
void cma_leave_all(struct cma_id *id);
uint32_t cma_memberships(const struct cma_id *id);

#endif
