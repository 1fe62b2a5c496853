/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The bystander: WRITEs between two QPs of its own until SIGTERM, each byte looked at.
 * It prints "flowing" and then "ops N", the number completed, again and again; it fails if
 * anything does.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define SIZE 8192
#define TELL_EACH 50

static volatile sig_atomic_t stop;

static void stopped(int sig)
{
	(void)sig;
	stop = 1;
}

static void once(struct rig *r, struct ibv_qp *qp, struct ibv_mr *mr, uint8_t *buf, uint64_t n)
{
	struct ibv_sge sge = {(uintptr_t)buf, SIZE, mr->lkey};
	struct ibv_wc wc;

	memset(buf, (int)(n & 0xff), SIZE);
	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)buf + SIZE, mr->rkey));
	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE));
	if (wc.status)
		rig_fail("completion: %s", ibv_wc_status_str(wc.status));
	MUST(!memcmp(buf, buf + SIZE, SIZE));
}

int main(void)
{
	uint64_t ops = 0;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr;
	struct rig r;
	uint8_t *buf = malloc(2 * SIZE);

	signal(SIGTERM, stopped);
	rig_open(&r);
	rig_pair(&r, IBV_QPT_RC, qp);
	mr = rig_mr(&r, buf, 2 * SIZE);
	while (!stop) {
		once(&r, qp[0], mr, buf, ops++);
		if (ops == 1)
			puts("flowing");
		if (ops % TELL_EACH <= 1) {
			printf("ops %" PRIu64 "\n", ops);
			fflush(stdout);
		}
	}
	return 0;
}
