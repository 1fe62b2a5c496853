/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program that forks while its data move, with libibverbs told so by a call or by
 * RDMAV_FORK_SAFE: the parent's memory stays the parent's, and children use the device too.
 *
 *     forks call|variable
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define SIZE (64 << 10)
#define FORKS 8

static struct rig rig;

static void write_once(struct ibv_qp *qp, struct ibv_mr *mr, uint8_t *buf, int value)
{
	struct ibv_sge sge = {(uintptr_t)buf, SIZE, mr->lkey};
	struct ibv_wc wc;

	memset(buf, value, SIZE);
	memset(buf + SIZE, 0, SIZE);
	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)buf + SIZE, mr->rkey));
	MUST(rig_wait(rig.cq, &wc, RIG_PATIENCE) && wc.status == IBV_WC_SUCCESS);
	MUST(!memcmp(buf, buf + SIZE, SIZE));
}

static void pair_of_its_own(void)
{
	struct rig own;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	uint8_t *buf = malloc(2 * SIZE);
	struct rig parents = rig;

	rig_open(&own);
	rig_pair(&own, IBV_QPT_RC, qp);
	mr = rig_mr(&own, buf, 2 * SIZE);
	rig = own;
	write_once(qp[0], mr, buf, 0x5a);
	rig = parents;
	MUST(!ibv_dereg_mr(mr));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	rig_close(&own);
}

/* It writes to all pages that it has of its parent. */
static void child_main(uint8_t *shared)
{
	memset(shared, 0xcc, SIZE);
	pair_of_its_own();
	_exit(0);
}

/* The pages of an MR do not go to children: so nothing is copied away from under it. */
static bool child_has(const uint8_t *page)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		volatile uint8_t byte = *(volatile const uint8_t *)page;

		(void)byte;
		_exit(0);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status == 0;
}

int main(int argc, char **argv)
{
	uint8_t *buf =
		mmap(NULL, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;

	MUST(argc == 2 && buf != MAP_FAILED);
	if (!strcmp(argv[1], "call"))
		MUST(!ibv_fork_init());
	else
		MUST(!setenv("RDMAV_FORK_SAFE", "1", 1));
	rig_open(&rig);
	MUST(ibv_is_fork_initialized() != IBV_FORK_DISABLED);
	rig_pair(&rig, IBV_QPT_RC, qp);
	mr = rig_mr(&rig, buf, 2 * SIZE);
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			child_main(buf + 2 * SIZE);
		MUST(pid > 0);
		for (int k = 0; k < 20; k++)
			write_once(qp[0], mr, buf, i * 20 + k);
		MUST(waitpid(pid, &status, 0) == pid && !status);
	}
	if (ibv_is_fork_initialized() == IBV_FORK_ENABLED)
		MUST(!child_has(buf));
	MUST(!ibv_dereg_mr(mr));
	MUST(child_has(buf));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	rig_close(&rig);
	return 0;
}
