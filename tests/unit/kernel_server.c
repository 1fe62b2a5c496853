/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control protocol, spoken well and badly. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "verbs/kernel/admin.h"

static struct rig rig;

static void setup(void)
{
	rig_start(&rig);
}

static void teardown(void)
{
	rig_stop(&rig);
}

static bool no_sessions(struct rig *r, void *arg)
{
	(void)arg;
	return !kernel_sessions(r->kernel);
}

START_TEST(session_begins_with_hello_and_ends_with_its_connection)
{
	int fd = client_connect(&rig);

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ck_assert_uint_eq(kernel_sessions(rig.kernel), 1);
	close(fd);
	ck_assert(rig_until(&rig, no_sessions, NULL));
}
END_TEST

START_TEST(second_connection_joins_by_token_only)
{
	struct rnic_ctl_hello hello = {.version = RNIC_CTL_VERSION};
	struct rnic_ctl_request req = {.op = RNIC_CTL_JOIN, .len = sizeof(hello)};
	int fd = client_connect(&rig), other = client_connect(&rig);
	struct rnic_ctl_welcome w;

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ck_assert_int_lt(client_call(&rig, other, &req, &hello, NULL, 0, NULL, NULL), 0);
	session_welcome(rig.kernel->sessions, &w);
	memcpy(hello.token, w.token, sizeof(hello.token));
	ck_assert_int_eq(client_call(&rig, other, &req, &hello, NULL, 0, NULL, NULL), 0);
	close(fd);
	for (int i = 0; i < 10; i++)
		ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
	ck_assert_uint_eq(kernel_sessions(rig.kernel), 1);
	close(other);
	ck_assert(rig_until(&rig, no_sessions, NULL));
}
END_TEST

START_TEST(hello_of_another_version_is_refused_with_a_line)
{
	struct rnic_ctl_hello hello = {.version = RNIC_CTL_VERSION + 1};
	struct rnic_ctl_request req = {.op = RNIC_CTL_HELLO, .len = sizeof(hello)};
	int fd = client_connect(&rig);

	ck_assert_int_eq(client_call(&rig, fd, &req, &hello, NULL, 0, NULL, NULL),
			 -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(rig.last_log, "version"));
	close(fd);
}
END_TEST

START_TEST(hello_with_wrong_descriptors_is_refused)
{
	struct rnic_ctl_hello hello = {.version = RNIC_CTL_VERSION};
	struct rnic_ctl_request req = {.op = RNIC_CTL_HELLO, .len = sizeof(hello)};
	int fds[2] = {memfd_create("mem", 0), open("/proc/self/maps", O_RDONLY)};
	int fd = client_connect(&rig);

	ck_assert_int_eq(client_call(&rig, fd, &req, &hello, fds, 2, NULL, NULL), -EINVAL);
	ck_assert_int_lt(client_call(&rig, fd, &req, &hello, fds, 1, NULL, NULL), 0);
	ck_assert_int_lt(client_call(&rig, fd, &req, &hello, NULL, 0, NULL, NULL), 0);
	ck_assert_uint_eq(kernel_sessions(rig.kernel), 0);
	close(fd);
}
END_TEST

START_TEST(nothing_is_served_before_hello)
{
	int fd = client_connect(&rig);

	ck_assert_int_eq(client_open(&rig, fd, "/dev/infiniband/uverbs0", NULL), -EPROTO);
	close(fd);
}
END_TEST

START_TEST(node_opens_as_a_context_of_its_own)
{
	struct rnic_ctl_fd info;
	int fd = client_connect(&rig), ctx;

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ctx = client_open(&rig, fd, "/dev/infiniband/uverbs0", &info);
	ck_assert_int_ge(ctx, 0);
	ck_assert_int_eq(info.kind, RNIC_FD_CONTEXT);
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	close(fd);
	ck_assert(rig_until(&rig, no_sessions, NULL));
	ck_assert_uint_eq(kernel_contexts(rig.kernel), 1);
	close(ctx);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(attribute_opens_with_its_present_value)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_OPEN, .arg = {O_RDONLY}};
	const char *path = "/sys/class/infiniband/rxe0/ports/1/state";
	int fd = client_connect(&rig), got[RNIC_CTL_FDS_MAX];
	char text[32] = "";

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	req.len = (uint32_t)strlen(path);
	rnic_port_set(rig.dev.rnic, true, RNIC_MTU_1024);
	ck_assert_int_eq(client_call(&rig, fd, &req, path, NULL, 0, NULL, got), 0);
	ck_assert_int_gt(read(got[0], text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, "4: ACTIVE\n");
	close(got[0]);
	close(fd);
}
END_TEST

START_TEST(paths_out_of_the_tree_are_not_opened)
{
	int fd = client_connect(&rig);

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ck_assert_int_lt(client_open(&rig, fd, "/../../../../../../etc/passwd", NULL), 0);
	ck_assert_int_eq(client_open(&rig, fd, "/sys/class/infiniband/none", NULL), -ENOENT);
	ck_assert_int_eq(client_open(&rig, fd, "/sys/class/infiniband/rxe0/node_type", NULL),
			 -EACCES);
	close(fd);
}
END_TEST

START_TEST(context_of_another_session_is_not_reachable_by_id)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_WRITE};
	struct rnic_ctl_fd info;
	int a = client_connect(&rig), b = client_connect(&rig), ctx;

	ck_assert_int_eq(client_hello(&rig, a), 0);
	ck_assert_int_eq(client_hello(&rig, b), 0);
	ctx = client_open(&rig, a, "/dev/infiniband/uverbs0", &info);
	req.arg[0] = info.id;
	ck_assert_int_eq(client_call(&rig, b, &req, NULL, NULL, 0, NULL, NULL), -EBADF);
	/* With the descriptor it may. */
	req = (struct rnic_ctl_request){.op = RNIC_CTL_ATTACH};
	ck_assert_int_eq(client_call(&rig, b, &req, NULL, &ctx, 1, NULL, NULL), (int64_t)info.id);
	close(ctx);
	close(a);
	close(b);
	ck_assert(rig_until(&rig, rig_no_contexts, NULL));
}
END_TEST

START_TEST(attach_refuses_descriptors_that_are_not_ours)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_ATTACH};
	int fd = client_connect(&rig), mem = memfd_create("rnic-uverbs", MFD_ALLOW_SEALING);

	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ck_assert_int_eq(client_call(&rig, fd, &req, NULL, &mem, 1, NULL, NULL), -ENOTTY);
	ck_assert_int_eq(client_call(&rig, fd, &req, NULL, NULL, 0, NULL, NULL), -EBADF);
	close(fd);
}
END_TEST

START_TEST(garbage_harms_nobody)
{
	int good = client_connect(&rig);
	uint8_t junk[512];

	ck_assert_int_eq(client_hello(&rig, good), 0);
	for (int i = 0; i < 300; i++) {
		int fd = client_connect(&rig);
		size_t len = (size_t)i + 1;

		ck_assert_int_eq(getrandom(junk, sizeof(junk), 0), sizeof(junk));
		junk[0] = (uint8_t)(i % 12);
		junk[1] = junk[2] = junk[3] = 0;
		if (i % 2) {
			uint32_t data = (uint32_t)(len > 40 ? len - 40 : 0);

			memcpy(junk + 4, &data, 4);
		}
		if (i % 3 == 0)
			ck_assert_int_eq(client_hello(&rig, fd), 0);
		if (send(fd, junk, len, MSG_NOSIGNAL) < 0)
			ck_assert_int_eq(errno, EPIPE);
		for (int n = 0; n < 5; n++)
			ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
		close(fd);
	}
	ck_assert_int_ge(client_open(&rig, good, "/dev/infiniband/uverbs0", NULL), 0);
}
END_TEST

static int told(void *ctx, int argc, char **argv, bool json, struct admin_reply *reply)
{
	(void)ctx;
	(void)argc;
	(void)argv;
	for (uint32_t i = 0; i < 1000000; i++)
		admin_printf(reply, "%07u", i);
	return json ? 0 : -EINVAL;
}

struct reader {
	int fd;
	uint64_t bytes;
	int64_t ret;
};

static bool read_all(struct rig *r, void *arg)
{
	struct reader *in = arg;
	struct {
		struct rnic_ctl_answer a;
		uint8_t data[RNIC_CTL_DATA_MAX];
	} m;
	ssize_t n;

	(void)r;
	while ((n = recv(in->fd, &m, sizeof(m), MSG_DONTWAIT)) >= 0) {
		ck_assert_int_ge(n, (ssize_t)sizeof(m.a));
		in->bytes += m.a.len;
		in->ret = m.a.ret;
		if (!m.a.len)
			return true;
	}
	ck_assert_int_eq(errno, EAGAIN);
	return false;
}

/* 7 MB and the new line, where a socket takes some 200 KB. */
START_TEST(long_answer_comes_as_fast_as_it_is_read)
{
	struct rnic_ctl_request req = {.op = RNIC_CTL_ADMIN, .len = 5};
	struct iovec iov[2] = {{&req, sizeof(req)}, {(void *)"stat", 5}};
	struct reader in = {.fd = client_connect(&rig)};
	int other = client_connect(&rig);

	rig.kernel->cfg.admin = told;
	for (int json = 0; json < 2; json++) {
		req.arg[0] = (uint64_t)json;
		in.bytes = 0;
		ck_assert_int_gt(writev(in.fd, iov, 2), 0);
		ck_assert_int_eq(client_hello(&rig, other), json ? -EPROTO : 0);
		ck_assert(rig_until(&rig, read_all, &in));
		ck_assert_uint_eq(in.bytes, 7000001);
		ck_assert_int_eq(in.ret, json ? 0 : -EINVAL);
	}
	/* One that reads nothing costs nothing but its memory. */
	ck_assert_int_gt(writev(in.fd, iov, 2), 0);
	for (int i = 0; i < 10; i++)
		ev_run(rig.kernel->cfg.loop, EVRUN_NOWAIT);
	close(in.fd);
	close(other);
	ck_assert(rig_until(&rig, no_sessions, NULL));
}
END_TEST

static bool refused(struct rig *r, void *arg)
{
	struct rnic_ctl_answer a;
	ssize_t n = recv(*(int *)arg, &a, sizeof(a), MSG_DONTWAIT);

	(void)r;
	if (n < 0)
		return false;
	ck_assert_int_eq(n, sizeof(a));
	ck_assert_int_eq(a.ret, -EMFILE);
	return !recv(*(int *)arg, &a, sizeof(a), 0);
}

static bool ended(struct rig *r, void *arg)
{
	char byte;

	(void)r;
	return !read(*(int *)arg, &byte, 1);
}

static void descriptors_use_up(struct rlimit *before)
{
	struct rlimit none;
	int next = dup(0);

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, before), 0);
	none = (struct rlimit){(rlim_t)next, before->rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
}

START_TEST(connection_without_a_descriptor_is_refused_at_once)
{
	struct rlimit before;
	int fd = client_connect(&rig), other = client_connect(&rig);

	descriptors_use_up(&before);
	ck_assert(rig_until(&rig, refused, &fd));
	ck_assert(rig_until(&rig, refused, &other));
	ck_assert_ptr_nonnull(strstr(rig.last_log, "descriptors"));
	ck_assert(ev_is_active(&rig.kernel->listen_io));
	setrlimit(RLIMIT_NOFILE, &before);
	close(fd);
	fd = client_connect(&rig);
	ck_assert_int_eq(client_hello(&rig, fd), 0);
	close(fd);
	close(other);
}
END_TEST

static bool paused(struct rig *r, void *unused)
{
	(void)unused;
	return !ev_is_active(&r->kernel->listen_io);
}

START_TEST(socket_rests_when_nothing_can_be_accepted)
{
	struct rlimit before;
	int fd = client_connect(&rig);

	ck_assert_int_ge(rig.kernel->spare_fd, 0);
	dup2(fd, rig.kernel->spare_fd);
	rig.kernel->spare_fd = -1;
	descriptors_use_up(&before);
	ck_assert(rig_until(&rig, paused, NULL));
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_int_eq(client_hello(&rig, fd), 0);
	ck_assert_int_ge(rig.kernel->spare_fd, 0);
	close(fd);
}
END_TEST

enum { PART = 5, NOBODY = 65534, NO_SUCH_USER = 77 };

/*
 * The connections of another user; 0: all but the last are kept, NO_SUCH_USER: this user namespace
 * has no other.
 */
static int connect_as_nobody(void)
{
	struct rnic_ctl_answer a;
	int fd[PART + 1];

	if (setuid(NOBODY))
		return errno == EINVAL ? NO_SUCH_USER : 1;
	for (int i = 0; i <= PART; i++)
		fd[i] = client_connect(&rig);
	fcntl(fd[PART], F_SETFL, 0);
	if (recv(fd[PART], &a, sizeof(a), 0) != sizeof(a) || a.ret != -EMFILE)
		return 2;
	for (int i = 0; i < PART; i++)
		if (recv(fd[i], &a, sizeof(a), MSG_DONTWAIT) >= 0 || errno != EAGAIN)
			return 3;
	return 0;
}

START_TEST(user_has_a_part_of_the_connections_only)
{
	int fd, status, pid, end[2];

	if (geteuid())
		return; /* only root can be two users */
	rig.kernel->uid_conns_max = PART;
	ck_assert_int_eq(chmod(rig.dir, 0711), 0);
	ck_assert_int_eq(pipe2(end, O_NONBLOCK), 0);
	pid = fork();
	if (!pid)
		_exit(connect_as_nobody());
	close(end[1]);
	ck_assert(rig_until(&rig, ended, &end[0]));
	fd = client_connect(&rig);
	ck_assert_int_eq(client_hello(&rig, fd), 0);
	waitpid(pid, &status, 0);
	close(fd);
	close(end[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_USER)
		return;
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(rig.last_log, "uid 65534"));
}
END_TEST

TCase *kernel_server_tcase(void)
{
	TCase *tc = tcase_create("server");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, session_begins_with_hello_and_ends_with_its_connection);
	tcase_add_test(tc, second_connection_joins_by_token_only);
	tcase_add_test(tc, hello_of_another_version_is_refused_with_a_line);
	tcase_add_test(tc, hello_with_wrong_descriptors_is_refused);
	tcase_add_test(tc, nothing_is_served_before_hello);
	tcase_add_test(tc, node_opens_as_a_context_of_its_own);
	tcase_add_test(tc, attribute_opens_with_its_present_value);
	tcase_add_test(tc, paths_out_of_the_tree_are_not_opened);
	tcase_add_test(tc, context_of_another_session_is_not_reachable_by_id);
	tcase_add_test(tc, attach_refuses_descriptors_that_are_not_ours);
	tcase_add_test(tc, garbage_harms_nobody);
	tcase_add_test(tc, long_answer_comes_as_fast_as_it_is_read);
	tcase_add_test(tc, connection_without_a_descriptor_is_refused_at_once);
	tcase_add_test(tc, socket_rests_when_nothing_can_be_accepted);
	tcase_add_test(tc, user_has_a_part_of_the_connections_only);
	return tc;
}
