/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lets the device touch memory that never answers.
 *
 *     mute_user source FILE    WRITE out of a mapping of FILE
 *     mute_user target FILE    WRITE into it
 *     mute_user command FILE   a control command that lies in it
 *
 * Prints "asked" when it has begun and "done" when it came to its end with the right bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

#define SIZE 20000
#define FILE_SIZE (1u << 20)

static uint8_t plain[SIZE];

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void transfer(struct rig *r, uint8_t *map, bool source)
{
	struct ibv_mr *far = rig_mr(r, map, FILE_SIZE), *near = rig_mr(r, plain, SIZE);
	struct ibv_sge sge = {(uintptr_t)(source ? map : plain), SIZE,
			      source ? far->lkey : near->lkey};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	memset(plain, source ? 'x' : 'B', SIZE);
	rig_pair(r, IBV_QPT_RC, qp);
	MUST(!rig_post(qp[0], IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)(source ? plain : map),
		       source ? near->rkey : far->rkey));
	say("asked");
	MUST(rig_wait(r->cq, &wc, RIG_PATIENCE));
	if (wc.status)
		rig_fail("completion: %s", ibv_wc_status_str(wc.status));
	for (int i = 0; i < SIZE; i++)
		MUST((source ? plain : map)[i] == (source ? 'A' : 'B'));
}

static void command(struct rig *r, uint8_t *map)
{
	say("asked");
	/* What comes, "AAAA...", is no command. */
	MUST(write(r->ctx->cmd_fd, map, 64) < 0 && errno != EFAULT);
}

int main(int argc, char **argv)
{
	struct rig r;
	uint8_t *map;
	int fd;

	MUST(argc == 3);
	fd = open(argv[2], O_RDWR);
	MUST(fd >= 0);
	map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	rig_open(&r);
	if (!strcmp(argv[1], "command"))
		command(&r, map);
	else
		transfer(&r, map, !strcmp(argv[1], "source"));
	say("done");
	return 0;
}
