/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MRs of memory that a memfd backs: another mapping of it sees what comes, and what it cannot hold
 * is refused.
 *
 *     shared
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define PAGE 4096

static struct rig rig;
static uint8_t source[PAGE] __attribute__((aligned(PAGE)));
static struct ibv_mr *source_mr;

static int memory(off_t size)
{
	int fd = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	MUST(fd >= 0 && !ftruncate(fd, size));
	return fd;
}

static uint8_t *mapping(int fd, int prot, size_t size)
{
	uint8_t *p = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	MUST(p != MAP_FAILED);
	return p;
}

static enum ibv_wc_status request(enum ibv_wr_opcode op, const uint8_t *to, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)source, PAGE, source_mr->lkey};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	rig_pair(&rig, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], op, &sge, 1, (uintptr_t)to, mr->rkey));
	MUST(rig_wait(rig.cq, &wc, RIG_PATIENCE));
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
	return wc.status;
}

/* In a child's mapping of its own, too. */
static void written_data_are_in_the_file(void)
{
	int fd = memory(2 * PAGE), status;
	uint8_t *p = mapping(fd, PROT_READ | PROT_WRITE, 2 * PAGE), seen[PAGE];
	struct ibv_mr *mr = rig_mr(&rig, p, 2 * PAGE);
	pid_t pid;

	memset(source, 0x17, PAGE);
	MUST(request(IBV_WR_RDMA_WRITE, p + PAGE, mr) == IBV_WC_SUCCESS);
	MUST(pread(fd, seen, PAGE, PAGE) == PAGE && !memcmp(seen, source, PAGE));
	pid = fork();
	if (!pid) {
		uint8_t *own = mapping(fd, PROT_READ | PROT_WRITE, 2 * PAGE);

		MUST(!memcmp(own + PAGE, source, PAGE));
		memset(own, 0x71, PAGE);
		_exit(0);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	MUST(request(IBV_WR_RDMA_READ, p, mr) == IBV_WC_SUCCESS);
	MUST(source[0] == 0x71 && source[PAGE - 1] == 0x71);
	MUST(!ibv_dereg_mr(mr) && !munmap(p, 2 * PAGE) && !close(fd));
}

/* A store there would be a SIGBUS. */
static void beyond_the_end_is_no_memory(void)
{
	int fd = memory(PAGE);
	uint8_t *p = mapping(fd, PROT_READ | PROT_WRITE, 2 * PAGE);
	struct ibv_mr *mr = rig_mr(&rig, p, 2 * PAGE);

	MUST(request(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_SUCCESS);
	MUST(request(IBV_WR_RDMA_WRITE, p + PAGE, mr) == IBV_WC_REM_OP_ERR);
	MUST(!ftruncate(fd, 2 * PAGE));
	MUST(request(IBV_WR_RDMA_WRITE, p + PAGE, mr) == IBV_WC_SUCCESS);
	MUST(!ftruncate(fd, 0));
	MUST(request(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_REM_OP_ERR);
	MUST(!ibv_dereg_mr(mr) && !munmap(p, 2 * PAGE) && !close(fd));
}

static void sealed_memory_is_only_read(void)
{
	int fd = memory(PAGE);
	uint8_t *p;
	struct ibv_mr *mr;

	MUST(pwrite(fd, "sealed", 6, 0) == 6);
	MUST(!fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW));
	p = mapping(fd, PROT_READ, PAGE);
	MUST(!ibv_reg_mr(rig.pd, p, PAGE, RIG_ACCESS) && errno == EFAULT);
	mr = ibv_reg_mr(rig.pd, p, PAGE, IBV_ACCESS_REMOTE_READ);
	MUST(mr && request(IBV_WR_RDMA_READ, p, mr) == IBV_WC_SUCCESS);
	MUST(!strcmp((char *)source, "sealed"));
	MUST(request(IBV_WR_RDMA_WRITE, p, mr) == IBV_WC_REM_ACCESS_ERR);
	MUST(!strcmp((char *)p, "sealed"));
	MUST(!ibv_dereg_mr(mr) && !munmap(p, PAGE) && !close(fd));
}

int main(void)
{
	rig_open(&rig);
	source_mr = rig_mr(&rig, source, PAGE);
	written_data_are_in_the_file();
	beyond_the_end_is_no_memory();
	sealed_memory_is_only_read();
	MUST(!ibv_dereg_mr(source_mr));
	rig_close(&rig);
	return 0;
}
