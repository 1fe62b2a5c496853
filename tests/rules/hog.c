/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Opens as many of one kind as it gets, and keeps them until it is ended. Says "refused COUNT
 * ERRNO".
 *
 *     hog context|channel|cm|netlink
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

static struct rig rig;

static int context_open(void)
{
	return open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
}

static int channel_open(void)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(rig.ctx);

	return ch ? ch->fd : -1;
}

static int cm_open(void)
{
	return open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
}

static int netlink_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
}

static const struct {
	const char *name;
	int (*open)(void);
} kinds[] = {
	{"context", context_open},
	{"channel", channel_open},
	{"cm", cm_open},
	{"netlink", netlink_open},
};

int main(int argc, char **argv)
{
	struct rlimit files;
	int count = 0;

	MUST(argc == 2 && !getrlimit(RLIMIT_NOFILE, &files));
	files.rlim_cur = files.rlim_max; /* the daemon's limit is to be met, not this one's */
	MUST(!setrlimit(RLIMIT_NOFILE, &files));
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			while (kinds[i].open() >= 0)
				count++;
	printf("refused %d %d\n", count, errno);
	fflush(stdout);
	pause();
	return 0;
}
