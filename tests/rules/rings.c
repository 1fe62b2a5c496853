/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client that lies by its rings: random values into the doorbells and into headers and entries
 * of all its rings, with kicks, for some seconds; also keys and handles that are not its own.
 *
 *     rings SECONDS [SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"
#include "verbs/abi/doorbell.h"

#define PAIRS 4
#define RINGS_SIZE (4u << 20) /* all rings of this program lie in that much */
#define SIZE 65536

static uint64_t state;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void seals_are_refused(int fd)
{
	MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0 && errno == EPERM);
	MUST(ftruncate(fd, 4096) < 0);
}

/* Words that are likely to mean something. */
static uint64_t word(const struct ibv_mr *mr)
{
	switch (rnd() % 10) {
	case 0:
		return 0;
	case 1:
		return rnd() % 16;
	case 2:
		return rnd() % 256;
	case 3:
		return mr->lkey | (uint64_t)mr->rkey << 32;
	case 4:
		return (uintptr_t)mr->addr + rnd() % SIZE;
	case 5:
		return UINT64_MAX;
	case 6:
		return (rnd() % SIZE) | (uint64_t)mr->lkey << 32; /* an SGE's tail */
	case 7:
		return (rnd() % 12) | (rnd() % 32) << 32;
	default:
		return rnd();
	}
}

static void kick(struct ibv_context *ctx, struct ibv_qp *qp)
{
	uint32_t bad[2];
	_Alignas(8)
		uint8_t c[sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_post_send)] = {
			0};
	struct ib_uverbs_cmd_hdr hdr = {IB_USER_VERBS_CMD_POST_SEND, sizeof(c) / 4, 1};
	struct ib_uverbs_post_send *cmd = (void *)(c + sizeof(hdr));

	memcpy(c, &hdr, sizeof(hdr));
	cmd->response = (uintptr_t)bad;
	cmd->qp_handle = rnd() % 8 ? qp->handle : (uint32_t)rnd() % 64;
	cmd->wqe_size = 128;
	if (write(ctx->cmd_fd, c, sizeof(c)) < 0)
		MUST(errno == EINVAL || errno == EBADF);
}

/* Half of all writes go to the first words of a page, where indices and first entries are. */
static void scribble(uint8_t *rings, const struct ibv_mr *mr)
{
	for (int i = 0; i < 40; i++) {
		uint64_t at = rnd() % RINGS_SIZE & ~7ull, w = word(mr);

		if (rnd() % 2)
			at = (at & ~4095ull) + (rnd() % 1024 & ~7ull);
		memcpy(rings + at, &w, rnd() % 2 ? 8 : 4);
	}
}

static void revive(struct rig *r, struct ibv_qp *qp, uint32_t remote)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	rig_connect_with(r, qp, remote, 8, 1, 1);
}

int main(int argc, char **argv)
{
	static uint8_t memory[SIZE];
	struct ibv_qp *qp[PAIRS][2];
	struct rnic_doorbell *db;
	struct ibv_mr *mr;
	struct rig r;
	uint8_t *rings;
	uint64_t end;

	MUST(argc >= 2);
	state = argc > 2 ? strtoull(argv[2], NULL, 0) | 1 : 88172645463325252ull;
	rig_open(&r);
	mr = rig_mr(&r, memory, SIZE);
	for (int i = 0; i < PAIRS; i++)
		rig_pair(&r, i % 2 ? IBV_QPT_UC : IBV_QPT_RC, qp[i]);
	seals_are_refused(r.ctx->cmd_fd);
	rings = mmap(NULL, RINGS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r.ctx->cmd_fd,
		     RNIC_DB_RINGS);
	db = mmap(NULL, RNIC_DB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r.ctx->cmd_fd, 0);
	MUST(rings != MAP_FAILED && db != MAP_FAILED);
	puts("lying");
	fflush(stdout);
	end = rig_now() + strtoull(argv[1], NULL, 0) * 1000000000;
	for (uint64_t n = 0; rig_now() < end; n++) {
		struct ibv_qp **pair = qp[rnd() % PAIRS];

		scribble(rings, mr);
		for (int i = 0; i < 8; i++)
			atomic_store(&db->kick[rnd() % (i ? 4 : RNIC_DB_HANDLES / 64)], rnd());
		atomic_store(&db->arm[rnd() % 64], (uint32_t)rnd());
		atomic_store(&db->slow[rnd() % 2], rnd());
		atomic_store(&db->pending, 1);
		kick(r.ctx, pair[0]);
		if (n % 64)
			continue;
		revive(&r, pair[0], pair[1]->qp_num);
		revive(&r, pair[1], pair[0]->qp_num);
	}
	puts("done");
	return 0;
}
