/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Completion channels are made and closed, by libibverbs and behind the C library's back; then says
 * so and lives on, until it is ended.
 *
 *     closed COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

static void channel_cycle(struct ibv_context *ctx, bool raw)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(ctx);

	MUST(ch);
	if (raw)
		MUST(syscall(SYS_close, ch->fd) == 0);
	MUST(ibv_destroy_comp_channel(ch) == 0 || raw);
}

/* Of a channel whose CQ goes with an unread event, after the channel was closed. */
static void used_cycle(struct rig *rig)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(rig->ctx);
	struct ibv_cq *cq;

	MUST(ch);
	cq = ibv_create_cq(rig->ctx, 16, NULL, ch, 0);
	MUST(cq && !syscall(SYS_close, ch->fd));
	MUST(!ibv_destroy_cq(cq));
	ibv_destroy_comp_channel(ch);
}

int main(int argc, char **argv)
{
	struct rig rig;

	MUST(argc == 2);
	rig_open(&rig);
	channel_cycle(rig.ctx, false);
	puts("open");
	fflush(stdout);
	MUST(getchar() == 'g');
	for (int i = 0; i < atoi(argv[1]); i++) {
		channel_cycle(rig.ctx, i % 2);
		used_cycle(&rig);
	}
	puts("closed");
	fflush(stdout);
	MUST(getchar() == EOF);
	rig_close(&rig);
	return 0;
}
