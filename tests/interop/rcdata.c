/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * rcdata: every RC operation in many sizes between two verbs devices, each byte looked at.
 *
 *     rcdata [OPTIONS] -d DEVICE -g GID_INDEX -p PORT            server
 *     rcdata [OPTIONS] -d DEVICE -g GID_INDEX -p PORT ADDRESS    client, which sends requests
 *
 * -s: receives come from a shared receive queue. -k: this end is Linux's rxe, which marks a
 * completion with an invalidated key by the kernel's bit, not by libibverbs'. -m MTU: the path's,
 * at most (256 to 4096). -r: receives are posted late, so that each message meets RNR first.
 *
 * Both ends walk the same list of steps. In a step the memory that must not change is
 * filled with a canary, what is sent with a pattern that depends on step and position; a
 * byte over TCP keeps the ends in step. Both ends check all of their memory after a step.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rcend.h"

#define CANARY 0xee
#define IMM 0xa1b2c3d4u
#define LATE_NS 20000000	  /* longer than the RNR timer */
#define KERNEL_WITH_INV (1u << 2) /* IB_WC_WITH_INVALIDATE */
#define STEP_SECONDS 20

struct step {
	enum ibv_wr_opcode opcode;
	uint32_t size;
	uint32_t local;	 /* offset in the client's area */
	uint32_t remote; /* offset in the server's area */
	unsigned int flags;
	unsigned int seed;
};

static uint8_t pattern(unsigned int seed, uint32_t i)
{
	return (uint8_t)(seed * 29 + i + (i >> 8) * 13 + (i >> 16) * 101);
}

static void fill(struct end *end, uint32_t offset, const struct step *step, bool with_pattern)
{
	memset(end->area, CANARY, AREA_SIZE);
	if (with_pattern)
		for (uint32_t i = 0; i < step->size; i++)
			end->area[offset + i] = pattern(step->seed, i);
}

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	static const char *const names[] = {
		[IBV_WR_SEND] = "SEND",
		[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
		[IBV_WR_RDMA_WRITE] = "WRITE",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "WRITE_WITH_IMM",
		[IBV_WR_RDMA_READ] = "READ",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "CMP_SWAP",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "FETCH_ADD",
		[IBV_WR_BIND_MW] = "BIND_MW",
		[IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
	};

	return opcode < ARRAY_SIZE(names) && names[opcode] ? names[opcode] : "?";
}

static void step_failed(const struct end *end, const struct step *step, const char *what,
			uint64_t where)
{
	fprintf(stderr, "rcdata: %s: %s of %u bytes, offsets %u to %u, flags %#x: %s (%llu)\n",
		end->client ? "client" : "server", opcode_name(step->opcode), step->size,
		step->local, step->remote, step->flags, what, (unsigned long long)where);
	exit(1);
}

static void check_area(const struct end *end, uint32_t offset, const struct step *step,
		       bool with_pattern)
{
	for (uint32_t i = 0; i < AREA_SIZE; i++) {
		bool inside = with_pattern && i >= offset && i - offset < step->size;

		if (end->area[i] != (inside ? pattern(step->seed, i - offset) : CANARY))
			step_failed(end, step,
				    inside ? "wrong byte in the data" : "byte changed outside", i);
	}
}

static struct ibv_wc wait_completion(const struct end *end, const struct step *step)
{
	struct timespec start;
	struct timespec now;
	struct ibv_wc wc;
	int n;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!(n = ibv_poll_cq(end->cq, 1, &wc))) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > STEP_SECONDS)
			step_failed(end, step, "no completion", 0);
	}
	if (n < 0)
		step_failed(end, step, "ibv_poll_cq", (uint64_t)n);
	if (wc.status != IBV_WC_SUCCESS)
		step_failed(end, step, ibv_wc_status_str(wc.status), wc.status);
	return wc;
}

/* Two pieces, of unequal and mostly odd sizes. */
static int cut(const struct end *end, uint32_t offset, uint32_t size, struct ibv_sge sge[2])
{
	uint64_t addr = (uintptr_t)end->area + offset;
	uint32_t first = size / 3;

	sge[0] = (struct ibv_sge){.addr = addr, .length = first, .lkey = end->mr->lkey};
	sge[1] = (struct ibv_sge){
		.addr = addr + first, .length = size - first, .lkey = end->mr->lkey};
	return 2;
}

static bool takes_receive(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void post_receive(const struct end *end, const struct step *step)
{
	struct ibv_sge sge[2];
	struct ibv_recv_wr wr = {.wr_id = step->seed, .sg_list = sge};
	struct ibv_recv_wr *bad;
	int error;

	/* A WRITE with immediate takes a receive without touching its memory. */
	wr.num_sge = cut(end, step->remote, step->size, sge);
	error = end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad)
			 : ibv_post_recv(end->qp, &wr, &bad);
	if (error)
		step_failed(end, step, "ibv_post_recv", (uint64_t)error);
}

/* The message is to come first: nothing here waits for it. */
static void post_receive_late(const struct end *end, const struct step *step)
{
	nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
	post_receive(end, step);
}

static void check_receive(const struct end *end, const struct step *step)
{
	struct ibv_wc wc = wait_completion(end, step);
	bool write = step->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool inv = step->opcode == IBV_WR_SEND_WITH_INV;
	bool imm = step->opcode != IBV_WR_SEND && !inv;

	if (wc.opcode != (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV))
		step_failed(end, step, "opcode of the receive", wc.opcode);
	if (wc.wr_id != step->seed)
		step_failed(end, step, "wr_id of the receive", wc.wr_id);
	if (wc.byte_len != step->size)
		step_failed(end, step, "byte_len of the receive", wc.byte_len);
	if (!!(wc.wc_flags & IBV_WC_WITH_IMM) != imm)
		step_failed(end, step, "wc_flags of the receive", wc.wc_flags);
	if (!!(wc.wc_flags & end->with_inv) != inv)
		step_failed(end, step, "wc_flags of the receive", wc.wc_flags);
	if (inv && wc.invalidated_rkey != end->window_key)
		step_failed(end, step, "invalidated key", wc.invalidated_rkey);
	if (imm && ntohl(wc.imm_data) != (IMM ^ step->seed))
		step_failed(end, step, "immediate data", ntohl(wc.imm_data));
}

static void send_request(const struct end *end, struct ibv_send_wr *wr, const struct step *step)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int error = ibv_post_send(end->qp, wr, &bad);

	if (error)
		step_failed(end, step, "ibv_post_send", (uint64_t)error);
	wc = wait_completion(end, step);
	if (wc.wr_id != step->seed)
		step_failed(end, step, "wr_id of the request", wc.wr_id);
}

static void request_data(const struct end *end, const struct step *step)
{
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {
		.wr_id = step->seed,
		.sg_list = sge,
		.opcode = step->opcode,
		.send_flags = IBV_SEND_SIGNALED | step->flags,
		.imm_data = htonl(IMM ^ step->seed),
		.wr.rdma = {.remote_addr = end->peer.addr + step->remote, .rkey = end->peer.rkey},
	};

	if (step->opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = end->peer.rkey;
	wr.num_sge = cut(end, step->local, step->size, sge);
	send_request(end, &wr, step);
}

static void run_data_step(struct end *end, const struct step *step)
{
	bool read = step->opcode == IBV_WR_RDMA_READ;
	uint32_t offset = end->client ? step->local : step->remote;

	fill(end, offset, step, end->client != read);
	if (!end->client && takes_receive(step->opcode) && !end->late)
		post_receive(end, step);
	barrier(end);
	if (end->client)
		request_data(end, step);
	else if (takes_receive(step->opcode) && end->late)
		post_receive_late(end, step);
	barrier(end);
	if (!end->client && takes_receive(step->opcode))
		check_receive(end, step);
	check_area(end, offset, step, true);
}

/* Returns what the server's word held before. */
static uint64_t request_atomic(const struct end *end, const struct step *step, uint64_t compare_add,
			       uint64_t swap)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->area + step->local,
		.length = sizeof(uint64_t),
		.lkey = end->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = step->seed,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = step->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic =
			{
				.remote_addr = end->peer.addr + step->remote,
				.compare_add = compare_add,
				.swap = swap,
				.rkey = end->peer.rkey,
			},
	};
	uint64_t before;

	send_request(end, &wr, step);
	memcpy(&before, end->area + step->local, sizeof(before));
	return before;
}

static void run_atomic_steps(struct end *end)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint64_t compare_add;
		uint64_t swap;
		uint64_t before;
		uint64_t after;
	} atomics[] = {
		{IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0x00000000ffffffff, 0x0000000100000000},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, UINT64_MAX, 0, 0x0000000100000000,
		 0x00000000ffffffff},
		{IBV_WR_ATOMIC_CMP_AND_SWP, 0xffffffff, 0x0123456789abcdef, 0x00000000ffffffff,
		 0x0123456789abcdef},
		{IBV_WR_ATOMIC_CMP_AND_SWP, 5, 6, 0x0123456789abcdef, 0x0123456789abcdef},
	};
	struct step step = {.size = sizeof(uint64_t), .local = 128, .remote = 4096};
	uint64_t word = atomics[0].before;

	fill(end, 0, &step, false);
	memcpy(end->area + step.remote, &word, sizeof(word));
	barrier(end);
	for (size_t i = 0; i < ARRAY_SIZE(atomics); i++) {
		step.opcode = atomics[i].opcode;
		step.seed = (unsigned int)i;
		if (end->client) {
			word = request_atomic(end, &step, atomics[i].compare_add, atomics[i].swap);
			if (word != atomics[i].before)
				step_failed(end, &step, "wrong value before", word);
		}
		barrier(end);
		memcpy(&word, end->area + step.remote, sizeof(word));
		if (!end->client && word != atomics[i].after)
			step_failed(end, &step, "wrong value after", word);
		barrier(end);
	}
}

static uint32_t bind_window(const struct end *end, struct ibv_mw *mw, const struct step *step)
{
	struct ibv_send_wr wr = {
		.wr_id = step->seed,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {.mw = mw,
			    .rkey = ibv_inc_rkey(mw->rkey),
			    .bind_info = {.mr = end->mr,
					  .addr = (uintptr_t)end->area + step->remote,
					  .length = step->size,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
							     IBV_ACCESS_REMOTE_READ}},
	};

	send_request(end, &wr, step);
	return wr.bind_mw.rkey;
}

/* The key is no longer valid; this ends the connection. */
static void request_refused(const struct end *end, const struct step *step)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = end->peer.addr + step->remote, .rkey = end->peer.rkey},
	};
	struct ibv_sge sge[2];
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr.sg_list = sge;
	wr.num_sge = cut(end, step->local, step->size, sge);
	if (ibv_post_send(end->qp, &wr, &bad))
		step_failed(end, step, "ibv_post_send", 0);
	while (!ibv_poll_cq(end->cq, 1, &wc)) {
	}
	if (wc.status != IBV_WC_REM_ACCESS_ERR)
		step_failed(end, step, "status of a WRITE by an invalid key", wc.status);
}

/* The server lends a piece of its area by a window of type 2; the client uses it and gives it back.
 */
static void run_window_steps(struct end *end)
{
	struct ibv_mw *mw = must(ibv_alloc_mw(end->pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
						     IBV_WR_SEND_WITH_INV};
	struct step step = {.size = 10001, .local = 300, .remote = 8191, .seed = 900};

	if (!end->client)
		end->window_key = bind_window(end, mw, &step);
	swap_over_tcp(end, &end->window_key, &end->peer.rkey, sizeof(end->peer.rkey));
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++, step.seed++) {
		step.opcode = opcodes[i];
		run_data_step(end, &step);
	}
	barrier(end);
	if (end->client)
		request_refused(end, &step);
	barrier(end);
}

static int run_steps(struct end *end)
{
	static const uint32_t sizes[] = {
		0,    1,    2,	  3,	4,    5,    63,	  64,	 255,	256,	257,	1023,
		1024, 1025, 2048, 4095, 4096, 4097, 8192, 10000, 65536, 100001, 262144, 400003,
	};
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,	   IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
	};
	int steps = 0;

	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++)
		for (size_t o = 0; o < ARRAY_SIZE(opcodes); o++) {
			struct step step = {
				.opcode = opcodes[o],
				.size = sizes[s],
				.local = 1000 + (uint32_t)s,
				.remote = 4093 + 5 * (uint32_t)o,
				.seed = (unsigned int)++steps,
			};

			run_data_step(end, &step);
			if (step.size > INLINE_MAX || step.opcode == IBV_WR_RDMA_READ)
				continue;
			step.flags = IBV_SEND_INLINE | IBV_SEND_SOLICITED;
			step.seed = (unsigned int)++steps;
			run_data_step(end, &step);
		}
	run_atomic_steps(end);
	run_window_steps(end);
	return steps;
}

static uint32_t mtu_of(const char *text)
{
	uint32_t bytes = (uint32_t)atoi(text), mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && (128u << mtu) < bytes)
		mtu++;
	return mtu;
}

int main(int argc, char **argv)
{
	struct end end = {.with_inv = IBV_WC_WITH_INV, .mtu_max = IBV_MTU_4096};
	const char *device = "rxe0";
	uint16_t port = 18515;
	int opt;

	while ((opt = getopt(argc, argv, "d:g:p:km:rs")) != -1)
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'g':
			end.gid_index = atoi(optarg);
			break;
		case 'p':
			port = (uint16_t)atoi(optarg);
			break;
		case 'k':
			end.with_inv = KERNEL_WITH_INV;
			break;
		case 'm':
			end.mtu_max = mtu_of(optarg);
			break;
		case 'r':
			end.late = true;
			break;
		case 's':
			end.shared = true;
			break;
		default:
			return 2;
		}
	end.client = argv[optind] != NULL;
	end_create(&end, device);
	end_connect(&end, argv[optind], port);
	printf("rcdata: %d steps, the atomics and a window, all data right\n", run_steps(&end));
	return 0;
}
