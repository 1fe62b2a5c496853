/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * rnic-drill-agent: the verbs' half of a script, on any RDMA device. It reads a request a line
 * and answers "ok KEY=VALUE ...", "errno N" or "bad TEXT". Linked with nothing but libibverbs.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"
#include "agent_cm.h"

static int reset(struct agent *ag, struct args *a, struct text *reply)
{
	(void)a;
	(void)reply;
	agent_cm_reset(ag);
	agent_objects_destroy(ag);
	return 0;
}

static const struct {
	const char *name;
	agent_verb *verb;
} verbs[] = {
	{"reset", reset},
	{"barrier", agent_barrier},
	{"pd", agent_pd},
	{"cq", agent_cq},
	{"mr", agent_mr},
	{"srq", agent_srq},
	{"ah", agent_ah},
	{"mw", agent_mw},
	{"qp", agent_qp},
	{"modify", agent_modify},
	{"query", agent_query},
	{"modify_srq", agent_modify_srq},
	{"query_srq", agent_query_srq},
	{"destroy", agent_destroy},
	{"attach", agent_attach},
	{"detach", agent_detach},
	{"post_send", agent_post_send},
	{"post_recv", agent_post_recv},
	{"poll", agent_poll},
	{"arm", agent_arm},
	{"notified", agent_notified},
	{"event", agent_event},
	{"peek", agent_peek},
	{"poke", agent_poke},
	{"memory", agent_memory},
	{"cm_listen", agent_cm_listen},
	{"cm_connect", agent_cm_connect},
	{"cm_accept", agent_cm_accept},
	{"cm_establish", agent_cm_establish},
	{"cm_reject", agent_cm_reject},
	{"cm_disconnect", agent_cm_disconnect},
	{"cm_notify", agent_cm_notify},
	{"cm_destroy", agent_cm_destroy},
	{"cm_event", agent_cm_event},
};

static int dispatch(struct agent *ag, struct args *a, struct text *reply)
{
	const char *name = args_word(a);

	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, name))
			return verbs[i].verb(ag, a, reply);
	args_wrong(a, "the agent knows no \"%s\"", name ? name : "");
	return 0;
}

static void request_answer(struct agent *ag, const char *line, FILE *out)
{
	struct text reply;
	struct args a;
	int ret;

	args_parse(&a, line);
	text_begin(&reply);
	ret = a.error[0] ? 0 : dispatch(ag, &a, &reply);
	if (ret == 0)
		args_done(&a);
	if (a.error[0])
		fprintf(out, "bad %s\n", a.error);
	else if (ret)
		fprintf(out, "errno %d\n", ret);
	else
		fprintf(out, "ok %s\n", reply.buf);
	fflush(out);
	text_end(&reply);
	args_free(&a);
}

static void serve(struct agent *ag, int fd)
{
	int other = dup(fd);
	FILE *in = fdopen(fd, "r"), *out = other < 0 ? NULL : fdopen(other, "w");
	char *line = NULL;
	size_t room = 0;

	if (in && out) {
		fprintf(out, "hello gid=%s gid_index=%d device=%s\n", ag->gid, ag->gid_index,
			ibv_get_device_name(ag->ctx->device));
		fflush(out);
		while (getline(&line, &room, in) >= 0) {
			line[strcspn(line, "\n")] = '\0';
			request_answer(ag, line, out);
		}
	}
	agent_cm_reset(ag);
	agent_objects_destroy(ag);
	free(line);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

/* The first GID that is an IPv4 address: packets of scripts are IPv4. */
static bool gid_find(struct agent *ag)
{
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (ibv_query_port(ag->ctx, 1, &port))
		return false;
	for (int i = 0; i < port.gid_tbl_len; i++) {
		if (ibv_query_gid(ag->ctx, 1, i, &gid) ||
		    !IN6_IS_ADDR_V4MAPPED((struct in6_addr *)gid.raw))
			continue;
		ag->gid_index = i;
		return inet_ntop(AF_INET, gid.raw + 12, ag->gid, sizeof(ag->gid)) != NULL;
	}
	return false;
}

static bool device_open(struct agent *ag, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		if (name && strcmp(ibv_get_device_name(list[i]), name) != 0)
			continue;
		ag->ctx = ibv_open_device(list[i]);
		if (ag->ctx && gid_find(ag))
			break;
		if (ag->ctx)
			ibv_close_device(ag->ctx);
		ag->ctx = NULL;
	}
	if (list)
		ibv_free_device_list(list);
	if (!ag->ctx)
		fprintf(stderr, "rnic-drill-agent: no device %s with an IPv4 address\n",
			name ? name : "");
	return ag->ctx != NULL;
}

static int listen_serve(struct agent *ag, int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1)) {
		fprintf(stderr, "rnic-drill-agent: port %d: %s\n", port, strerror(errno));
		return 1;
	}
	for (;;) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			continue;
		setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		serve(ag, client);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"device", required_argument, NULL, 'd'},
		{"port", required_argument, NULL, 'p'},
		{"fd", required_argument, NULL, 'f'},
		{NULL, 0, NULL, 0},
	};
	struct agent ag = {0};
	const char *device = NULL;
	int port = -1, fd = -1, opt;

	while ((opt = getopt_long(argc, argv, "d:p:f:", options, NULL)) != -1) {
		if (opt == 'd')
			device = optarg;
		else if (opt == 'p')
			port = atoi(optarg);
		else if (opt == 'f')
			fd = atoi(optarg);
		else
			return 2;
	}
	if (fd < 0 && port < 0) {
		fprintf(stderr, "Usage: rnic-drill-agent [--device D] --port N\n");
		return 2;
	}
	if (!device_open(&ag, device))
		return 1;
	if (fd < 0)
		return listen_serve(&ag, port);
	serve(&ag, fd);
	return 0;
}
