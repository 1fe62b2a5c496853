/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a program may rely on under librnic.so. */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/preload/face.h"
#include "tests/preload/fake_daemon.h"

static int ends_well(pid_t pid)
{
	int status = -1;

	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status == 0;
}

static void netlink_rdma_is_the_daemons(void)
{
	struct sockaddr_nl any = {.nl_family = AF_NETLINK}, nl;
	const struct sockaddr_nl kernel = any;
	socklen_t len = sizeof(nl);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), size = 32768, one = 1;
	char buf[16];
	struct iovec iov = {buf, sizeof(buf)};
	struct msghdr msg = {
		.msg_name = &nl, .msg_namelen = sizeof(nl), .msg_iov = &iov, .msg_iovlen = 1};

	REQUIRE(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	REQUIRE(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
	REQUIRE(!setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)));
	REQUIRE(setsockopt(fd, SOL_NETLINK, 99, &one, sizeof(one)) < 0 && errno == ENOPROTOOPT);
	REQUIRE(bind(fd, (struct sockaddr *)&any, 2) < 0 && errno == EINVAL);
	REQUIRE(!bind(fd, (struct sockaddr *)&any, sizeof(any)));
	REQUIRE(!getsockname(fd, (struct sockaddr *)&nl, &len) && len == sizeof(nl));
	REQUIRE(nl.nl_family == AF_NETLINK && nl.nl_pid == FAKE_PORT && !nl.nl_groups);
	REQUIRE(sendto(fd, "x", 1, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) == 1);
	memset(&nl, 0xff, sizeof(nl));
	REQUIRE(recvmsg(fd, &msg, 0) == 5 && msg.msg_namelen == sizeof(nl));
	REQUIRE(nl.nl_family == AF_NETLINK && !nl.nl_pid && !nl.nl_groups);
	len = sizeof(nl);
	REQUIRE(!getsockname(fd, (struct sockaddr *)&nl, &len));
	REQUIRE(recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&nl, &len) == 5);
	REQUIRE(len == sizeof(nl) && nl.nl_family == AF_NETLINK && !nl.nl_pid);
	REQUIRE(!close(fd));
}

/* The daemon has closed its end: no SIGPIPE, as netlink has none. */
static void netlink_without_its_daemon_raises_no_signal(void)
{
	int first = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	int second = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	struct iovec iov = {"x", 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	REQUIRE(first >= 0 && second >= 0);
	REQUIRE(sendto(first, "x", 1, 0, NULL, 0) < 0 && errno == EPIPE);
	REQUIRE(sendmsg(first, &msg, 0) < 0 && errno == EPIPE);
	REQUIRE(send(first, "x", 1, 0) < 0 && errno == EPIPE);
	REQUIRE(write(first, "x", 1) < 0 && errno == EPIPE);
	REQUIRE(write(second, "x", 1) == 1);
	REQUIRE(!close(first) && !close(second));
}

static void other_sockets_are_the_systems(void)
{
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(nl);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), none = 1;

	REQUIRE(fd >= 0 && !bind(fd, (struct sockaddr *)&nl, sizeof(nl)));
	REQUIRE(!getsockname(fd, (struct sockaddr *)&nl, &len) && nl.nl_pid != FAKE_PORT);
	REQUIRE(setsockopt(fd, SOL_NETLINK, 99, &none, sizeof(none)) < 0);
	REQUIRE(!close(fd));
}

/* ---- commands ---- */

static void commands_answer_as_the_daemon_says(void)
{
	struct fake_command bad = {FAKE_ERRNO, 0, EPROTONOSUPPORT, 0};
	uint64_t out = 0;
	struct fake_command echo = {FAKE_ECHO, 0, 42, (uintptr_t)&out};
	void *volatile nowhere = (void *)8;
	int fd = device_open();

	errno = 7;
	REQUIRE(ask(fd, FAKE_ECHO, 0x1122334455667788) == 0x1122334455667788);
	REQUIRE(errno == 7);
	REQUIRE(write(fd, &bad, sizeof(bad)) < 0 && errno == EPROTONOSUPPORT);
	REQUIRE(write(fd, nowhere, 32) < 0 && errno == EFAULT);
	REQUIRE(write(fd, nowhere, 24) < 0 && errno == EFAULT);
	REQUIRE(ioctl(fd, RDMA_VERBS_IOCTL, &echo) == 0 && out == 42);
}

static void descriptors_land_where_the_answer_says(void)
{
	int fd = device_open();
	uint64_t ch = ask(fd, FAKE_CHANNEL, 0);
	struct pollfd p = {ch, POLLIN, 0};
	struct stat st;

	REQUIRE(fstat(ch, &st) == 0 && S_ISSOCK(st.st_mode));
	REQUIRE(fcntl(ch, F_GETFD) == FD_CLOEXEC);
	REQUIRE(poll(&p, 1, -1) == 1); /* the other end is closed */
}

static void the_daemon_may_see_descriptors(void)
{
	struct stat st;
	int fd = device_open();
	int file = open("/etc/passwd", O_RDONLY);

	REQUIRE(fstat(file, &st) == 0);
	REQUIRE(ask(fd, FAKE_IDENTIFY, file) == st.st_ino);
	REQUIRE(ask(fd, FAKE_IDENTIFY, 9999) == 0);
	REQUIRE(ask(fd, FAKE_IDENTIFY, UINT64_MAX) == 0);
}

/* ---- doorbells ---- */

struct post_send {
	struct ib_uverbs_cmd_hdr hdr;
	uint64_t response;
	uint32_t qp_handle, wr_count, sge_count, wqe_size;
};

static void post_send(int fd, uint32_t qp)
{
	struct post_send p = {{IB_USER_VERBS_CMD_POST_SEND, 8, 1}, 0, qp, 0, 0, 128};

	REQUIRE(sizeof(p) == 32 && write(fd, &p, 32) == 32);
}

static void post_send_kicks_and_wakes_a_sleeper_only(void)
{
	int fd = device_open();

	ask(fd, FAKE_SLEEP, 0);
	post_send(fd, 17);
	post_send(fd, 65535);
	REQUIRE(ask(fd, FAKE_KICKED, 17) == 1);
	post_send(fd, 65535);
	REQUIRE(ask(fd, FAKE_KICKED, 65535) == 1);
	REQUIRE(ask(fd, FAKE_KICKED, 18) == 0);
	REQUIRE(ask(fd, FAKE_SLEEP, 1) == 0);
	post_send(fd, 17);
	post_send(fd, 17);
	REQUIRE(ask(fd, FAKE_SLEEP, 0) == 2);
}

static void req_notify_arms_by_write_and_by_ioctl(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_req_notify_cq cmd;
	} w = {{IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, 4, 0}, {9, 0}};
	const struct ib_uverbs_attr attrs[2] = {
		{.attr_id = UVERBS_ATTR_CORE_IN, .len = 8, .data = 9 | 1ull << 32},
		{.attr_id = UVERBS_ATTR_WRITE_CMD, .data = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ}};
	_Alignas(8) uint8_t i[sizeof(struct ib_uverbs_ioctl_hdr) + sizeof(attrs)] = {0};
	struct ib_uverbs_ioctl_hdr *hdr = (void *)i;
	int fd = device_open();

	*hdr = (struct ib_uverbs_ioctl_hdr){
		.length = sizeof(i), .method_id = UVERBS_METHOD_INVOKE_WRITE, .num_attrs = 2};
	memcpy(i + sizeof(*hdr), attrs, sizeof(attrs));
	REQUIRE(write(fd, &w, sizeof(w)) == 16);
	REQUIRE(ask(fd, FAKE_ARMED, 9) == RNIC_ARM_ANY);
	REQUIRE(ioctl(fd, RDMA_VERBS_IOCTL, i) == 0);
	REQUIRE(ask(fd, FAKE_ARMED, 9) == RNIC_ARM_SOLICITED);
}

/* ---- descriptors ---- */

static void every_duplicate_is_the_device(void)
{
	int control = device_open(), fd = device_open();
	int a = dup(fd), b = dup2(fd, 200), c = dup3(fd, 201, O_CLOEXEC);
	int d = fcntl(fd, F_DUPFD, 300), e = fcntl(fd, F_DUPFD_CLOEXEC, 300);
	int all[] = {fd, a, b, c, d, e};
	uint64_t closed = ask(control, FAKE_STAT, FAKE_CLOSED);

	REQUIRE(b == 200 && c == 201 && d == 300 && e == 301);
	for (int i = 0; i < 6; i++) {
		REQUIRE(ask(all[i], FAKE_ECHO, i) == (uint64_t)i);
		REQUIRE(ask(control, FAKE_STAT, FAKE_CLOSED) == closed);
		REQUIRE(close(all[i]) == 0);
		REQUIRE(write(all[i], "x", 1) < 0 && errno == EBADF);
	}
	REQUIRE(ask(control, FAKE_STAT, FAKE_CLOSED) == closed + 1);
	REQUIRE(ask(control, FAKE_STAT, FAKE_ATTACHES) == 0);
}

static void a_number_reused_behind_our_back_is_a_plain_file(void)
{
	int control = device_open(), fd = device_open(), file;
	char buf[8];

	syscall(SYS_close, fd);
	file = syscall(SYS_memfd_create, "plain", 0);
	REQUIRE(file == fd && write(file, "hello", 5) == 5);
	REQUIRE(pread(file, buf, 8, 0) == 5 && !memcmp(buf, "hello", 5));
	REQUIRE(ask(control, FAKE_STAT, FAKE_CLOSED) == 1);
}

static void an_unknown_number_of_a_device_is_adopted(void)
{
	int fd = device_open();
	int other = syscall(SYS_dup, fd);
	uint64_t out = 0;
	struct fake_command echo = {FAKE_ECHO, 0, 42, (uintptr_t)&out};

	REQUIRE(ioctl(other, RDMA_VERBS_IOCTL, &echo) == 0 && out == 42);
	REQUIRE(ask(other, FAKE_ECHO, 4) == 4);
	REQUIRE(close(other) == 0 && ask(fd, FAKE_STAT, FAKE_CLOSED) == 0);
	REQUIRE(ioctl(0, RDMA_VERBS_IOCTL, &echo) < 0);
}

static void closing_everything_leaves_the_session(void)
{
	int fd = device_open();

	fd = dup2(fd, 100);
	for (int i = 3; i < 3000; i++) {
		if (i != fd)
			close(i);
	}
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
	REQUIRE(close_range(fd + 1, ~0u, 0) == 0 && ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
	closefrom(fd + 1);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
	REQUIRE(close_range(3, ~0u, 0) == 0);
	REQUIRE(write(fd, "x", 1) < 0 && errno == EBADF);
	fd = device_open();
	REQUIRE(ask(fd, FAKE_STAT, FAKE_CLOSED) == 1 && ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
}

static void dup2_may_take_any_number(void)
{
	int fd = device_open(), null = open("/dev/null", O_RDWR);

	for (int i = 100; i < 1020; i++)
		REQUIRE(dup2(null, i) == i);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
	ask(fd, FAKE_SLEEP, 1);
	post_send(fd, 1);
	REQUIRE(ask(fd, FAKE_SLEEP, 0) == 1);
}

static void full_tables_still_command(void)
{
	int fd = device_open(), n = 0;

	while (dup(0) >= 0)
		n++;
	REQUIRE(n > 100 && errno == EMFILE && ask(fd, FAKE_ECHO, 3) == 3);
	REQUIRE(open(DEVICE, O_RDWR) < 0 && errno == EMFILE);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
}

/* ---- processes ---- */

static void child_uses_device(int fd)
{
	REQUIRE(ask(fd, FAKE_ECHO, 77) == 77);
	post_send(fd, 5);
	REQUIRE(ask(fd, FAKE_KICKED, 5) == 1);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_SESSIONS) == 2);
	_exit(0);
}

static void a_fork_child_has_a_session_of_its_own(void)
{
	int fd = device_open();
	pid_t pid = fork();

	if (pid == 0)
		child_uses_device(fd);
	REQUIRE(ends_well(pid));
	pid = syscall(SYS_fork); /* no handlers run */
	if (pid == 0)
		child_uses_device(fd);
	REQUIRE(ends_well(pid));
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 3 && ask(fd, FAKE_STAT, FAKE_ATTACHES) == 2);
}

static void a_child_outlives_its_parent(void)
{
	int report[2], parent[2], fd = device_open();
	char byte = 0;
	pid_t pid;

	REQUIRE(pipe(report) == 0 && pipe(parent) == 0);
	pid = fork();
	if (pid == 0) {
		if (fork())
			_exit(0);
		close(parent[1]);
		REQUIRE(read(parent[0], &byte, 1) == 0); /* both above are past their use */
		REQUIRE(ask(fd, FAKE_ECHO, 9) == 9 && write(report[1], "y", 1) == 1);
		_exit(0);
	}
	REQUIRE(ends_well(pid) && close(parent[1]) == 0 && close(fd) == 0);
	REQUIRE(read(report[0], &byte, 1) == 1 && byte == 'y');
}

static void a_vfork_child_changes_nothing(void)
{
	int fd = device_open();
	volatile int file = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		close(fd);
		file = open("/dev/null", O_WRONLY);
		if (write(file, "x", 1) != 1)
			_exit(1);
		close_range(3, ~0u, 0);
		_exit(file == fd ? 0 : 2);
	}
	REQUIRE(ends_well(pid));
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1 && ask(fd, FAKE_STAT, FAKE_CLOSED) == 0);
}

static void exec_keeps_an_inherited_device(void)
{
	const char *number = getenv("FACE_INHERITED");
	char text[16];
	int fd;

	if (number) {
		fd = atoi(number);
		REQUIRE(ask(fd, FAKE_ECHO, 13) == 13);
		REQUIRE(ask(fd, FAKE_STAT, FAKE_SESSIONS) == 1);
		return;
	}
	fd = open(DEVICE, O_RDWR);
	REQUIRE(ask(fd, FAKE_ECHO, 13) == 13);
	snprintf(text, sizeof(text), "%d", fd);
	setenv("FACE_INHERITED", text, 1);
	execl("/proc/self/exe", "face", "exec_keeps_an_inherited_device", (char *)NULL);
	REQUIRE(false);
}

/* ---- threads ---- */

static void *many_commands(void *arg)
{
	int fd = *(int *)arg;

	for (uint64_t i = 0; i < 500; i++)
		REQUIRE(ask(fd, FAKE_ECHO, i) == i);
	return NULL;
}

static void threads_share_a_session(void)
{
	int fd = device_open();
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		REQUIRE(pthread_create(&t[i], NULL, many_commands, &fd) == 0);
	for (int i = 0; i < 8; i++)
		REQUIRE(pthread_join(t[i], NULL) == 0);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
	REQUIRE(ask(fd, FAKE_STAT, FAKE_JOINS) <= 8);
}

static void *waiting_command(void *arg)
{
	struct fake_command cmd = {FAKE_WAIT, 0, 0, 0};

	REQUIRE(write(*(int *)arg, &cmd, sizeof(cmd)) == sizeof(cmd));
	return NULL;
}

static void a_call_that_waits_holds_up_nobody(void)
{
	int fd = device_open();
	pthread_t t;

	REQUIRE(pthread_create(&t, NULL, waiting_command, &fd) == 0);
	do
		REQUIRE(ask(fd, FAKE_ECHO, 1) == 1);
	while (ask(fd, FAKE_STAT, FAKE_JOINS) < 1);
	ask(fd, FAKE_RELEASE, 0);
	/* The waiter may come after the release: until it is gone, release. */
	while (pthread_tryjoin_np(t, NULL))
		ask(fd, FAKE_RELEASE, 0);
}

static _Atomic int n_refused;

static bool served(int fd, const struct fake_command *cmd)
{
	if (write(fd, cmd, sizeof(*cmd)) == sizeof(*cmd))
		return true;
	REQUIRE(errno == EMFILE);
	n_refused++;
	return false;
}

static void *waiting_or_refused(void *arg)
{
	struct fake_command cmd = {FAKE_WAIT, 0, 0, 0};

	while (!served(*(int *)arg, &cmd))
		;
	return NULL;
}

/* Two commands at once take two connections, of which the second is not to be had. */
static void a_refused_connection_costs_the_call_only(void)
{
	uint64_t out;
	struct fake_command echo = {FAKE_ECHO, 0, 1, (uintptr_t)&out};
	int fd = device_open();
	pthread_t t;

	ask(fd, FAKE_REFUSE, 1);
	REQUIRE(pthread_create(&t, NULL, waiting_or_refused, &fd) == 0);
	while (!n_refused)
		served(fd, &echo);
	while (pthread_tryjoin_np(t, NULL))
		ask(fd, FAKE_RELEASE, 0);
	REQUIRE(n_refused == 1 && ask(fd, FAKE_STAT, FAKE_HELLOS) == 1);
}

/* ---- trust ---- */

/* The second try says nothing: a program may look for devices often. */
static void a_process_that_hides_its_memory_is_told_so(void)
{
	char text[1024] = "", path[128];
	int said[2];

	snprintf(path, sizeof(path), "%s/control", getenv("RNIC_DIR"));
	REQUIRE(chmod(getenv("RNIC_DIR"), 0755) == 0 && chmod(path, 0777) == 0);
	if (!geteuid() && setuid(65534)) { /* root may look into any process */
		puts("# the root of a user's own namespace has nobody else to be");
		return;
	}
	REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
	REQUIRE(pipe(said) == 0 && dup2(said[1], 2) == 2 && close(said[1]) == 0);
	REQUIRE(open(DEVICE, O_RDWR) < 0 && open(DEVICE, O_RDWR) < 0);
	close(2);
	REQUIRE(read(said[0], text, sizeof(text) - 1) > 0);
	REQUIRE(strstr(text, "not dumpable") && strchr(text, '\n') == text + strlen(text) - 1);
}

static void a_folder_that_others_may_write_is_not_trusted(void)
{
	REQUIRE(chmod(getenv("RNIC_DIR"), 0777) == 0);
	REQUIRE(open(DEVICE, O_RDWR) < 0);
	REQUIRE(chmod(getenv("RNIC_DIR"), 0755) == 0);
	REQUIRE(ask(device_open(), FAKE_STAT, FAKE_HELLOS) == 1);
}

const struct rule rules[] = {
	RULE(netlink_rdma_is_the_daemons),
	RULE(netlink_without_its_daemon_raises_no_signal),
	RULE(other_sockets_are_the_systems),
	RULE(commands_answer_as_the_daemon_says),
	RULE(descriptors_land_where_the_answer_says),
	RULE(the_daemon_may_see_descriptors),
	RULE(post_send_kicks_and_wakes_a_sleeper_only),
	RULE(req_notify_arms_by_write_and_by_ioctl),
	RULE(every_duplicate_is_the_device),
	RULE(a_number_reused_behind_our_back_is_a_plain_file),
	RULE(an_unknown_number_of_a_device_is_adopted),
	RULE(closing_everything_leaves_the_session),
	RULE(dup2_may_take_any_number),
	RULE(full_tables_still_command),
	RULE(a_fork_child_has_a_session_of_its_own),
	RULE(a_child_outlives_its_parent),
	RULE(a_vfork_child_changes_nothing),
	RULE(exec_keeps_an_inherited_device),
	RULE(threads_share_a_session),
	RULE(a_call_that_waits_holds_up_nobody),
	RULE(a_refused_connection_costs_the_call_only),
	RULE(a_folder_that_others_may_write_is_not_trusted),
	RULE(a_process_that_hides_its_memory_is_told_so),
	{NULL, NULL},
};
