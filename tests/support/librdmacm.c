/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each function of rdma/rdma_cma.h and rdma/rdma_verbs.h is asked for once.
 *
 *     librdmacm
 */
#include "librdmacm.h"

struct sockaddr *cm_here(uint16_t port)
{
	static struct sockaddr_in in = {.sin_family = AF_INET};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons(port);
	return (struct sockaddr *)&in;
}

struct rdma_cm_event *cm_await(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	if (event->event != type)
		rig_fail("%s (%d) instead of %s", rdma_event_str(event->event), event->status,
			 rdma_event_str(type));
	return event;
}

struct rdma_cm_id *cm_got(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = cm_await(channel, type);
	struct rdma_cm_id *id = event->id;

	MUST(!rdma_ack_cm_event(event));
	return id;
}

struct rdma_cm_id *cm_bound(struct rdma_event_channel *channel, enum rdma_port_space space)
{
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, space));
	MUST(!rdma_bind_addr(id, cm_here(0)));
	return id;
}

void ends_listen(struct ends *e)
{
	MUST((e->at_server = rdma_create_event_channel()));
	MUST((e->at_client = rdma_create_event_channel()));
	e->listener = cm_bound(e->at_server, RDMA_PS_TCP);
	WORKS(rdma_listen, !rdma_listen(e->listener, 4));
}

void ends_resolve(struct ends *e)
{
	struct sockaddr *to = cm_here(ntohs(rdma_get_src_port(e->listener)));
	uint8_t tos = ENDS_TOS;

	MUST(!rdma_create_id(e->at_client, &e->client, NULL, RDMA_PS_TCP));
	MUST(!rdma_set_option(e->client, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	MUST(!rdma_resolve_addr(e->client, NULL, to, 60000));
	WORKS(rdma_resolve_addr,
	      cm_got(e->at_client, RDMA_CM_EVENT_ADDR_RESOLVED) == e->client && e->client->verbs);
	MUST(!rdma_resolve_route(e->client, 60000));
	WORKS(rdma_resolve_route, cm_got(e->at_client, RDMA_CM_EVENT_ROUTE_RESOLVED) == e->client &&
					  e->client->route.num_paths == 1);
}

struct rdma_cm_event *ends_request(struct ends *e, struct rdma_conn_param *param)
{
	struct rdma_cm_event *event;

	MUST(!rdma_connect(e->client, param));
	event = cm_await(e->at_server, RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST(event->listen_id == e->listener);
	e->server = event->id;
	return event;
}

void ends_forget(struct ends *e)
{
	MUST(!rdma_destroy_id(e->client));
	WORKS(rdma_destroy_id, !rdma_destroy_id(e->server));
}

void ends_close(struct ends *e)
{
	MUST(!rdma_destroy_id(e->listener));
	rdma_destroy_event_channel(e->at_server);
	rdma_destroy_event_channel(e->at_client);
}

int main(void)
{
	cm_ask_words();
	cm_ask_ids();
	cm_ask_connections();
	cm_ask_own_queues();
	cm_ask_endpoints();
	cm_ask_datagrams();
	return 0;
}
