/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A process with many mappings, whom looking at them costs, and nobody else.
 *
 *     crowd access COUNT   so many WRITEs to memory on demand behind 10,000 mappings
 *     crowd advice         ADVISE_MR of 200 ranges of 5,000 mappings each
 *     crowd reg            MRs of 10,000 mappings each
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "raw.h"

#define PAGE 4096
#define RANGES 200

static struct rig rig;

/* So many mappings of a page, one behind the other. Only the last may not be written to. */
static uint8_t *mappings(int n)
{
	uint8_t *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	for (int i = n - 3; i >= 0; i -= 2)
		MUST(!mprotect(p + (size_t)i * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	MUST(!mprotect(p + (size_t)(n - 1) * PAGE, PAGE, PROT_READ));
	return p;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static enum ibv_wc_status write_to(struct ibv_qp *qp, struct ibv_mr *from, uint8_t *to,
				   struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)from->addr, 8, from->lkey};
	struct ibv_wc wc;

	MUST(!rig_post(qp, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)to, mr->rkey));
	MUST(rig_wait(rig.cq, &wc, RIG_PATIENCE));
	return wc.status;
}

static void access_is_right(int count)
{
	static uint8_t source[8] __attribute__((aligned(8)));
	const int n = 10000;
	uint8_t *p = mappings(n), *to = p + (size_t)(n - 2) * PAGE;
	struct ibv_mr *from = rig_mr(&rig, source, sizeof(source));
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, NULL, SIZE_MAX, RIG_ACCESS | IBV_ACCESS_ON_DEMAND);
	struct ibv_qp *qp[2];
	uint64_t begin;

	MUST(mr);
	rig_pair(&rig, IBV_QPT_RC, qp);
	say("asking");
	begin = rig_now();
	for (int i = 0; i < count; i++) {
		memset(source, i, sizeof(source));
		MUST(write_to(qp[0], from, to, mr) == IBV_WC_SUCCESS);
		MUST(!memcmp(to, source, sizeof(source)));
	}
	printf("%.1f us each\n", (double)(rig_now() - begin) / 1e3 / count);
	/* And what is there now is what counts. */
	MUST(!munmap(to, PAGE));
	MUST(mmap(to, PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == to);
	MUST(write_to(qp[0], from, to, mr) == IBV_WC_SUCCESS);
	MUST(!memcmp(to, source, sizeof(source)));
	MUST(!mprotect(to, PAGE, PROT_READ));
	MUST(write_to(qp[0], from, to, mr) == IBV_WC_REM_OP_ERR);
	say("answered");
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	MUST(!ibv_dereg_mr(mr) && !ibv_dereg_mr(from));
}

static int advise(const struct ib_uverbs_sge *sge, uint16_t n)
{
	struct ib_uverbs_attr a[] = {
		raw_object(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, rig.pd->handle),
		raw_value(UVERBS_ATTR_ADVISE_MR_ADVICE, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			  8),
		raw_value(UVERBS_ATTR_ADVISE_MR_FLAGS, IB_UVERBS_ADVISE_MR_FLAG_FLUSH, 4),
		raw_ptr(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sge, n * sizeof(*sge)),
	};

	return raw_ioctl(rig.ctx->cmd_fd, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, RAW_ARRAY(a));
}

/* All is looked at: what is wrong is the last page of the last range. */
static void advice_is_right(void)
{
	static struct ib_uverbs_sge sge[RANGES];
	const int n = 5000;
	uint8_t *p = mappings(n);
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, NULL, SIZE_MAX, RIG_ACCESS | IBV_ACCESS_ON_DEMAND);

	MUST(mr);
	for (int i = 0; i < RANGES; i++)
		sge[i] = (struct ib_uverbs_sge){(uintptr_t)p, (uint32_t)(n - 1) * PAGE, mr->lkey};
	say("asking");
	IS(0, advise(sge, 10));
	sge[RANGES - 1].length += PAGE;
	IS(EFAULT, advise(sge, RANGES));
	say("answered");
	MUST(!ibv_dereg_mr(mr));
}

static void registration_is_right(void)
{
	const int n = 10000;
	uint8_t *p = mappings(n);
	struct ibv_mr *mr;

	say("asking");
	for (int i = 0; i < 8; i++) {
		MUST(!ibv_reg_mr(rig.pd, p, (size_t)n * PAGE, RIG_ACCESS) && errno == EFAULT);
		mr = ibv_reg_mr(rig.pd, p, (size_t)(n - 1) * PAGE, RIG_ACCESS);
		MUST(mr && !ibv_dereg_mr(mr));
	}
	say("answered");
}

int main(int argc, char **argv)
{
	rig_open(&rig);
	if (argc == 3 && !strcmp(argv[1], "access"))
		access_is_right(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "advice"))
		advice_is_right();
	else if (argc == 2 && !strcmp(argv[1], "reg"))
		registration_is_right();
	else
		return 2;
	rig_close(&rig);
	return 0;
}
