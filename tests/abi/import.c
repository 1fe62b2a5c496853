/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A device that another process has opened: its descriptor comes in a message, as ibv_import_device
 * wants it, and PDs and MRs by the numbers of their handles.
 *
 *     import
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

#define SIZE 4096

struct offer { /* the opener's */
	uint32_t pd, mr, lkey, rkey;
	uint64_t rdev;
};

struct answer { /* the importer's own MR in that PD */
	uint64_t addr;
	uint32_t rkey;
};

static uint8_t memory[SIZE] __attribute__((aligned(SIZE)));

static void send_device(int to, int fd, const struct offer *offer)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fd))];
	} control = {.head = {CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {(void *)(uintptr_t)offer, sizeof(*offer)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	MUST(sendmsg(to, &msg, 0) == sizeof(*offer));
}

static int receive_device(int from, struct offer *offer)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {offer, sizeof(*offer)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	int fd;

	MUST(recvmsg(from, &msg, 0) == sizeof(*offer));
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

static void device_is_recognized(int fd, const struct offer *offer)
{
	uint32_t vectors = 0;
	struct ib_uverbs_attr query =
		raw_ptr(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, 4);
	struct ib_uverbs_attr async = raw_object(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	struct stat st;

	MUST(!fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == offer->rdev);
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, &query, 1));
	MUST(vectors);
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &async, 1));
	MUST((int64_t)async.data > 0 && (int)async.data != fd);
}

static void mr_is_known_by_its_handle(int fd, const struct offer *offer)
{
	uint32_t lkey = 0, rkey = 0, list[64], n = 0;
	uint64_t length = 0;
	struct ib_uverbs_attr query[] = {
		raw_object(UVERBS_ATTR_QUERY_MR_HANDLE, offer->mr),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &lkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &rkey, 4),
		raw_ptr(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, 8),
	};
	struct ib_uverbs_attr handles[] = {
		raw_value(UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD, 8),
		raw_ptr(UVERBS_ATTR_INFO_TOTAL_HANDLES, &n, 4),
		raw_ptr(UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list)),
	};

	IS(0, raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, RAW_ARRAY(query)));
	MUST(lkey == offer->lkey && rkey == offer->rkey && length == SIZE);
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, RAW_ARRAY(handles)));
	MUST(n == 1 && list[0] == offer->pd);
}

/* Registers memory of its own in the other's PD, waits for what is written there, and takes the
 * other's MR away. */
static void importer(int line)
{
	struct ib_uverbs_attr mr = raw_object(UVERBS_ATTR_DESTROY_MR_HANDLE, 0);
	struct ib_uverbs_reg_mr_resp own;
	struct answer answer = {(uintptr_t)memory, 0};
	struct offer offer;
	char word;
	int fd = receive_device(line, &offer);

	device_is_recognized(fd, &offer);
	mr_is_known_by_its_handle(fd, &offer);
	IS(0, raw_reg_mr(fd, offer.pd, memory, SIZE, RIG_ACCESS, &own));
	answer.rkey = own.rkey;
	MUST(write(line, &answer, sizeof(answer)) == sizeof(answer));
	MUST(read(line, &word, 1) == 1);
	MUST(!strcmp((char *)memory, "from the opener"));
	mr.data = own.mr_handle;
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, &mr, 1));
	mr.data = offer.mr;
	IS(0, raw_ioctl(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, &mr, 1));
	_exit(0);
}

static void write_to(struct rig *r, const struct ibv_mr *mr, const struct answer *to)
{
	struct ibv_sge sge = {(uintptr_t)memory, 64, mr->lkey};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	rig_pair(r, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], IBV_WR_RDMA_WRITE, &sge, 1, to->addr, to->rkey));
	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE) && wc.status == IBV_WC_SUCCESS);
	MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
}

int main(void)
{
	struct answer answer;
	struct offer offer;
	struct ibv_mr *mr;
	struct stat st;
	int line[2], status;
	struct rig r;
	pid_t pid;

	/* Forked before anything is opened: it has another session with the daemon. */
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, line));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(line[1]);
		importer(line[0]);
	}
	close(line[0]);
	strcpy((char *)memory, "from the opener");
	rig_open(&r);
	mr = rig_mr(&r, memory, SIZE);
	MUST(!fstat(r.ctx->cmd_fd, &st));
	offer = (struct offer){r.pd->handle, mr->handle, mr->lkey, mr->rkey, st.st_rdev};
	send_device(line[1], r.ctx->cmd_fd, &offer);
	MUST(read(line[1], &answer, sizeof(answer)) == sizeof(answer));
	write_to(&r, mr, &answer);
	MUST(write(line[1], "w", 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid && !status);
	MUST(ibv_dereg_mr(mr) == ENOENT);
	rig_close(&r);
	return 0;
}
