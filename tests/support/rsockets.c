/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Each function of rdma/rsocket.h is asked for once, over a connection of this process to itself.
 *
 *     rsockets
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"

#define SIZE 64
#define FIRST 20
#define MAPS 1
#define QUEUE 32

struct ends {
	int listener, server, client;
	struct sockaddr_in at;
	char sent[SIZE], received[SIZE];
	char mapped[SIZE];
};

static void fill(struct ends *e, char with)
{
	memset(e->sent, with, SIZE);
	memset(e->received, 0, SIZE);
}

static bool arrived(const struct ends *e)
{
	return !memcmp(e->sent, e->received, SIZE);
}

/* One end may give room for mappings, which the peer is told when they connect. */
static void set_maps(int socket)
{
	int maps = MAPS, queue = QUEUE;

	MUST(!rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &maps, sizeof(maps)));
	MUST(!rsetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &queue, sizeof(queue)));
}

static void ask_options(int socket)
{
	int value = 0;
	socklen_t len = sizeof(value);

	MUST(!rgetsockopt(socket, SOL_RDMA, RDMA_SQSIZE, &value, &len));
	WORKS(rgetsockopt, len == sizeof(value) && value == QUEUE);
	ask_works("rsetsockopt");
}

static void ask_listening(struct ends *e)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(e->at);

	WORKS(rsocket, (e->listener = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	set_maps(e->listener);
	MUST(!rbind(e->listener, (struct sockaddr *)&in, sizeof(in)));
	WORKS(rlisten, !rlisten(e->listener, 1));
	WORKS(rgetsockname, !rgetsockname(e->listener, (struct sockaddr *)&e->at, &len) &&
				    len == sizeof(in) && e->at.sin_port);
	WORKS(rbind, e->at.sin_addr.s_addr == in.sin_addr.s_addr);
}

static void *accepts(void *arg)
{
	struct ends *e = arg;

	MUST((e->server = raccept(e->listener, NULL, NULL)) >= 0);
	return NULL;
}

static void ask_connection(struct ends *e)
{
	struct sockaddr_in peer, name;
	socklen_t len = sizeof(peer);
	pthread_t thread;

	MUST((e->client = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	set_maps(e->client);
	MUST(!pthread_create(&thread, NULL, accepts, e));
	WORKS(rconnect, !rconnect(e->client, (struct sockaddr *)&e->at, sizeof(e->at)));
	MUST(!pthread_join(thread, NULL));
	MUST(!rgetpeername(e->server, (struct sockaddr *)&peer, &len));
	MUST(!rgetsockname(e->client, (struct sockaddr *)&name, &len));
	WORKS(raccept, peer.sin_port == name.sin_port);
	WORKS(rgetpeername, peer.sin_addr.s_addr == e->at.sin_addr.s_addr);
	ask_options(e->client);
}

/* Reading may fill the first of several buffers only, as librdmacm does. */
static bool rest_arrived(struct ends *e, int socket, ssize_t got)
{
	MUST(got >= FIRST);
	MUST(got == SIZE ||
	     rrecv(socket, e->received + got, SIZE - got, MSG_WAITALL) == SIZE - got);
	return arrived(e);
}

static void ask_sends(struct ends *e)
{
	fill(e, 1);
	WORKS(rsend, rsend(e->client, e->sent, SIZE, 0) == SIZE);
	WORKS(rrecv, rrecv(e->server, e->received, SIZE, MSG_WAITALL) == SIZE && arrived(e));
	fill(e, 2);
	WORKS(rsendto, rsendto(e->server, e->sent, SIZE, 0, NULL, 0) == SIZE);
	WORKS(rrecvfrom, rrecvfrom(e->client, e->received, SIZE, MSG_WAITALL, NULL, NULL) == SIZE &&
				 arrived(e));
	fill(e, 3);
	WORKS(rwrite, rwrite(e->server, e->sent, SIZE) == SIZE);
	WORKS(rread, rread(e->client, e->received, SIZE) == SIZE && arrived(e));
}

static void ask_pieces(struct ends *e)
{
	struct iovec out[2] = {{e->sent, 10}, {e->sent + 10, SIZE - 10}};
	struct iovec in[2] = {{e->received, FIRST}, {e->received + FIRST, SIZE - FIRST}};
	struct msghdr sent = {.msg_iov = out, .msg_iovlen = 2};
	struct msghdr received = {.msg_iov = in, .msg_iovlen = 2};

	fill(e, 4);
	WORKS(rsendmsg, rsendmsg(e->client, &sent, 0) == SIZE);
	WORKS(rrecvmsg, rest_arrived(e, e->server, rrecvmsg(e->server, &received, 0)));
	fill(e, 5);
	WORKS(rwritev, rwritev(e->server, out, 2) == SIZE);
	WORKS(rreadv, rest_arrived(e, e->client, rreadv(e->client, in, 2)));
}

/* There is nothing to read, and then there is. */
static void ask_waiting(struct ends *e)
{
	struct pollfd fds = {.fd = e->server, .events = POLLIN};
	struct timeval now = {0}, long_enough = {.tv_sec = RIG_PATIENCE / 1000};
	fd_set set;

	MUST(rpoll(&fds, 1, 0) == 0);
	fill(e, 6);
	MUST(rsend(e->client, e->sent, SIZE, 0) == SIZE);
	WORKS(rpoll, rpoll(&fds, 1, RIG_PATIENCE) == 1 && fds.revents == POLLIN);
	MUST(rrecv(e->server, e->received, SIZE, MSG_WAITALL) == SIZE && arrived(e));
	FD_ZERO(&set);
	FD_SET(e->server, &set);
	MUST(rselect(e->server + 1, &set, NULL, NULL, &now) == 0 && !FD_ISSET(e->server, &set));
	MUST(rsend(e->client, e->sent, SIZE, 0) == SIZE);
	FD_SET(e->server, &set);
	WORKS(rselect, rselect(e->server + 1, &set, NULL, NULL, &long_enough) == 1 &&
			       FD_ISSET(e->server, &set));
	MUST(rrecv(e->server, e->received, SIZE, MSG_WAITALL) == SIZE);
}

static void ask_flags(struct ends *e)
{
	MUST(!rfcntl(e->server, F_SETFL, O_NONBLOCK));
	MUST(rfcntl(e->server, F_GETFL) & O_NONBLOCK);
	WORKS(rfcntl, rrecv(e->server, e->received, SIZE, 0) == -1 && errno == EWOULDBLOCK);
	MUST(!rfcntl(e->server, F_SETFL, 0));
}

/*
 * The peer knows of a mapping once it has what was sent after that; and what it has written there
 * has come once what it sent then has.
 */
static void ask_maps(struct ends *e)
{
	char byte = 7;

	fill(e, 7);
	MUST(riomap(e->server, e->mapped, SIZE, PROT_WRITE, 0, 0) == 0);
	MUST(rsend(e->server, &byte, 1, 0) == 1 && rrecv(e->client, &byte, 1, 0) == 1);
	WORKS(riowrite, riowrite(e->client, e->sent, SIZE, 0, 0) == SIZE);
	MUST(rsend(e->client, &byte, 1, 0) == 1 && rrecv(e->server, &byte, 1, 0) == 1);
	WORKS(riomap, !memcmp(e->mapped, e->sent, SIZE));
	MUST(!riounmap(e->server, e->mapped, SIZE));
	WORKS(riounmap, riounmap(e->server, e->mapped, SIZE) == -1 && errno == EINVAL);
}

static void ask_end(struct ends *e)
{
	MUST(!rshutdown(e->client, SHUT_WR));
	WORKS(rshutdown, rrecv(e->server, e->received, SIZE, 0) == 0);
	MUST(!rclose(e->client) && !rclose(e->server));
	WORKS(rclose, fcntl(e->client, F_GETFD) == -1 && errno == EBADF);
	MUST(!rclose(e->listener));
}

/*
 * librdmacm makes an address handle of a LID alone, which is none of RoCE; errno is then what it
 * had to do last.
 */
static void ask_datagrams(const struct ends *e)
{
	int socket = rsocket(AF_INET, SOCK_DGRAM, 0);
	ssize_t sent;

	MUST(socket >= 0);
	sent = rsendto(socket, e->sent, SIZE, 0, (const struct sockaddr *)&e->at, sizeof(e->at));
	ask_says("SOCK_DGRAM", sent < 0 ? "FAILS" : "works");
	MUST(!rclose(socket));
}

int main(void)
{
	struct ends e;

	ask_listening(&e);
	ask_connection(&e);
	ask_sends(&e);
	ask_pieces(&e);
	ask_waiting(&e);
	ask_flags(&e);
	ask_maps(&e);
	ask_end(&e);
	ask_works("SOCK_STREAM");
	ask_datagrams(&e);
	return 0;
}
