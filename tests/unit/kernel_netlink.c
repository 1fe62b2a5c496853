/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sockets of NETLINK_RDMA: their ports, readers that do not read, their end. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "verbs/kernel/netlink.h"

static struct rig rig;
static int conn;

static void setup(void)
{
	rig_start(&rig);
	conn = client_connect(&rig);
	ck_assert_int_eq(client_hello(&rig, conn), 0);
}

static void teardown(void)
{
	close(conn);
	rig_stop(&rig);
}

static int open_socket(uint64_t *id)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_NETLINK};
	struct rnic_ctl_answer a;
	int got[RNIC_CTL_FDS_MAX];

	ck_assert_int_eq(client_call(&rig, conn, &req, NULL, NULL, 0, &a, got), 0);
	ck_assert_uint_eq(a.n_fds, 1);
	ck_assert_uint_eq(a.fd[0].kind, RNIC_FD_NETLINK);
	*id = a.fd[0].id;
	fcntl(got[0], F_SETFL, O_NONBLOCK);
	return got[0];
}

static int64_t port(uint64_t id, uint64_t wanted)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_PORT, .arg = {id, wanted}};

	return client_call(&rig, conn, &req, NULL, NULL, 0, NULL, NULL);
}

static void ask_devices(int fd, uint32_t seq)
{
	const struct nlmsghdr ask = {.nlmsg_len = sizeof(ask),
				     .nlmsg_type =
					     RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
				     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
				     .nlmsg_seq = seq};

	ck_assert_int_eq(send(fd, &ask, sizeof(ask), 0), sizeof(ask));
}

struct reader {
	int fd;
	struct nlmsghdr head;
};

static bool has_read(struct rig *r, void *arg)
{
	struct reader *reader = arg;

	(void)r;
	return recv(reader->fd, &reader->head, sizeof(reader->head), 0) > 0;
}

static void expect(int fd, uint16_t type, uint32_t seq, uint32_t pid)
{
	struct reader r = {.fd = fd};

	ck_assert(rig_until(&rig, has_read, &r));
	ck_assert_uint_eq(r.head.nlmsg_type, type);
	ck_assert_uint_eq(r.head.nlmsg_seq, seq);
	ck_assert_uint_eq(r.head.nlmsg_pid, pid);
}

#define GET RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)

/* The process's number for the first, as the kernel; no port twice. */
START_TEST(netlink_port_is_the_process_or_what_was_bound)
{
	uint64_t first, second;
	int fd = open_socket(&first), other = open_socket(&second);

	ck_assert_int_eq(port(first, RNIC_CTL_PORT_ASK), 0);
	ck_assert_int_eq(port(first, 0), 1);
	ck_assert_int_eq(port(first, RNIC_CTL_PORT_ASK), 1);
	ck_assert_int_eq(port(first, 2), -EINVAL);
	ck_assert_int_eq(port(second, 1), -EADDRINUSE);
	ck_assert_int_gt(port(second, 0), 0x80000000);
	ck_assert_int_eq(port(second + 1, 0), -EBADF);
	close(fd);
	close(other);
}
END_TEST

START_TEST(netlink_answers_bear_port_and_sequence)
{
	uint64_t id;
	int fd = open_socket(&id);

	ck_assert_int_eq(port(id, 4711), 4711);
	ask_devices(fd, 9);
	expect(fd, GET, 9, 4711);
	expect(fd, NLMSG_DONE, 9, 4711);
	close(fd);
}
END_TEST

/* It asks until the daemon, which has run in between, takes no more. */
struct asker {
	int fd;
	uint32_t asked;
};

static bool is_stuck(struct rig *r, void *arg)
{
	const struct nlmsghdr ask = {
		.nlmsg_len = sizeof(ask),
		.nlmsg_type = GET,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.nlmsg_seq = 1,
	};
	struct asker *a = arg;
	int i = 0;

	(void)r;
	while (i < 1000 && send(a->fd, &ask, sizeof(ask), MSG_DONTWAIT) > 0)
		i++;
	a->asked += (uint32_t)i;
	return !i;
}

/* All that it asked is answered when it reads at last; others are answered meanwhile. */
START_TEST(netlink_reader_that_does_not_read_holds_up_nobody)
{
	uint64_t id;
	struct asker lazy = {.fd = open_socket(&id)};
	int fd = open_socket(&id);

	ck_assert_int_eq(port(id, 7), 7);
	ck_assert(rig_until(&rig, is_stuck, &lazy));
	ask_devices(fd, 3);
	expect(fd, GET, 3, 7);
	expect(fd, NLMSG_DONE, 3, 7);
	for (uint32_t i = 0; i < lazy.asked; i++) {
		expect(lazy.fd, GET, 1, 1);
		expect(lazy.fd, NLMSG_DONE, 1, 1);
	}
	close(lazy.fd);
	close(fd);
}
END_TEST

#define MANY 1000

/* All are answered, one a turn of the loop. */
START_TEST(netlink_packet_of_many_requests_holds_up_nobody)
{
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		uint32_t index;
	} ask[MANY];
	uint64_t id;
	int fd = open_socket(&id), n = 0;
	char answer[512];

	for (uint32_t i = 0; i < MANY; i++) {
		ask[i].head = (struct nlmsghdr){sizeof(ask[i]), GET, NLM_F_REQUEST, i, 0};
		ask[i].attr = (struct nlattr){8, RDMA_NLDEV_ATTR_DEV_INDEX};
		ask[i].index = rig.dev.number;
	}
	ck_assert_int_eq(send(fd, ask, sizeof(ask), 0), sizeof(ask));
	for (int turn = 0; turn < 20; turn++)
		ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
	while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		n++;
	ck_assert_int_le(n, 20);
	for (uint32_t i = (uint32_t)n; i < MANY; i++)
		expect(fd, GET, i, 1);
	close(fd);
}
END_TEST

static bool no_sockets(struct rig *r, void *arg)
{
	(void)arg;
	return !r->kernel->nl_socks;
}

START_TEST(netlink_socket_ends_with_its_last_descriptor)
{
	uint64_t id;
	int fd = open_socket(&id), copy = dup(fd);

	close(fd);
	ask_devices(copy, 5);
	expect(copy, GET, 5, 1);
	close(copy);
	ck_assert(rig_until(&rig, no_sockets, NULL));
	ck_assert_int_eq(port(id, 0), -EBADF);
}
END_TEST

/* A process that inherited it shows its descriptor. */
START_TEST(netlink_socket_is_known_by_its_inode)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_ATTACH};
	struct rnic_ctl_answer a;
	uint64_t id;
	int fd = open_socket(&id), heir = client_connect(&rig);

	ck_assert_int_eq(client_hello(&rig, heir), 0);
	ck_assert_int_eq(client_call(&rig, heir, &req, NULL, &fd, 1, &a, NULL), (int64_t)id);
	ck_assert_uint_eq(a.fd[0].kind, RNIC_FD_NETLINK);
	close(heir);
	close(fd);
}
END_TEST

/* Files of a device move with its name; the device stays open. */
START_TEST(renamed_device_has_its_files_under_the_new_name)
{
	char path[128];

	ck_assert_int_eq(kernel_device_rename(rig.kernel, &rig.dev, "a/b"), -EINVAL);
	ck_assert_int_eq(kernel_device_rename(rig.kernel, &rig.dev, "rxe0"), 0);
	ck_assert_int_eq(kernel_device_rename(rig.kernel, &rig.dev, "foo0"), 0);
	ck_assert_str_eq(rig.dev.name, "foo0");
	snprintf(path, sizeof(path), "%s/fs/sys/class/infiniband/foo0/node_type", rig.dir);
	ck_assert_int_eq(access(path, R_OK), 0);
	snprintf(path, sizeof(path), "%s/fs/sys/class/infiniband/rxe0", rig.dir);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* Management datagrams of programs are not carried: the nodes are there to be listed. */
START_TEST(management_nodes_are_not_opened)
{
	ck_assert_int_eq(client_open(&rig, conn, "/dev/infiniband/umad0", NULL), -EOPNOTSUPP);
	ck_assert_int_eq(client_open(&rig, conn, "/dev/infiniband/issm0", NULL), -EOPNOTSUPP);
	ck_assert_int_eq(client_open(&rig, conn, "/dev/infiniband/umad1", NULL), -ENOENT);
}
END_TEST

TCase *kernel_netlink_tcase(void)
{
	TCase *tc = tcase_create("netlink");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, netlink_port_is_the_process_or_what_was_bound);
	tcase_add_test(tc, netlink_answers_bear_port_and_sequence);
	tcase_add_test(tc, netlink_reader_that_does_not_read_holds_up_nobody);
	tcase_add_test(tc, netlink_packet_of_many_requests_holds_up_nobody);
	tcase_add_test(tc, netlink_socket_ends_with_its_last_descriptor);
	tcase_add_test(tc, netlink_socket_is_known_by_its_inode);
	tcase_add_test(tc, management_nodes_are_not_opened);
	tcase_add_test(tc, renamed_device_has_its_files_under_the_new_name);
	return tc;
}
