/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Processes: a context that outlives the one that opened it, memory that belongs to the one that
 * registered it.
 *
 *     family daemon FILE   opens, forks, the parent exits; the child registers and sends,
 *                          then writes "done" or what failed to FILE
 *     family fork          parent and child each have an MR at the same address
 *     family vfork         a vfork child closes everything; the parent's device still works
 *     family exec          the process registers, execs itself; what a peer writes to its key
 *                          afterwards does not reach the new program
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define SIZE 8192

static uint8_t *page(uint64_t at, uint8_t value)
{
	uint8_t *p = mmap((void *)(uintptr_t)at, SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

	MUST(p != MAP_FAILED);
	memset(p, value, SIZE);
	return p;
}

/* WRITE the first half over the second. */
static void send_within(struct rig *r, struct ibv_mr *mr, uint8_t *buf)
{
	struct ibv_sge sge = {(uintptr_t)buf, SIZE / 2, mr->lkey};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	rig_pair(r, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)buf + SIZE / 2, mr->rkey));
	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE));
	if (wc.status)
		rig_fail("completion: %s", ibv_wc_status_str(wc.status));
	MUST(!memcmp(buf, buf + SIZE / 2, SIZE / 2));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
}

static void as_daemon(const char *path)
{
	int gone[2], out, err;
	struct rig r;
	uint8_t *buf;
	char byte;

	err = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
	MUST(err >= 0 && !pipe(gone));
	rig_open(&r);
	if (fork())
		_exit(0);
	out = dup2(err, STDERR_FILENO);
	MUST(out == STDERR_FILENO);
	/* The parent's end of this pipe closes when it is gone. */
	close(gone[1]);
	MUST(read(gone[0], &byte, 1) == 0);
	setsid();
	buf = page(0, 0);
	memset(buf, 'd', SIZE / 2);
	send_within(&r, rig_mr(&r, buf, SIZE), buf);
	MUST(write(err, "done\n", 5) == 5);
}

static void fork_child(uint64_t at)
{
	struct rig r;
	uint8_t *buf = (uint8_t *)(uintptr_t)at;
	struct ibv_mr *mr;

	rig_open(&r);
	memset(buf, 'c', SIZE / 2);
	memset(buf + SIZE / 2, 0, SIZE / 2);
	mr = rig_mr(&r, buf, SIZE);
	send_within(&r, mr, buf);
	for (int i = 0; i < SIZE; i++)
		MUST(buf[i] == 'c');
	_exit(0);
}

static void as_parent(void)
{
	uint8_t *buf = page(0x510000000000, 0);
	struct ibv_mr *mr;
	struct rig r;
	int status;
	pid_t pid;

	rig_open(&r);
	memset(buf, 'p', SIZE / 2);
	mr = rig_mr(&r, buf, SIZE);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		fork_child((uintptr_t)buf);
	MUST(waitpid(pid, &status, 0) == pid && !status);
	for (int i = SIZE / 2; i < SIZE; i++)
		MUST(buf[i] == 0); /* the child's transfer is not here */
	send_within(&r, mr, buf);
	for (int i = 0; i < SIZE; i++)
		MUST(buf[i] == 'p');
}

static void as_vfork_parent(void)
{
	struct rig r;
	uint8_t *buf;
	int status;
	pid_t pid;

	rig_open(&r);
	buf = page(0, 'v');
	pid = vfork();
	if (!pid) {
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	MUST(waitpid(pid, &status, 0) == pid && !status);
	send_within(&r, rig_mr(&r, buf, SIZE), buf);
}

struct letter {
	uint64_t addr;
	uint32_t rkey, qpn;
};

/* After exec: the same address again, other contents; wait for the peer to have written. */
static void exec_after(int fd, uint64_t at)
{
	uint8_t *buf = page(at, 'n');
	char byte = 'x';

	MUST(write(fd, &byte, 1) == 1);
	MUST(read(fd, &byte, 1) == 1);
	for (int i = 0; i < SIZE; i++)
		MUST(buf[i] == 'n');
}

static void exec_child(int fd, const char *self)
{
	struct letter l = {.addr = 0x520000000000}, peer;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char number[16];
	struct rig r;

	page(l.addr, 'o');
	rig_open(&r);
	mr = rig_mr(&r, (void *)(uintptr_t)l.addr, SIZE);
	qp = rig_qp(&r, IBV_QPT_RC);
	l.rkey = mr->rkey;
	l.qpn = qp->qp_num;
	MUST(write(fd, &l, sizeof(l)) == sizeof(l) && read(fd, &peer, sizeof(peer)) > 0);
	rig_connect(&r, qp, peer.qpn);
	/* The context stays open across exec: its objects live, its memory is gone. */
	MUST(!fcntl(r.ctx->cmd_fd, F_SETFD, 0) && !fcntl(fd, F_SETFD, 0));
	snprintf(number, sizeof(number), "%d", fd);
	execl(self, self, "exec", number, (char *)NULL);
	rig_fail("exec");
}

static void as_exec_peer(const char *self)
{
	struct letter l, mine = {0};
	struct ibv_sge sge;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct rig r;
	int sv[2], status;
	uint8_t *buf;
	pid_t pid;
	char byte;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	if (!pid)
		exec_child(sv[1], self);
	close(sv[1]);
	rig_open(&r);
	buf = page(0, 'W');
	qp = rig_qp(&r, IBV_QPT_RC);
	mine.qpn = qp->qp_num;
	MUST(read(sv[0], &l, sizeof(l)) == sizeof(l) && write(sv[0], &mine, sizeof(mine)) > 0);
	rig_connect_with(&r, qp, l.qpn, 10, 2, 2);
	MUST(read(sv[0], &byte, 1) == 1);
	sge = (struct ibv_sge){(uintptr_t)buf, SIZE, rig_mr(&r, buf, SIZE)->lkey};
	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, l.addr, l.rkey));
	MUST(rig_wait(r.cq, &wc, RIG_PATIENCE) && wc.status != IBV_WC_SUCCESS);
	MUST(write(sv[0], &byte, 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid && !status);
}

int main(int argc, char **argv)
{
	MUST(argc >= 2);
	if (!strcmp(argv[1], "daemon"))
		as_daemon(argv[2]);
	else if (!strcmp(argv[1], "fork"))
		as_parent();
	else if (!strcmp(argv[1], "vfork"))
		as_vfork_parent();
	else if (argc == 3)
		exec_after(atoi(argv[2]), 0x520000000000);
	else
		as_exec_peer(argv[0]);
	puts("done");
	return 0;
}
