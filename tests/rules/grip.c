/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Holds a lock of the kernel's that the daemon needs for something of this client's, by a system
 * call whose memory, a mapping of FILE, never answers.
 *
 *     grip FILE   writes to the rings' file out of it: the file's lock; then a ring is freed
 *
 * For each line of its input it goes on: "ready", "asked", and "done" when it has come to its end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

#define FILE_SIZE (1u << 20)

struct grip {
	struct rig r;
	void *map;
};

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static void go_on(void)
{
	MUST(getchar() == '\n');
}

/* Of the kernel itself, not librnic's. */
static void *hold(void *arg)
{
	const struct grip *g = arg;

	MUST(syscall(SYS_pwrite64, g->r.ctx->cmd_fd, g->map, 64, FILE_SIZE) == 64);
	return NULL;
}

static void ring(struct grip *g)
{
	struct ibv_cq *cq = ibv_create_cq(g->r.ctx, 4, NULL, NULL, 0);
	pthread_t holder;

	MUST(cq);
	say("ready");
	go_on();
	MUST(!pthread_create(&holder, NULL, hold, g));
	go_on();
	say("asked");
	MUST(!ibv_destroy_cq(cq));
	MUST(!pthread_join(holder, NULL));
}

int main(int argc, char **argv)
{
	static struct grip g;
	int fd;

	MUST(argc == 2);
	fd = open(argv[1], O_RDWR);
	MUST(fd >= 0);
	g.map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(g.map != MAP_FAILED);
	rig_open(&g.r);
	ring(&g);
	rig_close(&g.r);
	say("done");
	return 0;
}
