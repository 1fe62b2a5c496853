/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Nothing of another protection domain can be used, of another client's least of all: its rkeys,
 * its lkeys, an address handle, receives of an SRQ.
 *
 *     foreign
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define SIZE 4096
#define PATIENCE 5000 /* ms */
#define SECRET 0x5e

struct treasure { /* what another client owns */
	uint64_t addr;
	uint32_t lkey, rkey;
};

static uint8_t memory[SIZE] __attribute__((aligned(SIZE)));

static void status_is(struct rig *r, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	MUST(rig_wait(r->cq, &wc, PATIENCE));
	if (wc.status != status)
		rig_fail("completion %s, not %s", ibv_wc_status_str(wc.status),
			 ibv_wc_status_str(status));
}

static void drain(struct rig *r)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(r->cq, 1, &wc) > 0)
		;
}

/* One request between two QPs of our own; qp[0] sends. */
static void attempt(struct rig *r, enum ibv_wr_opcode op, struct ibv_sge sge, uint64_t raddr,
		    uint32_t rkey, enum ibv_wc_status status)
{
	struct ibv_qp *qp[2];

	rig_pair(r, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], op, &sge, 1, raddr, rkey));
	status_is(r, status);
	MUST(!ibv_destroy_qp(qp[0]));
	MUST(!ibv_destroy_qp(qp[1]));
	drain(r);
}

static void keys_of(struct rig *r, const struct ibv_mr *own, const struct treasure *t)
{
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						 IBV_WR_ATOMIC_FETCH_AND_ADD,
						 IBV_WR_ATOMIC_CMP_AND_SWP};
	struct ibv_sge good = {(uintptr_t)memory, 8, own->lkey};
	struct ibv_sge theirs = {t->addr, 8, t->lkey};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		attempt(r, ops[i], good, t->addr, t->rkey, IBV_WC_REM_ACCESS_ERR);
		/* Nor at our own address, nor with another tag. */
		attempt(r, ops[i], good, good.addr, t->rkey, IBV_WC_REM_ACCESS_ERR);
		attempt(r, ops[i], good, t->addr, t->rkey ^ 1, IBV_WC_REM_ACCESS_ERR);
		attempt(r, ops[i], theirs, good.addr, own->rkey, IBV_WC_LOC_PROT_ERR);
	}
	attempt(r, IBV_WR_SEND, theirs, 0, 0, IBV_WC_LOC_PROT_ERR);
}

/* ---- another client ---- */

/* Registers, tells, and looks at its memory when it is told to end. */
static void owner(int to, int from)
{
	struct treasure t = {.addr = (uintptr_t)memory};
	struct ibv_mr *mr;
	struct rig r;
	char end;

	memset(memory, SECRET, SIZE);
	rig_open(&r);
	mr = rig_mr(&r, memory, SIZE);
	t.lkey = mr->lkey;
	t.rkey = mr->rkey;
	MUST(write(to, &t, sizeof(t)) == sizeof(t));
	MUST(read(from, &end, 1) == 0);
	for (int i = 0; i < SIZE; i++)
		MUST(memory[i] == SECRET);
	_exit(0);
}

static void another_client(void)
{
	int up[2], down[2], status;
	struct treasure t;
	struct ibv_mr *mr;
	struct rig r;
	pid_t pid;

	MUST(!pipe(up) && !pipe(down));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(down[1]);
		owner(up[1], down[0]);
	}
	MUST(read(up[0], &t, sizeof(t)) == sizeof(t));
	rig_open(&r);
	mr = rig_mr(&r, memory, SIZE);
	keys_of(&r, mr, &t);
	for (int i = 0; i < SIZE; i++)
		MUST(memory[i] != SECRET); /* nothing has been read */
	MUST(!ibv_dereg_mr(mr));
	rig_close(&r);
	close(down[1]);
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- another PD ---- */

static void another_pd(struct rig *r, const struct ibv_mr *own, struct ibv_pd *pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, SIZE, RIG_ACCESS);
	struct treasure t = {.addr = (uintptr_t)memory};

	MUST(mr);
	t.lkey = mr->lkey;
	t.rkey = mr->rkey;
	keys_of(r, own, &t);
	MUST(!ibv_dereg_mr(mr));
}

static void another_pds_ah(struct rig *r, const struct ibv_mr *own, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = r->gid, .sgid_index = (uint8_t)r->gid_index, .hop_limit = 64}};
	struct ibv_sge sge = {(uintptr_t)memory, 8, own->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);
	struct ibv_qp *qp[2];

	MUST(ah);
	rig_pair(r, IBV_QPT_UD, qp);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp[1]->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	MUST(!ibv_post_send(qp[0], &wr, &bad));
	status_is(r, IBV_WC_LOC_QP_OP_ERR);
	MUST(!ibv_destroy_qp(qp[0]));
	MUST(!ibv_destroy_qp(qp[1]));
	MUST(!ibv_destroy_ah(ah));
	drain(r);
}

/* A receive of an SRQ belongs to the SRQ's PD, whatever the QP's is. */
static void another_pds_srq(struct rig *r, const struct ibv_mr *own, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_init);
	struct ibv_qp_init_attr init = {.send_cq = r->cq,
					.recv_cq = r->cq,
					.srq = srq,
					.cap = {.max_send_wr = 4, .max_send_sge = 1},
					.qp_type = IBV_QPT_RC,
					.sq_sig_all = 1};
	struct ibv_sge sge = {(uintptr_t)memory, 8, own->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
	struct ibv_qp *to, *from = rig_qp(r, IBV_QPT_RC);
	struct ibv_wc wc[2];

	MUST(srq);
	to = ibv_create_qp(r->pd, &init);
	MUST(to && from);
	rig_connect(r, to, from->qp_num);
	rig_connect(r, from, to->qp_num);
	MUST(!ibv_post_srq_recv(srq, &wr, &bad));
	MUST(!rig_post(from, IBV_WR_SEND, &sge, 1, 0, 0));
	MUST(rig_wait(r->cq, &wc[0], PATIENCE) && rig_wait(r->cq, &wc[1], PATIENCE));
	for (int i = 0; i < 2; i++)
		MUST(wc[i].status ==
		     (wc[i].qp_num == to->qp_num ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_OP_ERR));
	MUST(!ibv_destroy_qp(from));
	MUST(!ibv_destroy_qp(to));
	MUST(!ibv_destroy_srq(srq));
	drain(r);
}

int main(void)
{
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct rig r;

	another_client();
	rig_open(&r);
	mr = rig_mr(&r, memory, SIZE);
	pd = ibv_alloc_pd(r.ctx);
	MUST(pd);
	another_pd(&r, mr, pd);
	another_pds_ah(&r, mr, pd);
	another_pds_srq(&r, mr, pd);
	MUST(!ibv_dealloc_pd(pd));
	MUST(!ibv_dereg_mr(mr));
	rig_close(&r);
	puts("done");
	return 0;
}
