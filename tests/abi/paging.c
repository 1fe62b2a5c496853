/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * On-demand paging: memory that comes, goes and changes under an MR.
 *
 *     paging
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rig.h"

#define PAGE 4096
#define RC_ODP                                                                                     \
	(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |                     \
	 IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV)

static struct rig rig;
static uint8_t source[PAGE] __attribute__((aligned(PAGE)));
static struct ibv_mr *source_mr;

static void map(uint8_t *at, int prot)
{
	void *p = mmap(at, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	MUST(p == at);
}

/* The address of a page that is not mapped, but between two that are. */
static uint8_t *hole(void)
{
	uint8_t *p =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	MUST(!munmap(p + PAGE, PAGE));
	return p + PAGE;
}

static struct ibv_mr *on_demand(void *addr, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, addr, len, RIG_ACCESS | IBV_ACCESS_ON_DEMAND);

	MUST(mr);
	return mr;
}

static enum ibv_wc_status request(enum ibv_wr_opcode op, struct ibv_sge sge, const void *to,
				  uint32_t rkey)
{
	struct ibv_qp *qp[2];
	struct ibv_wc wc, rest;

	rig_pair(&rig, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], op, &sge, 1, (uintptr_t)to, rkey));
	MUST(rig_wait(rig.cq, &wc, RIG_PATIENCE));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	while (ibv_poll_cq(rig.cq, 1, &rest) > 0)
		;
	return wc.status;
}

static enum ibv_wc_status target(enum ibv_wr_opcode op, const void *to, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)source, 8, source_mr->lkey};

	return request(op, sge, to, mr->rkey);
}

static void capabilities_are_told(void)
{
	struct ibv_device_attr_ex attr;
	const struct ibv_odp_caps *caps = &attr.odp_caps;

	MUST(!ibv_query_device_ex(rig.ctx, NULL, &attr));
	MUST(caps->general_caps == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	MUST(caps->per_transport_caps.rc_odp_caps == RC_ODP);
	MUST(!(caps->per_transport_caps.ud_odp_caps & ~RC_ODP));
	MUST(!attr.xrc_odp_caps);
}

/* An MR on demand is of the addresses: what lies there now is what is reached. */
static void memory_comes_goes_and_comes_again(void)
{
	uint8_t *p = hole();
	struct ibv_mr *mr = on_demand(p, PAGE);

	MUST(target(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_REM_OP_ERR);
	MUST(target(IBV_WR_RDMA_READ, p, mr) == IBV_WC_REM_OP_ERR);
	for (int i = 0; i < 3; i++) {
		memset(source, 'a' + i, 8);
		map(p, PROT_READ | PROT_WRITE);
		MUST(target(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_SUCCESS);
		MUST(!memcmp(p, source, 8) && !p[8]);
		memset(p, 'A' + i, 8);
		MUST(target(IBV_WR_RDMA_READ, p, mr) == IBV_WC_SUCCESS);
		MUST(source[7] == 'A' + i);
		MUST(!munmap(p, PAGE));
		MUST(target(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_REM_OP_ERR);
	}
	MUST(!ibv_dereg_mr(mr));
}

/* What is not on demand has to be there at first, and follows the addresses all the same. */
static void registered_memory_comes_again(void)
{
	uint8_t *p = hole();
	struct ibv_mr *mr;

	MUST(!ibv_reg_mr(rig.pd, p, PAGE, RIG_ACCESS));
	map(p, PROT_READ | PROT_WRITE);
	mr = rig_mr(&rig, p, PAGE);
	MUST(!munmap(p, PAGE));
	MUST(target(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_REM_OP_ERR);
	map(p, PROT_READ | PROT_WRITE);
	memset(source, 'r', 8);
	MUST(target(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_SUCCESS);
	MUST(p[7] == 'r');
	MUST(!munmap(p, PAGE));
	MUST(!ibv_dereg_mr(mr));
}

/* Not the MR's rights alone count, but also the mapping's. */
static void protection_is_kept(void)
{
	static const enum ibv_wr_opcode writing[] = {IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD,
						     IBV_WR_ATOMIC_CMP_AND_SWP};
	uint8_t *p = hole();
	struct ibv_mr *mr = on_demand(p, PAGE);

	map(p, PROT_READ | PROT_WRITE);
	memset(p, 'k', PAGE);
	MUST(!mprotect(p, PAGE, PROT_READ));
	for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++)
		MUST(target(writing[i], p, mr) == IBV_WC_REM_OP_ERR);
	for (int i = 0; i < PAGE; i++)
		MUST(p[i] == 'k');
	MUST(target(IBV_WR_RDMA_READ, p, mr) == IBV_WC_SUCCESS);
	MUST(!mprotect(p, PAGE, PROT_NONE));
	MUST(target(IBV_WR_RDMA_READ, p, mr) == IBV_WC_REM_OP_ERR);
	MUST(!mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	MUST(target(IBV_WR_ATOMIC_FETCH_AND_ADD, p, mr) == IBV_WC_SUCCESS);
	MUST(p[0] == 'k' + 1);
	MUST(!munmap(p, PAGE));
	MUST(!ibv_dereg_mr(mr));
}

static void own_faults_are_local_errors(void)
{
	uint8_t *p = hole();
	struct ibv_mr *mr = on_demand(p, PAGE);
	struct ibv_sge sge = {(uintptr_t)p, 8, mr->lkey};

	MUST(request(IBV_WR_RDMA_WRITE, sge, source, source_mr->rkey) == IBV_WC_LOC_PROT_ERR);
	map(p, PROT_READ | PROT_WRITE);
	memset(p, 's', 8);
	MUST(request(IBV_WR_RDMA_WRITE, sge, source, source_mr->rkey) == IBV_WC_SUCCESS);
	MUST(source[0] == 's');
	MUST(!munmap(p, PAGE));
	MUST(!ibv_dereg_mr(mr));
}

/* One MR for stack, heap, data and whatever is mapped later. */
static void whole_memory_is_one_mr(void)
{
	static uint8_t data[64];
	uint8_t stack[64] = "stack", *heap = calloc(1, 64), *later = hole();
	struct ibv_mr *mr = on_demand(NULL, SIZE_MAX);
	struct ibv_sge sge = {(uintptr_t)stack, 64, mr->lkey};

	MUST(heap);
	MUST(request(IBV_WR_RDMA_WRITE, sge, data, mr->rkey) == IBV_WC_SUCCESS);
	MUST(!strcmp((char *)data, "stack"));
	sge.addr = (uintptr_t)data;
	MUST(request(IBV_WR_RDMA_WRITE, sge, heap, mr->rkey) == IBV_WC_SUCCESS);
	MUST(!strcmp((char *)heap, "stack"));
	MUST(request(IBV_WR_RDMA_WRITE, sge, later, mr->rkey) == IBV_WC_REM_OP_ERR);
	map(later, PROT_READ | PROT_WRITE);
	MUST(request(IBV_WR_RDMA_WRITE, sge, later, mr->rkey) == IBV_WC_SUCCESS);
	MUST(!strcmp((char *)later, "stack"));
	MUST(request(IBV_WR_RDMA_WRITE, sge, "never changed", mr->rkey) == IBV_WC_REM_OP_ERR);
	MUST(!ibv_dereg_mr(mr));
	MUST(!munmap(later, PAGE));
	free(heap);
}

int main(void)
{
	rig_open(&rig);
	source_mr = rig_mr(&rig, source, PAGE);
	capabilities_are_told();
	memory_comes_goes_and_comes_again();
	registered_memory_comes_again();
	protection_is_kept();
	own_faults_are_local_errors();
	whole_memory_is_one_mr();
	MUST(!ibv_dereg_mr(source_mr));
	rig_close(&rig);
	return 0;
}
