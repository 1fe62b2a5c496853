/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends to a child, kills it in mid-traffic, and waits for the error.
 *
 *     widow TIMEOUT RETRIES      prints "qpn N" (the child's), "killed 0", "status N"
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define SIZE 256
#define WINDOW 8
#define BEFORE 100 /* completions before the kill */

static uint8_t memory[SIZE];

struct letter {
	uint64_t addr;
	uint32_t rkey, qpn;
};

static void say(const char *what, uint32_t n)
{
	printf("%s %u\n", what, n);
	fflush(stdout);
}

static void child(int fd)
{
	struct letter mine = {.addr = (uintptr_t)memory}, peer;
	struct ibv_qp *qp;
	struct rig r;

	rig_open(&r);
	qp = rig_qp(&r, IBV_QPT_RC);
	mine.qpn = qp->qp_num;
	mine.rkey = rig_mr(&r, memory, SIZE)->rkey;
	MUST(read(fd, &peer, sizeof(peer)) == sizeof(peer));
	rig_connect(&r, qp, peer.qpn);
	MUST(write(fd, &mine, sizeof(mine)) == sizeof(mine));
	for (;;)
		pause();
}

static void traffic(struct rig *r, struct ibv_qp *qp, const struct letter *to, pid_t pid)
{
	struct ibv_sge sge = {(uintptr_t)memory, SIZE, rig_mr(r, memory, SIZE)->lkey};
	uint32_t done = 0, flying = 0;
	struct ibv_wc wc = {0};

	while (!wc.status) {
		for (; flying < WINDOW; flying++)
			MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, to->addr, to->rkey));
		if (done == BEFORE) {
			MUST(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
			say("killed", 0);
		}
		MUST(rig_wait(r->cq, &wc, RIG_PATIENCE));
		done++;
		flying--;
	}
	say("status", wc.status);
}

int main(int argc, char **argv)
{
	struct letter mine = {0}, peer;
	struct ibv_qp *qp;
	struct rig r;
	int sv[2];
	pid_t pid;

	MUST(argc == 3 && !socketpair(AF_UNIX, SOCK_STREAM, 0, sv));
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		child(sv[1]);
	rig_open(&r);
	qp = rig_qp(&r, IBV_QPT_RC);
	mine.qpn = qp->qp_num;
	MUST(write(sv[0], &mine, sizeof(mine)) == sizeof(mine));
	MUST(read(sv[0], &peer, sizeof(peer)) == sizeof(peer));
	say("qpn", peer.qpn);
	rig_connect_with(&r, qp, peer.qpn, (uint8_t)atoi(argv[1]), (uint8_t)atoi(argv[2]), 7);
	traffic(&r, qp, &peer, pid);
	return 0;
}
