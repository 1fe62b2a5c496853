/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A kernel's side in the test's own process, and clients that speak its protocol by hand. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "kernel_suites.h"
#include "null_host.h"

static const struct rnic_ops ops = {
	.tx_alloc = null_tx_alloc,
	.tx_send = null_tx_send,
	.timer_set = null_timer_set,
	.async_event = null_async_event,
	.random = null_random,
	.log = null_log,
};

static void rig_log(void *ctx, const char *line)
{
	struct rig *rig = ctx;

	snprintf(rig->last_log, sizeof(rig->last_log), "%s", line);
}

void rig_start(struct rig *rig)
{
	rig_start_with(rig, &ops);
}

void rig_start_with(struct rig *rig, const struct rnic_ops *core_ops)
{
	struct rnic_device_config core = {
		.ops = core_ops, .active_mtu = RNIC_MTU_1024, .name = "rxe0"};
	struct kernel_config cfg = {.log = rig_log, .ctx = rig};

	memset(rig, 0, sizeof(*rig));
	strcpy(rig->dir, "/tmp/rnic-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	cfg.loop = ev_loop_new(0);
	cfg.dir = rig->dir;
	ck_assert_int_eq(kernel_create(&cfg, &rig->kernel), 0);
	rig->dev.rnic = rnic_device_create(&core);
	strcpy(rig->dev.name, "rxe0");
	rig->dev.num_comp_vectors = 1;
	ck_assert_int_eq(kernel_device_add(rig->kernel, &rig->dev), 0);
}

void rig_stop(struct rig *rig)
{
	struct ev_loop *loop = rig->kernel->cfg.loop;

	kernel_destroy(rig->kernel);
	rnic_device_destroy(rig->dev.rnic);
	ev_loop_destroy(loop);
	ck_assert_int_eq(rmdir(rig->dir), 0);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void tick(struct ev_loop *loop, ev_timer *w, int revents)
{
	(void)loop;
	(void)w;
	(void)revents;
}

bool rig_until(struct rig *rig, bool (*done)(struct rig *rig, void *arg), void *arg)
{
	double end = seconds() + 10;
	ev_timer timer;
	bool ok;

	ev_timer_init(&timer, tick, 0.01, 0.01);
	ev_timer_start(rig->kernel->cfg.loop, &timer);
	while (!(ok = done(rig, arg)) && seconds() < end)
		ev_run(rig->kernel->cfg.loop, EVRUN_ONCE);
	ev_timer_stop(rig->kernel->cfg.loop, &timer);
	return ok;
}

bool rig_no_contexts(struct rig *rig, void *unused)
{
	(void)unused;
	return !kernel_contexts(rig->kernel);
}

int client_connect(struct rig *rig)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" RNIC_CTL_SOCKET, rig->dir);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

struct waiting {
	int fd;
	ssize_t n;
	struct rnic_ctl_answer *answer;
	int *fds;
};

static bool answered(struct rig *rig, void *arg)
{
	struct waiting *w = arg;
	char data[RNIC_CTL_DATA_MAX];
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * RNIC_CTL_FDS_MAX)];
	} u;
	struct iovec iov[2] = {{w->answer, sizeof(*w->answer)}, {data, sizeof(data)}};
	struct msghdr msg = {.msg_iov = iov,
			     .msg_iovlen = 2,
			     .msg_control = u.buf,
			     .msg_controllen = sizeof(u.buf)};
	struct cmsghdr *cm;

	(void)rig;
	w->n = recvmsg(w->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (w->n < 0)
		return errno != EAGAIN;
	cm = w->n ? CMSG_FIRSTHDR(&msg) : NULL;
	if (cm && w->fds)
		memcpy(w->fds, CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0));
	return true;
}

int64_t client_call(struct rig *rig, int fd, struct rnic_ctl_request *req, const void *data,
		    const int *send_fds, int n_send, struct rnic_ctl_answer *answer, int *fds)
{
	struct rnic_ctl_answer mine;
	struct waiting w = {.fd = fd, .answer = answer ? answer : &mine, .fds = fds};
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * 8)];
	} u;
	struct iovec iov[2] = {{req, sizeof(*req)}, {(void *)data, req->len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	if (n_send) {
		memset(&u, 0, sizeof(u));
		msg.msg_control = u.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n_send);
		*CMSG_FIRSTHDR(&msg) =
			(struct cmsghdr){.cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS,
					 .cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n_send)};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), send_fds, sizeof(int) * (size_t)n_send);
	}
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		return -ENOTCONN;
	ck_assert(rig_until(rig, answered, &w));
	return w.n < (ssize_t)sizeof(*w.answer) ? -ENOTCONN : w.answer->ret;
}

int64_t client_hello(struct rig *rig, int fd)
{
	struct rnic_ctl_hello hello = {.version = RNIC_CTL_VERSION, .pid = 1, .comm = "test"};
	struct rnic_ctl_request req = {.op = RNIC_CTL_HELLO, .len = sizeof(hello)};
	int fds[2] = {open("/proc/self/mem", O_RDWR | O_CLOEXEC),
		      open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	int got[RNIC_CTL_FDS_MAX];
	int64_t ret = client_call(rig, fd, &req, &hello, fds, 2, NULL, got);

	close(fds[0]);
	close(fds[1]);
	if (ret >= 0) {
		close(got[0]);
		close(got[1]);
	}
	return ret;
}

int client_open(struct rig *rig, int fd, const char *path, struct rnic_ctl_fd *info)
{
	struct rnic_ctl_request req = {
		.op = RNIC_CTL_OPEN, .len = (uint32_t)strlen(path), .arg = {O_RDWR}};
	struct rnic_ctl_answer a;
	int got[RNIC_CTL_FDS_MAX];
	int64_t ret = client_call(rig, fd, &req, path, NULL, 0, &a, got);

	if (ret < 0)
		return (int)ret;
	ck_assert_uint_eq(a.n_fds, 1);
	if (info)
		*info = a.fd[0];
	return got[0];
}
