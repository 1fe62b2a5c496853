/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control protocol, spoken well and badly. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel_suites.h"

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
	return tc;
}
