/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices, addresses, and IDs that are not connected. */
#include <fcntl.h>

#include "librdmacm.h"

static void ask_devices(void)
{
	int count = 0, i = 0;
	struct ibv_context **list = rdma_get_devices(&count);

	MUST(list && !list[count]);
	while (list[i] && strcmp(ibv_get_device_name(list[i]->device), "rxe0"))
		i++;
	WORKS(rdma_get_devices, list[i]);
	rdma_free_devices(list);
	list = rdma_get_devices(NULL);
	WORKS(rdma_free_devices, list && list[0]);
	rdma_free_devices(list);
}

static void ask_addresses(void)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *to, *at;

	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", &hints, &to));
	MUST(to->ai_dst_len == sizeof(struct sockaddr_in) && to->ai_qp_type == IBV_QPT_RC);
	MUST(!memcmp(to->ai_dst_addr, cm_here(7471), sizeof(struct sockaddr_in)));
	hints.ai_flags |= RAI_PASSIVE;
	MUST(!rdma_getaddrinfo("127.0.0.1", "7472", &hints, &at));
	WORKS(rdma_getaddrinfo,
	      !memcmp(at->ai_src_addr, cm_here(7472), sizeof(struct sockaddr_in)));
	rdma_freeaddrinfo(at);
	rdma_freeaddrinfo(to);
	ask_works("rdma_freeaddrinfo");
}

void cm_ask_words(void)
{
	WORKS(rdma_event_str,
	      !strcmp(rdma_event_str(RDMA_CM_EVENT_ESTABLISHED), "RDMA_CM_EVENT_ESTABLISHED"));
	WORKS(rdma_seterrno,
	      rdma_seterrno(0) == 0 && rdma_seterrno(ENODEV) == -1 && errno == ENODEV);
	ask_devices();
	ask_addresses();
}

static void ask_binding(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;
	const struct sockaddr_in *in;

	WORKS(rdma_create_id,
	      !rdma_create_id(channel, &id, channel, RDMA_PS_TCP) && id->context == channel);
	WORKS(rdma_bind_addr, !rdma_bind_addr(id, cm_here(0)) && id->verbs && id->port_num == 1);
	WORKS(rdma_get_src_port, rdma_get_src_port(id) != 0);
	in = (const struct sockaddr_in *)rdma_get_local_addr(id);
	WORKS(rdma_get_local_addr, in->sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
					   in->sin_port == rdma_get_src_port(id));
	MUST(!rdma_destroy_id(id));
}

/* Whose ports are shared only if both say so. */
static void ask_options(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id[2];
	struct sockaddr *same;
	int on = 1;

	for (int i = 0; i < 2; i++)
		MUST(!rdma_create_id(channel, &id[i], NULL, RDMA_PS_TCP));
	MUST(!rdma_set_option(id[0], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	MUST(!rdma_bind_addr(id[0], cm_here(0)));
	same = cm_here(ntohs(rdma_get_src_port(id[0])));
	MUST(rdma_bind_addr(id[1], same) == -1 && errno == EADDRINUSE);
	MUST(!rdma_set_option(id[1], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)));
	WORKS(rdma_set_option, !rdma_bind_addr(id[1], same));
	MUST(!rdma_destroy_id(id[0]) && !rdma_destroy_id(id[1]));
}

/* Requests come to the channel that the listener has moved to. */
static void ask_migration(void)
{
	struct rdma_event_channel *old;
	struct ends e;

	ends_listen(&e);
	old = e.at_server;
	MUST((e.at_server = rdma_create_event_channel()));
	MUST(!rdma_migrate_id(e.listener, e.at_server) && e.listener->channel == e.at_server);
	rdma_destroy_event_channel(old);
	ends_resolve(&e);
	MUST(!rdma_ack_cm_event(ends_request(&e, &(struct rdma_conn_param){.qp_num = 1100})));
	ask_works("rdma_migrate_id");
	ends_forget(&e);
	ends_close(&e);
}

void cm_ask_ids(void)
{
	struct rdma_event_channel *channel;
	int fd;

	WORKS(rdma_create_event_channel, (channel = rdma_create_event_channel()));
	ask_binding(channel);
	ask_options(channel);
	fd = channel->fd;
	rdma_destroy_event_channel(channel);
	WORKS(rdma_destroy_event_channel, fcntl(fd, F_GETFD) == -1 && errno == EBADF);
	ask_migration();
}
