/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Event channels of rdma_cm, used by hand and not as librdmacm would.
 *
 *     channel migrate    a listener moves while a request for it waits, and its old channel closes
 *     channel join       a join whose answer has nowhere to go leaves nothing behind
 *     channel unread     addresses that cannot be resolved, without an event ever being read
 *     channel ids        IDs are made until there are enough
 *     channel many       a channel closes that has many IDs and events
 *     channel ports      all ports are taken, and one more is asked for
 *     channel cancel     threads are cancelled while they wait for an event
 *     channel close      a channel is closed while a thread waits for its event
 *     channel removal    waits until it is told that the device of an ID goes
 *     channel server     accepts connections until it is killed
 *     channel echo       accepts connections and disconnects as its peers do, until it is ended
 *     channel cycles N   connects to that one and disconnects, N times, always with the same QP
 *     channel peer       connects to the server until it is told that it is disconnected
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

#define PORT 4321
#define PS_TCP 0x0106
#define ENOUGH 1000000
#define MANY 25000
#define PORTS 28232 /* that are given out: 32768..60999 */
#define CANCELS 50
#define CONNECT_REQUEST 4
#define CONNECT_RESPONSE 5
#define ESTABLISHED 9
#define DISCONNECTED 10
#define DEVICE_REMOVAL 11
#define PEERS 20 /* connections of one peer */
#define QP_RC 2

static int channel_open(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);

	MUST(fd >= 0);
	return fd;
}

/* 0 or -1 and errno. */
static int command(int fd, uint32_t cmd, const void *in, uint16_t in_len, uint16_t out_len)
{
	uint8_t buf[sizeof(struct rdma_ucm_cmd_hdr) + 512];
	struct rdma_ucm_cmd_hdr hdr = {cmd, in_len, out_len};
	ssize_t len = (ssize_t)sizeof(hdr) + in_len;

	memcpy(buf, &hdr, sizeof(hdr));
	memcpy(buf + sizeof(hdr), in, in_len);
	return write(fd, buf, (size_t)len) == len ? 0 : -1;
}

static uint32_t id_create(int fd, uint64_t uid)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req = {
		.uid = uid, .response = (uintptr_t)&resp, .ps = PS_TCP, .qp_type = QP_RC};

	MUST(!command(fd, RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req), sizeof(resp)));
	return resp.id;
}

static int id_command(int fd, uint32_t cmd, uint32_t id)
{
	uint64_t room[64];
	struct rdma_ucm_destroy_id req = {.response = (uintptr_t)room, .id = id};

	return command(fd, cmd, &req, sizeof(req), sizeof(struct rdma_ucm_destroy_id_resp));
}

static struct sockaddr_in6 address(uint32_t ip, uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};
	struct sockaddr_in6 any = {0};

	memcpy(&any, &in, sizeof(in));
	return any;
}

static int bind_to(int fd, uint32_t id, uint32_t ip, uint16_t port)
{
	struct rdma_ucm_bind_ip req = {.addr = address(ip, port), .id = id};

	return command(fd, RDMA_USER_CM_CMD_BIND_IP, &req, sizeof(req), 0);
}

static int resolve(int fd, uint32_t id, uint32_t ip, uint16_t port)
{
	struct rdma_ucm_resolve_ip req = {
		.dst_addr = address(ip, port), .id = id, .timeout_ms = 1000};

	return command(fd, RDMA_USER_CM_CMD_RESOLVE_IP, &req, sizeof(req), 0);
}

static int get_event(int fd, struct rdma_ucm_event_resp *ev)
{
	struct rdma_ucm_get_event req = {.response = (uintptr_t)ev};

	return command(fd, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), sizeof(*ev));
}

static bool event_waits(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

/* $RIG_ADDRESS or 127.0.0.1, in host order. */
static uint32_t here(void)
{
	const char *text = getenv("RIG_ADDRESS");
	struct in_addr addr = {htonl(INADDR_LOOPBACK)};

	MUST(!text || inet_pton(AF_INET, text, &addr) == 1);
	return ntohl(addr.s_addr);
}

static uint32_t listen_at(int fd, uint16_t port)
{
	struct rdma_ucm_listen req = {.id = id_create(fd, 1), .backlog = 4};

	MUST(!bind_to(fd, req.id, here(), port));
	MUST(!command(fd, RDMA_USER_CM_CMD_LISTEN, &req, sizeof(req), 0));
	return req.id;
}

static uint32_t connect_as(int fd, uint16_t port, uint32_t qpn)
{
	static struct rdma_ucm_connect req;
	struct rdma_ucm_resolve_route route = {.id = id_create(fd, 2), .timeout_ms = 1000};
	struct rdma_ucm_event_resp ev;

	MUST(!resolve(fd, route.id, INADDR_LOOPBACK, port) && !get_event(fd, &ev));
	MUST(!command(fd, RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route, sizeof(route), 0));
	MUST(!get_event(fd, &ev));
	req.id = route.id;
	req.conn_param.valid = 1;
	req.conn_param.qp_num = qpn;
	MUST(!command(fd, RDMA_USER_CM_CMD_CONNECT, &req, sizeof(req), 0));
	return route.id;
}

static uint32_t connect_to(int fd, uint16_t port)
{
	return connect_as(fd, port, 17);
}

static void by_migrate(void)
{
	int from = channel_open(), to = channel_open(), other = channel_open();
	struct rdma_ucm_event_resp ev;
	struct rdma_ucm_migrate_resp resp;
	struct rdma_ucm_migrate_id req = {.response = (uintptr_t)&resp, .fd = (uint32_t)from};
	static struct rdma_ucm_reject no;

	req.id = listen_at(from, PORT);
	connect_to(other, PORT);
	MUST(event_waits(from, RIG_PATIENCE));
	/* An event that cannot be told stays one. */
	MUST(get_event(from, NULL) && errno == EFAULT);
	MUST(!command(to, RDMA_USER_CM_CMD_MIGRATE_ID, &req, sizeof(req), sizeof(resp)));
	MUST(!event_waits(from, 0) && event_waits(to, 0));
	close(from);
	MUST(!get_event(to, &ev) && ev.event == CONNECT_REQUEST);
	no.id = ev.id;
	MUST(!command(to, RDMA_USER_CM_CMD_REJECT, &no, sizeof(no), 0));
	MUST(!id_command(to, RDMA_USER_CM_CMD_DESTROY_ID, ev.id));
	close(to);
	close(other);
}

static void by_join(void)
{
	struct rdma_ucm_join_ip_mcast req = {.addr = address(0xe0010203, 0)};
	int fd = channel_open();

	req.id = id_create(fd, 3);
	MUST(!bind_to(fd, req.id, INADDR_LOOPBACK, 0));
	MUST(command(fd, RDMA_USER_CM_CMD_JOIN_IP_MCAST, &req, sizeof(req),
		     sizeof(struct rdma_ucm_create_id_resp)) &&
	     errno == EFAULT);
	MUST(!event_waits(fd, 0));
	close(fd);
}

/* Some day it is told that enough is enough; the channel works on when events are read. */
static void by_unread(void)
{
	struct rdma_ucm_event_resp ev;
	int fd = channel_open(), n = 0;
	uint32_t id = id_create(fd, 4);

	MUST(!bind_to(fd, id, INADDR_ANY, 0));
	while (n < ENOUGH && !resolve(fd, id, 0xf0000001, 1))
		n++;
	MUST(n < ENOUGH && errno == ENOMEM);
	MUST(!get_event(fd, &ev));
	MUST(!resolve(fd, id, INADDR_LOOPBACK, 1));
	while (n--)
		MUST(!get_event(fd, &ev));
	MUST(!event_waits(fd, 0));
	MUST(!id_command(fd, RDMA_USER_CM_CMD_DESTROY_ID, id));
	close(fd);
}

static void by_ids(void)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req = {
		.response = (uintptr_t)&resp, .ps = PS_TCP, .qp_type = QP_RC};
	int fd = channel_open(), n = 0;

	while (n < ENOUGH &&
	       !command(fd, RDMA_USER_CM_CMD_CREATE_ID, &req, sizeof(req), sizeof(resp)))
		n++;
	MUST(n < ENOUGH && errno == ENOMEM);
	MUST(!id_command(fd, RDMA_USER_CM_CMD_DESTROY_ID, resp.id));
	id_create(fd, 8);
	close(fd);
}

static void by_many(void)
{
	int fd = channel_open(), other = channel_open();

	for (int i = 0; i < MANY; i++)
		MUST(!resolve(fd, id_create(fd, 5), INADDR_LOOPBACK, 1));
	close(fd);
	/* What is asked behind it is answered in time. */
	id_create(other, 6);
	close(other);
}

static void by_ports(void)
{
	int fd = channel_open(), n = 0;

	while (!bind_to(fd, id_create(fd, 7), INADDR_ANY, 0))
		n++;
	MUST(errno == EADDRNOTAVAIL && n == PORTS);
	for (int i = 0; i < 100; i++)
		MUST(bind_to(fd, id_create(fd, 7), INADDR_ANY, 0) && errno == EADDRNOTAVAIL);
	close(fd);
}

static int cancelled_fd;

static void *wait_for_ever(void *barrier)
{
	struct rdma_ucm_event_resp ev;

	pthread_barrier_wait(barrier);
	get_event(cancelled_fd, &ev);
	return NULL;
}

static void by_cancel(void)
{
	pthread_barrier_t both;
	int before, after;

	cancelled_fd = channel_open();
	MUST(!pthread_barrier_init(&both, NULL, 2));
	before = dup(0);
	close(before);
	for (int i = 0; i < CANCELS; i++) {
		pthread_t thread;
		void *result;

		MUST(!pthread_create(&thread, NULL, wait_for_ever, &both));
		pthread_barrier_wait(&both);
		poll(NULL, 0, i % 8); /* to hit another place each time */
		MUST(!pthread_cancel(thread) && !pthread_join(thread, &result));
		MUST(result == PTHREAD_CANCELED);
	}
	after = dup(0);
	MUST(after <= before + 2); /* a connection to the daemon or two */
	close(cancelled_fd);
}

static _Atomic pid_t waiter;
static int waited_fd;

static void *wait_for_request(void *ev)
{
	waiter = (pid_t)syscall(SYS_gettid);
	MUST(!get_event(waited_fd, ev));
	return NULL;
}

/* Until that thread sleeps, for an event and not for an answer of the daemon. */
static void sleep_await(void)
{
	char path[64], number[16] = "";

	do {
		int fd;

		sched_yield();
		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiter);
		fd = waiter ? open(path, O_RDONLY) : -1;
		if (fd < 0)
			continue;
		MUST(read(fd, number, sizeof(number) - 1) > 0);
		close(fd);
	} while (strtol(number, NULL, 10) != SYS_recvfrom);
}

static void by_close(void)
{
	struct rdma_ucm_event_resp ev = {0};
	int other = channel_open();
	pthread_t thread;

	waited_fd = channel_open();
	listen_at(waited_fd, PORT);
	MUST(!pthread_create(&thread, NULL, wait_for_request, &ev));
	sleep_await();
	close(waited_fd);
	connect_to(other, PORT);
	MUST(!pthread_join(thread, NULL));
	MUST(ev.event == CONNECT_REQUEST);
	close(other);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void by_removal(void)
{
	struct rdma_ucm_event_resp ev;
	int fd = channel_open();
	uint32_t id = listen_at(fd, PORT);

	say("ready");
	MUST(!get_event(fd, &ev));
	MUST(ev.event == DEVICE_REMOVAL && ev.id == id);
	say("told");
}

static int accept_as(int fd, uint32_t id, uint32_t qpn, uint8_t valid)
{
	static struct rdma_ucm_accept req;

	req.id = id;
	req.uid = 3;
	req.conn_param.valid = valid;
	req.conn_param.qp_num = qpn;
	return command(fd, RDMA_USER_CM_CMD_ACCEPT, &req, sizeof(req), 0);
}

static void by_server(void)
{
	struct rdma_ucm_event_resp ev;
	int fd = channel_open();

	listen_at(fd, PORT);
	say("listens");
	for (int up = 0; up < PEERS;) {
		MUST(!get_event(fd, &ev));
		if (ev.event == CONNECT_REQUEST)
			MUST(!accept_as(fd, ev.id, 1000 + ev.id, 1));
		up += ev.event == ESTABLISHED;
	}
	say("established");
	for (;;)
		pause();
}

static void by_peer(void)
{
	struct rdma_ucm_event_resp ev;
	int fd = channel_open();

	for (uint32_t i = 0; i < PEERS; i++) {
		uint32_t id = connect_as(fd, PORT, 17 + i);

		MUST(!get_event(fd, &ev));
		MUST(ev.event == CONNECT_RESPONSE && !accept_as(fd, id, 0, 0));
	}
	say("connected");
	for (uint32_t i = 0; i < PEERS; i++)
		MUST(!get_event(fd, &ev) && ev.event == DISCONNECTED);
}

static void by_echo(void)
{
	struct rdma_ucm_disconnect bye;
	struct rdma_ucm_event_resp ev;
	int fd = channel_open();

	listen_at(fd, PORT);
	say("listens");
	while (!get_event(fd, &ev)) {
		if (ev.event == CONNECT_REQUEST)
			MUST(!accept_as(fd, ev.id, 1000 + ev.id % 1000, 1));
		if (ev.event != DISCONNECTED)
			continue;
		bye.id = ev.id;
		MUST(!command(fd, RDMA_USER_CM_CMD_DISCONNECT, &bye, sizeof(bye), 0));
		MUST(!id_command(fd, RDMA_USER_CM_CMD_DESTROY_ID, ev.id));
	}
}

static void cycle(int fd)
{
	uint32_t id = connect_to(fd, PORT);
	struct rdma_ucm_disconnect bye = {id};
	struct rdma_ucm_event_resp ev;

	MUST(!get_event(fd, &ev) && ev.event == CONNECT_RESPONSE);
	MUST(!accept_as(fd, id, 0, 0));
	MUST(!command(fd, RDMA_USER_CM_CMD_DISCONNECT, &bye, sizeof(bye), 0));
	MUST(!get_event(fd, &ev) && ev.event == DISCONNECTED);
	MUST(!id_command(fd, RDMA_USER_CM_CMD_DESTROY_ID, id));
}

static void cycles(const char *count)
{
	uint64_t begin = rig_now();
	int n = atoi(count), fd = channel_open();

	for (int i = 0; i < n; i++)
		cycle(fd);
	printf("%d in %.1f s\n", n, (double)(rig_now() - begin) / 1e9);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"migrate", by_migrate}, {"join", by_join}, {"unread", by_unread},
		{"ids", by_ids},	 {"many", by_many}, {"ports", by_ports},
		{"cancel", by_cancel},	 {"echo", by_echo}, {"removal", by_removal},
		{"server", by_server},	 {"peer", by_peer}, {"close", by_close},
	};

	if (argc == 3 && !strcmp(argv[1], "cycles")) {
		cycles(argv[2]);
		return 0;
	}
	MUST(argc == 2);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			puts("done");
			return 0;
		}
	return 2;
}
